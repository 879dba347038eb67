/* Descents guided by policies, restarts, then a bounded depth-first walk. */
#include "mcts/rollout.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/arena.h"
#include "core/base/panic.h"

void mcts_actions_push(struct mcts_actions *a, struct space_action action)
{
    if (a->count == a->capacity) {
        a->capacity = a->capacity ? 2 * a->capacity : 64;
        a->list = base_realloc(a->list, a->capacity * sizeof a->list[0]);
    }
    a->list[a->count++] = action;
}

void mcts_roller_init(struct mcts_roller *r, const struct space *s)
{
    r->options = base_malloc(MCTS_VALUES_MAX * sizeof r->options[0]);
    r->children = base_malloc(MCTS_VALUES_MAX * sizeof r->children[0]);
    r->weights = base_malloc(MCTS_VALUES_MAX * sizeof r->weights[0]);
    r->tried = base_malloc(MCTS_VALUES_MAX * sizeof r->tried[0]);
    r->values = base_malloc((space_slot_count(s) + 1) * sizeof r->values[0]);
    r->log = space_log_new();
}

void mcts_roller_free(struct mcts_roller *r)
{
    free(r->options);
    free(r->children);
    free(r->weights);
    free(r->tried);
    free(r->values);
    space_log_free(r->log);
}

static void apply(struct space_state *state, struct space_action action)
{
    struct space_failure why;
    bool live = space_apply(state, action, &why);
    CHECK(live);
}

/* ---- one decision ---- */

static struct mcts_view view_of(struct mcts_roller *r, const struct space_state *state, uint32_t depth,
                                const struct mcts_child *children, uint32_t n)
{
    return (struct mcts_view){
        .node = MCTS_NO_NODE,
        .depth = depth,
        .state = state,
        .children = children,
        .n_children = n,
        .best_time = r->best_time,
        .cut = r->cut,
        .rng = &r->rng,
    };
}

static struct mcts_child child_of(struct mcts_roller *r, const struct space_state *state,
                                  struct space_action action, double bound)
{
    return (struct mcts_child){
        .node = MCTS_NO_NODE,
        .action = action,
        .bound = bound,
        .prior = r->prior ? r->prior(r->prior_context, state, action) : 1,
    };
}

/* A descent on its way. */
struct descent {
    struct mcts_roller *r;
    struct space_state *state;
    struct mcts_choice choice; /* the next one; has the restart and the luck */
    double bound;              /* of the candidate, ns: not less than that of any above it */
    struct mcts_actions *actions;
};

static bool weigh(struct descent *d, const struct mcts_child *children, uint32_t n, double *weights)
{
    struct mcts_roller *r = d->r;
    struct mcts_view view = view_of(r, d->state, d->choice.depth, children, n);
    return mcts_policies_weigh(r->policies, &view, weights, r->error, sizeof r->error);
}

static bool try_and_take(struct descent *d, struct space_action action, double *bound)
{
    struct mcts_roller *r = d->r;
    return mcts_try_and_take(&r->branching, d->state, action, r->cut, bound, &r->stats.trials);
}

static void taken(struct descent *d, struct space_action action, double bound)
{
    mcts_actions_push(d->actions, action);
    d->bound = fmax(d->bound, bound);
}

/* Takes the first live value that a policy proposes. */
static bool take_proposal(struct descent *d)
{
    struct mcts_roller *r = d->r;
    struct space_action action = {.slot = d->choice.slot};
    unsigned next = 0;
    while (!r->weights_only && mcts_policies_propose(r->policies, &d->choice, &next, &action.value)) {
        double bound;
        if (action.value >= space_universe(space_of(d->state), action.slot) ||
            !space_has_value(d->state, action.slot, action.value) || !try_and_take(d, action, &bound))
            continue;
        taken(d, action, bound);
        return true;
    }
    return false;
}

enum taking { TAKEN, ALL_DEAD, BAD_WEIGHT };

/* Tries all values, then draws one. */
static enum taking take_of_all(struct descent *d)
{
    struct mcts_roller *r = d->r;
    uint32_t slot = d->choice.slot;
    uint32_t n = mcts_try_values(&r->logged, d->state, slot, r->cut, r->options, &r->stats.trials);
    if (n == 0) return ALL_DEAD;
    for (uint32_t i = 0; i < n; i++) {
        struct space_action action = {slot, r->options[i].value};
        r->children[i] = child_of(r, d->state, action, r->options[i].bound);
    }
    if (!weigh(d, r->children, n, r->weights)) return BAD_WEIGHT;
    uint32_t drawn = mcts_draw(&r->rng, r->weights, n);
    mcts_take(&r->logged, d->state, slot, &r->options[drawn]);
    taken(d, r->children[drawn].action, r->children[drawn].bound);
    return TAKEN;
}

/* Forgets child i of n, which is dead. */
static void drop(struct mcts_roller *r, uint32_t i, uint32_t n)
{
    r->children[i] = r->children[n - 1];
    r->weights[i] = r->weights[n - 1];
    r->tried[i] = r->tried[n - 1];
}

/* Whether a child whose weight was at most `most` is taken: with a probability of weight / most. If all
 * weights are 0 each child is as good as any other. */
static bool accept(struct mcts_roller *r, double weight, double most)
{
    return weight >= most || pcg32_unit(&r->rng) * most < weight;
}

/* Draws a value, then tries it: rejection sampling. The weight of a child that was not tried is the one that
 * it would have with its parent's bound. Whatever these weights are, what is accepted in a round is drawn by
 * the true ones. */
static enum taking take_of_some(struct descent *d)
{
    struct mcts_roller *r = d->r;
    uint32_t slot = d->choice.slot, values[MCTS_VALUES_MAX];
    uint32_t n = space_values(d->state, slot, values);
    for (uint32_t i = 0; i < n; i++) {
        r->children[i] = child_of(r, d->state, (struct space_action){slot, values[i]}, d->bound);
        r->tried[i] = false;
    }
    if (!weigh(d, r->children, n, r->weights)) return BAD_WEIGHT;
    while (n > 0) {
        uint32_t i = mcts_draw(&r->rng, r->weights, n);
        struct mcts_child *child = &r->children[i];
        if (r->tried[i]) {
            apply(d->state, child->action);
            taken(d, child->action, child->bound);
            return TAKEN;
        }
        space_mark mark = space_snapshot(d->state);
        if (!try_and_take(d, child->action, &child->bound)) {
            drop(r, i, n--);
            continue;
        }
        double most = r->weights[i];
        child->bound = fmax(child->bound, d->bound);
        r->tried[i] = true;
        if (!weigh(d, child, 1, &r->weights[i])) return BAD_WEIGHT;
        if (accept(r, r->weights[i], most)) {
            taken(d, child->action, child->bound);
            return TAKEN;
        }
        space_rollback(d->state, mark);
    }
    return ALL_DEAD;
}

/* Whether the implementation was not handed out yet. */
static bool is_new(struct mcts_roller *r, const struct space_state *leaf)
{
    r->hash = space_state_hash(leaf);
    return !mcts_seen_has(r->seen, r->hash);
}

/* ---- one descent ---- */

enum descent_end { NEW_LEAF, OLD_LEAF, DEAD_END, FAULT };

static enum descent_end descend(struct descent *d)
{
    struct mcts_roller *r = d->r;
    const struct mcts_branching *b = &r->branching;
    bool some = mcts_policies_monotone(r->policies) && (!b->bound || isfinite(r->best_time));
    d->bound = some && b->bound ? b->bound(b->bound_context, d->state) : 0;
    for (;; d->choice.depth++) {
        d->choice.slot = space_next_choice(d->state, b->order, b->n_order);
        if (d->choice.slot == UINT32_MAX) return is_new(r, d->state) ? NEW_LEAF : OLD_LEAF;
        if (take_proposal(d)) continue;
        enum taking end = some ? take_of_some(d) : take_of_all(d);
        if (end != TAKEN) return end == BAD_WEIGHT ? FAULT : DEAD_END;
    }
}

/* ---- the depth-first walk ---- */

/* Live values of the branchings on the current path, one run after the other. */
struct value_stack {
    uint32_t *values;
    size_t count, capacity;
};

static void push_shuffled(struct mcts_roller *r, struct value_stack *s, uint32_t n)
{
    if (s->count + n > s->capacity) {
        s->capacity = 2 * (s->count + n);
        s->values = base_realloc(s->values, s->capacity * sizeof s->values[0]);
    }
    for (uint32_t i = 0; i < n; i++) {
        uint32_t j = pcg32_below(&r->rng, i + 1);
        s->values[s->count + i] = s->values[s->count + j];
        s->values[s->count + j] = r->options[i].value;
    }
    s->count += n;
}

static enum mcts_rollout_end walk(struct mcts_roller *r, struct space_state *state, uint64_t *budget,
                                  struct value_stack *stack, struct mcts_actions *actions)
{
    uint32_t slot = space_next_choice(state, r->branching.order, r->branching.n_order);
    if (slot == UINT32_MAX) return is_new(r, state) ? MCTS_ROLLOUT_LEAF : MCTS_ROLLOUT_EXHAUSTED;
    if (*budget == 0) return MCTS_ROLLOUT_BUDGET;
    --*budget;
    uint32_t n = mcts_try_values(&r->branching, state, slot, r->cut, r->options, &r->stats.trials);
    size_t first = stack->count;
    push_shuffled(r, stack, n);
    enum mcts_rollout_end end = MCTS_ROLLOUT_EXHAUSTED;
    for (uint32_t i = 0; i < n && end == MCTS_ROLLOUT_EXHAUSTED; i++) {
        struct space_action action = {slot, stack->values[first + i]};
        space_mark mark = space_snapshot(state);
        apply(state, action);
        mcts_actions_push(actions, action);
        end = walk(r, state, budget, stack, actions);
        if (end == MCTS_ROLLOUT_LEAF) break;
        actions->count--;
        space_rollback(state, mark);
    }
    stack->count = first;
    return end;
}

static enum mcts_rollout_end backtrack(struct mcts_roller *r, struct space_state *state,
                                       struct mcts_actions *actions)
{
    struct value_stack stack = {0};
    uint64_t budget = r->backtrack_nodes;
    r->stats.backtracks++;
    enum mcts_rollout_end end = walk(r, state, &budget, &stack, actions);
    free(stack.values);
    return end;
}

/* ---- one rollout ---- */

enum mcts_rollout_end mcts_rollout(struct mcts_roller *r, struct space_state *state, uint32_t depth,
                                   struct mcts_actions *actions)
{
    size_t start = actions->count;
    r->logged = r->branching;
    r->logged.log = r->log;
    struct mcts_choice first = {.state = state, .depth = depth, .luck = pcg32_unit(&r->rng), .rng = &r->rng};
    for (; first.restart <= r->restarts; first.restart++) {
        space_mark mark = space_snapshot(state);
        struct descent d = {r, state, first, 0, actions};
        enum descent_end end = descend(&d);
        r->stats.descents++;
        if (end == NEW_LEAF) return MCTS_ROLLOUT_LEAF;
        r->stats.dead_ends += end == DEAD_END;
        r->stats.revisits += end == OLD_LEAF;
        bool frontier_is_end = actions->count == start;
        actions->count = start;
        if (end == FAULT) return MCTS_ROLLOUT_ERROR;
        if (frontier_is_end) return MCTS_ROLLOUT_EXHAUSTED;
        space_rollback(state, mark);
    }
    return backtrack(r, state, actions);
}

/* ---- implementations ---- */

void mcts_leaf_values(const struct space_state *leaf, uint16_t *values)
{
    uint32_t n = space_slot_count(space_of(leaf));
    for (uint32_t slot = 0; slot < n; slot++)
        values[slot] = space_is_live(leaf, slot) ? (uint16_t)space_first_value(leaf, slot) : MCTS_NO_VALUE;
}

struct mcts_leaf mcts_leaf_of(const struct space *s, const uint16_t *values, double bound,
                              const struct mcts_features *f, const double *features)
{
    return (struct mcts_leaf){s, values, bound, features ? f->n : 0, features};
}

bool mcts_roller_rank(struct mcts_roller *r, const struct mcts_leaf *leaves, unsigned n, double *ranks)
{
    double thrift = 0;
    if (!mcts_policies_rank(r->policies, leaves, n, ranks, r->error, sizeof r->error)) return false;
    if (!r->features.effort || r->features.n == 0) return true;
    if (!mcts_policies_thrift(r->policies, &thrift, r->error, sizeof r->error)) return false;
    for (unsigned i = 0; thrift > 0 && i < n; i++)
        ranks[i] -= thrift * r->features.effort(leaves[i].features);
    return true;
}

double mcts_leaf_bound(const struct mcts_branching *b, const struct space_state *leaf)
{
    return b->bound ? b->bound(b->bound_context, leaf) : 0;
}
