/* A pool as a space: the functions of core/space/space.h, implemented over the rows of a pool, so that the
 * search tree runs on it unchanged. A program links this file in place of core/space.
 *
 *     rows   size=8 kind=LOOP      root            size in {8, 16}
 *            size=8 kind=VECTOR    size=8          kind in {LOOP, VECTOR}
 *            size=16               size=16         a leaf: kind is of a dead object
 *
 * A candidate is the set of rows that agree with its decisions, as bits; a value is live if one of them has
 * it. So propagation is complete, and nothing leaves the pool. A choice that all of them have is live; one
 * that none has is dead. A space of rows that cannot be told apart by live choices hands out the first. */
#ifndef THRESH_SEARCH_POOL_SPACE_H
#define THRESH_SEARCH_POOL_SPACE_H

#include "core/space/space.h"
#include "experiments/search/pool.h"

/* Borrows the pool. space_free() releases it. */
struct space *pool_space_new(const struct pool *p);
const struct pool *pool_space_pool(const struct space *s);
/* The first row that agrees with the decisions. */
uint32_t pool_space_row(const struct space_state *st);
/* The least bound in ns of the rows that agree with the decisions: the type of mcts_bound; no context. */
double pool_space_bound(void *context, const struct space_state *st);

#endif
