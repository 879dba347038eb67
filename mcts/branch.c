/* Trying values. A trial is snapshot, apply, bound, rollback. Values with something in common are restricted
 * to that first: for 2, 4 and 8 the trial "not 1" is propagated once, and each of them starts from there. */
#include "mcts/branch.h"

#include <string.h>

#include "core/base/panic.h"

#define NONE UINT32_MAX

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
    uint32_t stay; /* the value to be tried last and, if it lives, not undone; or NONE */
    bool stayed;
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
    t->n += live;
    t->stayed = live && value == t->stay;
    if (!t->stayed) space_rollback(t->state, mark);
    return live;
}

bool mcts_try_and_take(const struct mcts_branching *b, struct space_state *state, struct space_action action,
                       double cut, double *bound, struct mcts_trials *trials)
{
    struct mcts_branching plain = *b;
    struct mcts_option option;
    plain.log = NULL;
    struct trial t = {&plain,  state, action.slot, space_snapshot(state), cut,
                      &option, 0,     trials,      action.value,          false};
    bool live = try_value(&t, action.value);
    *bound = option.bound;
    return live;
}

static void try_each(struct trial *t, const uint32_t *values, uint32_t n)
{
    bool stays = false;
    for (uint32_t i = 0; i < n; i++) {
        if (values[i] == t->stay)
            stays = true;
        else
            try_value(t, values[i]);
    }
    if (stays) try_value(t, t->stay);
}

/* Restricts the choice to some of its values, ascending. */
static bool keep_only(const struct trial *t, const uint32_t *values, uint32_t n)
{
    uint64_t allowed[MCTS_VALUES_MAX / 64];
    uint32_t words = values[n - 1] / 64 + 1;
    memset(allowed, 0, words * sizeof *allowed);
    for (uint32_t i = 0; i < n; i++)
        allowed[values[i] / 64] |= UINT64_C(1) << values[i] % 64;
    return space_restrict(t->state, t->slot, allowed, words, NULL);
}

/* Propagates what several values have in common once, then tries each of them from there. Decisions commute,
 * so the outcomes are the same. */
static void try_together(struct trial *t, const uint32_t *values, uint32_t n)
{
    if (n == 1) {
        try_value(t, values[0]);
        return;
    }
    space_mark mark = space_snapshot(t->state);
    if (keep_only(t, values, n)) {
        try_each(t, values, n);
    } else {
        t->trials->tried += n;
        t->trials->dead_constraint += n;
    }
    if (!t->stayed) space_rollback(t->state, mark);
}

/* The first value often stands for "none" (a tile of size 1, NO), the others have much in common. */
static void try_numbers(struct trial *t, const uint32_t *values, uint32_t n)
{
    enum { WORTH_SHARING = 4 };
    if (n < WORTH_SHARING) {
        try_each(t, values, n);
        return;
    }
    bool first_stays = values[0] == t->stay;
    if (!first_stays) try_value(t, values[0]);
    try_together(t, values + 1, n - 1);
    if (first_stays) try_value(t, values[0]);
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

static void try_part(struct trial *t, uint64_t part)
{
    uint32_t values[64], n = 0;
    for (; part; part &= part - 1)
        values[n++] = (uint32_t)__builtin_ctzll(part);
    try_together(t, values, n);
}

/* Values with a common alias have much in common. */
static void try_named(struct trial *t, const uint32_t *values, uint32_t n)
{
    uint64_t set = 0, last = 0;
    for (uint32_t i = 0; i < n; i++)
        set |= UINT64_C(1) << values[i];
    for (uint64_t part; set; set &= ~part) {
        part = largest_part(t, set);
        if (t->stay != NONE && part >> t->stay & 1)
            last = part;
        else
            try_part(t, part);
    }
    if (last) try_part(t, last);
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

static void try_all(struct trial *t, const uint32_t *values, uint32_t n)
{
    const struct space *s = space_of(t->state);
    if (space_alias_count(s, space_slot_group(s, t->slot)))
        try_named(t, values, n);
    else
        try_numbers(t, values, n);
    sort_options(t->out, t->n);
}

uint32_t mcts_try_values(const struct mcts_branching *b, struct space_state *state, uint32_t slot, double cut,
                         struct mcts_option *out, struct mcts_trials *trials)
{
    uint32_t values[MCTS_VALUES_MAX];
    uint32_t n = space_values(state, slot, values);
    struct trial t = {b, state, slot, space_snapshot(state), cut, out, 0, trials, NONE, false};
    if (b->log && !b->log_more) space_log_cut(b->log, 0);
    try_all(&t, values, n);
    return t.n;
}

uint32_t mcts_try_and_stay(const struct mcts_branching *b, struct space_state *state, uint32_t slot,
                           const uint32_t *values, uint32_t n, double cut, uint32_t stay,
                           struct mcts_option *out, struct mcts_trials *trials, bool *stayed)
{
    struct mcts_branching plain = *b;
    plain.log = NULL;
    struct trial t = {&plain, state, slot, space_snapshot(state), cut, out, 0, trials, stay, false};
    try_all(&t, values, n);
    *stayed = t.stayed;
    return t.n;
}
