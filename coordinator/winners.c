/* One row of each run: its best evaluation, as SQLite finds it. The runs are then joined by problem. */
#include "coordinator/winners.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "coordinator/store_state.h"
#include "core/base/arena.h"
#include "core/base/hash.h"
#include "core/base/strbuf.h"

struct winners {
    struct arena *arena;
    struct winner *items;
    size_t n, capacity;
    struct winners_run *runs;
    size_t n_runs, runs_capacity;
};

/* Runs in order, each with its best evaluation, if it has one. ?1 is the run; 0: all. */
static const char run_rows[] =
    "SELECT r.id, r.path, r.text, r.sizes, r.device, r.driver, r.libraries, r.settings, r.fingerprint,"
    " r.seed, r.started,"
    " (SELECT count(*) FROM evaluation c WHERE c.run = r.id AND c.number > 0"
    "   AND c.status NOT IN ('duplicate', 'oversized')),"
    " (SELECT e.id FROM evaluation e LEFT JOIN figure f"
    "   ON f.run = e.run AND f.number = e.number AND f.rounds > 0"
    "   WHERE e.run = r.id AND e.status = 'ok' AND e.median_ns > 0"
    "   ORDER BY ifnull(f.place, 1) > 0, CASE f.place WHEN 0 THEN f.median_ns ELSE e.median_ns END, e.id"
    "   LIMIT 1)"
    " FROM run r ORDER BY r.id";

static const char evaluation_row[] =
    "SELECT e.number, e.label, e.actions, e.decisions, e.kernel_hash, e.median_ns,"
    " f.median_ns, f.low_ns, f.high_ns, f.rounds"
    " FROM evaluation e LEFT JOIN figure f ON f.run = e.run AND f.number = e.number AND f.rounds > 0"
    " WHERE ";

struct winners *winners_new(void)
{
    struct winners *w = base_calloc(1, sizeof *w);
    w->arena = arena_new();
    return w;
}

void winners_free(struct winners *w)
{
    if (!w) return;
    arena_free(w->arena);
    free(w);
}

/* ---- problems ---- */

static int by_text(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* "K=4,M=2,N=8" of "M=2, N=8, K=4". */
static const char *sorted_sizes(struct arena *a, const char *sizes)
{
    char *copy = arena_strdup(a, sizes), *rest = copy;
    char **parts = ARENA_ARRAY(a, char *, strlen(sizes) / 2 + 1);
    struct strbuf b = {0};
    size_t n = 0;
    for (char *part; (part = strtok_r(rest, ", ", &rest));)
        parts[n++] = part;
    qsort(parts, n, sizeof *parts, by_text);
    for (size_t i = 0; i < n; i++)
        strbuf_printf(&b, "%s%s", i ? "," : "", parts[i]);
    char *text = strbuf_take(&b);
    const char *kept = arena_strdup(a, text);
    free(text);
    return kept;
}

static const char *problem_of(struct arena *a, const struct store_run *run)
{
    bool program = strcmp(run->device, STORE_NO_DEVICE) != 0;
    char hex[HASH_HEX_BYTES];
    hash_hex(program ? hash_finish(hash_string(HASH_START, run->text)) : run->fingerprint, hex);
    return arena_printf(a, "%s %s", hex, sorted_sizes(a, run->sizes));
}

static const char *kernel_of(struct arena *a, const char *path)
{
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path, *dot = strrchr(name, '.');
    return arena_strndup(a, name, dot && dot > name ? (size_t)(dot - name) : strlen(name));
}

/* ---- reading ---- */

/* The quoted time in the columns of evaluation_row; if there is none, that of the search. */
static struct figure figure_at(sqlite3_stmt *q, bool quoted)
{
    struct figure f = {sqlite3_column_double(q, 6), sqlite3_column_double(q, 7), sqlite3_column_double(q, 8),
                       (unsigned)sqlite3_column_int64(q, 9)};
    return quoted && figure_quoted(&f) ? f : figure_of_search(sqlite3_column_double(q, 5));
}

static struct winner read_run(struct arena *a, sqlite3_stmt *q)
{
    struct winner w = {.run = {.id = sqlite3_column_int64(q, 0),
                               .path = store_column_copy(a, q, 1),
                               .text = store_column_copy(a, q, 2),
                               .sizes = store_column_copy(a, q, 3),
                               .device = store_column_copy(a, q, 4),
                               .driver = store_column_copy(a, q, 5),
                               .libraries = store_column_copy(a, q, 6),
                               .settings = store_column_copy(a, q, 7),
                               .fingerprint = store_column_hash(q, 8),
                               .seed = store_column_hash(q, 9)},
                       .started = store_column_copy(a, q, 10),
                       .evaluations = (uint64_t)sqlite3_column_int64(q, 11),
                       .runs = 1};
    w.kernel = kernel_of(a, w.run.path);
    w.problem = problem_of(a, &w.run);
    w.key = arena_printf(a, "%s %s", w.problem, w.run.device);
    return w;
}

static void take_evaluation(struct arena *a, sqlite3_stmt *q, struct winner *w)
{
    w->number = sqlite3_column_int64(q, 0);
    w->label = store_column_copy(a, q, 1);
    w->actions = store_column_copy(a, q, 2);
    w->decisions = store_column_copy(a, q, 3);
    w->kernel_hash = store_column_hash(q, 4);
    w->figure = figure_at(q, true);
}

/* Steps to the only row of evaluation_row with the condition, where ?1 is `value`. *q is reset by the caller;
 * NULL: an error. *found: there is a row. */
static sqlite3_stmt *find(const struct store *s, const char *condition, int64_t value, bool *found,
                          struct diag *d)
{
    struct strbuf sql = {0};
    strbuf_printf(&sql, "%s%s", evaluation_row, condition);
    sqlite3_stmt *q = store_prepare(s, sql.text, d);
    strbuf_free(&sql);
    if (!q) return NULL;
    sqlite3_bind_int64(q, 1, value);
    int code = sqlite3_step(q);
    *found = code == SQLITE_ROW;
    if (code == SQLITE_ROW || code == SQLITE_DONE) return q;
    store_failed(s, d);
    sqlite3_finalize(q);
    return NULL;
}

/* Reads the best evaluation of a run and the naive one, in times of the same kind. */
static bool read_evaluations(struct arena *a, const struct store *s, int64_t id, struct winner *w,
                             struct diag *d)
{
    bool found;
    sqlite3_stmt *q = find(s, "e.id = ?1", id, &found, d);
    if (!q) return false;
    if (found) take_evaluation(a, q, w);
    sqlite3_finalize(q);
    q = find(s, "e.run = ?1 AND e.number = 0 AND e.status = 'ok'", w->run.id, &found, d);
    if (!q) return false;
    if (found) w->naive = figure_at(q, figure_quoted(&w->figure));
    if (!figure_comparable(&w->naive, &w->figure)) w->naive = (struct figure){0};
    sqlite3_finalize(q);
    return true;
}

/* ---- joining ---- */

static bool is_better(const struct winner *a, const struct winner *b)
{
    if (!figure_known(&a->figure) || !figure_known(&b->figure)) return figure_known(&a->figure);
    if (figure_quoted(&a->figure) != figure_quoted(&b->figure)) return figure_quoted(&a->figure);
    return a->figure.median_ns < b->figure.median_ns;
}

static void join(struct winners *w, struct winner new)
{
    size_t i = 0;
    while (i < w->n && strcmp(w->items[i].key, new.key) != 0)
        i++;
    if (i == w->n) {
        w->items = arena_grow(w->arena, w->items, &w->capacity, w->n + 1, sizeof *w->items);
        w->items[w->n++] = new;
        return;
    }
    struct winner *old = &w->items[i];
    new.runs += old->runs;
    new.evaluations += old->evaluations;
    if (is_better(&new, old)) {
        *old = new;
    } else {
        old->runs = new.runs;
        old->evaluations = new.evaluations;
    }
}

static void add_run(struct winners *w, const struct winner *new)
{
    w->runs = arena_grow(w->arena, w->runs, &w->runs_capacity, w->n_runs + 1, sizeof *w->runs);
    w->runs[w->n_runs++] = (struct winners_run){new->store, new->run.id, new->key, new->started};
}

bool winners_add(struct winners *w, struct store *s, const char *path, struct diag *d)
{
    sqlite3_stmt *q = store_prepare(s, run_rows, d);
    if (!q) return false;
    const char *name = arena_strdup(w->arena, path);
    int code = SQLITE_DONE;
    bool ok = true;
    while (ok && (code = sqlite3_step(q)) == SQLITE_ROW) {
        struct winner new = read_run(w->arena, q);
        new.store = name;
        add_run(w, &new);
        if (sqlite3_column_type(q, 12) != SQLITE_NULL)
            ok = read_evaluations(w->arena, s, sqlite3_column_int64(q, 12), &new, d);
        if (ok) join(w, new);
    }
    if (ok && code != SQLITE_DONE) ok = store_failed(s, d);
    sqlite3_finalize(q);
    return ok && store_unchanged(s, d);
}

const struct winners_run *winners_run_at(const struct winners *w, size_t i)
{
    return i < w->n_runs ? &w->runs[i] : NULL;
}

struct arena *winners_arena(struct winners *w)
{
    return w->arena;
}

const struct winners_run *winners_run(const struct winners *w, const char *store, int64_t id)
{
    for (size_t i = 0; i < w->n_runs; i++)
        if (w->runs[i].id == id && strcmp(w->runs[i].store, store) == 0) return &w->runs[i];
    return NULL;
}

/* ---- order ---- */

/* Compares texts with the numbers in them by value: "M=64" is before "M=512". */
static int natural(const char *a, const char *b)
{
    while (*a && *b) {
        size_t n = strspn(a, "0123456789"), m = strspn(b, "0123456789");
        if (n != m && n && m) return n < m ? -1 : 1;
        if (*a != *b) return (unsigned char)*a < (unsigned char)*b ? -1 : 1;
        a++, b++;
    }
    return (*a != 0) - (*b != 0);
}

static int by_problem(const void *x, const void *y)
{
    const struct winner *a = x, *b = y;
    int order = strcmp(a->kernel, b->kernel);
    if (!order) order = strcmp(a->run.device, b->run.device);
    if (!order) order = natural(a->run.sizes, b->run.sizes);
    return order ? order : strcmp(a->key, b->key);
}

const struct winner *winners_list(struct winners *w, size_t *n)
{
    struct winner *valid = ARENA_ARRAY(w->arena, struct winner, w->n + 1);
    *n = 0;
    for (size_t i = 0; i < w->n; i++)
        if (figure_known(&w->items[i].figure)) valid[(*n)++] = w->items[i];
    qsort(valid, *n, sizeof *valid, by_problem);
    return valid;
}
