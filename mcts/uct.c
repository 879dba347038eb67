/* UCT and PUCT, for comparison with TAG: the child with the largest reward plus a term for exploration,
 *
 *     uct    reward + c sqrt(ln(n) / n_i)          puct    reward + c p_i sqrt(n + 1) / (1 + n_i)
 *
 * with n_i visits of child i, n their sum, and p_i its share of the weights of the rollout policies.
 *
 * L. Kocsis and C. Szepesvári, "Bandit based Monte-Carlo planning", ECML 2006; PUCT as in D. Silver et al.,
 * "Mastering the game of Go without human knowledge", 2017. The reward of a time t is T / t, with T the best
 * time known: in (0, 1], whatever the scale of the times. A child's reward is T over its mean time, reduced
 * by its visits without a time, or T over its best time. */
#include <math.h>
#include <stdlib.h>

#include "core/base/arena.h"
#include "mcts/heuristic.h"

struct uct {
    double c;       /* weight of exploration */
    double value;   /* 0 mean, 1 best */
    double formula; /* 0 uct, 1 puct */
    double widen;
};

static double reward(const struct uct *uct, const struct mcts_view *view, const struct mcts_child *child)
{
    if (child->times == 0) return 0;
    if (uct->value > 0) return view->best_time / child->best[0];
    double times = (double)child->times;
    return times / (double)child->visits * view->best_time / (child->time_sum / times);
}

static uint32_t argmax(const double *values, uint32_t n, double *value)
{
    uint32_t chosen = 0;
    for (uint32_t i = 1; i < n; i++)
        if (values[i] > values[chosen]) chosen = i;
    *value = values[chosen];
    return chosen;
}

static double total_visits(const struct mcts_view *view)
{
    double n = 0;
    for (uint32_t i = 0; i < view->n_children; i++)
        n += (double)view->children[i].visits;
    return n;
}

static void uct_scores(const struct uct *uct, const struct mcts_view *view, double *scores)
{
    double n = total_visits(view);
    for (uint32_t i = 0; i < view->n_children; i++) {
        const struct mcts_child *child = &view->children[i];
        double unsure = uct->c * sqrt(log(n) / (double)child->visits);
        scores[i] = child->visits ? reward(uct, view, child) + unsure : -INFINITY;
    }
}

static void puct_scores(const struct uct *uct, const struct mcts_view *view, double *scores)
{
    double n = total_visits(view), sum = 0;
    for (uint32_t i = 0; i < view->n_children; i++)
        sum += view->weights[i];
    for (uint32_t i = 0; i < view->n_children; i++) {
        const struct mcts_child *child = &view->children[i];
        double prior = sum > 0 ? view->weights[i] / sum : 1.0 / view->n_children;
        scores[i] = reward(uct, view, child) + uct->c * prior * sqrt(n + 1) / (1 + (double)child->visits);
    }
}

static uint32_t uct_select(void *state, const struct mcts_view *view, double *score)
{
    const struct uct *uct = state;
    uint32_t chosen;
    if (uct->formula <= 0 && mcts_widen(view, uct->widen, &chosen, score)) return chosen;
    double *scores = base_malloc(view->n_children * sizeof scores[0]);
    (uct->formula > 0 ? puct_scores : uct_scores)(uct, view, scores);
    chosen = argmax(scores, view->n_children, score);
    free(scores);
    return chosen;
}

static const struct mcts_parameter PARAMETERS[] = {
    {"c", "weight of the exploration term", offsetof(struct uct, c), 1.4142135623730951, 0, 1e6, NULL},
    {"value", "value of a child: its mean or its best reward", offsetof(struct uct, value), 0, 0, 1,
     "mean|best"},
    {"formula", "exploration term", offsetof(struct uct, formula), 0, 0, 1, "uct|puct"},
    {"widen", "uct: limit on children: this times the square root of the visits", offsetof(struct uct, widen),
     1.5, 0, 1e9, NULL},
};

const struct mcts_plugin mcts_plugin_uct = {
    .abi = MCTS_PLUGIN_ABI,
    .struct_size = sizeof(struct mcts_plugin),
    .name = "uct",
    .state_size = sizeof(struct uct),
    .parameters = PARAMETERS,
    .n_parameters = sizeof PARAMETERS / sizeof PARAMETERS[0],
    .select = uct_select,
};
