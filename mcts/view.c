/* Functions for plug-ins: weights, draws and progressive widening. See view.h. */
#include "mcts/view.h"

#include <math.h>
#include <stdlib.h>

#include "core/base/arena.h"
#include "core/base/pcg32.h"
#include "mcts/policy.h"

void mcts_default_weights(const struct mcts_view *view, double *weights)
{
    mcts_policy_bound.weigh(NULL, view, weights);
    for (uint32_t i = 0; i < view->n_children; i++)
        weights[i] *= view->children[i].prior;
}

uint32_t mcts_draw(struct pcg32 *rng, const double *weights, uint32_t n)
{
    double sum = 0;
    for (uint32_t i = 0; i < n; i++)
        sum += weights[i];
    if (!(sum > 0)) return pcg32_below(rng, n);
    double place = pcg32_unit(rng) * sum;
    uint32_t last = 0;
    for (uint32_t i = 0; i < n; i++) {
        if (weights[i] <= 0) continue;
        last = i;
        if (place < weights[i]) return i;
        place -= weights[i];
    }
    return last;
}

/* ---- progressive widening ---- */

/* Whether the node needs another child: few were visited for its number of visits. */
static bool needs_child(const struct mcts_view *view, double widen)
{
    uint32_t visited = 0;
    double visits = 0;
    for (uint32_t i = 0; i < view->n_children; i++) {
        visits += (double)view->children[i].visits;
        visited += view->children[i].visits > 0;
    }
    return visited < view->n_children && (visited == 0 || visited < widen * sqrt(visits));
}

/* Draws one of the children that were not visited. */
static uint32_t draw_unvisited(const struct mcts_view *view, const double *weights)
{
    double *kept = base_malloc(view->n_children * sizeof kept[0]);
    uint32_t *unvisited = base_malloc(view->n_children * sizeof unvisited[0]), n = 0;
    for (uint32_t i = 0; i < view->n_children; i++) {
        if (view->children[i].visits) continue;
        kept[n] = weights[i];
        unvisited[n++] = i;
    }
    uint32_t drawn = unvisited[mcts_draw(view->rng, kept, n)];
    free(kept);
    free(unvisited);
    return drawn;
}

bool mcts_widen(const struct mcts_view *view, double widen, uint32_t *child, double *score)
{
    if (!needs_child(view, widen)) return false;
    *child = draw_unvisited(view, view->weights);
    *score = INFINITY;
    return true;
}

bool mcts_open_child(const struct mcts_view *view, double widen, uint32_t *child, double *score)
{
    if (!needs_child(view, widen)) return false;
    double *weights = base_malloc(view->n_children * sizeof weights[0]);
    mcts_default_weights(view, weights);
    *child = draw_unvisited(view, weights);
    *score = INFINITY;
    free(weights);
    return true;
}
