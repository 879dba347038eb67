/* What the evaluations of a store tell about each choice, as `thresh explain STORE.db --learnt` prints it. */
#ifndef THRESH_CLI_LEARNT_H
#define THRESH_CLI_LEARNT_H

#include "coordinator/cli/cli.h"

struct strbuf;

/* Reads the valid evaluations of the last run's program on its device, of all runs, that the search drew
 * (neither the naive implementation nor the plain ones); of `tune --space` those of its space. NULL after an
 * error; a new reference:
 *
 *     {"evaluations", "runs", "geometric_mean_ns", "least_ns", "most_ns", "variance_log",
 *      "choices": [{"choice", "same": [choice...], "evaluations", "share", "by_chance",
 *                   "values": [{"value", "evaluations", "mean_log_ns", "geometric_mean_ns", "few"}...]}...]}
 *
 * Logarithms are natural; choices with the largest share first, values fastest first (insight.h). */
json_t *cli_learnt(const struct cli_args *a, struct diag *d);
/* Appends the ten choices with the largest shares as text. */
void cli_print_learnt(const json_t *learnt, struct strbuf *out);

#endif
