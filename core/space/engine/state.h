/* A state: one decision vector, the trail of what was written to it, and the queues of what is to be visited.
 *
 * This header has the layout and the reads; events.h has the writes, which notify whoever watches. */
#ifndef THRESH_SPACE_ENGINE_STATE_H
#define THRESH_SPACE_ENGINE_STATE_H

#include "core/base/attr.h"
#include "core/space/engine/rows.h"
#include "core/space/engine/vector.h"
#include "core/space/formula/shape.h"
#include "core/space/ground/square.h"

enum {
    STATE_MAX_PENDING = 8,  /* guards of an instance that are only possible */
    TRIPLE_ENTRIES = 4096,  /* a power of two */
    SQUARE_YES = UINT8_MAX, /* in the rows of live and of present objects of a square */
};

/* A direct-mapped cache of what a TRIPLE leaves of three domains. */
struct triple_entry {
    uint64_t domain[3], left[3];
    uint32_t shape; /* + 1; 0: free */
};

/* A write: the eight bytes from `offset` before it. */
struct trail_entry {
    uint64_t old;
    uint32_t offset;
};

/* What a slot is to keep, not written yet, and the last instance that says so. */
struct restriction {
    uint64_t allowed;
    uint32_t instance;
};

/* Two slots of an instance, as it numbers them, that were open when it was last looked at; equal: unknown. */
struct open_pair {
    uint32_t local[2];
};

/* A first-in first-out queue of ids, each at most once. */
struct work_queue {
    uint32_t *items; /* a ring */
    uint8_t *queued;
    uint32_t head, n, last; /* last: its size - 1, a power of two less one */
};

struct interval; /* see cells.h */

struct space_state {
    const struct space *space;
    uint8_t *vector;
    struct trail_entry *trail, *trail_top, *trail_end; /* writes, the next one, the end of the room */

    /* ---- queues, see worklist.c ---- */
    struct work_queue pairs, rows;         /* objects of squares with changed pairs; objects of squares */
    struct work_queue tabulated, formulas; /* instances with a table; others */
    struct work_queue changed_slots;       /* whose cells are to be brought up to date */
    uint64_t *changed_pairs;               /* bit b of row a: the pair (a, b), a < b, is to be revisited */
    struct work_queue restricted;          /* slots with a restriction */
    struct restriction *restrictions;      /* by slot */
    uint64_t *dirty;                       /* bits: cells to be brought up to date */
    uint32_t first_dirty;                  /* a word of them, or NONE */

    /* ---- of the propagator at work ---- */
    struct triple_entry *triples;        /* TRIPLE_ENTRIES */
    uint32_t pending[STATE_MAX_PENDING]; /* liveness slots of the instance at work that are only possible */
    uint32_t n_pending;
    int64_t *scratch;                        /* of the nodes of a shape */
    uint32_t *values;                        /* of the slots of an instance */
    uint64_t *allowed;                       /* of the same; read by justify.c */
    uint32_t failed_slot, failed_constraint; /* NONE and NONE: by the relation of failed_pair */
    uint32_t failed_pair;
    uint8_t lost[2 * ROW_MAX]; /* by two rows of a square */
    struct open_pair *open;    /* by instance, see bounds.c */
    struct interval *limits;   /* by cell, likewise; NULL before a formula with many paths is propagated */
    uint64_t justified;        /* combinations that justify.c looked at */
};

struct space_state *state_new(const struct space *s);

/* ---- reads ---- */

static inline uint64_t domain_at(const struct space_state *st, struct slot_at at)
{
    return vector_load(st->vector, at.offset) & at.mask;
}

static inline uint64_t state_word(const struct space_state *st, uint32_t slot, unsigned word)
{
    struct slot_at at = st->space->slot_at[slot];
    return vector_load(st->vector, at.offset + word * 8) & at.mask; /* several words have eight bytes each */
}

/* A domain of one word. */
static inline uint64_t domain_load(const struct space_state *st, uint32_t offset, uint8_t foreign_bits)
{
    return vector_load(st->vector, offset) & UINT64_MAX >> foreign_bits;
}

static inline bool state_live(const struct space_state *st, uint32_t slot)
{
    const struct slot_info *i = &st->space->slots[slot];
    for (unsigned k = 0; k < i->n_live; k++)
        if (st->vector[i->live_at[k]] != LIVENESS_LIVE) return false;
    return true;
}

static inline bool state_dead(const struct space_state *st, const struct slot_info *i)
{
    for (unsigned k = 0; k < SPACE_MAX_ARITY; k++)
        if (st->vector[i->live_at[k]] == LIVENESS_DEAD) return true;
    return false;
}

static inline bool square_is_live(const struct space_state *st, const struct square *sq, uint32_t object)
{
    return st->vector[sq->live + object];
}

static inline bool square_is_present(const struct space_state *st, const struct square *sq, uint32_t object)
{
    return st->vector[sq->present + object];
}

/* ---- queues ---- */

static inline void queue_add(struct work_queue *q, uint32_t id)
{
    if (q->queued[id]) return;
    q->queued[id] = 1;
    q->items[(q->head + q->n++) & q->last] = id;
}

static inline uint32_t queue_take(struct work_queue *q)
{
    uint32_t id = q->items[q->head];
    q->head = (q->head + 1) & q->last;
    q->n--;
    q->queued[id] = 0;
    return id;
}

/* ---- the trail ---- */

void state_grow_trail(struct space_state *st);

static inline space_mark trail_length(const struct space_state *st)
{
    return (space_mark)(st->trail_top - st->trail);
}

/* Writes the bytes of `mask` from an offset on; they go on the trail. Nobody is notified: that is up to the
 * caller. */
static inline void state_write(struct space_state *st, uint32_t offset, uint64_t mask, uint64_t value)
{
    uint64_t old = vector_load(st->vector, offset);
    if (st->trail_top == st->trail_end) state_grow_trail(st);
    *st->trail_top++ = (struct trail_entry){old, offset};
    vector_store(st->vector, offset, (old & ~mask) | value);
}

#endif
