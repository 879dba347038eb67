/* Runs of the store are found anew at each update; the rows of a run are read once (report/data.h). */
#include "coordinator/campaign/progress.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "coordinator/campaign/sizes.h"
#include "coordinator/report/data.h"
#include "coordinator/store.h"
#include "coordinator/store_state.h"
#include "coordinator/tune.h"
#include "core/base/arena.h"
#include "core/base/hash.h"
#include "core/base/strbuf.h"

struct campaign_progress {
    const struct campaign *campaign;
    const struct campaign_devices *devices;
    struct report_data *data; /* NULL: there is no store yet */
    struct campaign_status *searches;
    int64_t since; /* Unix seconds: the first process that records now began; INT64_MAX: none does */
};

const char *campaign_state_name(enum campaign_state state)
{
    static const char *const names[] = {"pending", "stopped", "running", "complete"};
    return names[state];
}

/* ---- runs ---- */

struct tune_options campaign_tune_options(const struct campaign_search *s)
{
    return (struct tune_options){.path = s->path,
                                 .text = s->text,
                                 .sizes = s->sizes,
                                 .device = s->device,
                                 .heuristic = s->settings.heuristic,
                                 .order = s->settings.order,
                                 .pins = s->settings.pins,
                                 .n_pins = s->settings.n_pins,
                                 .lowering = campaign_lowering(&s->settings),
                                 .seed = s->seed,
                                 .evaluations = s->settings.evaluations,
                                 .time_s = s->settings.time_s,
                                 .until = s->settings.until,
                                 .learn_from = s->settings.learn_from,
                                 .n_learn_from = s->settings.n_learn_from,
                                 .baselines = s->settings.baselines,
                                 .n_baselines = s->settings.n_baselines,
                                 .data = campaign_data(&s->settings),
                                 .stop_fd = -1};
}

/* Where the device is not here, a selector that is a part of a name tells which runs it may be of. */
static bool is_device(const struct campaign_device *device, const char *name)
{
    const char *selector = device->selector;
    if (device->found) return strcmp(device->device.name, name) == 0;
    if (!selector || !strcasecmp(selector, "gpu") || !strcasecmp(selector, "cpu")) return true;
    if (selector[strspn(selector, "0123456789")] == 0) return true;
    for (; *name; name++)
        if (strncasecmp(name, selector, strlen(selector)) == 0) return true;
    return false;
}

static bool settings_match(const struct campaign_search *s, const char *recorded)
{
    struct strbuf own = {0};
    const struct tune_options o = campaign_tune_options(s);
    tune_print_settings(&o, &own);
    bool begins = strncmp(own.text, recorded, own.length) == 0;
    const char *rest = begins ? recorded + own.length : "?";
    strbuf_free(&own);
    return !*rest || strncmp(rest, STORE_FILES, strlen(STORE_FILES)) == 0 ||
           strncmp(rest, STORE_DESCRIPTION, strlen(STORE_DESCRIPTION)) == 0;
}

static bool is_of(const struct report_search *run, const struct campaign_search *s,
                  const struct campaign_device *device)
{
    char seed[HASH_HEX_BYTES];
    hash_hex(s->seed, seed);
    return strcmp(run->text, s->text) == 0 && campaign_sizes_equal(run->sizes, s->sizes) &&
           strcmp(run->seed, seed) == 0 && is_device(device, run->device) && settings_match(s, run->settings);
}

static const struct report_search *find_run(const struct campaign_progress *p,
                                            const struct campaign_search *s)
{
    size_t n;
    const struct report_search *runs = report_searches(p->data, &n);
    const struct campaign_device *device = campaign_device_of(p->devices, s);
    while (n-- > 0)
        if (is_of(&runs[n], s, device)) return &runs[n];
    return NULL;
}

/* ---- ends ---- */

static const char end_table[] = "CREATE TABLE IF NOT EXISTS campaign_end"
                                " (run INTEGER PRIMARY KEY REFERENCES run(id), budget TEXT NOT NULL,"
                                " reason TEXT NOT NULL)";

bool campaign_note_end(const struct campaign *c, const struct campaign_search *s, int64_t run,
                       const char *reason, struct diag *d)
{
    struct strbuf budget = {0};
    sqlite3_stmt *q = NULL;
    struct store *store = store_open(c->store, false, d);
    bool ok = store && store_execute(store, end_table, d);
    if (ok)
        q = store_prepare(store, "INSERT OR REPLACE INTO campaign_end (run, budget, reason) VALUES (?,?,?)",
                          d);
    campaign_print_budget(&s->settings, &budget);
    if (q) {
        sqlite3_bind_int64(q, 1, run);
        sqlite3_bind_text(q, 2, budget.text, -1, SQLITE_TRANSIENT);
        sqlite3_bind_text(q, 3, reason, -1, SQLITE_TRANSIENT);
        ok = sqlite3_step(q) == SQLITE_DONE || store_failed(store, d);
    }
    sqlite3_finalize(q);
    store_close(store);
    strbuf_free(&budget);
    return ok && q;
}

/* Another budget than the one that ended it begins the search again, unless there was nothing left. */
static bool take_end(sqlite3_stmt *q, const struct campaign_search *s, struct campaign_status *out)
{
    struct strbuf budget = {0};
    const char *recorded = (const char *)sqlite3_column_text(q, 0),
               *reason = (const char *)sqlite3_column_text(q, 1);
    if (!recorded || !reason) return false;
    campaign_print_budget(&s->settings, &budget);
    bool complete = strcmp(recorded, budget.text) == 0 || strcmp(reason, "explored") == 0;
    if (complete) snprintf(out->reason, sizeof out->reason, "%s", reason);
    strbuf_free(&budget);
    return complete;
}

static bool read_end(struct store *store, const struct campaign_search *s, struct campaign_status *out,
                     struct diag *d)
{
    sqlite3_stmt *q = store_prepare(store, "SELECT budget, reason FROM campaign_end WHERE run = ?", d);
    if (!q) return false;
    sqlite3_bind_int64(q, 1, out->run);
    int code = sqlite3_step(q);
    if (code == SQLITE_ROW && take_end(q, s, out)) out->state = CAMPAIGN_COMPLETE;
    bool ok = code == SQLITE_ROW || code == SQLITE_DONE || store_failed(store, d);
    sqlite3_finalize(q);
    return ok;
}

/* ---- updates ---- */

struct campaign_progress *campaign_progress_new(const struct campaign *c,
                                                const struct campaign_devices *devices)
{
    struct campaign_progress *p = base_calloc(1, sizeof *p);
    p->campaign = c;
    p->devices = devices;
    p->since = INT64_MAX;
    p->searches = base_calloc(c->n_searches + 1, sizeof *p->searches);
    return p;
}

void campaign_progress_free(struct campaign_progress *p)
{
    if (!p) return;
    report_data_free(p->data);
    free(p->searches);
    free(p);
}

const struct campaign_status *campaign_progress_of(const struct campaign_progress *p, unsigned i)
{
    return &p->searches[i];
}

static bool is_live(const struct report_agent *a)
{
    return strcmp(a->state, "connected") == 0 || strcmp(a->state, "working") == 0 ||
           strcmp(a->state, "idle") == 0;
}

const struct report_agent *campaign_progress_agent(const struct campaign_progress *p, size_t *at)
{
    size_t n = 0;
    const struct report_agent *agents = p->data ? report_agents(p->data, &n) : NULL;
    while (*at < n) {
        const struct report_agent *a = &agents[(*at)++];
        if (is_live(a) && a->first_seen >= p->since) return a;
    }
    return NULL;
}

/* Since when a process records in the run. */
static bool take_since(struct campaign_progress *p, struct store *store, int64_t run, struct diag *d)
{
    sqlite3_stmt *q = store_prepare(store, "SELECT since FROM owner WHERE run = ?", d);
    if (!q) return false;
    sqlite3_bind_int64(q, 1, run);
    int code = sqlite3_step(q);
    int64_t since = code == SQLITE_ROW ? sqlite3_column_int64(q, 0) : INT64_MAX;
    if (since < p->since) p->since = since;
    bool ok = code == SQLITE_ROW || code == SQLITE_DONE || store_failed(store, d);
    sqlite3_finalize(q);
    return ok;
}

static struct campaign_status status_of(const struct report_search *run)
{
    struct campaign_status s = {.state = CAMPAIGN_STOPPED, .run = run->run, .evaluations = run->evaluations};
    struct report_time found;
    s.best = report_best(run, NULL, &found);
    s.speedup = report_speedup(run);
    s.found_at = found.evaluation;
    s.age_s = run->last_s > found.at_s ? run->last_s - found.at_s : 0;
    snprintf(s.device, sizeof s.device, "%s", run->device);
    return s;
}

static bool update_search(struct campaign_progress *p, unsigned i, struct store *store, bool has_ends,
                          struct diag *d)
{
    const struct campaign_search *s = &p->campaign->searches[i];
    struct campaign_status *out = &p->searches[i];
    const struct report_search *run = find_run(p, s);
    *out = run ? status_of(run) : (struct campaign_status){0};
    if (!run) return true;
    size_t before = diag_count(d);
    if (store_run_is_owned(store, run->run, d)) out->state = CAMPAIGN_RUNNING;
    if (out->state == CAMPAIGN_RUNNING && !take_since(p, store, run->run, d)) return false;
    return diag_count(d) == before && (!has_ends || read_end(store, s, out, d));
}

bool campaign_progress_update(struct campaign_progress *p, struct diag *d)
{
    const struct campaign *c = p->campaign;
    int64_t ends;
    if (!p->data && access(c->store, F_OK)) return true;
    if (!p->data) p->data = report_data_new(c->store);
    if (!report_data_update(p->data, d)) return false;
    struct store *store = store_open_to_read(c->store, d);
    bool ok = store && store_query_int(
                           store, "SELECT count(*) FROM sqlite_master WHERE name = 'campaign_end'", &ends, d);
    p->since = INT64_MAX;
    for (unsigned i = 0; ok && i < c->n_searches; i++)
        ok = update_search(p, i, store, ends > 0, d);
    store_close(store);
    return ok;
}
