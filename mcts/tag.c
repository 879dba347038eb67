/* Threshold Ascent on Graph, the default heuristic.
 *
 * F. de Mesmay, A. Rimmel, Y. Voronenko, M. Püschel, "Bandit-based optimization on graphs with application to
 * library performance tuning", ICML 2009, on the bandit of M. Streeter and S. Smith, "A simple
 * distribution-free approach to the max k-armed bandit problem", CP 2006. The threshold is the K-th best time
 * recorded below the live children; a child's successes s_i are its times at or under the threshold (of the K
 * best kept for it), and
 *
 *     alpha = max(0, ln(2 n k / delta)),   score_i = (s_i + alpha + sqrt(alpha (2 s_i + alpha))) / n_i
 *
 * with n_i visits of child i, n their sum, k the number of live children. For example, with K = 3:
 *
 *     child   times         visits   successes
 *     0       10 20         3        2              the 3 best of all times are 10, 15 and 20
 *     1       15 30 40      5        1
 *
 * Only the ranks of the times matter, not their scale. Children are opened by progressive widening, drawn by
 * the weights of the rollout policies; k counts the live ones, opened or not. */
#include <math.h>
#include <stdlib.h>

#include "core/base/arena.h"
#include "core/base/stats.h"
#include "mcts/heuristic.h"

struct tag {
    double topk, delta, widen;
};

static uint32_t tag_kept(const void *state)
{
    const struct tag *tag = state;
    return (uint32_t)tag->topk;
}

/* The K-th best time below the children, the worst if there are fewer; -1 if there is none. */
static double threshold(const struct mcts_view *view, size_t topk)
{
    size_t n = 0;
    for (uint32_t i = 0; i < view->n_children; i++)
        n += view->children[i].n_best;
    if (n == 0) return -1;
    double *times = base_malloc(n * sizeof times[0]);
    n = 0;
    for (uint32_t i = 0; i < view->n_children; i++)
        for (uint32_t j = 0; j < view->children[i].n_best; j++)
            times[n++] = view->children[i].best[j];
    stats_sort(times, n);
    double t = times[(n < topk ? n : topk) - 1];
    free(times);
    return t;
}

static uint32_t successes(const struct mcts_child *child, double limit)
{
    uint32_t s = 0;
    while (s < child->n_best && child->best[s] <= limit)
        s++;
    return s;
}

static uint32_t tag_select(void *state, const struct mcts_view *view, double *score)
{
    const struct tag *tag = state;
    uint32_t chosen = 0;
    if (mcts_widen(view, tag->widen, &chosen, score)) return chosen;
    double visits = 0, limit = threshold(view, (size_t)tag->topk);
    for (uint32_t i = 0; i < view->n_children; i++)
        visits += (double)view->children[i].visits;
    double alpha = fmax(0, log(2 * visits * view->n_children / tag->delta));
    *score = -INFINITY;
    for (uint32_t i = 0; i < view->n_children; i++) {
        if (view->children[i].visits == 0) continue;
        double s = successes(&view->children[i], limit);
        double value = (s + alpha + sqrt(alpha * (2 * s + alpha))) / (double)view->children[i].visits;
        if (value <= *score) continue;
        *score = value;
        chosen = i;
    }
    return chosen;
}

static const struct mcts_parameter PARAMETERS[] = {
    {"topk", "rank of the threshold among the recorded times", offsetof(struct tag, topk), 10, 1, 1000, NULL},
    {"delta", "confidence of the bandit bound; smaller explores more", offsetof(struct tag, delta), 1, 1e-9,
     1e9, NULL},
    {"widen", "limit on children: this times the square root of the visits", offsetof(struct tag, widen), 1.5,
     0, 1e9, NULL},
};

const struct mcts_plugin mcts_plugin_tag = {
    .abi = MCTS_PLUGIN_ABI,
    .struct_size = sizeof(struct mcts_plugin),
    .name = "tag",
    .state_size = sizeof(struct tag),
    .parameters = PARAMETERS,
    .n_parameters = sizeof PARAMETERS / sizeof PARAMETERS[0],
    .kept = tag_kept,
    .select = tag_select,
};
