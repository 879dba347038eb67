/* How each choice affects the time, from a store's evaluations: `thresh explain STORE.db --learnt`. */
#ifndef THRESH_CLI_LEARNT_H
#define THRESH_CLI_LEARNT_H

#include "coordinator/cli/cli.h"

struct strbuf;

/* Reads the valid evaluations of the last run's program (or space) on its device, from all runs. Only
 * implementations that the search drew count, not the naive one and the plain ones. NULL after an error; a
 * new reference:
 *
 *     {"evaluations", "runs", "geometric_mean_ns", "least_ns", "most_ns", "variance_log",
 *      "choices": [{"choice", "same": [choice...], "evaluations", "share", "by_chance",
 *                   "values": [{"value", "evaluations", "mean_log_ns", "geometric_mean_ns", "few"}...]}...]}
 *
 * Logarithms are natural. Choices are sorted by share, the largest first; values by time, the fastest first.
 * insight.h defines the shares. */
json_t *cli_learnt(const struct cli_args *a, struct diag *d);
/* Appends the ten choices with the largest shares as text. */
void cli_print_learnt(const json_t *learnt, struct strbuf *out);

#endif
