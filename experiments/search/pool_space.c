/* Rows as bits. The candidates on the way to the current one are a stack, so that undoing is forgetting:
 *
 *     level 2   size=8, kind=LOOP   rows 1000
 *     level 1   size=8              rows 1100
 *     level 0   the root            rows 1110
 *
 * The rows are sorted by their values, so that decisions in the order of declaration leave neighbours; a
 * level knows the words of its rows. Cost of a question: some tens of nanoseconds for 10,000 rows. */
#include "experiments/search/pool_space.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/arena.h"
#include "core/base/hash.h"
#include "core/base/panic.h"

#define NONE UINT32_MAX

struct slot {
    uint64_t **having; /* [values] rows that have the value; NULL: none has */
    uint64_t *lacking; /* rows without the choice */
    bool settled;      /* in all rows the same */
    uint64_t division; /* a hash of how it divides the rows */
    uint32_t like;     /* the first slot that divides them alike: it decides this one */
};

struct space {
    const struct pool *pool;
    struct arena *arena;
    struct slot *slots;
    uint32_t n_slots, n_rows, words;
    uint32_t *row_of;      /* place in the sorted order -> row of the pool */
    uint16_t *values;      /* [n_slots * n_rows] by slot, then by place */
    double *bounds;        /* [n_rows] by place */
    double *least;         /* [words] of the 64 bounds */
    uint32_t *group_first; /* [groups + 1] */
};

/* A candidate. */
struct level {
    uint64_t *rows;             /* outside first..end - 1 nothing is written */
    uint32_t first, end;        /* words; equal: no row is left */
    uint32_t place;             /* of the next choice, in the order of the state: all before it are settled */
    struct space_action action; /* that led here; slot NONE: a restriction, or the root */
    double bound;               /* ns; NAN: not asked for yet */
};

struct space_state {
    const struct space *space;
    struct level *levels;
    size_t depth, room;
    uint32_t *order, n_order; /* slots that are not settled at the root */
    const struct space_part *parts;
    unsigned n_parts;
    bool ordered;
};

/* ---- the space ---- */

struct sorting {
    const struct pool *pool;
    uint32_t row;
};

static int by_values(const void *a, const void *b)
{
    const struct sorting *x = a, *y = b;
    const uint16_t *v = pool_values(x->pool, x->row), *w = pool_values(y->pool, y->row);
    for (size_t i = 0; i < x->pool->n_choices; i++)
        if (v[i] != w[i]) return v[i] < w[i] ? -1 : 1;
    return x->row < y->row ? -1 : x->row > y->row;
}

static void sort_rows(struct space *s)
{
    struct sorting *all = base_malloc(s->n_rows * sizeof *all);
    for (uint32_t i = 0; i < s->n_rows; i++)
        all[i] = (struct sorting){s->pool, i};
    qsort(all, s->n_rows, sizeof *all, by_values);
    s->row_of = arena_alloc(s->arena, s->n_rows * sizeof *s->row_of);
    for (uint32_t i = 0; i < s->n_rows; i++)
        s->row_of[i] = all[i].row;
    free(all);
}

static uint64_t *new_rows(const struct space *s)
{
    uint64_t *rows = arena_alloc(s->arena, s->words * sizeof *rows);
    memset(rows, 0, s->words * sizeof *rows);
    return rows;
}

static void make_slot(struct space *s, uint32_t slot)
{
    struct slot *x = &s->slots[slot];
    uint16_t *values = s->values + (size_t)slot * s->n_rows;
    uint32_t n = s->pool->choices[slot].n_values;
    uint16_t first = 0, *seen = base_calloc(n + 1, sizeof *seen); /* numbers by appearance, from 1 */
    x->having = arena_alloc(s->arena, n * sizeof *x->having);
    memset(x->having, 0, n * sizeof *x->having);
    x->lacking = new_rows(s);
    x->settled = true;
    for (uint32_t i = 0; i < s->n_rows; i++) {
        uint16_t v = values[i] = pool_values(s->pool, s->row_of[i])[slot];
        if (v != POOL_ABSENT && !x->having[v]) x->having[v] = new_rows(s);
        (v == POOL_ABSENT ? x->lacking : x->having[v])[i / 64] |= UINT64_C(1) << i % 64;
        x->settled = x->settled && v == values[0];
        if (v != POOL_ABSENT && !seen[v]) seen[v] = ++first;
        uint16_t part = v == POOL_ABSENT ? 0 : seen[v];
        x->division = hash_bytes(i ? x->division : HASH_START, &part, sizeof part);
    }
    free(seen);
}

static void find_likes(struct space *s)
{
    for (uint32_t slot = 0; slot < s->n_slots; slot++) {
        uint32_t like = 0;
        while (s->slots[like].division != s->slots[slot].division)
            like++;
        s->slots[slot].like = like;
    }
}

static void take_bounds(struct space *s)
{
    s->bounds = arena_alloc(s->arena, s->n_rows * sizeof *s->bounds);
    s->least = arena_alloc(s->arena, s->words * sizeof *s->least);
    for (uint32_t i = 0; i < s->n_rows; i++) {
        double bound = s->bounds[i] = s->pool->rows[s->row_of[i]].bound_ns;
        double *least = &s->least[i / 64];
        *least = i % 64 == 0 ? bound : fmin(*least, bound);
    }
}

struct space *pool_space_new(const struct pool *p)
{
    struct space *s = base_calloc(1, sizeof *s);
    *s = (struct space){.pool = p,
                        .arena = arena_new(),
                        .n_slots = (uint32_t)p->n_choices,
                        .n_rows = (uint32_t)p->n_rows,
                        .words = ((uint32_t)p->n_rows + 63) / 64};
    sort_rows(s);
    s->slots = arena_alloc(s->arena, (s->n_slots + 1) * sizeof *s->slots);
    s->values = arena_alloc(s->arena, ((size_t)s->n_slots * s->n_rows + 1) * sizeof *s->values);
    for (uint32_t slot = 0; slot < s->n_slots; slot++)
        make_slot(s, slot);
    find_likes(s);
    take_bounds(s);
    s->group_first = arena_alloc(s->arena, (p->n_groups + 1) * sizeof *s->group_first);
    for (uint32_t g = 0, slot = 0; g <= p->n_groups; g++) {
        while (slot < s->n_slots && p->choices[slot].group < g)
            slot++;
        s->group_first[g] = slot;
    }
    return s;
}

void space_free(struct space *s)
{
    if (!s) return;
    arena_free(s->arena);
    free(s);
}

/* ---- sets of rows ---- */

static const struct level *top(const struct space_state *st)
{
    return &st->levels[st->depth];
}

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
    l->action.slot = NONE;
    l->bound = NAN;
    return st;
}

void space_state_assign(struct space_state *to, const struct space_state *from)
{
    const struct level *l = top(from);
    struct level *bottom = &to->levels[0];
    uint64_t *rows = bottom->rows;
    memcpy(rows + l->first, l->rows + l->first, (l->end - l->first) * sizeof *rows);
    *bottom = *l;
    bottom->rows = rows;
    bottom->place = 0;
    bottom->action.slot = NONE;
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
    if (meets(top(st), x->lacking)) return false; /* not live */
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
    struct level *l = push(st, (struct space_action){.slot = NONE});
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
    return st->space->values[(size_t)slot * st->space->n_rows + first_place(top(st))];
}

bool space_is_live(const struct space_state *st, uint32_t slot)
{
    if (is_single(top(st))) return first_row_value(st, slot) != POOL_ABSENT;
    return !meets(top(st), st->space->slots[slot].lacking);
}

bool space_has_value(const struct space_state *st, uint32_t slot, uint32_t value)
{
    return meets(top(st), st->space->slots[slot].having[value]);
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
    if (is_single(top(st)) && v != POOL_ABSENT) return v;
    if (v != POOL_ABSENT && within(top(st), x->having[v])) return v;
    for (v = 0; v < space_universe(st->space, slot); v++)
        if (space_has_value(st, slot, v)) return v;
    return 0;
}

enum openness { SETTLED, OPEN, UNDECIDED };

/* SETTLED: the same in all rows. UNDECIDED: some rows have the choice. */
static enum openness look_at(const struct space_state *st, uint32_t slot)
{
    const struct slot *x = &st->space->slots[slot];
    const struct level *l = top(st);
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
    if (is_single(l)) return NONE;
    for (uint32_t i = l->place; i < st->n_order; i++) {
        enum openness is = look_at(st, st->order[i]);
        if (is == OPEN) return st->order[i];
        if (is == SETTLED && i == l->place) l->place++;
    }
    return NONE;
}

uint64_t space_state_hash(const struct space_state *st)
{
    const struct level *l = top(st);
    uint64_t h = hash_bytes(HASH_START, &l->first, sizeof l->first);
    return hash_finish(hash_bytes(h, l->rows + l->first, (l->end - l->first) * sizeof *l->rows));
}

/* ---- the log ---- */

/* Actions of an entry. */
struct entry {
    struct space_action *actions;
    size_t n, room;
};

struct space_log {
    struct entry *entries;
    size_t n, made;
};

struct space_log *space_log_new(void)
{
    return base_calloc(1, sizeof(struct space_log));
}

void space_log_free(struct space_log *log)
{
    if (!log) return;
    for (size_t i = 0; i < log->made; i++)
        free(log->entries[i].actions);
    free(log->entries);
    free(log);
}

size_t space_log_length(const struct space_log *log)
{
    return log->n;
}

void space_log_cut(struct space_log *log, size_t n)
{
    if (n < log->n) log->n = n;
}

/* Restrictions are left out: an action of the same choice follows them. */
size_t space_log_keep(struct space_log *log, const struct space_state *st, space_mark since)
{
    if (log->n == log->made) {
        log->entries = base_realloc(log->entries, (log->made + 1) * sizeof *log->entries);
        log->entries[log->made++] = (struct entry){0};
    }
    struct entry *e = &log->entries[log->n];
    size_t most = st->depth - since;
    if (e->room < most) {
        e->room = 2 * most;
        e->actions = base_realloc(e->actions, e->room * sizeof *e->actions);
    }
    e->n = 0;
    for (size_t i = since + 1; i <= st->depth; i++)
        if (st->levels[i].action.slot != NONE) e->actions[e->n++] = st->levels[i].action;
    return log->n++;
}

void space_log_repeat(const struct space_log *log, size_t number, struct space_state *st)
{
    const struct entry *e = &log->entries[number];
    for (size_t i = 0; i < e->n; i++) {
        bool live = space_apply(st, e->actions[i], NULL);
        CHECK(live);
    }
}

/* ---- of a pool only ---- */

const struct pool *pool_space_pool(const struct space *s)
{
    return s->pool;
}

uint32_t pool_space_row(const struct space_state *st)
{
    return st->space->row_of[first_place(top(st))];
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
