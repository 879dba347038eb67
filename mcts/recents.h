/* What was solved for the implementations that were promised most lately (mcts/guess.h), so that learning one
 * of them goes on from there:
 *
 *     promise of a:  x = L^-1 k, 500 elements     kept
 *     learn b, c:    the factor has 502 rows
 *     learn a:       elements 500 and 501 are left to solve, instead of 502
 *
 * The oldest is forgotten first. May be used on several threads at once. */
#ifndef THRESH_MCTS_RECENTS_H
#define THRESH_MCTS_RECENTS_H

#include "mcts/factor.h"

struct recents;

/* Of keys of `key_bytes`. */
struct recents *recents_new(size_t key_bytes);
void recents_free(struct recents *r);  /* NULL is allowed */
void recents_clear(struct recents *r); /* the factor's rows are other ones */
/* Keeps n elements of that lane of x. */
void recents_keep(struct recents *r, const void *key, const factor_lanes *x, unsigned lane, size_t n);
/* Writes the elements that are kept with the key into lane 0 of x. Returns their number, 0: there are none.
 */
size_t recents_find(struct recents *r, const void *key, factor_lanes *x);

#endif
