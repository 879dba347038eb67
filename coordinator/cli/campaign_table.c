/* Tables of searches. Cells are gathered first, so that columns are as wide as they need to be:
 *
 *     #  kernel  sizes  device  state     evaluations  best      speedup
 *     1  axpy    N=64   pthrd   complete  20           1.234 us  1.10x     */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "coordinator/cli/campaign.h"
#include "coordinator/report/data.h"
#include "core/base/arena.h"
#include "core/base/strbuf.h"
#include "core/base/units.h"

/* ---- tables ---- */

enum { MOST_COLUMNS = 12 };

struct table {
    struct arena *arena;
    const char **cells; /* in rows of n_columns, the titles first */
    size_t n, capacity;
    unsigned n_columns;
};

/* Control characters, which a device's name could bring to the terminal, become '?'. */
static void add_cell(struct table *t, const char *text)
{
    char *copy = arena_strdup(t->arena, *text ? text : "-");
    for (char *c = copy; *c; c++)
        if ((unsigned char)*c < ' ' || *c == 127) *c = '?';
    t->cells = arena_grow(t->arena, t->cells, &t->capacity, t->n + 1, sizeof *t->cells);
    t->cells[t->n++] = copy;
}

static struct table new_table(const char *const *titles)
{
    struct table t = {.arena = arena_new()};
    for (; titles[t.n_columns]; t.n_columns++)
        add_cell(&t, titles[t.n_columns]);
    return t;
}

/* Characters, as far as each takes one column. */
static int width_of(const char *text)
{
    int width = 0;
    for (; *text; text++)
        width += ((unsigned char)*text & 0xC0) != 0x80;
    return width;
}

static void print_table(struct table *t)
{
    int widths[MOST_COLUMNS] = {0};
    for (size_t i = 0; i < t->n; i++) {
        int width = width_of(t->cells[i]);
        if (width > widths[i % t->n_columns]) widths[i % t->n_columns] = width;
    }
    for (size_t i = 0; i < t->n; i++) {
        unsigned column = (unsigned)(i % t->n_columns);
        bool last = column + 1 == t->n_columns;
        int gap = last ? 0 : widths[column] - width_of(t->cells[i]) + 2;
        printf("%s%*s%s", t->cells[i], gap, "", last ? "\n" : "");
    }
    arena_free(t->arena);
}

/* ---- the file ---- */

static const char *device_name(const struct cli_campaign_file *c, const struct campaign_search *s)
{
    const struct campaign_device *device = campaign_device_of(&c->devices, s);
    if (device->found) return device->device.name;
    return s->device ? s->device : "first";
}

static json_t *search_json(const struct cli_campaign_file *c, const struct campaign_search *s)
{
    struct strbuf budget = {0};
    campaign_print_budget(&s->settings, &budget);
    json_t *o =
        json_pack("{s:i,s:s,s:s,s:s,s:s,s:I,s:s,s:s}", "number", (int)s->number, "kernel", s->name, "path",
                  s->path, "sizes", s->sizes, "device", device_name(c, s), "seed", (json_int_t)s->seed,
                  "budget", budget.text, "heuristic", s->settings.heuristic ? s->settings.heuristic : "tag");
    strbuf_free(&budget);
    return o;
}

static json_t *agents_json(const struct campaign_progress *p)
{
    json_t *list = json_array();
    const struct report_agent *agent;
    for (size_t at = 0; (agent = campaign_progress_agent(p, &at));)
        json_array_append_new(list,
                              json_pack("{s:s,s:s,s:s,s:s,s:I,s:I}", "name", agent->name, "host", agent->host,
                                        "device", agent->device, "state", agent->state, "running",
                                        (json_int_t)agent->running, "results", (json_int_t)agent->results));
    return list;
}

static json_t *campaign_json(const struct campaign *c, json_t *searches)
{
    return json_pack("{s:s,s:s,s:s,s:s,s:o}", "campaign", c->name, "store", c->store, "report", c->report,
                     "header", c->header, "searches", searches);
}

static void print_searches_json(const struct cli_campaign_file *c)
{
    json_t *searches = json_array();
    for (unsigned i = 0; i < c->campaign->n_searches; i++)
        json_array_append_new(searches, search_json(c, &c->campaign->searches[i]));
    cli_print_json(campaign_json(c->campaign, searches));
}

static void add_search_cells(struct table *t, const struct campaign_search *s)
{
    add_cell(t, arena_printf(t->arena, "%u", s->number));
    add_cell(t, s->name);
    add_cell(t, s->sizes);
}

void cli_campaign_print_searches(const struct cli_args *a, const struct cli_campaign_file *c)
{
    static const char *const titles[] = {"#",    "kernel", "sizes",     "device",
                                         "seed", "budget", "heuristic", NULL};
    if (cli_given(a, CLI_JSON)) {
        print_searches_json(c);
        return;
    }
    struct table t = new_table(titles);
    for (unsigned i = 0; i < c->campaign->n_searches; i++) {
        const struct campaign_search *s = &c->campaign->searches[i];
        struct strbuf budget = {0};
        campaign_describe_budget(&s->settings, &budget);
        add_search_cells(&t, s);
        add_cell(&t, device_name(c, s));
        add_cell(&t, arena_printf(t.arena, "%" PRIu64, s->seed));
        add_cell(&t, budget.text);
        add_cell(&t, s->settings.heuristic ? s->settings.heuristic : "tag");
        strbuf_free(&budget);
    }
    print_table(&t);
}

/* ---- the store ---- */

static const char *state_word(const struct campaign_status *s, bool failed)
{
    return failed ? "failed" : campaign_state_name(s->state);
}

static const char *rate_text(struct arena *a, const struct work *w, const struct figure *best)
{
    if (!w || !figure_known(best)) return "";
    if (w->operations <= 0) return arena_printf(a, "%.3g GB/s", w->bytes / best->median_ns);
    return arena_printf(a, "%.3g GFLOP/s, %.3g GB/s", w->operations / best->median_ns,
                        w->bytes / best->median_ns);
}

static const char *age_text(struct arena *a, const struct campaign_status *s)
{
    char time[UNITS_BYTES];
    if (!figure_known(&s->best) || !s->found_at) return "";
    units_time(s->age_s * 1e9, time, sizeof time);
    return arena_printf(a, "%s, at %" PRIu64, s->age_s > 0 ? time : "0 s", s->found_at);
}

static json_t *progress_json(const struct cli_campaign_file *c, unsigned i, const struct campaign_status *s,
                             bool failed)
{
    json_t *o = search_json(c, &c->campaign->searches[i]);
    double ns = s->best.median_ns;
    const struct work *w = c->works ? &c->works[i] : NULL;
    json_t *more =
        json_pack("{s:s,s:s,s:I,s:I,s:o,s:o,s:o,s:o,s:f,s:o,s:o}", "state", state_word(s, failed), "reason",
                  s->reason, "run", (json_int_t)s->run, "evaluations", (json_int_t)s->evaluations, "best",
                  figure_json(&s->best), "best_ns", ns > 0 ? json_real(ns) : json_null(), "speedup",
                  s->speedup.quotient > 0 ? json_real(s->speedup.quotient) : json_null(), "found_at",
                  s->found_at ? json_integer((json_int_t)s->found_at) : json_null(), "age_s", s->age_s,
                  "gflops", w && ns > 0 ? json_real(w->operations / ns) : json_null(), "gbytes_per_s",
                  w && ns > 0 ? json_real(w->bytes / ns) : json_null());
    json_object_update(o, more);
    json_decref(more);
    return o;
}

static void add_progress_row(struct table *t, const struct cli_campaign_file *c, unsigned i,
                             const struct campaign_status *s, bool failed)
{
    char best[FIGURE_TEXT];
    const struct campaign_search *search = &c->campaign->searches[i];
    add_search_cells(t, search);
    add_cell(t, *s->device ? s->device : device_name(c, search));
    add_cell(t, state_word(s, failed));
    add_cell(t, arena_printf(t->arena, "%" PRIu64, s->evaluations));
    add_cell(t, figure_print(&s->best, best));
    add_cell(t, s->speedup.quotient > 0 ? arena_printf(t->arena, "%.2fx", s->speedup.quotient) : "");
    add_cell(t, c->works ? rate_text(t->arena, &c->works[i], &s->best) : age_text(t->arena, s));
}

void cli_campaign_print_progress(const struct cli_args *a, const struct cli_campaign_file *c,
                                 const struct campaign_progress *p, const bool *failed)
{
    const char *const titles[] = {"#",      "kernel",  "sizes",
                                  "device", "state",   "evaluations",
                                  "best",   "speedup", c->works ? "rate" : "best's age",
                                  NULL};
    json_t *searches = json_array();
    struct table t = new_table(titles);
    for (unsigned i = 0; i < c->campaign->n_searches; i++) {
        const struct campaign_status *s = campaign_progress_of(p, i);
        bool bad = failed && failed[i];
        json_array_append_new(searches, progress_json(c, i, s, bad));
        add_progress_row(&t, c, i, s, bad);
    }
    if (cli_given(a, CLI_JSON)) {
        json_t *o = campaign_json(c->campaign, searches);
        json_object_set_new(o, "agents", agents_json(p));
        cli_print_json(o);
        arena_free(t.arena);
        return;
    }
    json_decref(searches);
    print_table(&t);
}

void cli_campaign_print_agents(const struct cli_args *a, const struct campaign_progress *p)
{
    static const char *const titles[] = {"agent", "host", "device", "state", "jobs", "results", NULL};
    const struct report_agent *agent;
    if (cli_given(a, CLI_JSON)) return;
    struct table t = new_table(titles);
    size_t n_titles = t.n;
    for (size_t at = 0; (agent = campaign_progress_agent(p, &at));) {
        add_cell(&t, agent->name);
        add_cell(&t, agent->host);
        add_cell(&t, agent->device);
        add_cell(&t, agent->state);
        add_cell(&t, arena_printf(t.arena, "%" PRId64, agent->running));
        add_cell(&t, arena_printf(t.arena, "%" PRId64, agent->results));
    }
    if (t.n == n_titles) {
        arena_free(t.arena);
        return;
    }
    printf("\n");
    print_table(&t);
}

unsigned cli_campaign_complete(const struct campaign *c, const struct campaign_progress *p, unsigned *barren)
{
    unsigned complete = 0;
    *barren = 0;
    for (unsigned i = 0; i < c->n_searches; i++) {
        const struct campaign_status *s = campaign_progress_of(p, i);
        complete += s->state == CAMPAIGN_COMPLETE;
        *barren += s->state == CAMPAIGN_COMPLETE && !figure_known(&s->best);
    }
    return complete;
}
