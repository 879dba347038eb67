/* Rows of any table, by the columns that two stores share. Nothing here knows which tables there are. */
#include "coordinator/merge_state.h"

#include <string.h>

#include "coordinator/store_state.h"
#include "core/base/arena.h"
#include "core/base/strbuf.h"

/* ---- columns ---- */

/* A temporary view that supplies the columns of an earlier version is found before the table it hides. */
static struct merge_columns columns_of(const struct store *s, const char *table, struct arena *a,
                                       struct diag *d)
{
    struct merge_columns c = {0};
    size_t capacity = 0;
    sqlite3_stmt *q = store_prepare(s, "SELECT name FROM pragma_table_info(?) ORDER BY cid", d);
    if (!q) return c;
    sqlite3_bind_text(q, 1, table, -1, SQLITE_TRANSIENT);
    int code;
    while ((code = sqlite3_step(q)) == SQLITE_ROW) {
        c.names = arena_grow(a, c.names, &capacity, c.n + 1, sizeof *c.names);
        c.names[c.n++] = arena_strdup(a, (const char *)sqlite3_column_text(q, 0));
    }
    if (code != SQLITE_DONE) store_failed(s, d);
    sqlite3_finalize(q);
    return c;
}

int merge_column(const struct merge_columns *c, const char *name)
{
    for (size_t i = 0; i < c->n; i++)
        if (strcmp(c->names[i], name) == 0) return (int)i;
    return -1;
}

struct merge_columns merge_columns(const struct store *source, const struct store *destination,
                                   const char *table, struct arena *a, struct diag *d)
{
    struct merge_columns has = columns_of(source, table, a, d), all = columns_of(destination, table, a, d);
    struct merge_columns shared = {.names = ARENA_ARRAY(a, const char *, all.n + 1)};
    for (size_t i = 0; i < all.n; i++)
        if (merge_column(&has, all.names[i]) >= 0) shared.names[shared.n++] = all.names[i];
    return shared;
}

struct merge_columns merge_without(struct merge_columns c, bool (*leave_out)(const char *name),
                                   struct arena *a)
{
    struct merge_columns rest = {.names = ARENA_ARRAY(a, const char *, c.n + 1)};
    for (size_t i = 0; i < c.n; i++)
        if (!leave_out(c.names[i])) rest.names[rest.n++] = c.names[i];
    return rest;
}

/* ---- statements ---- */

static const char *joined(const struct merge_columns *c, const char *after, const char *between,
                          struct arena *a)
{
    struct strbuf b = {0};
    for (size_t i = 0; i < c->n; i++)
        strbuf_printf(&b, "%s\"%s\"%s", i ? between : "", c->names[i], after);
    const char *text = arena_strdup(a, b.text ? b.text : "");
    strbuf_free(&b);
    return text;
}

const char *merge_list(const struct merge_columns *c, struct arena *a)
{
    return joined(c, "", ", ", a);
}

const char *merge_equal(const struct merge_columns *c, struct arena *a)
{
    return joined(c, " IS ?", " AND ", a);
}

sqlite3_stmt *merge_select(const struct store *s, const char *table, const struct merge_columns *c,
                           const char *condition, struct arena *a, struct diag *d)
{
    struct merge_columns all = columns_of(s, table, a, d);
    const char *order = merge_column(&all, "id") >= 0 ? " ORDER BY id" : "";
    return store_prepare(
        s, arena_printf(a, "SELECT %s FROM %s WHERE %s%s", merge_list(c, a), table, condition, order), d);
}

void merge_bind(sqlite3_stmt *to, int parameter, sqlite3_stmt *from, int column)
{
    sqlite3_bind_value(to, parameter, sqlite3_column_value(from, column));
}

/* ---- comparing ---- */

static bool same_bytes(sqlite3_stmt *a, sqlite3_stmt *b, int column)
{
    const void *x = sqlite3_column_blob(a, column), *y = sqlite3_column_blob(b, column);
    int n = sqlite3_column_bytes(a, column);
    return n == sqlite3_column_bytes(b, column) && (n == 0 || memcmp(x, y, (size_t)n) == 0);
}

static bool same_value(sqlite3_stmt *a, sqlite3_stmt *b, int column)
{
    int type = sqlite3_column_type(a, column);
    if (type != sqlite3_column_type(b, column)) return false;
    if (type == SQLITE_INTEGER) return sqlite3_column_int64(a, column) == sqlite3_column_int64(b, column);
    if (type != SQLITE_FLOAT) return type == SQLITE_NULL || same_bytes(a, b, column);
    double x = sqlite3_column_double(a, column), y = sqlite3_column_double(b, column);
    return memcmp(&x, &y, sizeof x) == 0;
}

static bool same_row(sqlite3_stmt *a, sqlite3_stmt *b)
{
    for (int i = 0; i < sqlite3_column_count(a); i++)
        if (!same_value(a, b, i)) return false;
    return true;
}

enum merge_relation merge_compare(sqlite3_stmt *a, sqlite3_stmt *b)
{
    for (;;) {
        int x = sqlite3_step(a), y = sqlite3_step(b);
        if ((x != SQLITE_ROW && x != SQLITE_DONE) || (y != SQLITE_ROW && y != SQLITE_DONE))
            return MERGE_FAILED;
        if (x == SQLITE_DONE) return y == SQLITE_DONE ? MERGE_EQUAL : MERGE_SHORTER;
        if (y == SQLITE_DONE) return MERGE_LONGER;
        if (!same_row(a, b)) return MERGE_DIFFERENT;
    }
}
