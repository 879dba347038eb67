/* One run of Chen's heuristic sampling: nodes of the same depth and about as many open choices are a stratum,
 * of which one is explored and stands for all; see chen.c and estimate.h. */
#ifndef THRESH_MCTS_CHEN_H
#define THRESH_MCTS_CHEN_H

#include "core/base/pcg32.h"
#include "mcts/estimate.h"

struct mcts_chen; /* the queue and its pool of states, reused from run to run */

struct mcts_chen *mcts_chen_new(const struct space_state *root);
void mcts_chen_free(struct mcts_chen *c);

/* Natural logarithms of weights (-INFINITY: 0). */
struct mcts_chen_run {
    double log_leaves, log_dead_ends;
    double log_depth; /* of the sum of leaf depth times weight */
    uint64_t nodes;
    struct mcts_trials trials;
};
struct mcts_chen_run mcts_chen_run(struct mcts_chen *c, const struct mcts_estimate_config *config,
                                   const struct space_state *root, struct pcg32 *rng);

/* ln(e^a + e^b) */
double mcts_log_add(double a, double b);

#endif
