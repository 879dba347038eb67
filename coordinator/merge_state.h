/* The parts of merging: merge.c plans and copies, merge_rows.c has statements over the columns that two
 * stores share. This header is for these files only. */
#ifndef THRESH_COORDINATOR_MERGE_STATE_H
#define THRESH_COORDINATOR_MERGE_STATE_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena;
struct diag;
struct store;

/* The columns of a table that both stores have, in the order of the destination. */
struct merge_columns {
    const char **names;
    size_t n;
};
struct merge_columns merge_columns(const struct store *source, const struct store *destination,
                                   const char *table, struct arena *a, struct diag *d);
/* The place of a column; -1: there is no such column. */
int merge_column(const struct merge_columns *c, const char *name);
/* Without those for which `leave_out` is true. */
struct merge_columns merge_without(struct merge_columns c, bool (*leave_out)(const char *name),
                                   struct arena *a);
/* "a, b, c", or with " IS ? AND " between and " IS ?" at the end. */
const char *merge_list(const struct merge_columns *c, struct arena *a);
const char *merge_equal(const struct merge_columns *c, struct arena *a);
/* "SELECT COLUMNS FROM TABLE WHERE CONDITION ORDER BY id". NULL after an error. */
sqlite3_stmt *merge_select(const struct store *s, const char *table, const struct merge_columns *c,
                           const char *condition, struct arena *a, struct diag *d);
/* Binds column `from` of a row to parameter `to`. */
void merge_bind(sqlite3_stmt *to, int parameter, sqlite3_stmt *from, int column);

/* How the rows of one statement relate to those of another, compared in order. */
enum merge_relation { MERGE_EQUAL, MERGE_SHORTER, MERGE_LONGER, MERGE_DIFFERENT, MERGE_FAILED };
/* MERGE_LONGER: `a` begins with the rows of `b` and has more. Both have the same number of columns. The
 * statements are stepped to their ends, or to the first difference. */
enum merge_relation merge_compare(sqlite3_stmt *a, sqlite3_stmt *b);

#endif
