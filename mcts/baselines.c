/* Three heuristics that learn nothing, as baselines. For children with these bounds and visits:
 *
 *     child   bound   visits
 *     0       20 us   5          `bound` takes 0, the smallest bound: it shows what the model alone is worth
 *     1       30 us   2          `roundrobin` takes 1, the least visited
 *     2       25 us   7          `random` takes any, with the same probability
 *
 * `random` draws uniformly in rollouts, too, and `bound` follows the smallest bound there. */
#include <math.h>

#include "core/base/pcg32.h"
#include "mcts/heuristic.h"

static uint32_t random_select(void *state, const struct mcts_view *view, double *score)
{
    (void)state;
    *score = 0;
    return pcg32_below(view->rng, view->n_children);
}

static uint32_t bound_select(void *state, const struct mcts_view *view, double *score)
{
    (void)state;
    uint32_t chosen = 0;
    for (uint32_t i = 1; i < view->n_children; i++) {
        const struct mcts_child *child = &view->children[i], *best = &view->children[chosen];
        if (child->bound < best->bound || (child->bound == best->bound && child->visits < best->visits))
            chosen = i;
    }
    *score = -view->children[chosen].bound;
    return chosen;
}

static void bound_rollout(void *state, const struct mcts_view *view, double *weights)
{
    (void)state;
    double least = INFINITY;
    for (uint32_t i = 0; i < view->n_children; i++)
        least = fmin(least, view->children[i].bound);
    for (uint32_t i = 0; i < view->n_children; i++)
        weights[i] = view->children[i].bound <= least ? 1 : 0;
}

static uint32_t roundrobin_select(void *state, const struct mcts_view *view, double *score)
{
    (void)state;
    uint32_t chosen = 0;
    for (uint32_t i = 1; i < view->n_children; i++)
        if (view->children[i].visits < view->children[chosen].visits) chosen = i;
    *score = -(double)view->children[chosen].visits;
    return chosen;
}

const struct mcts_plugin mcts_plugin_random = {
    .abi = MCTS_PLUGIN_ABI,
    .struct_size = sizeof(struct mcts_plugin),
    .name = "random",
    .select = random_select,
    .policies = "uniform",
};

const struct mcts_plugin mcts_plugin_bound = {
    .abi = MCTS_PLUGIN_ABI,
    .struct_size = sizeof(struct mcts_plugin),
    .name = "bound",
    .select = bound_select,
    .rollout = bound_rollout,
};

const struct mcts_plugin mcts_plugin_roundrobin = {
    .abi = MCTS_PLUGIN_ABI,
    .struct_size = sizeof(struct mcts_plugin),
    .name = "roundrobin",
    .select = roundrobin_select,
};
