/* Creation of a tree, its main loop, and questions about it. The other parts: tree_state.h. */
#include "mcts/tree.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/arena.h"
#include "core/base/panic.h"
#include "mcts/tree_state.h"

const char *mcts_cause_name(enum mcts_cause cause)
{
    static const char *const NAMES[] = {
#define MCTS_CAUSE(name, text) text,
        MCTS_CAUSES(MCTS_CAUSE)
#undef MCTS_CAUSE
    };
    return cause < MCTS_N_CAUSES ? NAMES[cause] : "?";
}

struct mcts_config mcts_config_default(void)
{
    return (struct mcts_config){
        .seed = 1, .cut_factor = 1, .restarts = 16, .backtrack_nodes = 1000, .descents = 1000};
}

/* ---- creation ---- */

static void make_roller(struct mcts_tree *t, const struct space *s, const struct mcts_config *c)
{
    t->roller = (struct mcts_roller){.branching = c->branching,
                                     .features = c->features,
                                     .policies = t->policies,
                                     .rng = pcg32_seed(c->seed, 0),
                                     .seen = &t->seen,
                                     .best_time = INFINITY,
                                     .cut = INFINITY,
                                     .prior = c->prior,
                                     .prior_context = c->prior_context,
                                     .restarts = c->restarts,
                                     .backtrack_nodes = c->backtrack_nodes};
    mcts_roller_init(&t->roller, s);
    if (!c->branching.order) return;
    t->order = mcts_order_copy(c->branching.order, c->branching.n_order);
    t->roller.branching.order = t->order.parts;
}

static void make_rollouts(struct mcts_tree *t, const struct mcts_config *c)
{
    const struct mcts_rollouts_options options = {c->threads, c->thread_bound, c->thread_context};
    t->rollouts = mcts_rollouts_new(&t->roller, t->state, &options);
}

struct mcts_tree *mcts_tree_new(const struct space_state *root, struct mcts_heuristic *h,
                                const struct mcts_config *c)
{
    struct mcts_tree *t = base_calloc(1, sizeof *t);
    t->heuristic = h;
    t->policies = mcts_heuristic_policies(h);
    mcts_policies_begin(t->policies, space_of(root));
    t->state = space_state_clone(root);
    t->base = space_snapshot(t->state);
    t->replayed = space_state_clone(root);
    t->replay_base = space_snapshot(t->replayed);
    t->cut_factor = c->cut_factor;
    t->descents_limit = c->descents;
    t->on_cut = c->on_cut;
    t->cut_context = c->cut_context;
    t->stop = c->stop;
    t->stop_context = c->stop_context;
    t->stats.best_time = INFINITY;
    mcts_nodes_init(&t->nodes, mcts_heuristic_kept(h));
    t->children = base_malloc(MCTS_VALUES_MAX * sizeof t->children[0]);
    t->weights = base_malloc(MCTS_VALUES_MAX * sizeof t->weights[0]);
    make_roller(t, space_of(root), c);
    make_rollouts(t, c);
    t->spares = mcts_spares_new(space_of(root), &t->roller.features);
    return t;
}

void mcts_tree_free(struct mcts_tree *t)
{
    if (!t) return;
    mcts_rollouts_free(t->rollouts);
    mcts_spares_free(t->spares);
    mcts_policies_end(t->policies);
    mcts_roller_free(&t->roller);
    mcts_seen_free(&t->seen);
    space_state_free(t->state);
    space_state_free(t->replayed);
    mcts_order_free(&t->order);
    mcts_nodes_free(&t->nodes);
    free(t->children);
    free(t->weights);
    free(t->path);
    free(t->actions.list);
    free(t);
}

void mcts_descent_free(struct mcts_descent *d)
{
    free(d->path);
    free(d->actions);
    free(d->values);
    free(d->features);
    *d = (struct mcts_descent){0};
}

/* ---- questions ---- */

const struct space_state *mcts_tree_state(const struct mcts_tree *t)
{
    CHECK(t->handed_out);
    return t->state;
}

const char *mcts_tree_error(const struct mcts_tree *t)
{
    return t->roller.error;
}

double mcts_tree_cut(const struct mcts_tree *t)
{
    return t->roller.cut;
}

struct mcts_stats mcts_tree_stats(const struct mcts_tree *t)
{
    struct mcts_stats s = t->stats;
    s.rollouts = t->roller.stats;
    if (s.rollouts.descents) s.dead_end_ratio = (double)s.rollouts.dead_ends / (double)s.rollouts.descents;
    memcpy(s.nodes, t->nodes.by_cause, sizeof s.nodes);
    return s;
}

uint32_t mcts_tree_size(const struct mcts_tree *t)
{
    return t->nodes.count;
}

struct mcts_node_info mcts_tree_node(const struct mcts_tree *t, uint32_t node)
{
    CHECK(node < t->nodes.count);
    const struct mcts_node *n = &t->nodes.list[node];
    return (struct mcts_node_info){
        .parent = n->parent,
        .action = {n->slot, n->value},
        .bound = n->bound,
        .visits = n->visits,
        .times = n->times,
        .best_time = n->times ? mcts_nodes_best(&t->nodes, n)[0] : INFINITY,
        .cause = (enum mcts_cause)n->cause,
        .first_child = n->first_child,
        .n_children = n->n_children,
    };
}
