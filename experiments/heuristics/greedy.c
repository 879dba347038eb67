/* A worked example of a search heuristic: epsilon-greedy on the best time.
 *
 * With probability epsilon it takes a uniformly drawn child, else the child with the best time recorded below
 * it, the least visited among equals. Build it and name it on the command line:
 *
 *     cc -std=c11 -shared -fPIC -I /usr/local/include/thresh -o greedy.so greedy.c -lm
 *     thresh tune ... --heuristic ./greedy.so:epsilon=0.1
 *
 * mcts/heuristic.h is the interface. Rollouts go by the default policies, or by those that rollout= names. */
#include <math.h>

#include "core/base/pcg32.h"
#include "mcts/heuristic.h"

struct greedy {
    double epsilon;
};

static double best_of(const struct mcts_child *child)
{
    return child->n_best ? child->best[0] : INFINITY;
}

static uint32_t greedy_select(void *state, const struct mcts_view *view, double *score)
{
    const struct greedy *greedy = state;
    *score = 0;
    if (pcg32_unit(view->rng) < greedy->epsilon) return pcg32_below(view->rng, view->n_children);
    uint32_t chosen = 0;
    for (uint32_t i = 1; i < view->n_children; i++) {
        const struct mcts_child *child = &view->children[i], *leader = &view->children[chosen];
        if (best_of(child) > best_of(leader)) continue;
        if (best_of(child) < best_of(leader) || child->visits < leader->visits) chosen = i;
    }
    *score = -best_of(&view->children[chosen]);
    return chosen;
}

static const struct mcts_parameter PARAMETERS[] = {
    {"epsilon", "share of uniform choices", offsetof(struct greedy, epsilon), 0.1, 0, 1, NULL},
};

extern const struct mcts_plugin thresh_heuristic;
const struct mcts_plugin thresh_heuristic = {
    .abi = MCTS_PLUGIN_ABI,
    .struct_size = sizeof(struct mcts_plugin),
    .name = "greedy",
    .state_size = sizeof(struct greedy),
    .parameters = PARAMETERS,
    .n_parameters = sizeof PARAMETERS / sizeof PARAMETERS[0],
    .select = greedy_select,
};
