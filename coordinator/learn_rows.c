/* Reading what may be learned from a store: the runs of the program, and the best rows of each. */
#include "coordinator/learn_rows.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "agent/device.h"
#include "coordinator/store.h"
#include "coordinator/store_state.h"
#include "core/base/arena.h"
#include "core/base/strbuf.h"

static const char run_rows[] =
    "SELECT id, path, text, sizes, device, settings, fingerprint FROM run ORDER BY id";

/* The contenders of the final rounds in their order, then the others by the time of the search. ?1 is the
 * run; ?2 the number of the first learned one; ?3 how many. */
static const char best_rows[] =
    "SELECT e.number, e.actions, e.kernel_hash FROM evaluation e LEFT JOIN figure f"
    " ON f.run = e.run AND f.number = e.number AND f.rounds > 0"
    " WHERE e.run = ?1 AND e.status = 'ok' AND e.median_ns > 0 AND (e.number > 0 OR e.number <= ?2)"
    " ORDER BY f.place IS NULL, f.place, e.median_ns, e.id LIMIT ?3";

static const char learned_rows[] =
    "SELECT number, actions, kernel_hash FROM evaluation WHERE run = ?1 AND number <= ?2 LIMIT ?3";

/* ---- the same program ---- */

/* The program as it is printed: without layout and comments; "" if it is none. */
static const char *normal_text(struct arena *a, const char *text)
{
    const struct source source = {.path = "", .text = text, .length = strlen(text)};
    struct diag *ignored = diag_new();
    struct strbuf printed = {0};
    struct lift_program *p = lift_parse(&source, a, ignored);
    if (p) lift_print(p, &printed);
    const char *normal = arena_strdup(a, printed.text ? printed.text : "");
    strbuf_free(&printed);
    diag_free(ignored);
    return normal;
}

/* ---- how near it is ---- */

/* The value of the size called `name` (n bytes) in "M=64, N=64"; 0: it is not there. */
static double size_of(const char *sizes, const char *name, size_t n)
{
    for (const char *at = sizes; *at;) {
        at += strspn(at, ", ");
        if (strncmp(at, name, n) == 0 && at[n] == '=') return strtod(at + n + 1, NULL);
        at += strcspn(at, ", ");
    }
    return 0;
}

static double distance_of(const char *sizes, const char *wanted)
{
    double sum = 0;
    for (const char *at = wanted; *at;) {
        at += strspn(at, ", ");
        size_t n = strcspn(at, "=");
        double here = at[n] ? strtod(at + n + 1, NULL) : 0, there = size_of(sizes, at, n);
        if (here > 0 && there > 0) sum += fabs(log2(here / there));
        at += strcspn(at, ", ");
    }
    return sum;
}

/* ---- reading ---- */

static const char *parameters_of(struct arena *a, const char *settings)
{
    const char *at = strstr(settings, STORE_PARAMETERS);
    if (!at) return "";
    at += strlen(STORE_PARAMETERS);
    return arena_strndup(a, at, strcspn(at, " "));
}

static struct learn_row read_run(struct arena *a, sqlite3_stmt *q, const char *store,
                                 const struct learn_wanted *w)
{
    struct learn_row r = {.store = store,
                          .run = sqlite3_column_int64(q, 0),
                          .path = store_column_copy(a, q, 1),
                          .text = store_column_copy(a, q, 2),
                          .sizes = store_column_copy(a, q, 3),
                          .device = store_column_copy(a, q, 4),
                          .parameters = parameters_of(a, store_column_copy(a, q, 5)),
                          .fingerprint = store_column_hash(q, 6)};
    r.distance = distance_of(r.sizes, w->sizes);
    if (strcmp(r.device, w->device->name) != 0) r.distance += LIMIT_OTHER_DEVICE;
    return r;
}

/* Adds the rows of a statement, each with what `of` says of its run. */
static bool add_rows(struct learn_rows *rows, const struct store *s, const char *sql, struct learn_row of,
                     struct diag *d)
{
    sqlite3_stmt *q = store_prepare(s, sql, d);
    int code;
    if (!q) return false;
    sqlite3_bind_int64(q, 1, of.run);
    sqlite3_bind_int64(q, 2, LEARN_NUMBER);
    sqlite3_bind_int64(q, 3, LIMIT_LEARNED);
    for (; (code = sqlite3_step(q)) == SQLITE_ROW; of.rank++) {
        of.number = sqlite3_column_int64(q, 0);
        of.actions = store_column_copy(rows->arena, q, 1);
        of.kernel_hash = store_column_hash(q, 2);
        rows->items = arena_grow(rows->arena, rows->items, &rows->capacity, rows->n + 1, sizeof of);
        rows->items[rows->n++] = of;
    }
    bool ok = code == SQLITE_DONE || store_failed(s, d);
    sqlite3_finalize(q);
    return ok;
}

static bool is_same_file(const char *a, const char *b)
{
    struct stat x, y;
    return b && stat(a, &x) == 0 && stat(b, &y) == 0 && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

static bool add_runs(struct learn_rows *rows, const struct store *s, const char *path,
                     const struct learn_wanted *w, struct diag *d)
{
    const char *name = arena_strdup(rows->arena, path),
               *normal = normal_text(rows->arena, w->problem->source.text);
    bool ok = true, own = is_same_file(path, w->own_path);
    sqlite3_stmt *q = store_prepare(s, run_rows, d);
    int code = SQLITE_DONE;
    if (!q) return false;
    while (ok && (code = sqlite3_step(q)) == SQLITE_ROW) {
        struct learn_row run = read_run(rows->arena, q, name, w);
        bool program = strcmp(run.device, STORE_NO_DEVICE) != 0 && !(own && run.run == w->own_run);
        if (program && strcmp(normal_text(rows->arena, run.text), normal) == 0)
            ok = add_rows(rows, s, best_rows, run, d);
    }
    if (ok && code != SQLITE_DONE) ok = store_failed(s, d);
    sqlite3_finalize(q);
    return ok && store_unchanged(s, d);
}

bool learn_rows_add(struct learn_rows *rows, const char *path, const struct learn_wanted *w, struct diag *d)
{
    struct store *s = store_open_to_read(path, d);
    bool ok = s && add_runs(rows, s, path, w, d);
    store_close(s);
    return ok;
}

bool learn_rows_of_run(struct learn_rows *rows, const struct store *s, int64_t run, struct diag *d)
{
    return add_rows(rows, s, learned_rows, (struct learn_row){.run = run}, d);
}

/* ---- order ---- */

static int by_nearness(const void *x, const void *y)
{
    const struct learn_row *a = x, *b = y;
    if (a->distance != b->distance) return a->distance < b->distance ? -1 : 1;
    if (a->rank != b->rank) return a->rank < b->rank ? -1 : 1;
    int order = strcmp(a->store, b->store);
    if (order || a->run == b->run) return order;
    return a->run < b->run ? -1 : 1;
}

void learn_rows_sort(struct learn_rows *rows)
{
    if (rows->n) qsort(rows->items, rows->n, sizeof *rows->items, by_nearness);
}
