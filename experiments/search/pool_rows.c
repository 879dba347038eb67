/* A space of the rows of a pool: sorted, with the rows of each value as bits; see pool_state.h. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/arena.h"
#include "core/base/hash.h"
#include "experiments/search/pool_state.h"

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
