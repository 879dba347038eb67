/* States of a pool's space, and what may be asked of them; see pool_state.h. Cost of a question: some tens of
 * nanoseconds for 10,000 rows. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/arena.h"
#include "core/base/hash.h"
#include "core/base/panic.h"
#include "experiments/search/pool_state.h"

/* ---- sets of rows ---- */

static bool meets(const struct level *l, const uint64_t *set)
{
    if (!set) return false;
    for (uint32_t w = l->first; w < l->end; w++)
        if (l->rows[w] & set[w]) return true;
    return false;
}

static bool within(const struct level *l, const uint64_t *set)
{
    if (!set) return l->first == l->end;
    for (uint32_t w = l->first; w < l->end; w++)
        if (l->rows[w] & ~set[w]) return false;
    return true;
}

/* The place of the first row; there is one. */
static uint32_t first_place(const struct level *l)
{
    CHECK(l->first < l->end);
    return l->first * 64 + (uint32_t)__builtin_ctzll(l->rows[l->first]);
}

static bool is_single(const struct level *l)
{
    return l->first + 1 == l->end && !(l->rows[l->first] & (l->rows[l->first] - 1));
}

static void trim(struct level *l)
{
    while (l->first < l->end && !l->rows[l->first])
        l->first++;
    while (l->first < l->end && !l->rows[l->end - 1])
        l->end--;
}

/* ---- states ---- */

static struct level *push(struct space_state *st, struct space_action action)
{
    const struct space *s = st->space;
    if (st->depth + 1 == st->room) {
        size_t room = 2 * st->room;
        st->levels = base_realloc(st->levels, room * sizeof *st->levels);
        for (size_t i = st->room; i < room; i++)
            st->levels[i].rows = base_malloc(s->words * sizeof *st->levels[i].rows);
        st->room = room;
    }
    const struct level *from = &st->levels[st->depth];
    struct level *to = &st->levels[++st->depth];
    to->first = from->first;
    to->end = from->end;
    to->place = from->place;
    to->action = action;
    to->bound = NAN;
    return to;
}

static struct space_state *new_state(const struct space *s)
{
    enum { ROOM = 64 };
    struct space_state *st = base_calloc(1, sizeof *st);
    *st = (struct space_state){.space = s, .room = ROOM, .levels = base_calloc(ROOM, sizeof *st->levels)};
    st->order = base_malloc((s->n_slots + 1) * sizeof *st->order);
    for (size_t i = 0; i < ROOM; i++)
        st->levels[i].rows = base_malloc(s->words * sizeof *st->levels[i].rows);
    return st;
}

struct space_state *space_root(const struct space *s, struct space_failure *why)
{
    struct space_state *st = new_state(s);
    struct level *l = &st->levels[0];
    (void)why; /* a pool has a row */
    memset(l->rows, 0xff, s->words * sizeof *l->rows);
    if (s->n_rows % 64) l->rows[s->words - 1] = (UINT64_C(1) << s->n_rows % 64) - 1;
    l->end = s->words;
    l->action.slot = POOL_NO_SLOT;
    l->bound = NAN;
    return st;
}

void space_state_assign(struct space_state *to, const struct space_state *from)
{
    const struct level *l = pool_top(from);
    struct level *bottom = &to->levels[0];
    uint64_t *rows = bottom->rows;
    memcpy(rows + l->first, l->rows + l->first, (l->end - l->first) * sizeof *rows);
    *bottom = *l;
    bottom->rows = rows;
    bottom->place = 0;
    bottom->action.slot = POOL_NO_SLOT;
    to->depth = 0;
}

struct space_state *space_state_clone(const struct space_state *st)
{
    struct space_state *copy = new_state(st->space);
    space_state_assign(copy, st);
    return copy;
}

void space_state_free(struct space_state *st)
{
    if (!st) return;
    for (size_t i = 0; i < st->room; i++)
        free(st->levels[i].rows);
    free(st->levels);
    free(st->order);
    free(st);
}

const struct space *space_of(const struct space_state *st)
{
    return st->space;
}

space_mark space_snapshot(struct space_state *st)
{
    return st->depth;
}

void space_rollback(struct space_state *st, space_mark m)
{
    CHECK(m <= st->depth);
    st->depth = m;
}

bool space_apply(struct space_state *st, struct space_action a, struct space_failure *why)
{
    const struct slot *x = &st->space->slots[a.slot];
    const uint64_t *set = x->having[a.value];
    if (why) *why = (struct space_failure){.file = "", .text = "no row has it", .slot = a.slot};
    if (meets(pool_top(st), x->lacking)) return false; /* not live */
    struct level *l = push(st, a);
    const uint64_t *from = st->levels[st->depth - 1].rows;
    if (!set) l->end = l->first;
    for (uint32_t w = l->first; w < l->end; w++)
        l->rows[w] = from[w] & set[w];
    trim(l);
    return l->first < l->end;
}

bool space_restrict(struct space_state *st, uint32_t slot, const uint64_t *allowed, unsigned words,
                    struct space_failure *why)
{
    const struct slot *x = &st->space->slots[slot];
    struct level *l = push(st, (struct space_action){.slot = POOL_NO_SLOT});
    const uint64_t *from = st->levels[st->depth - 1].rows;
    if (why) *why = (struct space_failure){.file = "", .text = "no row has one of them", .slot = slot};
    for (uint32_t w = l->first; w < l->end; w++)
        l->rows[w] = from[w] & x->lacking[w];
    for (uint32_t v = 0; v < space_universe(st->space, slot) && v / 64 < words; v++)
        if (allowed[v / 64] >> v % 64 & 1 && x->having[v])
            for (uint32_t w = l->first; w < l->end; w++)
                l->rows[w] |= from[w] & x->having[v][w];
    trim(l);
    return l->first < l->end;
}

/* ---- questions ---- */

/* The value of a slot in the first row, or POOL_ABSENT. */
static uint16_t first_row_value(const struct space_state *st, uint32_t slot)
{
    return st->space->values[(size_t)slot * st->space->n_rows + first_place(pool_top(st))];
}

bool space_is_live(const struct space_state *st, uint32_t slot)
{
    if (is_single(pool_top(st))) return first_row_value(st, slot) != POOL_ABSENT;
    return !meets(pool_top(st), st->space->slots[slot].lacking);
}

bool space_has_value(const struct space_state *st, uint32_t slot, uint32_t value)
{
    return meets(pool_top(st), st->space->slots[slot].having[value]);
}

uint32_t space_values(const struct space_state *st, uint32_t slot, uint32_t *out)
{
    uint32_t n = 0;
    for (uint32_t v = 0; v < space_universe(st->space, slot); v++)
        if (space_has_value(st, slot, v)) out[n++] = v;
    return n;
}

uint32_t space_value_count(const struct space_state *st, uint32_t slot)
{
    uint32_t n = 0;
    for (uint32_t v = 0; v < space_universe(st->space, slot); v++)
        n += space_has_value(st, slot, v);
    return n;
}

uint32_t space_first_value(const struct space_state *st, uint32_t slot)
{
    const struct slot *x = &st->space->slots[slot];
    uint32_t v = first_row_value(st, slot);
    if (is_single(pool_top(st)) && v != POOL_ABSENT) return v;
    if (v != POOL_ABSENT && within(pool_top(st), x->having[v])) return v;
    for (v = 0; v < space_universe(st->space, slot); v++)
        if (space_has_value(st, slot, v)) return v;
    return 0;
}

enum openness { SETTLED, OPEN, UNDECIDED };

/* SETTLED: the same in all rows. UNDECIDED: some rows have the choice. */
static enum openness look_at(const struct space_state *st, uint32_t slot)
{
    const struct slot *x = &st->space->slots[slot];
    const struct level *l = pool_top(st);
    uint16_t v = first_row_value(st, slot);
    if (v == POOL_ABSENT) return within(l, x->lacking) ? SETTLED : UNDECIDED;
    if (within(l, x->having[v])) return SETTLED;
    return meets(l, x->lacking) ? UNDECIDED : OPEN;
}

/* ---- the next choice ---- */

/* Of slots that divide the rows alike only the first can be open. */
static void add_to_order(struct space_state *st, bool *added, uint32_t slot)
{
    const struct slot *slots = st->space->slots;
    if (slots[slot].settled || added[slots[slot].like]) return;
    added[slots[slot].like] = true;
    st->order[st->n_order++] = slot;
}

static void take_order(struct space_state *st, const struct space_part *parts, unsigned n_parts)
{
    const struct space *s = st->space;
    unsigned n = parts ? n_parts : (unsigned)s->pool->n_groups;
    bool *added = base_calloc(s->n_slots + 1, sizeof *added);
    st->n_order = 0;
    for (unsigned k = 0; k < n; k++) {
        unsigned group = parts ? parts[k].group : k;
        if (parts && parts[k].slots)
            for (uint32_t i = 0; i < parts[k].n; i++)
                add_to_order(st, added, parts[k].slots[i]);
        else
            for (uint32_t slot = s->group_first[group]; slot < s->group_first[group + 1]; slot++)
                add_to_order(st, added, slot);
    }
    free(added);
    for (size_t i = 0; i <= st->depth; i++)
        st->levels[i].place = 0;
    st->parts = parts;
    st->n_parts = n_parts;
    st->ordered = true;
}

uint32_t space_next_choice(const struct space_state *state, const struct space_part *parts, unsigned n_parts)
{
    struct space_state *st = (struct space_state *)state; /* what it remembers of the order */
    if (!st->ordered || st->parts != parts || st->n_parts != n_parts) take_order(st, parts, n_parts);
    struct level *l = &st->levels[st->depth];
    if (is_single(l)) return POOL_NO_SLOT;
    for (uint32_t i = l->place; i < st->n_order; i++) {
        enum openness is = look_at(st, st->order[i]);
        if (is == OPEN) return st->order[i];
        if (is == SETTLED && i == l->place) l->place++;
    }
    return POOL_NO_SLOT;
}

uint64_t space_state_hash(const struct space_state *st)
{
    const struct level *l = pool_top(st);
    uint64_t h = hash_bytes(HASH_START, &l->first, sizeof l->first);
    return hash_finish(hash_bytes(h, l->rows + l->first, (l->end - l->first) * sizeof *l->rows));
}

/* ---- of a pool only ---- */

const struct pool *pool_space_pool(const struct space *s)
{
    return s->pool;
}

uint32_t pool_space_row(const struct space_state *st)
{
    return st->space->row_of[first_place(pool_top(st))];
}

double pool_space_bound(void *context, const struct space_state *st)
{
    struct level *l = &((struct space_state *)st)->levels[st->depth]; /* keeps the bound */
    const struct space *s = st->space;
    (void)context;
    if (!isnan(l->bound)) return l->bound;
    l->bound = INFINITY;
    for (uint32_t w = l->first; w < l->end; w++)
        for (uint64_t rows = s->least[w] < l->bound ? l->rows[w] : 0; rows; rows &= rows - 1)
            l->bound = fmin(l->bound, s->bounds[w * 64 + (uint32_t)__builtin_ctzll(rows)]);
    return l->bound;
}
