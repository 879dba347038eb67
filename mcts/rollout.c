/* Weighted random descents, restarts, then a bounded depth-first walk. */
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

void mcts_roller_init(struct mcts_roller *r)
{
    r->options = base_malloc(MCTS_VALUES_MAX * sizeof r->options[0]);
    r->children = base_malloc(MCTS_VALUES_MAX * sizeof r->children[0]);
    r->weights = base_malloc(MCTS_VALUES_MAX * sizeof r->weights[0]);
    r->log = space_log_new();
}

void mcts_roller_free(struct mcts_roller *r)
{
    free(r->options);
    free(r->children);
    free(r->weights);
    space_log_free(r->log);
    mcts_seen_free(&r->seen);
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

/* Repeats the leader's decision, if it is drawn and lives. */
static bool imitate(struct mcts_roller *r, struct space_state *state, uint32_t slot, double follow,
                    struct mcts_actions *actions)
{
    if (!r->leader || r->leader[slot] == MCTS_NO_VALUE || pcg32_unit(&r->rng) >= follow) return false;
    struct space_action action = {slot, r->leader[slot]};
    struct mcts_option option;
    if (!space_has_value(state, slot, action.value) ||
        !mcts_try_value(&r->logged, state, action, r->cut, &option, &r->stats.trials))
        return false;
    mcts_take(&r->logged, state, slot, &option);
    mcts_actions_push(actions, action);
    return true;
}

static enum descent_end descend(struct mcts_roller *r, struct space_state *state, uint32_t depth,
                                double follow, struct mcts_actions *actions)
{
    for (;; depth++) {
        uint32_t slot = space_next_choice(state, r->branching.order, r->branching.n_order);
        if (slot == UINT32_MAX) return mcts_seen_has(&r->seen, space_state_hash(state)) ? OLD_LEAF : NEW_LEAF;
        if (imitate(r, state, slot, follow, actions)) continue;
        uint32_t n = mcts_try_values(&r->logged, state, slot, r->cut, r->options, &r->stats.trials);
        if (n == 0) return DEAD_END;
        struct mcts_view view = rollout_view(r, state, depth, slot, n);
        if (!mcts_heuristic_rollout(r->heuristic, &view, r->weights, r->error, sizeof r->error)) return FAULT;
        uint32_t drawn = mcts_draw(&r->rng, r->weights, n);
        mcts_take(&r->logged, state, slot, &r->options[drawn]);
        mcts_actions_push(actions, r->children[drawn].action);
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
        return mcts_seen_has(&r->seen, space_state_hash(state)) ? MCTS_ROLLOUT_EXHAUSTED : MCTS_ROLLOUT_LEAF;
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

enum mcts_rollout_end mcts_rollout(struct mcts_roller *r, struct space_state *state, uint32_t depth,
                                   struct mcts_actions *actions)
{
    size_t start = actions->count;
    r->logged = r->branching;
    r->logged.log = r->log;
    double follow = 1 - 2 * (1 - r->follow) * pcg32_unit(&r->rng);
    for (unsigned i = 0; i <= r->restarts; i++, follow *= r->follow) {
        space_mark mark = space_snapshot(state);
        enum descent_end end = descend(r, state, depth, follow, actions);
        r->stats.descents++;
        if (end == NEW_LEAF) return MCTS_ROLLOUT_LEAF;
        if (end == FAULT) return MCTS_ROLLOUT_ERROR;
        r->stats.dead_ends += end == DEAD_END;
        r->stats.revisits += end == OLD_LEAF;
        bool frontier_is_end = actions->count == start;
        actions->count = start;
        if (frontier_is_end) return MCTS_ROLLOUT_EXHAUSTED;
        space_rollback(state, mark);
    }
    return backtrack(r, state, actions);
}

/* ---- the best of several ---- */

struct mcts_traits *mcts_rollout_traits(const struct mcts_roller *r, struct space_state *leaf)
{
    const struct mcts_branching *b = &r->branching;
    return mcts_traits_new(r->guess, leaf, b->bound ? b->bound(b->bound_context, leaf) : 0);
}

static double promise_of(const struct mcts_roller *r, struct space_state *leaf)
{
    struct mcts_traits *t = mcts_rollout_traits(r, leaf);
    double promise = mcts_guess_promise(r->guess, t);
    free(t);
    return promise;
}

/* Another rollout: its actions take the place of those from `start` on, whose leaf promises *kept, if its
 * leaf promises more. */
static bool draw_again(struct mcts_roller *r, struct space_state *state, uint32_t depth,
                       struct mcts_actions *actions, size_t start, double *kept)
{
    size_t first = actions->count;
    if (r->leader) r->leader = mcts_leaders_draw(r->leaders, &r->rng);
    if (mcts_rollout(r, state, depth, actions) != MCTS_ROLLOUT_LEAF) return false;
    double promise = promise_of(r, state);
    size_t n = actions->count - first;
    bool better = promise > *kept;
    if (better) {
        memmove(&actions->list[start], &actions->list[first], n * sizeof actions->list[0]);
        *kept = promise;
    }
    actions->count = better ? start + n : first;
    return true;
}

enum mcts_rollout_end mcts_rollout_best(struct mcts_roller *r, struct space_state *state, uint32_t depth,
                                        struct mcts_actions *actions)
{
    size_t start = actions->count;
    space_mark mark = space_snapshot(state);
    enum mcts_rollout_end end = mcts_rollout(r, state, depth, actions);
    if (end != MCTS_ROLLOUT_LEAF || r->draws < 2) return end;
    double kept = promise_of(r, state);
    bool more = true;
    for (unsigned i = 1; i < r->draws && more; i++) {
        space_rollback(state, mark);
        more = draw_again(r, state, depth, actions, start, &kept);
    }
    space_rollback(state, mark);
    for (size_t i = start; i < actions->count; i++)
        apply(state, actions->list[i]);
    return MCTS_ROLLOUT_LEAF;
}
