/* The rollout policy `bound`: values are drawn by how much time their lower bound leaves for an improvement.
 * With a best time of 50 us, children with bounds of 20, 40 and 60 us have the weights 30, 10 and 0 (in us).
 *
 * U. Beaugnon, A. Pouille, M. Pouzet, J. Pienaar, A. Cohen, "Optimization space pruning without regrets", CC
 * 2017, section 5. Before there is a time, smaller bounds are preferred by their ratio to the largest one. */
#include <math.h>

#include "mcts/heuristic.h"

static void bound_weigh(void *state, const struct mcts_view *view, double *weights)
{
    double most = 0;
    (void)state;
    for (uint32_t i = 0; i < view->n_children; i++)
        most = fmax(most, view->children[i].bound);
    for (uint32_t i = 0; i < view->n_children; i++) {
        double bound = view->children[i].bound;
        weights[i] = 1;
        if (isfinite(view->best_time))
            weights[i] = fmax(view->best_time - bound, 0);
        else if (most > 0)
            weights[i] = 1 + 10 * most / fmax(bound, most / 1000);
    }
}

const struct mcts_policy mcts_policy_bound = {
    .abi = MCTS_PLUGIN_ABI,
    .struct_size = sizeof(struct mcts_policy),
    .name = "bound",
    .help = "weight values by best time - lower bound",
    .weigh = bound_weigh,
};
