/* Rows as bits: what the files of a pool's space share. The candidates on the way to the current one are a
 * stack, so that undoing is forgetting:
 *
 *     level 2   size=8, kind=LOOP   rows 1000
 *     level 1   size=8              rows 1100
 *     level 0   the root            rows 1110
 *
 * The rows are sorted by their values, so that decisions in the order of declaration leave neighbours; a
 * level knows the words of its rows. pool_rows.c makes the space, pool_space.c has states and questions,
 * pool_log.c takes decisions again, pool_names.c looks at no row. */
#ifndef THRESH_SEARCH_POOL_STATE_H
#define THRESH_SEARCH_POOL_STATE_H

#include "experiments/search/pool_space.h"

#define POOL_NO_SLOT UINT32_MAX

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
    struct space_action action; /* that led here; slot POOL_NO_SLOT: a restriction, or the root */
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

static inline const struct level *pool_top(const struct space_state *st)
{
    return &st->levels[st->depth];
}

#endif
