/* The lower bound for subcommands. `thresh estimate` and `thresh levels` prune with it: --cut 114000 --depth
 * 10 prunes candidates whose bound is at least 114 us in the first ten levels of the tree. */
#ifndef THRESH_CLI_BOUNDING_H
#define THRESH_CLI_BOUNDING_H

#include "coordinator/cli/cli.h"
#include "mcts/branch.h"
#include "perfmodel/bound.h"

#define CLI_BOUNDING CLI_TAKES(CUT), CLI_TAKES(DEPTH), CLI_TAKES(DESCRIPTION)

/* Zero-initialise. */
struct cli_bounding {
    struct mcts_branching branching; /* of the problem, with the bound if there is a cut */
    double cut;                      /* ns; INFINITY: nothing is pruned */
    uint32_t depth;                  /* depths 1..depth are pruned */
    struct perfmodel *model;         /* NULL: nothing is pruned */
};

/* Reads the options and opens the model of the problem. Values that the description lacks are noted on
 * standard error, unless --quiet is given. false after an error. */
bool cli_bounding_open(const struct cli_args *a, const struct cli_problem *p, struct cli_bounding *out,
                       struct diag *d);
void cli_bounding_close(struct cli_bounding *b);
/* The model of a problem on its device; NULL after an error. */
struct perfmodel *cli_model(const struct cli_args *a, const struct problem *p, const struct device *dev,
                            struct diag *d);

#endif
