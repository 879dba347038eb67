/* Events: who is notified of which change of a domain, when, in which order, and what may be done then. This
 * is the contract of everything that watches a slot.
 *
 * WHAT IS AN EVENT. A propagator or an action removes values of a slot through state_restrict_word() (or
 * square_lose(), for many pairs of a row of a square). The slot *loses* values; `now` are those left. If some
 * are left, everything below happens in that call, before it returns. Nothing happens if no value is lost, if
 * the slot is of a dead object, or if the write is not allowed yet (see "guards").
 *
 * WHO IS NOTIFIED, in this order:
 *
 *   1. Its watches. A watch group is all watches of a slot that one filter decides on, so that a loss asks
 *      each filter once, however many instances share it.
 *      - pair_watch: the other slot of a tabulated pair. If the loss takes its last support from a value,
 *        what the slot may keep is noted in st->restrictions[], and the slot queued.
 *      - watch: an instance. It is queued, unless a test says that it has nothing to do: a guard is dead or
 *        only possible, or what is left of a domain satisfies it.
 *   2. Its cells. The slot is queued; cells_update() later carries the change up to the formulas over many
 *      slots that read it, and queues those that may remove values.
 *   3. What is derived from it:
 *      - of a pair of a square: the pair is marked for its triangles and its relation;
 *      - of a choice that tuples are made of: the tuples are brought up to date at once, and the row of the
 *        object is queued if a partner may lose something;
 *      - of liveness: the rows of live and of present objects of every square are brought up to date, and
 *        choices shared with other objects are looked through for those without values.
 *
 * A slot that loses its last value is an event of its cells only. Its objects are not all live: if one of
 * them alone can still be dead, its liveness slot loses `live`, which is an event of that slot; if none can,
 * the state fails.
 *
 * WHEN IS WORK DONE. A notification only writes queues and restrictions (3. also writes derived bytes of the
 * vector). Propagators run from state_propagate() alone, one at a time, in the order of worklist.c. So a
 * propagator never runs inside another one, and the domains that it reads change only by its own writes.
 *
 * WHAT A NOTIFICATION MAY DO. Read the vector; add to queues; narrow restrictions. It may not remove values
 * of other slots and may not fail, the liveness of step 3 excepted. It may not rely on the order among
 * watches of one slot: the fixpoint is the same in any order, and groups are sorted by address.
 *
 * WHAT A WATCH MAY LEAVE OUT. Of a loss that cannot make its instance remove a value nobody needs to be told.
 * That is the filters' only task; a filter that says too little is found by justify_fixpoint() in debug
 * builds, which visits everything again and must find nothing.
 *
 * GUARDS. An instance is enforced when its guards (liveness slots) are all live. While some are only possible
 * it may write to slots that depend on all of those: it says what they may be once they are live. Rollback
 * undoes writes and clears the queues; watches, filters and tests are part of the space and never change.
 *
 * EXAMPLE. `require size(p) <= size(q)`, both { 1, 2, 4 }, is a tabulated pair. An action removes 1 of
 * size(p). The filter is unions[0]: what each set of values of size(p) allows size(q). All three allowed all
 * three, and { 2, 4 } allows { 2, 4 }: so the restriction of size(q) becomes { 2, 4 }, and size(q) is
 * queued. The worklist takes it, size(q) loses 1, and its watches are notified in turn; for size(p),
 * unions[1] is as before: { 2, 4 } of size(q) allow { 1, 2, 4 }. Had size(p) lost 2 alone, { 1, 4 } would
 * allow what { 1, 2, 4 } did: nobody hears of it.
 */
#ifndef THRESH_SPACE_ENGINE_EVENTS_H
#define THRESH_SPACE_ENGINE_EVENTS_H

#include "core/space/engine/state.h"

/* ---- what watches ---- */

enum watch_kind {
    WATCH_ALWAYS,
    WATCH_LIVENESS,   /* only when the object becomes live */
    WATCH_UNIONS,     /* a struct pair_watch; the filter is unions[] of the slot */
    WATCH_SUPPORTS,   /* the same for many values: a struct supports */
    WATCH_DOMINATORS, /* TRIPLE: a struct dominators */
    WATCH_FIXED       /* only when one value is left */
};

/* Watches of one slot that one filter decides on. */
struct watch_group {
    const void *filter;
    uint32_t first, n; /* in watch[], or in pair_watch[] for UNIONS and SUPPORTS */
    uint8_t how;       /* enum watch_kind */
};

enum { WATCH_TESTS = 3, PAIR_GUARDS = 2 };

/* An instance to revisit when a slot changes, unless one of these bytes of the vector, with some bits
 * flipped, has no bit of its mask: then an object is dead or waited for, or what is left of a domain
 * satisfies it. */
struct watch {
    uint32_t instance;
    uint8_t kind; /* enum shape_kind */
    uint8_t n_tests;
    uint8_t masks[WATCH_TESTS], flips[WATCH_TESTS];
    uint32_t bytes[WATCH_TESTS];
};

/* The other slot of a PAIR instance with at most two guards: what the watched slot no longer allows it is
 * taken from it, if each guard is live, or one of its objects and not dead. */
struct pair_watch {
    uint32_t instance, slot, offset;
    uint32_t guard_bytes[PAIR_GUARDS];
    uint8_t foreign_bits;  /* see domain_load() */
    bool own[PAIR_GUARDS]; /* the guard is one of the slot's objects */
};

/* Which losses of a pair choice are an event of something besides its square; [the values left]. */
struct pair_events {
    uint8_t losses[256]; /* watches: the values whose loss concerns one of them */
    bool cells[256];     /* any loss concerns cells */
};

/* ---- removing values (change.c) ---- */

BASE_MUST_USE bool state_narrow(struct space_state *st, uint32_t slot, unsigned word, uint64_t old,
                                uint64_t now);

/* Removes values of one word of a domain. false: none is left of a live choice. Does nothing to a choice of a
 * dead object, or one that does not depend on what the instance at work waits for. */
BASE_MUST_USE static inline bool state_restrict_word(struct space_state *st, uint32_t slot, unsigned word,
                                                     uint64_t allowed)
{
    uint64_t old = state_word(st, slot, word);
    return (old && !(old & ~allowed)) || state_narrow(st, slot, word, old, old & allowed);
}

/* Whether an instance can remove values: no guard is dead. Those that are only possible become st->pending.
 */
bool state_find_pending(struct space_state *st, uint32_t instance);
static inline bool state_is_enforced(struct space_state *st, uint32_t instance, const uint32_t *guard_bytes)
{
    bool live = (st->vector[guard_bytes[0]] | st->vector[guard_bytes[1]]) == LIVENESS_LIVE;
    return live || state_find_pending(st, instance);
}

/* ---- notifying ---- */

/* A pair choice that something besides its square watches has lost values. */
void state_pair_event(struct space_state *st, uint32_t slot, const struct pair_events *events, uint64_t lost,
                      uint64_t now);
/* Queues the instance unless its watch says that it has nothing to do. */
void state_queue_watch(struct space_state *st, const struct watch *w);
/* The pair (a, b) of a square, a < b, is to be revisited. */
static inline void state_queue_pair(struct space_state *st, const struct square *sq, uint32_t a, uint32_t b)
{
    st->changed_pairs[sq->changed + a * sq->words + b / 64] |= UINT64_C(1) << b % 64;
    queue_add(&st->pairs, sq->number * ROW_MAX + a);
}
/* Row `object` of a square is to be revisited; object + ROW_MAX: it became live. */
static inline void state_queue_row(struct space_state *st, uint32_t square, uint32_t object)
{
    queue_add(&st->rows, square * 2 * ROW_MAX + object);
}

/* ---- making watches (watch.c) ---- */

void watch_build(struct space *s);
/* For changes of a slot, or of any if it is NONE: liveness of its first objects, and domains that may satisfy
 * it.
 */
struct watch watch_make(const struct space *s, uint32_t instance, uint32_t slot);
/* The values of a slot of at most eight whose loss concerns a watch when `now` is left. */
uint8_t watch_losses(const struct space *s, uint32_t slot, uint64_t now);
/* Whether the loss of values can make a TRIPLE prune. */
bool watch_matters(const struct dominators *d, uint64_t lost, uint64_t now);

#endif
