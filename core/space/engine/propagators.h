/* The propagators, and the worklist that runs them. Each visits one constraint, or one row of many, and
 * removes values through events.h; false: there is no solution.
 *
 *     table.c      constraints over at most three small choices: look-ups, arc consistency
 *     bounds.c     formulas over many choices: intervals (their upward half is cells.c)
 *     square.c     constraints over three objects of a set: rows of a pair choice
 *     relation.c   all constraints of a pair choice and the enum choices of its two objects
 *
 * Every propagator is monotone: from smaller domains it removes at least as much. So the fixpoint does not
 * depend on the order of work. It reads the domains as they are when it is visited, and is exact once all its
 * slots are fixed. The README says how to add one. */
#ifndef THRESH_SPACE_ENGINE_PROPAGATORS_H
#define THRESH_SPACE_ENGINE_PROPAGATORS_H

#include "core/space/engine/events.h"

/* ---- worklist.c ---- */

/* Visits what is queued until nothing is. After a failure the queues are empty. */
BASE_MUST_USE bool state_propagate(struct space_state *st);
void state_queue_all(struct space_state *st); /* everything that could remove a value */
void state_clear_queues(struct space_state *st);
/* failure.c: what the last failure was. */
void state_failure(const struct space_state *st, struct space_failure *why);

/* ---- table.c: instances with a table ---- */

void tables_build(struct space *s); /* after the layout */
BASE_MUST_USE bool table_propagate(struct space_state *st, uint32_t instance);
bool table_is_consistent(const struct space_state *st, uint32_t instance); /* PAIR: a visit removes nothing */
bool table_entails(const struct space_state *st, uint32_t instance);       /* allows all that is left */

/* ---- bounds.c: instances without one ---- */

BASE_MUST_USE bool bounds_propagate(struct space_state *st, uint32_t instance);

/* ---- square.c: triangles of a pair choice, liveness of its objects ---- */

void square_lay_out(struct space *s, struct square *sq, uint32_t *offset);
void squares_link(struct space *s);                                /* after watches and cells */
void square_fill(struct space_state *st, const struct square *sq); /* what follows from full domains */
void square_set_liveness(struct space_state *st, const struct square *sq, uint32_t object, uint8_t liveness);
/* The changed pairs of an object with those of higher numbers. */
BASE_MUST_USE bool square_propagate_pairs(struct space_state *st, uint32_t square, uint32_t object);
BASE_MUST_USE bool square_propagate_row(struct space_state *st, uint32_t square, uint32_t object);
/* Removes values of row a from column `from` on, a multiple of ROW_ALIGN: those of the pair (a, from + i) are
 * lost[i]. */
BASE_MUST_USE bool square_lose(struct space_state *st, const struct square *sq, uint32_t a, uint32_t from,
                               const uint8_t *lost);
/* The first live pair with two or more values left, as a slot, or NONE. */
uint32_t square_first_open(const struct space_state *st, const struct square *sq);

/* ---- relation.c: constraints of a pair choice and the enum choices of its two objects ---- */

void relation_find(struct space *s, struct square *sq); /* marks instances as related; before the layout */
void relation_lay_out(struct square *sq, uint32_t *offset);
void relation_fill(struct space_state *st, const struct square *sq); /* the tuples of full domains */
/* Removes tuples of an object of which a choice has lost values, and queues its row if that matters. */
void relation_update(struct space_state *st, uint32_t square, uint32_t object, uint32_t choice, uint64_t now);
BASE_MUST_USE bool relation_propagate_row(struct space_state *st, const struct square *sq, uint32_t a);
BASE_MUST_USE bool relation_propagate_pair(struct space_state *st, const struct square *sq, uint32_t a,
                                           uint32_t b);
/* Bit m % 32: the values of mask m of the pair (a, b) exclude no tuples of its objects that all values allow.
 */
uint32_t relation_permissive_masks(const struct square *sq, uint32_t a, uint32_t b);

#endif
