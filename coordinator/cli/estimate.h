/* What `thresh estimate` does in the same way for programs and for spaces: options, table, progress. */
#ifndef THRESH_CLI_ESTIMATE_H
#define THRESH_CLI_ESTIMATE_H

#include "coordinator/cli/cli.h"
#include "mcts/estimate.h"

/* The options of `thresh estimate FILE.space`. */
#define CLI_ESTIMATING                                                                                       \
    CLI_TAKES(DATA), CLI_TAKES(METHOD), CLI_TAKES(SAMPLES), CLI_TAKES(LIMIT), CLI_TAKES(QUIET)
#define CLI_ESTIMATE_SPACE                                                                                   \
    CLI_ESTIMATING, CLI_TAKES(PARAM), CLI_TAKES(PIN), CLI_TAKES(ORDER), CLI_TAKES(SEED), CLI_TAKES(JSON)

/* Sets method, samples, seed and limit. false after an error. */
bool cli_estimate_options(const struct cli_args *a, struct mcts_estimate_config *c, struct diag *d);
/* Prints the first line of the table: "solutions        460 (exact)". */
void cli_estimate_print_count(const char *what, const struct mcts_estimate *e, bool exact);
/* Prints the whole table, or the JSON object. `what`: "implementations" or "solutions". */
void cli_estimate_print(const struct cli_args *a, const char *what, const struct mcts_estimate *e,
                        double elapsed_s);

/* What is counted, since when, and when progress was last shown. */
struct cli_counting {
    const char *what;
    double start_s, shown_s;
};
struct cli_counting cli_counting_start(enum mcts_method method);
/* Prints a line on standard error every two seconds. The context is a struct cli_counting. */
void cli_counting_show(void *context, uint64_t done);

/* space_estimate.c: thresh estimate FILE.space|FILE.so. Returns the exit status. */
int cli_estimate_space(const struct cli_args *a);

#endif
