/* Descents guided by policies, restarts, then a bounded depth-first walk. */
#include "mcts/rollout.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/arena.h"
#include "core/base/panic.h"

enum descent_end { NEW_LEAF, OLD_LEAF, DEAD_END, FAULT };

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
    r->values = base_malloc((space_slot_count(s) + 1) * sizeof r->values[0]);
    r->log = space_log_new();
}

void mcts_roller_free(struct mcts_roller *r)
{
    free(r->options);
    free(r->children);
    free(r->weights);
    free(r->values);
    space_log_free(r->log);
}

static void apply(struct space_state *state, struct space_action action)
{
    struct space_failure why;
    bool live = space_apply(state, action, &why);
    CHECK(live);
}

static struct mcts_view rollout_view(struct mcts_roller *r, const struct space_state *state, uint32_t depth,
                                     uint32_t slot, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        struct space_action action = {slot, r->options[i].value};
        r->children[i] = (struct mcts_child){
            .node = MCTS_NO_NODE,
            .action = action,
            .bound = r->options[i].bound,
            .prior = r->prior ? r->prior(r->prior_context, state, action) : 1,
        };
    }
    return (struct mcts_view){
        .node = MCTS_NO_NODE,
        .depth = depth,
        .state = state,
        .children = r->children,
        .n_children = n,
        .best_time = r->best_time,
        .cut = r->cut,
        .rng = &r->rng,
    };
}

/* Takes the first live value that a policy proposes. */
static bool take_proposal(struct mcts_roller *r, struct space_state *state, const struct mcts_choice *c,
                          struct mcts_actions *actions)
{
    struct space_action action = {.slot = c->slot};
    unsigned next = 0;
    while (!r->weights_only && mcts_policies_propose(r->policies, c, &next, &action.value)) {
        if (action.value >= space_universe(space_of(state), c->slot) ||
            !space_has_value(state, c->slot, action.value) ||
            !mcts_try_and_take(&r->branching, state, action, r->cut, &r->stats.trials))
            continue;
        mcts_actions_push(actions, action);
        return true;
    }
    return false;
}

/* Takes a live value, drawn by the weights of the policies. Returns false if there is none, or after an
 * error: then *fault is set. */
static bool take_drawn(struct mcts_roller *r, struct space_state *state, uint32_t depth, uint32_t slot,
                       struct mcts_actions *actions, bool *fault)
{
    uint32_t n = mcts_try_values(&r->logged, state, slot, r->cut, r->options, &r->stats.trials);
    if (n == 0) return false;
    struct mcts_view view = rollout_view(r, state, depth, slot, n);
    *fault = !mcts_policies_weigh(r->policies, &view, r->weights, r->error, sizeof r->error);
    if (*fault) return false;
    uint32_t drawn = mcts_draw(&r->rng, r->weights, n);
    mcts_take(&r->logged, state, slot, &r->options[drawn]);
    mcts_actions_push(actions, r->children[drawn].action);
    return true;
}

/* One descent; `c` has the restart and the luck. */
static enum descent_end descend(struct mcts_roller *r, struct space_state *state, struct mcts_choice c,
                                struct mcts_actions *actions)
{
    bool fault = false;
    for (;; c.depth++) {
        c.slot = space_next_choice(state, r->branching.order, r->branching.n_order);
        if (c.slot == UINT32_MAX)
            return mcts_seen_has(r->seen, space_state_hash(state)) ? OLD_LEAF : NEW_LEAF;
        if (!take_proposal(r, state, &c, actions) && !take_drawn(r, state, c.depth, c.slot, actions, &fault))
            return fault ? FAULT : DEAD_END;
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
    if (slot == UINT32_MAX)
        return mcts_seen_has(r->seen, space_state_hash(state)) ? MCTS_ROLLOUT_EXHAUSTED : MCTS_ROLLOUT_LEAF;
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
    struct mcts_choice c = {.state = state, .depth = depth, .luck = pcg32_unit(&r->rng), .rng = &r->rng};
    for (; c.restart <= r->restarts; c.restart++) {
        space_mark mark = space_snapshot(state);
        enum descent_end end = descend(r, state, c, actions);
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

double mcts_leaf_bound(const struct mcts_branching *b, const struct space_state *leaf)
{
    return b->bound ? b->bound(b->bound_context, leaf) : 0;
}
