/* Joining stores: rows are copied column by column, whatever the columns are, and ids get new values.
 *
 * A row of a keyed table (run, agent, campaign) is an object with an identity; `id` is its number in one
 * store. For each source a plan says what becomes of each object:
 *
 *     ADD       the result does not have it: it gets the next id
 *     PRESENT   the result has it, or a longer run of the same identity: nothing is copied
 *     REPLACE   the result has a shorter run that this one continues: its rows make way for these
 *
 * A column with the name of a keyed table holds an id of that table (0: none), which the plan translates. A
 * row with the column `run` belongs to that run and goes where the run goes. Other rows are added unless the
 * result has an equal one. So a new column or table needs no change here, unless it is a keyed one: keyed[].
 *
 * The result is made in a temporary file, which is renamed when it is complete. */
#include "coordinator/merge.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "coordinator/merge_state.h"
#include "coordinator/store.h"
#include "coordinator/store_state.h"
#include "core/base/arena.h"
#include "core/base/diag.h"
#include "core/base/file.h"

enum { MOST_IDENTITY = 8, STOP_EVERY = 1024 /* rows between two looks at `stopped` */ };

/* The tables whose rows have an identity, and the columns that make it. */
static const struct {
    const char *table, *identity[MOST_IDENTITY];
} keyed[] = {
    {"campaign", {"name", "text", "started"}},
    {"run", {"fingerprint", "device", "seed", "settings", "started"}},
    {"agent", {"name", "host", "device", "key", "first_seen"}},
};
enum { N_KEYED = sizeof keyed / sizeof keyed[0], RUN = 1 };

/* Tables that are true of one file only: nobody records in the result. */
static const char *const left_out[] = {"owner"};

enum fate { ADD, PRESENT, REPLACE };

struct object {
    int64_t from, to; /* id in the source, in the result */
    enum fate fate;
};

/* What becomes of a source's objects of one table, by `from`. */
struct plan {
    struct object *objects;
    size_t n, capacity;
    int64_t least_new; /* ids from here on are of this source */
};

struct merge {
    struct arena *arena; /* of one source */
    struct store *result, *source;
    const char *path; /* of the source */
    const char **tables;
    size_t n_tables;
    struct plan plans[N_KEYED];
    struct merge_report *report;
    merge_stopped stopped;
    void *context;
    uint64_t rows; /* copied and compared */
    struct diag *diag;
};

/* ---- tables ---- */

static int keyed_index(const char *name)
{
    for (int k = 0; k < N_KEYED; k++)
        if (strcmp(keyed[k].table, name) == 0) return k;
    return -1;
}

static bool is_left_out(const char *table)
{
    for (size_t i = 0; i < sizeof left_out / sizeof left_out[0]; i++)
        if (strcmp(left_out[i], table) == 0) return true;
    return false;
}

static bool is_id(const char *column)
{
    return strcmp(column, "id") == 0;
}

static bool is_number_of_one_store(const char *column)
{
    return is_id(column) || keyed_index(column) >= 0;
}

static bool is_no_identity(const char *column, int k)
{
    for (int i = 0; i < MOST_IDENTITY && keyed[k].identity[i]; i++)
        if (strcmp(keyed[k].identity[i], column) == 0) return false;
    return true;
}

static bool list_tables(struct merge *m)
{
    size_t capacity = 0;
    sqlite3_stmt *q = store_prepare(
        m->result, "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'",
        m->diag);
    if (!q) return false;
    m->tables = NULL;
    m->n_tables = 0;
    int code;
    while ((code = sqlite3_step(q)) == SQLITE_ROW) {
        const char *name = (const char *)sqlite3_column_text(q, 0);
        if (is_left_out(name)) continue;
        m->tables = arena_grow(m->arena, m->tables, &capacity, m->n_tables + 1, sizeof *m->tables);
        m->tables[m->n_tables++] = arena_strdup(m->arena, name);
    }
    sqlite3_finalize(q);
    return code == SQLITE_DONE || store_failed(m->result, m->diag);
}

static struct merge_columns shared_columns(const struct merge *m, const char *table)
{
    return merge_columns(m->source, m->result, table, m->arena, m->diag);
}

/* ---- plans ---- */

static int by_from(const void *x, const void *y)
{
    const struct object *a = x, *b = y;
    return (a->from > b->from) - (a->from < b->from);
}

static const struct object *find_object(const struct plan *p, int64_t from)
{
    const struct object wanted = {.from = from};
    return p->n ? bsearch(&wanted, p->objects, p->n, sizeof wanted, by_from) : NULL;
}

static bool is_taken(const struct plan *p, int64_t to)
{
    for (size_t i = 0; i < p->n; i++)
        if (p->objects[i].to == to) return true;
    return false;
}

static bool count_rows(const struct merge *m, const struct store *s, const char *table, int64_t run,
                       int64_t *n)
{
    sqlite3_stmt *q =
        store_prepare(s, arena_printf(m->arena, "SELECT count(*) FROM %s WHERE run = ?", table), m->diag);
    if (!q) return false;
    sqlite3_bind_int64(q, 1, run);
    bool ok = sqlite3_step(q) == SQLITE_ROW || store_failed(s, m->diag);
    if (ok) *n += sqlite3_column_int64(q, 0);
    sqlite3_finalize(q);
    return ok;
}

/* Whether the rows of a table belong to runs. Those of keyed tables are objects of their own. */
static bool is_of_runs(const struct merge *m, const char *table)
{
    struct merge_columns c = shared_columns(m, table);
    return keyed_index(table) < 0 && merge_column(&c, "run") >= 0;
}

/* Two runs with the same evaluations: the one with more other rows (final rounds, cuts) is the longer one.
 * Attempts are no progress. */
static enum merge_relation compare_rest(const struct merge *m, int64_t from, int64_t to)
{
    int64_t there = 0, here = 0;
    for (size_t i = 0; i < m->n_tables; i++)
        if (is_of_runs(m, m->tables[i]) && strcmp(m->tables[i], "attempt") != 0 &&
            (!count_rows(m, m->source, m->tables[i], from, &there) ||
             !count_rows(m, m->result, m->tables[i], to, &here)))
            return MERGE_FAILED;
    return there > here ? MERGE_LONGER : MERGE_EQUAL;
}

/* How run `from` of the source relates to run `to` of the result. */
static enum merge_relation compare_runs(const struct merge *m, int64_t from, int64_t to)
{
    struct merge_columns c = merge_without(shared_columns(m, "evaluation"), is_number_of_one_store, m->arena);
    sqlite3_stmt *a = merge_select(m->source, "evaluation", &c, "run = ?", m->arena, m->diag);
    sqlite3_stmt *b = merge_select(m->result, "evaluation", &c, "run = ?", m->arena, m->diag);
    enum merge_relation relation = MERGE_FAILED;
    if (a && b) {
        sqlite3_bind_int64(a, 1, from);
        sqlite3_bind_int64(b, 1, to);
        relation = merge_compare(a, b);
        if (relation == MERGE_FAILED) store_failed(m->source, m->diag);
    }
    sqlite3_finalize(a);
    sqlite3_finalize(b);
    return relation == MERGE_EQUAL ? compare_rest(m, from, to) : relation;
}

static void note_both(const struct merge *m, const struct object *o, int64_t other)
{
    strbuf_printf(&m->report->notes,
                  "run %" PRId64 " of %s and run %" PRId64
                  " of the result began as the same run, but their evaluations differ: both are kept, this "
                  "one as run %" PRId64 "\n",
                  o->from, m->path, other, o->to);
}

/* Compares a run with an object of the result that has the same identity. true: it is that one. */
static bool meet(const struct merge *m, int k, struct object *o, int64_t candidate, bool *ok)
{
    enum merge_relation relation = k == RUN ? compare_runs(m, o->from, candidate) : MERGE_EQUAL;
    *ok = relation != MERGE_FAILED;
    if (!*ok || relation == MERGE_DIFFERENT) return false;
    o->to = candidate;
    o->fate = relation == MERGE_LONGER ? REPLACE : PRESENT;
    if (k != RUN) return true;
    m->report->present += o->fate == PRESENT;
    m->report->continued += o->fate == REPLACE;
    return true;
}

/* Plans one object, whose identity is in the row: it is one of the candidates, or a new one. */
static bool plan_object(struct merge *m, int k, sqlite3_stmt *row, int n_identity, sqlite3_stmt *candidates)
{
    struct plan *p = &m->plans[k];
    struct object o = {.from = sqlite3_column_int64(row, n_identity), .to = p->least_new, .fate = ADD};
    int64_t other = 0;
    bool ok = true, met = false;
    for (size_t i = 0; i < p->n; i++)
        o.to += p->objects[i].fate == ADD;
    for (int i = 0; i < n_identity; i++)
        merge_bind(candidates, i + 1, row, i);
    sqlite3_bind_int64(candidates, n_identity + 1, p->least_new);
    while (ok && !met && sqlite3_step(candidates) == SQLITE_ROW) {
        int64_t candidate = sqlite3_column_int64(candidates, 0);
        if (is_taken(p, candidate)) continue;
        met = meet(m, k, &o, candidate, &ok);
        if (!met) other = candidate;
    }
    sqlite3_reset(candidates);
    if (ok && !met && other) note_both(m, &o, other);
    p->objects = arena_grow(m->arena, p->objects, &p->capacity, p->n + 1, sizeof *p->objects);
    p->objects[p->n++] = o;
    return ok;
}

/* The columns of a table that make its identity, of those that both stores have. */
static struct merge_columns identity_of(const struct merge *m, int k)
{
    struct merge_columns all = shared_columns(m, keyed[k].table),
                         c = {.names = ARENA_ARRAY(m->arena, const char *, all.n + 1)};
    for (size_t i = 0; i < all.n; i++)
        if (!is_no_identity(all.names[i], k)) c.names[c.n++] = all.names[i];
    return c;
}

/* Plans all objects of a keyed table, if both stores have it. */
static bool plan_table(struct merge *m, int k)
{
    const char *table = keyed[k].table;
    struct merge_columns c = identity_of(m, k);
    m->plans[k] = (struct plan){0};
    if (c.n == 0) return true;
    const char *next = arena_printf(m->arena, "SELECT ifnull(max(id), 0) + 1 FROM %s", table),
               *find = arena_printf(m->arena, "SELECT id FROM %s WHERE %s AND id < ? ORDER BY id", table,
                                    merge_equal(&c, m->arena));
    int n = (int)c.n, code = SQLITE_ERROR;
    struct merge_columns with_id = {ARENA_ARRAY(m->arena, const char *, c.n + 1), c.n + 1};
    memcpy(with_id.names, c.names, c.n * sizeof *c.names);
    with_id.names[c.n] = "id";
    bool ok = store_query_int(m->result, next, &m->plans[k].least_new, m->diag);
    sqlite3_stmt *candidates = ok ? store_prepare(m->result, find, m->diag) : NULL;
    sqlite3_stmt *row = merge_select(m->source, table, &with_id, "1", m->arena, m->diag);
    ok = candidates && row;
    while (ok && (code = sqlite3_step(row)) == SQLITE_ROW)
        ok = plan_object(m, k, row, n, candidates);
    if (ok && code != SQLITE_DONE) ok = store_failed(m->source, m->diag);
    sqlite3_finalize(candidates);
    sqlite3_finalize(row);
    return ok;
}

/* ---- copying ---- */

/* Removes the rows of a run that a longer one replaces; the row of the run itself, too. */
static bool remove_run(const struct merge *m, int64_t run)
{
    bool ok = true;
    for (size_t i = 0; ok && i < m->n_tables; i++)
        if (is_of_runs(m, m->tables[i]))
            ok = store_execute(
                m->result, arena_printf(m->arena, "DELETE FROM %s WHERE run = %" PRId64, m->tables[i], run),
                m->diag);
    return ok && store_execute(m->result, arena_printf(m->arena, "DELETE FROM run WHERE id = %" PRId64, run),
                               m->diag);
}

static bool remove_replaced(const struct merge *m)
{
    const struct plan *p = &m->plans[RUN];
    for (size_t i = 0; i < p->n; i++)
        if (p->objects[i].fate == REPLACE && !remove_run(m, p->objects[i].to)) return false;
    return true;
}

/* A table that is copied. */
struct copying {
    const char *table;
    struct merge_columns columns;       /* without `id`, unless the table is keyed */
    int *objects;                       /* of each column: the keyed table whose ids it holds; -1: none */
    int run;                            /* the column that says to which run a row belongs; -1: none */
    sqlite3_stmt *row, *insert, *equal; /* equal: counts equal rows of earlier sources */
};

/* An id of an object that the source does not have becomes 0. */
static void bind_row(const struct merge *m, const struct copying *c, sqlite3_stmt *to)
{
    for (int i = 0; i < (int)c->columns.n; i++) {
        if (c->objects[i] < 0) {
            merge_bind(to, i + 1, c->row, i);
            continue;
        }
        const struct object *o = find_object(&m->plans[c->objects[i]], sqlite3_column_int64(c->row, i));
        sqlite3_bind_int64(to, i + 1, o ? o->to : 0);
    }
}

/* Whether the row is copied: as the object or the run is to which it belongs; a row of none, if no earlier
 * source has it. */
static bool is_wanted(const struct merge *m, const struct copying *c)
{
    int k = keyed_index(c->table), column = k >= 0 ? merge_column(&c->columns, "id") : c->run;
    int64_t id = column >= 0 ? sqlite3_column_int64(c->row, column) : 0;
    const struct object *o = id ? find_object(&m->plans[k >= 0 ? k : RUN], id) : NULL;
    if (id) return o && o->fate != PRESENT;
    bind_row(m, c, c->equal);
    bool known = sqlite3_step(c->equal) == SQLITE_ROW && sqlite3_column_int64(c->equal, 0) > 0;
    sqlite3_reset(c->equal);
    return !known;
}

static bool copy_row(const struct merge *m, const struct copying *c)
{
    bind_row(m, c, c->insert);
    bool ok = sqlite3_step(c->insert) == SQLITE_DONE || store_failed(m->result, m->diag);
    sqlite3_reset(c->insert);
    return ok;
}

static bool is_stopped(struct merge *m)
{
    return m->rows++ % STOP_EVERY == 0 && m->stopped && m->stopped(m->context);
}

static bool copy_rows(struct merge *m, const struct copying *c)
{
    int code;
    while ((code = sqlite3_step(c->row)) == SQLITE_ROW)
        if (is_stopped(m) || (is_wanted(m, c) && !copy_row(m, c))) return false;
    return code == SQLITE_DONE || store_failed(m->source, m->diag);
}

static const char *question_marks(size_t n, struct arena *a)
{
    char *text = arena_alloc(a, 2 * n + 1);
    for (size_t i = 0; i < n; i++)
        memcpy(text + 2 * i, i ? ",?" : " ?", 2);
    return text;
}

/* Keyed tables have explicit ids; in others SQLite gives the next one. */
static bool copy_table(struct merge *m, const char *table)
{
    struct copying c = {.table = table, .columns = shared_columns(m, table)};
    int64_t last = 0;
    if (keyed_index(table) < 0) c.columns = merge_without(c.columns, is_id, m->arena);
    if (c.columns.n == 0) return true;
    c.objects = ARENA_ARRAY(m->arena, int, c.columns.n);
    for (size_t i = 0; i < c.columns.n; i++)
        c.objects[i] = keyed_index(is_id(c.columns.names[i]) ? table : c.columns.names[i]);
    c.run = merge_column(&c.columns, "run");
    const char *list = merge_list(&c.columns, m->arena);
    bool ok = store_query_int(
        m->result, arena_printf(m->arena, "SELECT ifnull(max(rowid), 0) FROM %s", table), &last, m->diag);
    c.row = ok ? merge_select(m->source, table, &c.columns, "1", m->arena, m->diag) : NULL;
    c.insert = store_prepare(m->result,
                             arena_printf(m->arena, "INSERT INTO %s (%s) VALUES (%s)", table, list,
                                          question_marks(c.columns.n, m->arena)),
                             m->diag);
    c.equal = store_prepare(m->result,
                            arena_printf(m->arena, "SELECT count(*) FROM %s WHERE %s AND rowid <= %" PRId64,
                                         table, merge_equal(&c.columns, m->arena), last),
                            m->diag);
    ok = c.row && c.insert && c.equal && copy_rows(m, &c);
    sqlite3_finalize(c.row);
    sqlite3_finalize(c.insert);
    sqlite3_finalize(c.equal);
    return ok;
}

/* ---- sources ---- */

/* One read transaction: what a search adds meanwhile is left out. */
static bool add_open(struct merge *m)
{
    bool ok = store_execute(m->source, "BEGIN", m->diag) && list_tables(m);
    for (int k = 0; ok && k < N_KEYED; k++)
        ok = plan_table(m, k);
    ok = ok && remove_replaced(m);
    for (size_t i = 0; ok && i < m->n_tables; i++)
        ok = copy_table(m, m->tables[i]);
    return ok && store_unchanged(m->source, m->diag);
}

static bool add_source(struct merge *m, const char *path)
{
    m->path = path;
    m->arena = arena_new();
    m->source = store_open_to_read(path, m->diag);
    bool ok = m->source && add_open(m);
    store_close(m->source);
    arena_free(m->arena);
    return ok;
}

/* The result has no log while it is made: if this fails the file is removed. */
static bool fill(struct merge *m, const char *const *sources, size_t n)
{
    int64_t runs = 0, evaluations = 0;
    bool ok = store_execute(m->result, "PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF; BEGIN", m->diag);
    for (size_t i = 0; ok && i < n; i++)
        ok = add_source(m, sources[i]);
    ok = ok && store_query_int(m->result, "SELECT count(*) FROM run", &runs, m->diag) &&
         store_query_int(m->result, "SELECT count(*) FROM evaluation", &evaluations, m->diag) &&
         store_execute(m->result, "COMMIT; PRAGMA journal_mode=WAL", m->diag);
    m->report->runs = (uint64_t)runs;
    m->report->evaluations = (uint64_t)evaluations;
    return ok;
}

/* An existing file is not replaced: it may be a store. A log without its store would be taken for one of the
 * result. */
static bool is_new(const char *out, struct diag *d)
{
    struct strbuf log = {0};
    struct stat st;
    strbuf_printf(&log, "%s-wal", out);
    bool there = lstat(out, &st) == 0, log_there = lstat(log.text, &st) == 0;
    if (there)
        diag_plain(d, "'%s' exists; a merged store is a new file (to join this one, name it as a source)",
                   out);
    else if (log_there)
        diag_plain(d, "'%s' exists, the log of a store that is not there; choose another name", log.text);
    strbuf_free(&log);
    return !there && !log_there;
}

bool merge_stores(const char *const *sources, size_t n, const char *out, merge_stopped stopped, void *context,
                  struct merge_report *report, struct diag *d)
{
    struct file_new f;
    *report = (struct merge_report){0};
    if (!is_new(out, d) || !file_begin(&f, out, d)) return false;
    struct merge m = {.report = report, .stopped = stopped, .context = context, .diag = d};
    m.result = store_open(f.temporary, true, d);
    bool ok = m.result && fill(&m, sources, n);
    store_close(m.result);
    if (ok) return file_end(&f, d);
    file_drop(&f);
    return false;
}
