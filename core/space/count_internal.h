/* What the two ways of counting share: the table of components met before. */
#ifndef THRESH_SPACE_COUNT_INTERNAL_H
#define THRESH_SPACE_COUNT_INTERNAL_H

#include "core/space/count.h"
#include "core/space/internal.h"

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

/* count_small.c. false: the space is not small, and nothing was done. */
bool count_small(const struct space_state *st, struct count_table *table, uint64_t limit,
                 struct space_count *result);

#endif
