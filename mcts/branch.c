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

/* Values of a choice being tried, with what lives so far. */
struct trial {
    const struct mcts_branching *b;
    struct space_state *state;
    uint32_t slot;
    space_mark since; /* what is written from here on is kept */
    double cut;
    struct mcts_option *out;
    uint32_t n;
    struct mcts_trials *trials;
};

static bool try_value(struct trial *t, uint32_t value)
{
    const struct mcts_branching *b = t->b;
    struct mcts_option *out = &t->out[t->n];
    space_mark mark = space_snapshot(t->state);
    bool live = space_apply(t->state, (struct space_action){t->slot, value}, NULL);
    t->trials->tried++;
    t->trials->dead_constraint += !live;
    *out = (struct mcts_option){.value = value};
    if (live && b->bound) {
        out->bound = b->bound(b->bound_context, t->state);
        live = out->bound < t->cut;
        t->trials->dead_bound += !live;
    }
    if (live && b->log) out->trial = (uint32_t)space_log_keep(b->log, t->state, t->since);
    space_rollback(t->state, mark);
    t->n += live;
    return live;
}

bool mcts_try_value(const struct mcts_branching *b, struct space_state *state, struct space_action action,
                    double cut, struct mcts_option *out, struct mcts_trials *trials)
{
    if (b->log) space_log_clear(b->log);
    struct trial t = {b, state, action.slot, space_snapshot(state), cut, out, 0, trials};
    return try_value(&t, action.value);
}

/* Decides for one of some values together, by ascending value. */
static bool keep_only(const struct trial *t, const uint32_t *values, uint32_t n)
{
    uint64_t allowed[MCTS_VALUES_MAX / 64] = {0};
    for (uint32_t i = 0; i < n; i++)
        allowed[values[i] / 64] |= UINT64_C(1) << values[i] % 64;
    return space_restrict(t->state, t->slot, allowed, values[n - 1] / 64 + 1, NULL);
}

static void count_dead(struct trial *t, uint32_t n)
{
    t->trials->tried += n;
    t->trials->dead_constraint += n;
}

/* The first value often stands for "none" (a tile of size 1, NO). */
static void try_numbers(struct trial *t, const uint32_t *values, uint32_t n)
{
    enum { WORTH_SHARING = 4 };
    uint32_t alone = n < WORTH_SHARING ? n : 1;
    for (uint32_t i = 0; i < alone; i++)
        try_value(t, values[i]);
    if (alone == n) return;
    space_mark mark = space_snapshot(t->state);
    if (!keep_only(t, values + alone, n - alone))
        count_dead(t, n - alone);
    else
        for (uint32_t i = alone; i < n; i++)
            try_value(t, values[i]);
    space_rollback(t->state, mark);
}

/* The largest part of a set that has its least value and an alias, but is not all of it; else that value. */
static uint64_t largest_part(const struct trial *t, uint64_t set)
{
    const struct space *s = space_of(t->state);
    unsigned group = space_slot_group(s, t->slot);
    uint64_t part = set & -set;
    for (unsigned k = 0; k < space_alias_count(s, group); k++) {
        uint64_t named = space_alias(s, group, k) & set;
        bool larger = __builtin_popcountll(named) > __builtin_popcountll(part);
        if (larger && named & set & -set && named != set) part = named;
    }
    return part;
}

static void try_set(struct trial *t, uint64_t set)
{
    for (; set; set &= set - 1)
        try_value(t, (uint32_t)__builtin_ctzll(set));
}

/* Values with a common alias have much in common. */
static void try_named(struct trial *t, uint64_t set)
{
    for (uint64_t part; set; set &= ~part) {
        part = largest_part(t, set);
        space_mark mark = space_snapshot(t->state);
        bool single = !(part & (part - 1));
        if (single || space_restrict(t->state, t->slot, &part, 1, NULL))
            try_set(t, part);
        else
            count_dead(t, (uint32_t)__builtin_popcountll(part));
        space_rollback(t->state, mark);
    }
}

static void sort_options(struct mcts_option *options, uint32_t n)
{
    for (uint32_t i = 1; i < n; i++) {
        struct mcts_option x = options[i];
        uint32_t k = i;
        for (; k > 0 && options[k - 1].value > x.value; k--)
            options[k] = options[k - 1];
        options[k] = x;
    }
}

/* What several values have in common is propagated once, before each of them is tried: decisions commute, so
 * the outcomes are the same. */
uint32_t mcts_try_values(const struct mcts_branching *b, struct space_state *state, uint32_t slot, double cut,
                         struct mcts_option *out, struct mcts_trials *trials)
{
    uint32_t values[MCTS_VALUES_MAX];
    uint32_t n = space_values(state, slot, values);
    struct trial t = {b, state, slot, space_snapshot(state), cut, out, 0, trials};
    const struct space *s = space_of(state);
    if (b->log && !b->log_more) space_log_clear(b->log);
    if (space_alias_count(s, space_slot_group(s, slot)) == 0) {
        try_numbers(&t, values, n);
        return t.n;
    }
    uint64_t set = 0;
    for (uint32_t i = 0; i < n; i++)
        set |= UINT64_C(1) << values[i];
    try_named(&t, set);
    sort_options(out, t.n);
    return t.n;
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
