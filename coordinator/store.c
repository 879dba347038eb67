/* Writing to the store and reading it. When store_add(), or of a batch store_commit(), has returned true the
 * evaluations survive the end of the process, even by kill -9 (store_batch.c). */
#include "coordinator/store.h"

#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "coordinator/store_state.h"
#include "core/base/arena.h"
#include "core/base/diag.h"
#include "core/base/hash.h"
#include "core/base/strbuf.h"
#include "core/space/space.h"

static const char evaluation_columns[] =
    "SELECT r.id, r.path, r.text, r.sizes, r.device, r.driver, r.settings, r.fingerprint, r.seed,"
    " e.number, e.drawn, e.state_hash, e.actions, e.status, e.median_ns, e.samples, e.kernel_hash, "
    "e.message, e.found_at, e.resources, r.libraries, e.decisions, e.draws, e.label,"
    " f.median_ns, f.low_ns, f.high_ns, f.rounds, e.numbers, e.rollouts"
    " FROM evaluation e JOIN run r ON r.id = e.run"
    " LEFT JOIN figure f ON f.run = e.run AND f.number = e.number AND f.rounds > 0";

/* ---- writing ---- */

static void bind_text(sqlite3_stmt *q, int i, const char *text)
{
    sqlite3_bind_text(q, i, text ? text : "", -1, SQLITE_TRANSIENT);
}

static void bind_hash(sqlite3_stmt *q, int i, uint64_t hash)
{
    char hex[HASH_HEX_BYTES];
    hash_hex(hash, hex);
    bind_text(q, i, hex);
}

bool store_run_add(struct store *s, struct store_run *run, struct diag *d)
{
    static const char sql[] =
        "INSERT INTO run (path, text, sizes, device, driver, settings, fingerprint, seed, libraries)"
        " VALUES (?,?,?,?,?,?,?,?,?)";
    if (!store_execute(s, "BEGIN IMMEDIATE", d)) return false;
    sqlite3_stmt *q = store_prepare(s, sql, d);
    if (!q) return store_end(s, false, d);
    const char *texts[] = {run->path, run->text, run->sizes, run->device, run->driver, run->settings};
    for (int i = 0; i < 6; i++)
        bind_text(q, i + 1, texts[i]);
    bind_hash(q, 7, run->fingerprint);
    bind_hash(q, 8, run->seed);
    bind_text(q, 9, run->libraries);
    bool ok = sqlite3_step(q) == SQLITE_DONE || store_failed(s, d);
    run->id = sqlite3_last_insert_rowid(s->db);
    sqlite3_finalize(q);
    return store_end(s, ok && store_own(s, run->id, d), d);
}

/* A JSON array; NAN becomes null. */
static char *times_text(const double *ns, unsigned n)
{
    struct strbuf b = {0};
    strbuf_add(&b, "[");
    for (unsigned i = 0; i < n; i++)
        if (isfinite(ns[i]))
            strbuf_printf(&b, "%s%.17g", i ? "," : "", ns[i]);
        else
            strbuf_add(&b, i ? ",null" : "null");
    strbuf_add(&b, "]");
    return strbuf_take(&b);
}

bool store_add(struct store *s, int64_t run, const struct store_evaluation *e, struct diag *d)
{
    char *samples = times_text(e->samples, e->n_samples);
    sqlite3_stmt *q = s->insert;
    sqlite3_bind_int64(q, 1, run);
    sqlite3_bind_int64(q, 2, e->number);
    sqlite3_bind_int64(q, 3, (int64_t)e->drawn);
    bind_hash(q, 4, e->state_hash);
    bind_text(q, 5, e->actions);
    bind_text(q, 6, e->status);
    if (strcmp(e->status, "ok") == 0)
        sqlite3_bind_double(q, 7, e->median_ns);
    else
        sqlite3_bind_null(q, 7);
    bind_text(q, 8, samples);
    bind_hash(q, 9, e->kernel_hash);
    bind_text(q, 10, e->message);
    sqlite3_bind_double(q, 11, e->found_at);
    bind_text(q, 12, e->resources);
    bind_text(q, 13, e->decisions);
    sqlite3_bind_int64(q, 14, (int64_t)e->draws);
    bind_text(q, 15, e->label);
    bind_text(q, 16, e->numbers);
    sqlite3_bind_int64(q, 17, e->agent);
    sqlite3_bind_int64(q, 18, e->rollouts);
    sqlite3_bind_int64(s->end_attempt, 1, run);
    sqlite3_bind_int64(s->end_attempt, 2, e->number);
    free(samples);
    return store_write(s, q, s->end_attempt, run, d);
}

bool store_cut_add(struct store *s, int64_t run, const struct store_cut *c, struct diag *d)
{
    sqlite3_stmt *q = s->insert_cut;
    sqlite3_bind_int64(q, 1, run);
    bind_text(q, 2, c->candidate);
    sqlite3_bind_double(q, 3, c->bound_ns);
    sqlite3_bind_double(q, 4, c->cut_ns);
    bind_text(q, 5, c->reason);
    return store_write(s, q, NULL, run, d);
}

static bool insert_figure(struct store *s, sqlite3_stmt *q, unsigned place, const struct store_figure *f,
                          struct diag *d)
{
    char *times = times_text(f->times, f->n_times);
    sqlite3_bind_int64(q, 2, place);
    sqlite3_bind_int64(q, 3, f->number);
    bind_text(q, 4, f->label);
    sqlite3_bind_int64(q, 5, f->figure.rounds);
    sqlite3_bind_double(q, 6, f->figure.median_ns);
    sqlite3_bind_double(q, 7, f->figure.low_ns);
    sqlite3_bind_double(q, 8, f->figure.high_ns);
    bind_text(q, 9, times);
    bind_text(q, 10, f->actions);
    bool ok = sqlite3_step(q) == SQLITE_DONE || store_failed(s, d);
    sqlite3_reset(q);
    free(times);
    return ok;
}

static bool clear_figures(struct store *s, int64_t run, struct diag *d)
{
    sqlite3_stmt *q = store_prepare(s, "DELETE FROM figure WHERE run = ?", d);
    if (!q) return false;
    sqlite3_bind_int64(q, 1, run);
    bool ok = sqlite3_step(q) == SQLITE_DONE || store_failed(s, d);
    sqlite3_finalize(q);
    return ok;
}

bool store_figures_set(struct store *s, int64_t run, const struct store_figure *figures, unsigned n,
                       struct diag *d)
{
    static const char sql[] = "INSERT INTO figure (run, place, number, label, rounds, median_ns, low_ns,"
                              " high_ns, times, actions) VALUES (?,?,?,?,?,?,?,?,?,?)";
    if (!store_execute(s, "BEGIN IMMEDIATE", d)) return false;
    sqlite3_stmt *q = store_prepare(s, sql, d);
    bool ok = q && store_confirm(s, run, d) && clear_figures(s, run, d);
    if (ok) sqlite3_bind_int64(q, 1, run);
    for (unsigned i = 0; ok && i < n; i++)
        ok = insert_figure(s, q, i, &figures[i], d);
    sqlite3_finalize(q);
    return store_end(s, ok, d);
}

/* ---- reading ---- */

const char *store_column_text(sqlite3_stmt *q, int i)
{
    const unsigned char *text = sqlite3_column_text(q, i);
    return text ? (const char *)text : "";
}

const char *store_column_copy(struct arena *a, sqlite3_stmt *q, int i)
{
    return arena_strdup(a, store_column_text(q, i));
}

uint64_t store_column_hash(sqlite3_stmt *q, int i)
{
    return strtoull(store_column_text(q, i), NULL, 16);
}

static bool is_program(const struct store_run *run)
{
    return strcmp(run->device, STORE_NO_DEVICE) != 0;
}

/* The length of the words with which both settings begin. */
static size_t common_words(const char *a, const char *b)
{
    size_t words = 0;
    for (size_t i = 0; a[i] && a[i] == b[i]; i++)
        if (a[i] == ' ') words = i + 1;
    return words;
}

/* Adds an error for each property in which the run in the row differs from `run`. */
static void explain_difference(const struct store *s, sqlite3_stmt *q, const struct store_run *run,
                               struct diag *d)
{
    char fingerprint[HASH_HEX_BYTES], recorded_seed[24], seed[24];
    hash_hex(run->fingerprint, fingerprint);
    snprintf(recorded_seed, sizeof recorded_seed, "%" PRIu64, store_column_hash(q, 2));
    snprintf(seed, sizeof seed, "%" PRIu64, run->seed);
    const char *settings = store_column_text(q, 3);
    size_t same = common_words(settings, run->settings);
    const struct {
        const char *what, *recorded, *now;
    } identity[] = {
        {is_program(run)
             ? "another program, other sizes, --param or --allow, or a space of another version of thresh"
             : "another space or other parameters, or is of another version of thresh",
         store_column_text(q, 0), fingerprint},
        {"another device", store_column_text(q, 1), run->device},
        {"another seed", recorded_seed, seed},
        {"other settings", settings + same, run->settings + same}};
    for (size_t i = 0; i < sizeof identity / sizeof identity[0]; i++)
        if (strcmp(identity[i].recorded, identity[i].now) != 0)
            diag_plain(d, "%s: cannot resume: the run has %s ('%s', now '%s')", s->path, identity[i].what,
                       identity[i].recorded, identity[i].now);
}

/* The same for the store's last run. */
static void explain_mismatch(struct store *s, const struct store_run *run, struct diag *d)
{
    static const char sql[] = "SELECT fingerprint, device, seed, settings FROM run ORDER BY id DESC LIMIT 1";
    sqlite3_stmt *q = store_prepare(s, sql, d);
    if (!q) return;
    if (sqlite3_step(q) == SQLITE_ROW)
        explain_difference(s, q, run, d);
    else
        diag_plain(d, "%s: the store has no run to resume", s->path);
    sqlite3_finalize(q);
}

/* Sets run->id to the last run with the same properties; false after an error. */
static bool find_run(struct store *s, struct store_run *run, struct diag *d)
{
    static const char sql[] =
        "SELECT id FROM run WHERE fingerprint = ? AND device = ? AND seed = ? AND settings = ?"
        " ORDER BY id DESC LIMIT 1";
    sqlite3_stmt *q = store_prepare(s, sql, d);
    if (!q) return false;
    bind_hash(q, 1, run->fingerprint);
    bind_text(q, 2, run->device);
    bind_hash(q, 3, run->seed);
    bind_text(q, 4, run->settings);
    int step = sqlite3_step(q);
    if (step == SQLITE_ROW) run->id = sqlite3_column_int64(q, 0);
    sqlite3_finalize(q);
    if (step == SQLITE_DONE) explain_mismatch(s, run, d);
    if (step != SQLITE_DONE && step != SQLITE_ROW) store_failed(s, d);
    return step == SQLITE_ROW;
}

bool store_run_resume(struct store *s, struct store_run *run, struct diag *d)
{
    return store_execute(s, "BEGIN IMMEDIATE", d) &&
           store_end(s, find_run(s, run, d) && store_own(s, run->id, d), d);
}

/* Reads what times_text() printed; malloc'd. */
static double *parse_times(const char *text, unsigned *n)
{
    json_t *array = json_loads(text, 0, NULL);
    *n = (unsigned)json_array_size(array);
    double *times = base_calloc(*n + 1u, sizeof *times);
    for (unsigned i = 0; i < *n; i++) {
        const json_t *item = json_array_get(array, i);
        times[i] = json_is_number(item) ? json_number_value(item) : (double)NAN;
    }
    json_decref(array);
    return times;
}

/* A figure in four columns, the first of which is i; unknown if they are null. */
static struct figure column_figure(sqlite3_stmt *q, int i)
{
    return (struct figure){sqlite3_column_double(q, i), sqlite3_column_double(q, i + 1),
                           sqlite3_column_double(q, i + 2), (unsigned)sqlite3_column_int64(q, i + 3)};
}

static bool visit_row(sqlite3_stmt *q, store_visitor visit, void *context)
{
    struct store_run run = {.id = sqlite3_column_int64(q, 0),
                            .path = store_column_text(q, 1),
                            .text = store_column_text(q, 2),
                            .sizes = store_column_text(q, 3),
                            .device = store_column_text(q, 4),
                            .driver = store_column_text(q, 5),
                            .settings = store_column_text(q, 6),
                            .libraries = store_column_text(q, 20),
                            .fingerprint = store_column_hash(q, 7),
                            .seed = store_column_hash(q, 8)};
    struct store_evaluation e = {.number = sqlite3_column_int64(q, 9),
                                 .drawn = (uint64_t)sqlite3_column_int64(q, 10),
                                 .state_hash = store_column_hash(q, 11),
                                 .actions = store_column_text(q, 12),
                                 .status = store_column_text(q, 13),
                                 .median_ns = sqlite3_column_double(q, 14),
                                 .kernel_hash = store_column_hash(q, 16),
                                 .message = store_column_text(q, 17),
                                 .resources = store_column_text(q, 19),
                                 .decisions = store_column_text(q, 21),
                                 .draws = (uint64_t)sqlite3_column_int64(q, 22),
                                 .label = store_column_text(q, 23),
                                 .quoted = column_figure(q, 24),
                                 .numbers = store_column_text(q, 28),
                                 .rollouts = (unsigned)sqlite3_column_int64(q, 29),
                                 .found_at = sqlite3_column_double(q, 18)};
    double *samples = parse_times(store_column_text(q, 15), &e.n_samples);
    e.samples = samples;
    bool go_on = visit(context, &run, &e);
    free(samples);
    return go_on;
}

/* Ends a statement; `code` is the result of its last step. */
static bool end_reading(const struct store *s, sqlite3_stmt *q, int code, struct diag *d)
{
    bool ok = code == SQLITE_DONE || code == SQLITE_ROW || store_failed(s, d);
    sqlite3_finalize(q);
    return ok && store_unchanged(s, d);
}

/* The id of a run's row number `rows`, from 1; 0: it has not so many, or an error. */
static int64_t row_id(const struct store *s, int64_t run, uint64_t rows, struct diag *d)
{
    sqlite3_stmt *q =
        rows ? store_prepare(s, "SELECT id FROM evaluation WHERE run = ? ORDER BY id LIMIT 1 OFFSET ?", d)
             : NULL;
    if (!q) return 0;
    sqlite3_bind_int64(q, 1, run);
    sqlite3_bind_int64(q, 2, (int64_t)rows - 1);
    int64_t id = sqlite3_step(q) == SQLITE_ROW ? sqlite3_column_int64(q, 0) : 0;
    sqlite3_finalize(q);
    return id;
}

static bool each(const struct store *s, int64_t run, uint64_t rows, store_visitor visit, void *context,
                 struct diag *d)
{
    char sql[sizeof evaluation_columns + 128];
    snprintf(sql, sizeof sql,
             "%s WHERE (?1 = 0 OR e.run = ?1) AND (e.id > ?2 OR e.number < 1) ORDER BY e.run, e.id",
             evaluation_columns);
    sqlite3_stmt *q = store_prepare(s, sql, d);
    if (!q) return false;
    sqlite3_bind_int64(q, 1, run);
    sqlite3_bind_int64(q, 2, row_id(s, run, rows, d));
    int code;
    while ((code = sqlite3_step(q)) == SQLITE_ROW)
        if (!visit_row(q, visit, context)) break;
    return end_reading(s, q, code, d);
}

/* A store that is open for writing is read through a second connection: if another process wrote to the store
 * while this connection reads, it could not write any more. */
bool store_each_after(struct store *s, int64_t run, uint64_t rows, store_visitor visit, void *context,
                      struct diag *d)
{
    if (s->read_only) return each(s, run, rows, visit, context, d);
    struct store *reader = store_open_to_read(s->path, d);
    bool ok = reader && each(reader, run, rows, visit, context, d);
    store_close(reader);
    return ok;
}

bool store_each(struct store *s, int64_t run, store_visitor visit, void *context, struct diag *d)
{
    return store_each_after(s, run, 0, visit, context, d);
}

bool store_run_rows(struct store *s, int64_t run, uint64_t rows, uint64_t *n, uint64_t *hash, struct diag *d)
{
    static const char sql[] = "SELECT (SELECT count(*) FROM evaluation WHERE run = ?1),"
                              " (SELECT state_hash FROM evaluation WHERE id = ?2)";
    sqlite3_stmt *q = store_prepare(s, sql, d);
    if (!q) return false;
    sqlite3_bind_int64(q, 1, run);
    sqlite3_bind_int64(q, 2, row_id(s, run, rows, d));
    int code = sqlite3_step(q);
    *n = code == SQLITE_ROW ? (uint64_t)sqlite3_column_int64(q, 0) : 0;
    *hash = code == SQLITE_ROW ? store_column_hash(q, 1) : 0;
    return end_reading(s, q, code, d);
}

/* Visits the first evaluation that meets the SQL condition, in which ?1 is `value`. */
static bool visit_first(struct store *s, const char *condition, int64_t value, store_visitor visit,
                        void *context, bool *found, struct diag *d)
{
    char sql[sizeof evaluation_columns + 256];
    snprintf(sql, sizeof sql, "%s WHERE %s LIMIT 1", evaluation_columns, condition);
    sqlite3_stmt *q = store_prepare(s, sql, d);
    if (!q) return false;
    sqlite3_bind_int64(q, 1, value);
    int code = sqlite3_step(q);
    *found = code == SQLITE_ROW;
    if (*found) visit_row(q, visit, context);
    return end_reading(s, q, code, d);
}

bool store_best(struct store *s, store_visitor visit, void *context, bool *found, struct diag *d)
{
    static const char condition[] =
        "e.status = 'ok' AND ?1 = 0 AND (r.fingerprint, r.device) ="
        " (SELECT fingerprint, device FROM run ORDER BY id DESC LIMIT 1)"
        " ORDER BY ifnull(f.place, 1) > 0, CASE f.place WHEN 0 THEN f.median_ns ELSE e.median_ns END, e.id";
    return visit_first(s, condition, 0, visit, context, found, d);
}

bool store_number(struct store *s, int64_t number, store_visitor visit, void *context, bool *found,
                  struct diag *d)
{
    return visit_first(s, "e.number = ?1 ORDER BY e.run DESC", number, visit, context, found, d);
}

bool store_naive(struct store *s, int64_t run, store_visitor visit, void *context, bool *found,
                 struct diag *d)
{
    return visit_first(s, "e.number = 0 AND e.status = 'ok' AND e.run = ?1", run, visit, context, found, d);
}

static bool visit_figure(sqlite3_stmt *q, store_figure_visitor visit, void *context)
{
    struct store_figure f = {.label = store_column_text(q, 0),
                             .number = sqlite3_column_int64(q, 1),
                             .actions = store_column_text(q, 2),
                             .figure = column_figure(q, 4)};
    double *times = parse_times(store_column_text(q, 3), &f.n_times);
    f.times = times;
    bool go_on = visit(context, &f);
    free(times);
    return go_on;
}

bool store_each_figure(struct store *s, int64_t run, store_figure_visitor visit, void *context,
                       struct diag *d)
{
    static const char sql[] = "SELECT label, number, actions, times, median_ns, low_ns, high_ns, rounds"
                              " FROM figure WHERE run = ? ORDER BY place";
    sqlite3_stmt *q = store_prepare(s, sql, d);
    if (!q) return false;
    sqlite3_bind_int64(q, 1, run);
    int code;
    while ((code = sqlite3_step(q)) == SQLITE_ROW)
        if (!visit_figure(q, visit, context)) break;
    return end_reading(s, q, code, d);
}

bool store_each_cut(struct store *s, store_cut_visitor visit, void *context, struct diag *d)
{
    static const char sql[] = "SELECT candidate, bound_ns, cut_ns, reason FROM cut"
                              " WHERE run = (SELECT max(id) FROM run) ORDER BY id";
    sqlite3_stmt *q = store_prepare(s, sql, d);
    if (!q) return false;
    int code;
    while ((code = sqlite3_step(q)) == SQLITE_ROW) {
        struct store_cut c = {store_column_text(q, 0), sqlite3_column_double(q, 1),
                              sqlite3_column_double(q, 2), store_column_text(q, 3)};
        if (!visit(context, &c)) break;
    }
    return end_reading(s, q, code, d);
}

const char *store_note(const char *store)
{
    return store ? "the evaluations until then are in the store; --resume continues the run"
                 : "the evaluations are lost; use --store FILE.db to keep them";
}
