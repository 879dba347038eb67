/* Descents: from the root down by the heuristic, then a rollout.
 *
 *     root ---select---> node ---select---> node not visited before ===rollout===> implementation
 *
 * If a rollout policy wants it, the rollout starts at the root instead. Either way the path is then extended
 * over the expanded nodes above the implementation, so that it counts in all of them. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/arena.h"
#include "core/base/panic.h"
#include "mcts/tree_state.h"

/* ---- children ---- */

void mcts_tree_enter_candidate(struct space_state *state, const struct mcts_node *n)
{
    struct space_failure why;
    bool live = space_apply(state, (struct space_action){n->slot, n->value}, &why);
    CHECK(live);
}

static void cut(struct mcts_tree *t, uint32_t node)
{
    mcts_nodes_kill(&t->nodes, node, MCTS_BOUND);
    if (!t->on_cut) return;
    space_mark mark = space_snapshot(t->state);
    mcts_tree_enter_candidate(t->state, &t->nodes.list[node]);
    t->on_cut(t->cut_context, t, node, t->state);
    space_rollback(t->state, mark);
}

/* Kills the children whose bounds are not below the cut. The candidate of the node is in the working state.
 */
static void cut_children(struct mcts_tree *t, uint32_t node)
{
    uint32_t first = t->nodes.list[node].first_child, n = t->nodes.list[node].n_children;
    for (uint32_t i = 0; i < n; i++)
        if (t->nodes.list[first + i].bound >= t->roller.cut && !mcts_nodes_dead(&t->nodes, first + i))
            cut(t, first + i);
}

/* Makes the children of a node; its candidate is in the working state. */
static void expand(struct mcts_tree *t, uint32_t node)
{
    struct mcts_roller *r = &t->roller;
    uint32_t slot = space_next_choice(t->state, r->branching.order, r->branching.n_order);
    CHECK(slot != UINT32_MAX);
    struct mcts_trials trials = {0};
    uint32_t n = mcts_try_values(&r->branching, t->state, slot, INFINITY, r->options, &trials);
    t->nodes.by_cause[MCTS_CONSTRAINT] += trials.dead_constraint;
    mcts_nodes_expand(&t->nodes, node, slot, r->options, n);
    cut_children(t, node);
}

/* Makes sure that the node has children, and that those whose bounds are not below the cut are dead. */
static void open_children(struct mcts_tree *t, uint32_t node)
{
    if (t->nodes.list[node].expanded)
        cut_children(t, node);
    else
        expand(t, node);
}

static struct mcts_child child_view(const struct mcts_tree *t, uint32_t node)
{
    const struct mcts_node *n = &t->nodes.list[node];
    const struct mcts_roller *r = &t->roller;
    struct space_action action = {n->slot, n->value};
    return (struct mcts_child){
        .node = node,
        .action = action,
        .bound = n->bound,
        .prior = r->prior ? r->prior(r->prior_context, t->state, action) : 1,
        .visits = n->visits,
        .times = n->times,
        .time_sum = n->time_sum,
        .best = mcts_nodes_best(&t->nodes, n),
        .n_best = mcts_nodes_kept(&t->nodes, n),
    };
}

/* The live children of a node; its candidate is in the working state. */
static struct mcts_view node_view(struct mcts_tree *t, uint32_t node)
{
    const struct mcts_node *n = &t->nodes.list[node];
    uint32_t live = 0;
    for (uint32_t i = 0; i < n->n_children; i++)
        if (!mcts_nodes_dead(&t->nodes, n->first_child + i))
            t->children[live++] = child_view(t, n->first_child + i);
    return (struct mcts_view){
        .node = node,
        .depth = (uint32_t)t->n_path - 1,
        .state = t->state,
        .children = t->children,
        .n_children = live,
        .best_time = t->roller.best_time,
        .cut = t->roller.cut,
        .rng = &t->roller.rng,
    };
}

/* ---- the path ---- */

static void enter(struct mcts_tree *t, uint32_t node)
{
    if (t->n_path == t->path_capacity) {
        t->path_capacity = t->path_capacity ? 2 * t->path_capacity : 64;
        t->path = base_realloc(t->path, t->path_capacity * sizeof t->path[0]);
    }
    t->path[t->n_path++] = node;
    t->nodes.list[node].visits++;
}

void mcts_tree_take(struct mcts_tree *t, const struct mcts_child *child)
{
    struct space_failure why;
    bool live = space_apply(t->state, child->action, &why);
    CHECK(live);
    mcts_actions_push(&t->actions, child->action);
    enter(t, child->node);
}

void mcts_tree_start_at_root(struct mcts_tree *t)
{
    space_rollback(t->state, t->base);
    t->base = space_snapshot(t->state);
    t->n_path = t->actions.count = 0;
    t->stats.descents++;
    enter(t, 0);
}

/* ---- descending ---- */

/* Shows the heuristic a node whose live children are known, and goes to the child that it selects. */
static bool select_child(struct mcts_tree *t, uint32_t node)
{
    uint32_t chosen;
    struct mcts_view view = node_view(t, node);
    char *error = t->roller.error;
    if (mcts_heuristic_wants_weights(t->heuristic)) {
        if (!mcts_policies_weigh(t->policies, &view, t->weights, error, sizeof t->roller.error)) return false;
        view.weights = t->weights;
    }
    if (!mcts_heuristic_select(t->heuristic, &view, &chosen, error, sizeof t->roller.error)) return false;
    mcts_tree_take(t, &t->children[chosen]);
    return true;
}

/* Goes to where the rollout starts: a node that no descent had visited, or the root. MCTS_STUCK: the node
 * that it came to turned out dead. */
static enum mcts_status descend(struct mcts_tree *t)
{
    mcts_tree_start_at_root(t);
    if (mcts_policies_start(t->policies, 0, &t->roller.rng)) return MCTS_OK;
    for (;;) {
        uint32_t node = t->path[t->n_path - 1];
        if (t->nodes.list[node].visits == 1) return MCTS_OK;
        open_children(t, node);
        if (mcts_nodes_dead(&t->nodes, node)) return MCTS_STUCK;
        if (!select_child(t, node)) return MCTS_ERROR;
    }
}

/* The child of an expanded node above the implementation; MCTS_NO_NODE: there is none. */
static uint32_t child_above(const struct mcts_tree *t, uint32_t node, const struct space_state *leaf)
{
    const struct mcts_node *n = &t->nodes.list[node];
    for (uint32_t i = 0; i < n->n_children; i++) {
        const struct mcts_node *child = &t->nodes.list[n->first_child + i];
        if (space_first_value(leaf, child->slot) == child->value) return n->first_child + i;
    }
    return MCTS_NO_NODE;
}

/* Extends the path over the expanded nodes above the implementation; if it is a tree node, closes it. */
static void extend_path(struct mcts_tree *t)
{
    uint32_t node = t->path[t->n_path - 1];
    while (t->nodes.list[node].expanded && (node = child_above(t, node, t->state)) != MCTS_NO_NODE &&
           !mcts_nodes_dead(&t->nodes, node))
        enter(t, node);
    if (t->n_path == t->actions.count + 1) mcts_nodes_close(&t->nodes, t->path[t->n_path - 1]);
}

/* Closes a frontier with nothing new below it. It gets its children first: they tell which part the bound
 * cut. A frontier below a cut stays as it is. */
static void close_frontier(struct mcts_tree *t, bool leaf)
{
    uint32_t frontier = t->path[t->n_path - 1];
    if (leaf) {
        mcts_nodes_close(&t->nodes, frontier);
    } else if (!mcts_nodes_dead(&t->nodes, frontier)) {
        open_children(t, frontier);
        mcts_nodes_kill(&t->nodes, frontier, MCTS_BACKTRACK);
    }
}

/* Whether the rollouts promise so little that others are made in their place. */
static bool pass_over(struct mcts_tree *t)
{
    double rank;
    if (t->roller.weights_only || t->redraws >= mcts_policies_redraws(t->policies) ||
        !mcts_rollouts_rank(t->rollouts, &rank) || !mcts_spares_is_poor(t->spares, rank))
        return false;
    t->redraws++;
    return true;
}

static enum mcts_status find_implementation(struct mcts_tree *t)
{
    bool leaf =
        space_next_choice(t->state, t->roller.branching.order, t->roller.branching.n_order) == UINT32_MAX;
    space_mark mark = space_snapshot(t->state);
    size_t n_actions = t->actions.count;
    switch (mcts_rollouts_best(t->rollouts, t->state, t->base, (uint32_t)t->n_path - 1, &t->actions)) {
    case MCTS_ROLLOUT_LEAF:
        if (!leaf && pass_over(t)) {
            space_rollback(t->state, mark);
            return MCTS_STUCK;
        }
        if (!t->roller.weights_only)
            mcts_rollouts_keep_others(t->rollouts, &t->actions, n_actions, t->spares);
        mcts_seen_add(&t->seen, space_state_hash(t->state));
        extend_path(t);
        return MCTS_OK;
    case MCTS_ROLLOUT_EXHAUSTED:
        space_rollback(t->state, mark);
        close_frontier(t, leaf);
        return MCTS_STUCK;
    case MCTS_ROLLOUT_BUDGET:
        return MCTS_STUCK;
    case MCTS_ROLLOUT_ERROR:
        return MCTS_ERROR;
    }
    PANIC("rollout end");
}

/* A copy of n elements of that size; malloc'd. */
static void *copy_of(const void *list, size_t n, size_t size)
{
    void *copy = base_malloc(n * size + 1);
    if (n) memcpy(copy, list, n * size);
    return copy;
}

/* What policies learn the result by; NULL: no policy learns. */
static uint16_t *values_to_learn(const struct mcts_tree *t)
{
    if (!mcts_policies_learning(t->policies)) return NULL;
    uint16_t *values = base_malloc((space_slot_count(space_of(t->state)) + 1) * sizeof values[0]);
    mcts_leaf_values(t->state, values);
    return values;
}

static double *features_to_learn(const struct mcts_features *f, const struct space_state *leaf)
{
    if (f->n == 0) return NULL;
    double *features = base_calloc(f->n, sizeof features[0]);
    f->of(f->context, leaf, features);
    return features;
}

struct mcts_leaf mcts_tree_leaf_of(const struct mcts_tree *t, const struct mcts_descent *d)
{
    return mcts_leaf_of(space_of(t->state), d->values, d->leaf_bound, &t->roller.features, d->features);
}

static void hand_out(struct mcts_tree *t, struct mcts_descent *d)
{
    t->handed_out = true;
    mcts_descent_free(d);
    *d = (struct mcts_descent){
        .number = ++t->stats.handed_out,
        .hash = space_state_hash(t->state),
        .bound = t->nodes.list[t->path[t->n_path - 1]].bound,
        .path = copy_of(t->path, t->n_path, sizeof t->path[0]),
        .n_path = t->n_path,
        .actions = copy_of(t->actions.list, t->actions.count, sizeof t->actions.list[0]),
        .n_actions = t->actions.count,
        .values = values_to_learn(t),
    };
    if (!d->values) return;
    d->leaf_bound = mcts_leaf_bound(&t->roller.branching, t->state);
    d->features = features_to_learn(&t->roller.features, t->state);
    struct mcts_leaf leaf = mcts_tree_leaf_of(t, d);
    mcts_policies_handed_out(t->policies, &leaf);
}

enum mcts_status mcts_tree_roll_out(struct mcts_tree *t, struct mcts_descent *d)
{
    enum mcts_status status = find_implementation(t);
    if (status == MCTS_OK) hand_out(t, d);
    return status;
}

/* Hands out a spare of the last rollouts. MCTS_STUCK: there is none. */
static enum mcts_status next_spare(struct mcts_tree *t, struct mcts_descent *d)
{
    t->roller.error[0] = 0;
    const struct mcts_spare *s = mcts_spares_take(t->spares, &t->roller);
    if (!s) return t->roller.error[0] ? MCTS_ERROR : MCTS_STUCK;
    mcts_tree_start_at_root(t);
    for (size_t i = 0; i < s->n_actions; i++) {
        CHECK(space_apply(t->state, s->actions[i], NULL));
        mcts_actions_push(&t->actions, s->actions[i]);
    }
    mcts_seen_add(&t->seen, s->hash);
    extend_path(t);
    hand_out(t, d);
    return MCTS_OK;
}

enum mcts_status mcts_tree_next(struct mcts_tree *t, struct mcts_descent *d)
{
    t->handed_out = false;
    t->redraws = 0;
    enum mcts_status spare = next_spare(t, d);
    if (spare != MCTS_STUCK) return spare;
    for (unsigned i = 0; i < t->descents_limit; i++) {
        if (mcts_nodes_dead(&t->nodes, 0)) return MCTS_EXHAUSTED;
        if (t->stop && t->stop(t->stop_context)) return MCTS_STUCK;
        enum mcts_status status = descend(t);
        if (status == MCTS_OK) status = mcts_tree_roll_out(t, d);
        if (status != MCTS_STUCK) return status;
    }
    return mcts_nodes_dead(&t->nodes, 0) ? MCTS_EXHAUSTED : MCTS_STUCK;
}
