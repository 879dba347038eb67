/* Descents and results. A descent goes down by the heuristic to a node that
 * none had visited, and rolls out from there; or, for a share of those that imitate a leader, rolls out from
 * the root. Either way the path then goes on over the expanded nodes above the leaf, so that each
 * implementation counts in all of them. */
#include "mcts/tree.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/arena.h"
#include "core/base/panic.h"
#include "mcts/nodes.h"
#include "mcts/order.h"

enum { GUESS_CAPACITY = 1024 };

struct mcts_tree {
    struct mcts_heuristic *heuristic;
    struct space_state *state, *replayed;
    space_mark base, replay_base; /* their root */
    struct mcts_order order;      /* a copy */
    double cut_factor;
    unsigned descents_limit;
    struct mcts_nodes nodes;
    struct mcts_roller roller;
    struct mcts_leaders leaders;
    double imitate, jump;
    mcts_cut_function on_cut; /* may be NULL */
    void *cut_context;
    bool (*stop)(void *context); /* may be NULL */
    void *stop_context;
    struct mcts_child *children; /* scratch */
    uint32_t *path;              /* scratch: the current path */
    size_t n_path, path_capacity;
    struct mcts_actions actions; /* scratch */
    struct mcts_descent best;
    struct mcts_stats stats;
    uint64_t reports, depth_sum;
    bool handed_out;
};

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
    return (struct mcts_config){.seed = 1,
                                .cut_factor = 1,
                                .restarts = 16,
                                .backtrack_nodes = 1000,
                                .descents = 1000,
                                .draws = 8,
                                .leaders = 8,
                                .imitate = 0.7,
                                .jump = 0.5,
                                .follow = 0.9};
}

/* ---- creation ---- */

struct mcts_tree *mcts_tree_new(const struct space_state *root, struct mcts_heuristic *h,
                                const struct mcts_config *c)
{
    struct mcts_tree *t = base_calloc(1, sizeof *t);
    t->heuristic = h;
    t->state = space_state_clone(root);
    t->base = space_snapshot(t->state);
    t->replayed = space_state_clone(root);
    t->replay_base = space_snapshot(t->replayed);
    t->cut_factor = c->cut_factor;
    t->descents_limit = c->descents;
    mcts_nodes_init(&t->nodes, mcts_heuristic_kept(h));
    t->children = base_malloc(MCTS_VALUES_MAX * sizeof t->children[0]);
    t->roller =
        (struct mcts_roller){.branching = c->branching, .heuristic = h, .rng = pcg32_seed(c->seed, 0)};
    t->roller.best_time = t->roller.cut = t->stats.best_time = INFINITY;
    t->roller.prior = c->prior;
    t->roller.prior_context = c->prior_context;
    t->roller.restarts = c->restarts;
    t->roller.backtrack_nodes = c->backtrack_nodes;
    t->roller.follow = c->follow;
    t->roller.draws = mcts_heuristic_default_rollouts(h) ? c->draws : 1;
    if (t->roller.draws > 1) t->roller.guess = mcts_guess_new(space_of(root), GUESS_CAPACITY);
    t->roller.leaders = &t->leaders;
    t->imitate = mcts_heuristic_default_rollouts(h) ? c->imitate : 0;
    t->jump = c->jump;
    t->on_cut = c->on_cut;
    t->cut_context = c->cut_context;
    t->stop = c->stop;
    t->stop_context = c->stop_context;
    t->leaders.capacity = t->imitate > 0 ? c->leaders : 0;
    mcts_roller_init(&t->roller);
    if (c->branching.order) {
        t->order = mcts_order_copy(c->branching.order, c->branching.n_order);
        t->roller.branching.order = t->order.parts;
    }
    return t;
}

void mcts_tree_free(struct mcts_tree *t)
{
    if (!t) return;
    mcts_guess_free(t->roller.guess);
    mcts_roller_free(&t->roller);
    space_state_free(t->state);
    space_state_free(t->replayed);
    mcts_leaders_free(&t->leaders);
    mcts_descent_free(&t->best);
    mcts_order_free(&t->order);
    mcts_nodes_free(&t->nodes);
    free(t->children);
    free(t->path);
    free(t->actions.list);
    free(t);
}

void mcts_descent_free(struct mcts_descent *d)
{
    free(d->path);
    free(d->actions);
    free(d->traits);
    *d = (struct mcts_descent){0};
}

/* ---- descending ---- */

/* The candidate of a child of the one in the working state, or of one in another. */
static void enter_candidate(struct space_state *state, const struct mcts_node *n)
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
    enter_candidate(t->state, &t->nodes.list[node]);
    t->on_cut(t->cut_context, t, node, t->state);
    space_rollback(t->state, mark);
}

/* Kills the children that the cut has overtaken. The candidate of the node is in the working state. */
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

/* The node has children, and those that the cut reaches are dead. */
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

static void enter(struct mcts_tree *t, uint32_t node)
{
    if (t->n_path == t->path_capacity) {
        t->path_capacity = t->path_capacity ? 2 * t->path_capacity : 64;
        t->path = base_realloc(t->path, t->path_capacity * sizeof t->path[0]);
    }
    t->path[t->n_path++] = node;
    t->nodes.list[node].visits++;
}

static void take(struct mcts_tree *t, const struct mcts_child *child)
{
    struct space_failure why;
    bool live = space_apply(t->state, child->action, &why);
    CHECK(live);
    mcts_actions_push(&t->actions, child->action);
    enter(t, child->node);
}

/* Working state and path at the root, which is visited. */
static void start_at_root(struct mcts_tree *t)
{
    space_rollback(t->state, t->base);
    t->base = space_snapshot(t->state);
    t->n_path = t->actions.count = 0;
    t->stats.descents++;
    enter(t, 0);
}

/* Draws whom the next rollout imitates, if anybody. */
static void draw_leader(struct mcts_tree *t)
{
    t->roller.leader = NULL;
    if (t->leaders.count > 0 && pcg32_unit(&t->roller.rng) < t->imitate)
        t->roller.leader = mcts_leaders_draw(&t->leaders, &t->roller.rng);
}

/* Goes down by the heuristic to a node that no descent had visited. MCTS_STUCK: the node it came to turned
 * out dead. */
static enum mcts_status descend(struct mcts_tree *t)
{
    start_at_root(t);
    draw_leader(t);
    if (t->roller.leader && pcg32_unit(&t->roller.rng) < t->jump) return MCTS_OK;
    for (;;) {
        uint32_t node = t->path[t->n_path - 1], chosen;
        if (t->nodes.list[node].visits == 1) return MCTS_OK;
        open_children(t, node);
        if (mcts_nodes_dead(&t->nodes, node)) return MCTS_STUCK;
        struct mcts_view view = node_view(t, node);
        if (!mcts_heuristic_select(t->heuristic, &view, &chosen, t->roller.error, sizeof t->roller.error))
            return MCTS_ERROR;
        take(t, &t->children[chosen]);
    }
}

/* The child of an expanded node that the implementation is below; MCTS_NO_NODE: there is none. */
static uint32_t child_above(const struct mcts_tree *t, uint32_t node, const struct space_state *leaf)
{
    const struct mcts_node *n = &t->nodes.list[node];
    for (uint32_t i = 0; i < n->n_children; i++) {
        const struct mcts_node *child = &t->nodes.list[n->first_child + i];
        if (space_first_value(leaf, child->slot) == child->value) return n->first_child + i;
    }
    return MCTS_NO_NODE;
}

/* Extends the path over the expanded nodes above the leaf that a rollout came to; a leaf in the tree is
 * closed. */
static void extend_path(struct mcts_tree *t)
{
    uint32_t node = t->path[t->n_path - 1];
    while (t->nodes.list[node].expanded && (node = child_above(t, node, t->state)) != MCTS_NO_NODE &&
           !mcts_nodes_dead(&t->nodes, node))
        enter(t, node);
    if (t->n_path == t->actions.count + 1) mcts_nodes_close(&t->nodes, t->path[t->n_path - 1]);
}

/* Nothing new is below the frontier. Its children say which part of that the bound cut; what is below a cut
 * stays as it is. */
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

/* From the frontier, the last node of the path, to a new implementation. */
static enum mcts_status roll_out(struct mcts_tree *t)
{
    bool leaf =
        space_next_choice(t->state, t->roller.branching.order, t->roller.branching.n_order) == UINT32_MAX;
    space_mark mark = space_snapshot(t->state);
    switch (mcts_rollout_best(&t->roller, t->state, (uint32_t)t->n_path - 1, &t->actions)) {
    case MCTS_ROLLOUT_LEAF:
        mcts_seen_add(&t->roller.seen, space_state_hash(t->state));
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

static void *copy_list(const void *list, size_t n, size_t size)
{
    void *copy = base_malloc(n * size + 1);
    if (n) memcpy(copy, list, n * size);
    return copy;
}

static void hand_out(struct mcts_tree *t, struct mcts_descent *d)
{
    t->handed_out = true;
    t->depth_sum += t->actions.count;
    mcts_descent_free(d);
    *d = (struct mcts_descent){
        .number = ++t->stats.handed_out,
        .hash = space_state_hash(t->state),
        .bound = t->nodes.list[t->path[t->n_path - 1]].bound,
        .path = copy_list(t->path, t->n_path, sizeof t->path[0]),
        .n_path = t->n_path,
        .actions = copy_list(t->actions.list, t->actions.count, sizeof t->actions.list[0]),
        .n_actions = t->actions.count,
        .traits = t->roller.guess ? mcts_rollout_traits(&t->roller, t->state) : NULL,
    };
}

enum mcts_status mcts_tree_next(struct mcts_tree *t, struct mcts_descent *d)
{
    t->handed_out = false;
    for (unsigned i = 0; i < t->descents_limit; i++) {
        if (mcts_nodes_dead(&t->nodes, 0)) return MCTS_EXHAUSTED;
        if (t->stop && t->stop(t->stop_context)) return MCTS_STUCK;
        enum mcts_status status = descend(t);
        if (status == MCTS_OK) status = roll_out(t);
        if (status == MCTS_OK) hand_out(t, d);
        if (status != MCTS_STUCK) return status;
    }
    return mcts_nodes_dead(&t->nodes, 0) ? MCTS_EXHAUSTED : MCTS_STUCK;
}

/* Leads the replayed state to its root. */
static void rewind_replayed(struct mcts_tree *t)
{
    space_rollback(t->replayed, t->replay_base);
    t->replay_base = space_snapshot(t->replayed);
}

/* ---- when the bound is in doubt ---- */

/* A node that the bound has cut, in a subtree that it has not; MCTS_NO_NODE: there is none. */
static uint32_t draw_cut(struct mcts_tree *t)
{
    uint32_t drawn = MCTS_NO_NODE, n = 0;
    for (uint32_t i = 1; i < t->nodes.count; i++) {
        bool is_cut = t->nodes.list[i].cause == MCTS_BOUND;
        if (!is_cut || t->nodes.list[t->nodes.list[i].parent].cause == MCTS_BOUND) continue;
        if (pcg32_below(&t->roller.rng, ++n) == 0) drawn = i;
    }
    return drawn;
}

/* Path and working state at a node. */
static void descend_to(struct mcts_tree *t, uint32_t node)
{
    if (t->nodes.list[node].parent == MCTS_NO_NODE) {
        start_at_root(t);
        return;
    }
    descend_to(t, t->nodes.list[node].parent);
    struct mcts_child view = {.node = node, .action = {t->nodes.list[node].slot, t->nodes.list[node].value}};
    take(t, &view);
}

enum mcts_status mcts_tree_next_below_cut(struct mcts_tree *t, struct mcts_descent *d)
{
    uint32_t node = draw_cut(t);
    double kept = t->roller.cut;
    unsigned draws = t->roller.draws;
    t->handed_out = false;
    if (node == MCTS_NO_NODE) return MCTS_STUCK;
    descend_to(t, node);
    t->roller.leader = NULL;
    t->roller.cut = INFINITY;
    t->roller.draws = 1;
    enum mcts_status status = roll_out(t);
    t->roller.cut = kept;
    t->roller.draws = draws;
    if (status == MCTS_OK) hand_out(t, d);
    return status;
}

/* Takes the bounds below a node; its candidate is in the replayed state. */
static uint32_t take_bounds_below(struct mcts_tree *t, uint32_t node)
{
    const struct mcts_branching *b = &t->roller.branching;
    uint32_t first = t->nodes.list[node].first_child, n = t->nodes.list[node].n_children, opened = 0;
    for (uint32_t i = first; i < first + n; i++) {
        space_mark mark = space_snapshot(t->replayed);
        enter_candidate(t->replayed, &t->nodes.list[i]);
        if (b->bound) t->nodes.list[i].bound = b->bound(b->bound_context, t->replayed);
        opened += take_bounds_below(t, i);
        space_rollback(t->replayed, mark);
    }
    return opened + mcts_nodes_reopen(&t->nodes, node, t->roller.cut);
}

uint32_t mcts_tree_take_bounds(struct mcts_tree *t)
{
    rewind_replayed(t);
    return take_bounds_below(t, 0);
}

/* ---- results ---- */

void mcts_tree_known_time(struct mcts_tree *t, double time)
{
    if (!(time > 0) || time >= t->roller.best_time) return;
    t->roller.best_time = time;
    t->roller.cut = fmin(t->roller.cut, time * t->cut_factor);
}

static void new_best(struct mcts_tree *t, const struct mcts_descent *d, double time)
{
    mcts_tree_known_time(t, time);
    t->stats.best_time = time;
    t->stats.best_at = t->reports;
    mcts_descent_free(&t->best);
    t->best = *d;
    t->best.traits = NULL;
    t->best.path = copy_list(d->path, d->n_path, sizeof d->path[0]);
    t->best.actions = copy_list(d->actions, d->n_actions, sizeof d->actions[0]);
}

static void count_outcome(struct mcts_stats *s, enum mcts_outcome_kind kind)
{
    switch (kind) {
    case MCTS_TIMED:
        s->timed++;
        break;
    case MCTS_FAILED:
        s->failed++;
        break;
    case MCTS_CUT:
        s->cut++;
        break;
    case MCTS_DUPLICATE:
        s->duplicates++;
        break;
    }
}

/* Lets an implementation lead rollouts. */
static void lead(struct mcts_tree *t, const struct mcts_descent *d, double time)
{
    rewind_replayed(t);
    for (size_t i = 0; i < d->n_actions; i++) {
        bool live = space_apply(t->replayed, d->actions[i], NULL);
        CHECK(live);
    }
    mcts_leaders_add(&t->leaders, t->replayed, time);
}

void mcts_tree_report(struct mcts_tree *t, const struct mcts_descent *d, struct mcts_outcome outcome)
{
    bool timed = outcome.kind == MCTS_TIMED && outcome.time > 0 && isfinite(outcome.time);
    if (outcome.kind == MCTS_TIMED && !timed) outcome.kind = MCTS_FAILED;
    t->reports++;
    count_outcome(&t->stats, outcome.kind);
    for (size_t i = d->n_path; i-- > 0;) {
        if (timed) mcts_nodes_record(&t->nodes, d->path[i], outcome.time);
        mcts_heuristic_backpropagate(t->heuristic, d->path[i], (uint32_t)i, outcome);
    }
    if (d->traits && (timed || outcome.kind == MCTS_CUT))
        mcts_guess_learn(t->roller.guess, d->traits, timed ? outcome.time : INFINITY);
    if (timed && outcome.time < t->stats.best_time) new_best(t, d, outcome.time);
    if (timed && mcts_leaders_wants(&t->leaders, outcome.time)) lead(t, d, outcome.time);
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

double mcts_tree_best_time(const struct mcts_tree *t)
{
    return t->roller.best_time;
}

double mcts_tree_cut(const struct mcts_tree *t)
{
    return t->roller.cut;
}

const struct mcts_descent *mcts_tree_best(const struct mcts_tree *t)
{
    return isfinite(t->stats.best_time) ? &t->best : NULL;
}

struct mcts_stats mcts_tree_stats(const struct mcts_tree *t)
{
    struct mcts_stats s = t->stats;
    s.rollouts = t->roller.stats;
    if (s.rollouts.descents) s.dead_end_ratio = (double)s.rollouts.dead_ends / (double)s.rollouts.descents;
    if (s.handed_out) s.mean_depth = (double)t->depth_sum / (double)s.handed_out;
    memcpy(s.nodes, t->nodes.by_cause, sizeof s.nodes);
    s.bytes = mcts_nodes_bytes(&t->nodes) + t->roller.seen.capacity * sizeof t->roller.seen.slots[0];
    if (t->roller.guess) s.bytes += mcts_guess_bytes(t->roller.guess);
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
