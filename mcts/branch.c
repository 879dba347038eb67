/* Trying values and the random descent. A trial is snapshot, apply, bound, rollback. */
#include "mcts/branch.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/arena.h"
#include "core/base/diag.h"
#include "core/base/panic.h"
#include "core/base/pcg32.h"
#include "mcts/prefix.h"

void mcts_trials_add(struct mcts_trials *to, const struct mcts_trials *more)
{
    to->tried += more->tried;
    to->dead_constraint += more->dead_constraint;
    to->dead_bound += more->dead_bound;
}

void mcts_take(const struct mcts_branching *b, struct space_state *state, uint32_t slot,
               const struct mcts_option *option)
{
    if (b->log) {
        space_log_repeat(b->log, option->trial, state);
        return;
    }
    bool live = space_apply(state, (struct space_action){slot, option->value}, NULL);
    CHECK(live);
}

/* One value; what it writes since `since` is kept. */
static bool try_value(const struct mcts_branching *b, struct space_state *state, struct space_action action,
                      space_mark since, double cut, struct mcts_option *out, struct mcts_trials *trials)
{
    space_mark mark = space_snapshot(state);
    bool live = space_apply(state, action, NULL);
    trials->tried++;
    trials->dead_constraint += !live;
    *out = (struct mcts_option){.value = action.value};
    if (live && b->bound) {
        out->bound = b->bound(b->bound_context, state);
        live = out->bound < cut;
        trials->dead_bound += !live;
    }
    if (live && b->log) out->trial = (uint32_t)space_log_keep(b->log, state, since);
    space_rollback(state, mark);
    return live;
}

bool mcts_try_value(const struct mcts_branching *b, struct space_state *state, struct space_action action,
                    double cut, struct mcts_option *out, struct mcts_trials *trials)
{
    if (b->log) space_log_clear(b->log);
    return try_value(b, state, action, space_snapshot(state), cut, out, trials);
}

/* Tries a run of values and appends those that live. */
static uint32_t try_run(const struct mcts_branching *b, struct space_state *state, uint32_t slot,
                        const uint32_t *values, uint32_t n, space_mark since, double cut,
                        struct mcts_option *out, struct mcts_trials *trials)
{
    uint32_t live = 0;
    for (uint32_t i = 0; i < n; i++)
        live += try_value(b, state, (struct space_action){slot, values[i]}, since, cut, &out[live], trials);
    return live;
}

/* Restricts the choice to values[0..n-1], ascending. */
static bool keep_only(struct space_state *state, uint32_t slot, const uint32_t *values, uint32_t n)
{
    uint64_t allowed[MCTS_VALUES_MAX / 64] = {0};
    for (uint32_t i = 0; i < n; i++)
        allowed[values[i] / 64] |= UINT64_C(1) << values[i] % 64;
    return space_restrict(state, slot, allowed, values[n - 1] / 64 + 1, NULL);
}

/* The first value often stands for "none" (a tile of size 1, a plain loop, NO). What all the others have in
 * common is propagated once, before each of them is tried: decisions commute, so the outcomes are the same.
 */
uint32_t mcts_try_values(const struct mcts_branching *b, struct space_state *state, uint32_t slot, double cut,
                         struct mcts_option *out, struct mcts_trials *trials)
{
    enum { WORTH_SHARING = 4 };
    uint32_t values[MCTS_VALUES_MAX];
    uint32_t n = space_values(state, slot, values);
    space_mark mark = space_snapshot(state);
    if (b->log && !b->log_more) space_log_clear(b->log);
    if (n < WORTH_SHARING) return try_run(b, state, slot, values, n, mark, cut, out, trials);
    uint32_t live = try_run(b, state, slot, values, 1, mark, cut, out, trials);
    if (keep_only(state, slot, values + 1, n - 1)) {
        live += try_run(b, state, slot, values + 1, n - 1, mark, cut, out + live, trials);
    } else {
        trials->tried += n - 1;
        trials->dead_constraint += n - 1;
    }
    space_rollback(state, mark);
    return live;
}

struct mcts_walk mcts_descend_random(const struct mcts_branching *b, struct space_state *state, double cut,
                                     uint32_t cut_depth, struct pcg32 *rng, struct space_action *actions)
{
    struct mcts_option room[MCTS_VALUES_MAX];
    struct mcts_walk walk = {0};
    struct mcts_branching with_bound = *b, uncut = {.order = b->order, .n_order = b->n_order};
    struct mcts_place place = mcts_prefix_top(b->prefix);
    with_bound.log = uncut.log = space_log_new();
    for (;;) {
        const struct mcts_branching *here = walk.depth < cut_depth ? &with_bound : &uncut;
        const struct mcts_option *options = NULL;
        uint32_t slot, n;
        if (place.inside)
            options = mcts_prefix_options(b->prefix, &place, here, state, cut, &slot, &n, &walk.trials);
        if (!options) {
            slot = space_next_choice(state, b->order, b->n_order);
            walk.leaf = slot == UINT32_MAX;
            if (walk.leaf) break;
            n = mcts_try_values(here, state, slot, cut, room, &walk.trials);
            options = room;
        }
        if (n == 0) break;
        uint32_t k = pcg32_below(rng, n);
        if (place.inside)
            mcts_prefix_take(b->prefix, &place, k, state);
        else
            mcts_take(here, state, slot, &options[k]);
        if (actions) actions[walk.depth] = (struct space_action){slot, options[k].value};
        walk.log_leaves += log(n);
        walk.depth++;
    }
    space_log_free(uncut.log);
    return walk;
}

static bool listed(const unsigned *order, unsigned n, unsigned group)
{
    for (unsigned i = 0; i < n; i++)
        if (order[i] == group) return true;
    return false;
}

bool mcts_order_parse(const struct space *s, const char *text, unsigned *order, struct diag *d)
{
    unsigned n = 0, groups = space_group_count(s);
    char *copy = base_strdup(text ? text : ""), *rest = copy;
    bool valid = true;
    for (char *name; valid && (name = strtok_r(rest, ", ", &rest));) {
        int group = space_group_find(s, name);
        valid = group >= 0 && !listed(order, n, (unsigned)group);
        if (valid)
            order[n++] = (unsigned)group;
        else
            diag_plain(d, "order of choices: '%s' %s", name, group < 0 ? "is no choice" : "appears twice");
    }
    for (unsigned g = 0; valid && g < groups; g++)
        if (!listed(order, n, g)) order[n++] = g;
    free(copy);
    return valid;
}
