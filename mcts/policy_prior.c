/* The rollout policy `prior`: values are drawn in proportion to their declared weights (mcts/prior.h). With
 *
 *     dim_kind: VECTOR=4 UNROLL=2
 *
 * a rollout vectorizes a dimension four times as often as it leaves it a loop, all else being equal. */
#include "mcts/heuristic.h"

static void prior_weigh(void *state, const struct mcts_view *view, double *weights)
{
    (void)state;
    for (uint32_t i = 0; i < view->n_children; i++)
        weights[i] = view->children[i].prior;
}

const struct mcts_policy mcts_policy_prior = {
    .abi = MCTS_PLUGIN_ABI,
    .struct_size = sizeof(struct mcts_policy),
    .name = "prior",
    .help = "weight values by the declared prior",
    .weigh = prior_weigh,
};
