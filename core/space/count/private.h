/* What the files of this room share: the table of components counted before (table.c), formulas for all
 * values of a slot (column.c), and counting in small spaces (small.c). */
#ifndef THRESH_SPACE_COUNT_PRIVATE_H
#define THRESH_SPACE_COUNT_PRIVATE_H

#include "core/space/count.h"
#include "core/space/engine/state.h"

enum { SPACE_SMALL_WIDE = 256 }; /* constraints over three or more slots in a small space */

/* Counts by key. A table that never helps is given up after a trial. */
struct count_table;
struct count_table *count_table_new(void);
void count_table_free(struct count_table *t);
bool count_table_pays(const struct count_table *t);
/* `hash` is not 0. */
bool count_table_find(struct count_table *t, uint64_t hash, const void *key, uint32_t bytes,
                      long double *count);
void count_table_add(struct count_table *t, uint64_t hash, const void *key, uint32_t bytes,
                     long double count);
uint64_t count_table_hits(const struct count_table *t);

/* column.c: the numbers of a node of a formula, one or one for each value of a slot. */
struct count_column {
    bool varies;
    int64_t x[64];
};
/* Which values of the domain of slot `open` (at most 64) make the formula true beside the values of the
 * others; values[open] is as before afterwards. `columns`: scratch, one for each node. */
uint64_t count_column(const struct shape *sh, uint32_t open, uint32_t *values, uint64_t domain,
                      struct count_column *columns);

/* small.c. false: the space is not small, and nothing was done. */
bool count_small(const struct space_state *st, struct count_table *table, uint64_t limit,
                 struct space_count *result);

#endif
