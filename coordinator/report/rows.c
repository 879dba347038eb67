/* The queries of a page. Evaluations are read once, those with an id above the last one; the other tables are
 * small, and are read anew. A table or column that the store's version does not have reads as empty. */
#include "coordinator/report/rows.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "coordinator/store_state.h"
#include "core/base/arena.h"
#include "core/base/hash.h"
#include "core/base/strbuf.h"
#include "core/base/utf8.h"

/* ---- columns ---- */

/* A text as it may stand in a page: UTF-8. malloc'd. */
static char *column_text(sqlite3_stmt *q, int i)
{
    char *copy = base_strdup(store_column_text(q, i));
    utf8_clean(copy);
    return copy;
}

/* Calls `take` for each row. false after an error. */
static bool each_row(const struct store *s, const char *sql, int64_t value,
                     void (*take)(void *, sqlite3_stmt *), void *context, struct diag *d)
{
    sqlite3_stmt *q = store_prepare(s, sql, d);
    if (!q) return false;
    int code;
    if (sqlite3_bind_parameter_count(q) > 0) sqlite3_bind_int64(q, 1, value);
    while ((code = sqlite3_step(q)) == SQLITE_ROW)
        take(context, q);
    bool ok = code == SQLITE_DONE || store_failed(s, d);
    sqlite3_finalize(q);
    return ok;
}

static void take_true(void *context, sqlite3_stmt *q)
{
    (void)q;
    *(bool *)context = true;
}

static bool has_column(const struct store *s, const char *table, const char *column, bool *has,
                       struct diag *d)
{
    struct strbuf sql = {0};
    *has = false;
    strbuf_printf(&sql, "SELECT 1 FROM pragma_table_info('%s') WHERE name = '%s'", table, column);
    bool ok = each_row(s, sql.text, 0, take_true, has, d);
    strbuf_free(&sql);
    return ok;
}

/* Adds all texts of a row to a hash. */
static uint64_t hash_row(uint64_t hash, sqlite3_stmt *q)
{
    for (int i = 0; i < sqlite3_column_count(q); i++) {
        const unsigned char *text = sqlite3_column_text(q, i);
        hash = hash_string(hash, text ? (const char *)text : "");
        hash = hash_bytes(hash, "", 1);
    }
    return hash;
}

/* ---- runs ---- */

static struct report_search *search_of(struct report_rows *r, int64_t run)
{
    size_t low = 0, high = r->n_searches;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (r->searches[middle].run < run)
            low = middle + 1;
        else
            high = middle;
    }
    return low < r->n_searches && r->searches[low].run == run ? &r->searches[low] : NULL;
}

static void take_run(void *context, sqlite3_stmt *q)
{
    struct report_rows *r = context;
    struct report_search s = {.run = sqlite3_column_int64(q, 0), .version = 1};
    char **texts[] = {&s.path,      &s.text,     &s.sizes, &s.device, &s.driver,
                      &s.libraries, &s.settings, &s.seed,  &s.started};
    for (int i = 0; i < 9; i++)
        *texts[i] = column_text(q, i + 1);
    const unsigned char *hash = sqlite3_column_text(q, 10);
    s.fingerprint = strtoull(hash ? (const char *)hash : "", NULL, 16);
    s.campaign = sqlite3_column_int64(q, 11);
    s.owner = base_strdup("");
    r->searches = base_realloc(r->searches, (r->n_searches + 1) * sizeof *r->searches);
    r->searches[r->n_searches++] = s;
}

static bool read_runs(struct report_rows *r, const struct store *s, struct diag *d)
{
    bool campaigns;
    char sql[256];
    if (!has_column(s, "run", "campaign", &campaigns, d)) return false;
    snprintf(
        sql, sizeof sql,
        "SELECT id, path, text, sizes, device, driver, libraries, settings, seed, started, fingerprint, %s"
        " FROM run WHERE id > ? ORDER BY id",
        campaigns ? "campaign" : "0");
    return each_row(s, sql, r->n_searches ? r->searches[r->n_searches - 1].run : 0, take_run, r, d);
}

static void take_owner(void *context, sqlite3_stmt *q)
{
    struct report_search *s = search_of(context, sqlite3_column_int64(q, 0));
    if (!s) return;
    int64_t pid = sqlite3_column_int64(q, 1);
    struct strbuf owner = {0};
    char *host = column_text(q, 2);
    strbuf_printf(&owner, "%s, process %lld", host, (long long)pid);
    free(host);
    s->seen = sqlite3_column_int64(q, 3);
    if (s->owned == (pid != 0) && strcmp(s->owner, owner.text) == 0) {
        strbuf_free(&owner);
        return;
    }
    free(s->owner);
    s->owner = strbuf_take(&owner);
    s->owned = pid != 0;
    s->version++;
}

/* ---- evaluations ---- */

static struct report_outcome *outcome_of(struct report_search *s, const char *name)
{
    for (unsigned i = 0; i < s->n_outcomes; i++)
        if (strcmp(s->outcomes[i].name, name) == 0) return &s->outcomes[i];
    s->outcomes = base_realloc(s->outcomes, (s->n_outcomes + 1) * sizeof *s->outcomes);
    struct report_outcome *o = &s->outcomes[s->n_outcomes++];
    *o = (struct report_outcome){.name = base_strdup(name),
                                 .counts = strcmp(name, "duplicate") && strcmp(name, "oversized")};
    utf8_clean(o->name);
    return o;
}

static void add_time(struct report_search *s, const struct report_time *t)
{
    if (s->n_times == s->capacity) {
        s->capacity = 2 * s->capacity + 256;
        s->times = base_realloc(s->times, s->capacity * sizeof *s->times);
    }
    s->times[s->n_times++] = *t;
}

/* Contenders that need no search (number <= 0) are no evaluations, and have no outcome here. */
static void take_evaluation(void *context, sqlite3_stmt *q)
{
    struct report_rows *r = context;
    struct report_search *s = search_of(r, sqlite3_column_int64(q, 1));
    r->last_evaluation = sqlite3_column_int64(q, 0);
    if (!s) return;
    const unsigned char *status = sqlite3_column_text(q, 3);
    struct report_time t = {.ns = sqlite3_column_double(q, 4),
                            .at_s = sqlite3_column_double(q, 5),
                            .number = (int32_t)sqlite3_column_int64(q, 2)};
    if (t.number > 0) {
        struct report_outcome *o = outcome_of(s, status ? (const char *)status : "");
        o->count++;
        s->evaluations += o->counts;
        t.evaluation = o->counts ? (uint32_t)s->evaluations : 0;
    }
    if (t.at_s > s->last_s) s->last_s = t.at_s;
    if (status && strcmp((const char *)status, "ok") == 0 && t.ns > 0 && isfinite(t.ns)) add_time(s, &t);
    s->version++;
}

/* ---- final rounds ---- */

static void clear_contenders(struct report_search *s)
{
    for (unsigned i = 0; i < s->n_contenders; i++) {
        free(s->contenders[i].label);
        free(s->contenders[i].times);
    }
    free(s->contenders);
    s->contenders = NULL;
    s->n_contenders = 0;
}

struct figures {
    struct report_rows *rows;
    struct report_search *last; /* whose contenders are being read */
    uint64_t *hashes;           /* [n_searches] of the rows */
};

static double *read_times(sqlite3_stmt *q, int i, unsigned *n)
{
    const unsigned char *text = sqlite3_column_text(q, i);
    json_t *array = json_loads(text ? (const char *)text : "", 0, NULL);
    *n = (unsigned)json_array_size(array);
    double *times = base_calloc(*n + 1u, sizeof *times);
    for (unsigned k = 0; k < *n; k++) {
        const json_t *item = json_array_get(array, k);
        times[k] = json_is_number(item) ? json_number_value(item) : (double)NAN;
    }
    json_decref(array);
    return times;
}

static void take_figure(void *context, sqlite3_stmt *q)
{
    struct figures *f = context;
    struct report_search *s = search_of(f->rows, sqlite3_column_int64(q, 0));
    if (!s) return;
    if (s != f->last) clear_contenders(s);
    f->last = s;
    uint64_t *hash = &f->hashes[s - f->rows->searches];
    *hash = hash_row(*hash, q);
    struct report_contender c = {.label = column_text(q, 1), .number = sqlite3_column_int64(q, 2)};
    c.figure = (struct figure){sqlite3_column_double(q, 3), sqlite3_column_double(q, 4),
                               sqlite3_column_double(q, 5), (unsigned)sqlite3_column_int64(q, 6)};
    c.times = read_times(q, 7, &c.n_times);
    s->contenders = base_realloc(s->contenders, (s->n_contenders + 1) * sizeof *s->contenders);
    s->contenders[s->n_contenders++] = c;
}

/* Contenders are replaced when a run that was resumed ends again. */
static bool read_figures(struct report_rows *r, const struct store *s, struct diag *d)
{
    static const char sql[] = "SELECT run, label, number, median_ns, low_ns, high_ns, rounds, times"
                              " FROM figure ORDER BY run, place";
    struct figures f = {.rows = r, .hashes = base_calloc(r->n_searches + 1, sizeof *f.hashes)};
    bool ok = each_row(s, sql, 0, take_figure, &f, d);
    for (size_t i = 0; ok && i < r->n_searches; i++) {
        r->searches[i].version += r->searches[i].figures_hash != f.hashes[i];
        r->searches[i].figures_hash = f.hashes[i];
    }
    free(f.hashes);
    return ok;
}

/* ---- agents, events, campaigns ---- */

static void clear_agents(struct report_rows *r)
{
    for (size_t i = 0; i < r->n_agents; i++) {
        char *texts[] = {r->agents[i].name, r->agents[i].host, r->agents[i].device, r->agents[i].driver,
                         r->agents[i].state};
        for (int k = 0; k < 5; k++)
            free(texts[k]);
    }
    free(r->agents);
    r->agents = NULL;
    r->n_agents = 0;
}

static void take_agent(void *context, sqlite3_stmt *q)
{
    struct report_rows *r = context;
    struct report_agent a = {.id = sqlite3_column_int64(q, 0),
                             .name = column_text(q, 1),
                             .host = column_text(q, 2),
                             .device = column_text(q, 3),
                             .driver = column_text(q, 4),
                             .state = column_text(q, 5),
                             .running = sqlite3_column_int64(q, 6),
                             .results = sqlite3_column_int64(q, 7),
                             .first_seen = sqlite3_column_int64(q, 8),
                             .seen = sqlite3_column_int64(q, 9)};
    r->agents = base_realloc(r->agents, (r->n_agents + 1) * sizeof *r->agents);
    r->agents[r->n_agents++] = a;
}

static void clear_events(struct report_rows *r)
{
    for (size_t i = 0; i < r->n_events; i++) {
        free(r->events[i].agent);
        free(r->events[i].kind);
        free(r->events[i].message);
    }
    free(r->events);
    r->events = NULL;
    r->n_events = 0;
}

static void take_event(void *context, sqlite3_stmt *q)
{
    struct report_rows *r = context;
    struct report_event e = {.id = sqlite3_column_int64(q, 0),
                             .at = sqlite3_column_double(q, 1),
                             .run = sqlite3_column_int64(q, 2),
                             .agent = column_text(q, 3),
                             .kind = column_text(q, 4),
                             .message = column_text(q, 5)};
    r->events = base_realloc(r->events, (r->n_events + 1) * sizeof *r->events);
    r->events[r->n_events++] = e;
}

static void clear_campaigns(struct report_rows *r)
{
    for (size_t i = 0; i < r->n_campaigns; i++) {
        free(r->campaigns[i].name);
        free(r->campaigns[i].path);
        free(r->campaigns[i].started);
    }
    free(r->campaigns);
    r->campaigns = NULL;
    r->n_campaigns = 0;
}

static void take_campaign(void *context, sqlite3_stmt *q)
{
    struct report_rows *r = context;
    struct report_campaign c = {.id = sqlite3_column_int64(q, 0),
                                .name = column_text(q, 1),
                                .path = column_text(q, 2),
                                .started = column_text(q, 3)};
    r->campaigns = base_realloc(r->campaigns, (r->n_campaigns + 1) * sizeof *r->campaigns);
    r->campaigns[r->n_campaigns++] = c;
}

/* A table that may be missing, read anew: `has` is a column that it has. */
static bool read_table(struct report_rows *r, const struct store *s, const char *table, const char *has,
                       const char *sql, int64_t value, void (*take)(void *, sqlite3_stmt *), struct diag *d)
{
    bool there;
    return has_column(s, table, has, &there, d) && (!there || each_row(s, sql, value, take, r, d));
}

static void take_count(void *context, sqlite3_stmt *q)
{
    ((struct report_rows *)context)->all_events = (uint64_t)sqlite3_column_int64(q, 0);
}

static bool read_campaign_tables(struct report_rows *r, const struct store *s, struct diag *d)
{
    static const char agents[] = "SELECT id, name, host, device, driver, state, running, results, first_seen,"
                                 " seen FROM agent ORDER BY id";
    static const char events[] =
        "SELECT e.id, e.at, e.run, ifnull((SELECT name FROM agent WHERE id = e.agent), ''), e.kind, e.message"
        " FROM event e ORDER BY e.id DESC LIMIT ?";
    static const char campaigns[] = "SELECT id, name, path, started FROM campaign ORDER BY id";
    clear_agents(r);
    clear_events(r);
    clear_campaigns(r);
    r->all_events = 0;
    return read_table(r, s, "agent", "state", agents, 0, take_agent, d) &&
           read_table(r, s, "event", "message", events, REPORT_EVENTS, take_event, d) &&
           read_table(r, s, "event", "message", "SELECT count(*) FROM event", 0, take_count, d) &&
           read_table(r, s, "campaign", "name", campaigns, 0, take_campaign, d);
}

/* ---- all ---- */

bool report_rows_read(struct report_rows *r, const struct store *s, struct diag *d)
{
    static const char evaluations[] = "SELECT id, run, number, status, median_ns, found_at FROM evaluation"
                                      " WHERE id > ? ORDER BY id";
    return store_query_int(s, "PRAGMA user_version", &r->schema, d) && read_runs(r, s, d) &&
           each_row(s, evaluations, r->last_evaluation, take_evaluation, r, d) && read_figures(r, s, d) &&
           each_row(s, "SELECT run, pid, host, seen FROM owner", 0, take_owner, r, d) &&
           read_campaign_tables(r, s, d);
}

static void clear_search(struct report_search *s)
{
    char *texts[] = {s->path,      s->text,     s->sizes, s->device,  s->driver,
                     s->libraries, s->settings, s->seed,  s->started, s->owner};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        free(texts[i]);
    for (unsigned i = 0; i < s->n_outcomes; i++)
        free(s->outcomes[i].name);
    free(s->outcomes);
    free(s->times);
    clear_contenders(s);
}

void report_rows_clear(struct report_rows *r)
{
    for (size_t i = 0; i < r->n_searches; i++)
        clear_search(&r->searches[i]);
    free(r->searches);
    clear_agents(r);
    clear_events(r);
    clear_campaigns(r);
    *r = (struct report_rows){0};
}
