/* Nodes live in one growing array and name each other by 32-bit numbers; the children of a node are
 * consecutive. The best times of a node are a block of a second array, made at its first recorded time.
 *
 * Invariant: a dead node never lives again (cuts only fall, handed-out leaves only grow), and `live_children`
 * of a live expanded node counts its children with cause MCTS_LIVE. */
#include "mcts/tree.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/arena.h"
#include "core/base/panic.h"

struct node {
    double bound;    /* ns */
    double time_sum; /* ns */
    uint32_t parent, first_child;
    uint32_t slot;
    uint32_t visits, times;
    uint32_t block; /* of best times; MCTS_NO_NODE: none */
    uint16_t value, n_children, live_children;
    uint8_t cause; /* enum mcts_cause */
    bool expanded;
};

struct mcts_tree {
    struct mcts_heuristic *heuristic;
    struct space_state *state;
    space_mark base; /* the root */
    unsigned *order;
    double cut_factor;
    unsigned descents_limit;
    uint32_t kept; /* best times a node */
    struct node *nodes;
    uint32_t n_nodes, node_capacity;
    double *blocks; /* n_blocks runs of `kept` */
    uint32_t n_blocks, block_capacity;
    struct mcts_roller roller;
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
    return (struct mcts_config){
        .seed = 1, .cut_factor = 1, .restarts = 16, .backtrack_nodes = 1000, .descents = 1000};
}

/* ---- nodes ---- */

static uint32_t add_nodes(struct mcts_tree *t, uint32_t n)
{
    CHECK(n < MCTS_NO_NODE - t->n_nodes);
    if (t->n_nodes + n > t->node_capacity) {
        t->node_capacity = t->n_nodes + n + t->n_nodes / 2 + 64;
        t->nodes = base_realloc(t->nodes, (size_t)t->node_capacity * sizeof t->nodes[0]);
    }
    uint32_t first = t->n_nodes;
    t->n_nodes += n;
    t->stats.nodes[MCTS_LIVE] += n;
    return first;
}

static bool is_dead(const struct mcts_tree *t, uint32_t node)
{
    return t->nodes[node].cause != MCTS_LIVE;
}

static void mark_dead(struct mcts_tree *t, uint32_t node, enum mcts_cause cause)
{
    struct node *n = &t->nodes[node];
    if (n->cause != MCTS_LIVE) return;
    n->cause = (uint8_t)cause;
    t->stats.nodes[MCTS_LIVE]--;
    t->stats.nodes[cause]++;
    for (uint32_t i = 0; i < n->n_children; i++)
        mark_dead(t, n->first_child + i, cause);
}

/* Kills a node, what is below it, and the ancestors that have no other live child. */
static void kill_node(struct mcts_tree *t, uint32_t node, enum mcts_cause cause)
{
    while (node != MCTS_NO_NODE && !is_dead(t, node)) {
        mark_dead(t, node, cause);
        node = t->nodes[node].parent;
        if (node == MCTS_NO_NODE || --t->nodes[node].live_children > 0) return;
        cause = MCTS_BACKTRACK;
    }
}

static double *best_times(const struct mcts_tree *t, const struct node *n)
{
    return n->block == MCTS_NO_NODE ? NULL : t->blocks + (size_t)n->block * t->kept;
}

static uint32_t kept_count(const struct mcts_tree *t, const struct node *n)
{
    return n->times < t->kept ? n->times : t->kept;
}

static uint32_t add_block(struct mcts_tree *t)
{
    if (t->n_blocks == t->block_capacity) {
        t->block_capacity = t->block_capacity + t->block_capacity / 2 + 64;
        t->blocks = base_realloc(t->blocks, (size_t)t->block_capacity * t->kept * sizeof t->blocks[0]);
    }
    return t->n_blocks++;
}

static void record(struct mcts_tree *t, uint32_t node, double time)
{
    struct node *n = &t->nodes[node];
    if (n->block == MCTS_NO_NODE) n->block = add_block(t);
    double *best = best_times(t, n);
    uint32_t count = kept_count(t, n), i = count < t->kept ? count : count - 1;
    n->times++;
    n->time_sum += time;
    if (count == t->kept && best[i] <= time) return;
    for (; i > 0 && best[i - 1] > time; i--)
        best[i] = best[i - 1];
    best[i] = time;
}

/* ---- creation ---- */

struct mcts_tree *mcts_tree_new(const struct space_state *root, struct mcts_heuristic *h,
                                const struct mcts_config *c)
{
    struct mcts_tree *t = base_calloc(1, sizeof *t);
    t->heuristic = h;
    t->state = space_state_clone(root);
    t->base = space_snapshot(t->state);
    t->cut_factor = c->cut_factor;
    t->descents_limit = c->descents;
    t->kept = mcts_heuristic_kept(h);
    t->children = base_malloc(MCTS_VALUES_MAX * sizeof t->children[0]);
    t->roller =
        (struct mcts_roller){.branching = c->branching, .heuristic = h, .rng = pcg32_seed(c->seed, 0)};
    t->roller.best_time = t->roller.cut = t->stats.best_time = INFINITY;
    t->roller.prior = c->prior;
    t->roller.prior_context = c->prior_context;
    t->roller.restarts = c->restarts;
    t->roller.backtrack_nodes = c->backtrack_nodes;
    mcts_roller_init(&t->roller);
    if (c->branching.order) {
        t->order = base_malloc((c->branching.n_order + 1) * sizeof t->order[0]);
        memcpy(t->order, c->branching.order, c->branching.n_order * sizeof t->order[0]);
        t->roller.branching.order = t->order;
    }
    uint32_t node = add_nodes(t, 1);
    t->nodes[node] = (struct node){.parent = MCTS_NO_NODE, .block = MCTS_NO_NODE};
    return t;
}

void mcts_tree_free(struct mcts_tree *t)
{
    if (!t) return;
    mcts_roller_free(&t->roller);
    space_state_free(t->state);
    mcts_descent_free(&t->best);
    free(t->order);
    free(t->nodes);
    free(t->blocks);
    free(t->children);
    free(t->path);
    free(t->actions.list);
    free(t);
}

void mcts_descent_free(struct mcts_descent *d)
{
    free(d->path);
    free(d->actions);
    *d = (struct mcts_descent){0};
}

/* ---- descending ---- */

/* Makes the children of a node; its candidate is in the working state. */
static void expand(struct mcts_tree *t, uint32_t node)
{
    struct mcts_roller *r = &t->roller;
    uint32_t slot = space_next_choice(t->state, r->branching.order, r->branching.n_order);
    CHECK(slot != UINT32_MAX);
    struct mcts_trials trials = {0};
    uint32_t n = mcts_try_values(&r->branching, t->state, slot, r->cut, r->options, &trials);
    t->stats.nodes[MCTS_CONSTRAINT] += trials.dead_constraint;
    t->stats.nodes[MCTS_BOUND] += trials.dead_bound;
    uint32_t first = add_nodes(t, n);
    for (uint32_t i = 0; i < n; i++)
        t->nodes[first + i] = (struct node){.bound = r->options[i].bound,
                                            .parent = node,
                                            .block = MCTS_NO_NODE,
                                            .slot = slot,
                                            .value = (uint16_t)r->options[i].value};
    struct node *parent = &t->nodes[node];
    parent->expanded = true;
    parent->first_child = first;
    parent->n_children = parent->live_children = (uint16_t)n;
    if (n == 0) kill_node(t, node, MCTS_BACKTRACK);
}

/* Kills the children that the cut has overtaken since they were made. */
static void cut_children(struct mcts_tree *t, uint32_t node)
{
    uint32_t first = t->nodes[node].first_child, n = t->nodes[node].n_children;
    for (uint32_t i = 0; i < n; i++)
        if (t->nodes[first + i].bound >= t->roller.cut) kill_node(t, first + i, MCTS_BOUND);
}

static struct mcts_child child_view(const struct mcts_tree *t, uint32_t node)
{
    const struct node *n = &t->nodes[node];
    const struct mcts_roller *r = &t->roller;
    struct space_action action = {n->slot, n->value};
    return (struct mcts_child){
        .node = node,
        .action = action,
        .bound = n->bound,
        .prior = r->prior ? r->prior(r->prior_context, action) : 1,
        .visits = n->visits,
        .times = n->times,
        .time_sum = n->time_sum,
        .best = best_times(t, n),
        .n_best = kept_count(t, n),
    };
}

static struct mcts_view node_view(struct mcts_tree *t, uint32_t node)
{
    const struct node *n = &t->nodes[node];
    uint32_t live = 0;
    for (uint32_t i = 0; i < n->n_children; i++)
        if (!is_dead(t, n->first_child + i)) t->children[live++] = child_view(t, n->first_child + i);
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
    t->nodes[node].visits++;
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

/* Goes down by the heuristic to a node that no descent had visited. MCTS_STUCK: the node it came to turned
 * out dead. */
static enum mcts_status descend(struct mcts_tree *t)
{
    start_at_root(t);
    for (;;) {
        uint32_t node = t->path[t->n_path - 1], chosen;
        if (t->nodes[node].visits == 1) return MCTS_OK;
        if (!t->nodes[node].expanded) expand(t, node);
        cut_children(t, node);
        if (is_dead(t, node)) return MCTS_STUCK;
        struct mcts_view view = node_view(t, node);
        if (!mcts_heuristic_select(t->heuristic, &view, &chosen, t->roller.error, sizeof t->roller.error))
            return MCTS_ERROR;
        take(t, &t->children[chosen]);
    }
}

/* From the frontier, the last node of the path, to a new implementation. */
static enum mcts_status roll_out(struct mcts_tree *t)
{
    uint32_t frontier = t->path[t->n_path - 1];
    bool leaf =
        space_next_choice(t->state, t->roller.branching.order, t->roller.branching.n_order) == UINT32_MAX;
    switch (mcts_rollout(&t->roller, t->state, (uint32_t)t->n_path - 1, &t->actions)) {
    case MCTS_ROLLOUT_LEAF:
        mcts_seen_add(&t->roller.seen, space_state_hash(t->state));
        if (leaf) kill_node(t, frontier, MCTS_EVALUATED);
        return MCTS_OK;
    case MCTS_ROLLOUT_EXHAUSTED:
        kill_node(t, frontier, leaf ? MCTS_EVALUATED : MCTS_BACKTRACK);
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
        .bound = t->nodes[t->path[t->n_path - 1]].bound,
        .path = copy_list(t->path, t->n_path, sizeof t->path[0]),
        .n_path = t->n_path,
        .actions = copy_list(t->actions.list, t->actions.count, sizeof t->actions.list[0]),
        .n_actions = t->actions.count,
    };
}

enum mcts_status mcts_tree_next(struct mcts_tree *t, struct mcts_descent *d)
{
    t->handed_out = false;
    for (unsigned i = 0; i < t->descents_limit; i++) {
        if (is_dead(t, 0)) return MCTS_EXHAUSTED;
        enum mcts_status status = descend(t);
        if (status == MCTS_OK) status = roll_out(t);
        if (status == MCTS_OK) hand_out(t, d);
        if (status != MCTS_STUCK) return status;
    }
    return is_dead(t, 0) ? MCTS_EXHAUSTED : MCTS_STUCK;
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

void mcts_tree_report(struct mcts_tree *t, const struct mcts_descent *d, struct mcts_outcome outcome)
{
    bool timed = outcome.kind == MCTS_TIMED && outcome.time > 0 && isfinite(outcome.time);
    if (outcome.kind == MCTS_TIMED && !timed) outcome.kind = MCTS_FAILED;
    t->reports++;
    count_outcome(&t->stats, outcome.kind);
    for (size_t i = d->n_path; i-- > 0;) {
        if (timed) record(t, d->path[i], outcome.time);
        mcts_heuristic_backpropagate(t->heuristic, d->path[i], (uint32_t)i, outcome);
    }
    if (timed && outcome.time < t->stats.best_time) new_best(t, d, outcome.time);
}

/* ---- earlier results ---- */

/* The implementation that the actions lead to, or NULL. */
static struct space_state *replay(const struct mcts_tree *t, const struct space_action *actions, size_t n)
{
    struct space_failure why;
    struct space_state *leaf = space_state_clone(t->state);
    bool live = true;
    for (size_t i = 0; i < n && live; i++)
        live = space_apply(leaf, actions[i], &why);
    if (live && space_next_choice(leaf, NULL, 0) == UINT32_MAX) return leaf;
    space_state_free(leaf);
    return NULL;
}

/* The child of an expanded node that the implementation is below; MCTS_NO_NODE: it is cut or there is none.
 */
static uint32_t child_above(const struct mcts_tree *t, uint32_t node, const struct space_state *leaf)
{
    const struct node *n = &t->nodes[node];
    for (uint32_t i = 0; i < n->n_children; i++) {
        const struct node *child = &t->nodes[n->first_child + i];
        if (space_first_value(leaf, child->slot) == child->value) return n->first_child + i;
    }
    return MCTS_NO_NODE;
}

/* Goes down above an implementation to the frontier; a descent that the heuristic has no say in. */
static void descend_above(struct mcts_tree *t, const struct space_state *leaf)
{
    start_at_root(t);
    for (;;) {
        uint32_t node = t->path[t->n_path - 1];
        bool frontier = t->nodes[node].visits == 1 || is_dead(t, node);
        if (!t->nodes[node].expanded && frontier) return;
        if (!t->nodes[node].expanded) expand(t, node);
        uint32_t child = child_above(t, node, leaf);
        if (child == MCTS_NO_NODE) return;
        struct mcts_child view = child_view(t, child);
        take(t, &view);
    }
}

bool mcts_tree_import(struct mcts_tree *t, const struct space_action *actions, size_t n,
                      struct mcts_outcome outcome)
{
    t->handed_out = false;
    space_rollback(t->state, t->base);
    t->base = space_snapshot(t->state);
    struct space_state *leaf = replay(t, actions, n);
    if (!leaf) return false;
    struct mcts_descent d = {0};
    descend_above(t, leaf);
    t->actions.count = 0;
    for (size_t i = 0; i < n; i++)
        mcts_actions_push(&t->actions, actions[i]);
    hand_out(t, &d);
    t->handed_out = false;
    d.hash = space_state_hash(leaf);
    mcts_seen_add(&t->roller.seen, d.hash);
    mcts_tree_report(t, &d, outcome);
    mcts_descent_free(&d);
    space_state_free(leaf);
    return true;
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
    s.bytes = t->node_capacity * sizeof t->nodes[0] +
              (size_t)t->block_capacity * t->kept * sizeof t->blocks[0] +
              t->roller.seen.capacity * sizeof t->roller.seen.slots[0];
    return s;
}

uint32_t mcts_tree_size(const struct mcts_tree *t)
{
    return t->n_nodes;
}

struct mcts_node_info mcts_tree_node(const struct mcts_tree *t, uint32_t node)
{
    CHECK(node < t->n_nodes);
    const struct node *n = &t->nodes[node];
    return (struct mcts_node_info){
        .parent = n->parent,
        .action = {n->slot, n->value},
        .bound = n->bound,
        .visits = n->visits,
        .times = n->times,
        .best_time = n->times ? best_times(t, n)[0] : INFINITY,
        .cause = (enum mcts_cause)n->cause,
        .first_child = n->first_child,
        .n_children = n->n_children,
    };
}
