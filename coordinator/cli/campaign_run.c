/* thresh campaign run: the searches one after another, as `thresh tune` does each of them. A search that the
 * store has whole is skipped, one that it has in part is resumed, and one that fails does not end the
 * others: it is tried again when the campaign is run again. Campaigns whose agents are elsewhere do several
 * searches at once (campaign_fleet.c). */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "coordinator/cli/campaign_state.h"
#include "coordinator/cli/doubt.h"
#include "coordinator/cli/export.h"
#include "coordinator/store.h"
#include "core/base/arena.h"
#include "core/base/stop.h"
#include "core/base/strbuf.h"

/* ---- one search ---- */

void cli_campaign_announce(const struct cli_campaign_running *r, unsigned i)
{
    const struct campaign_status *st = campaign_progress_of(r->progress, i);
    const struct campaign *c = r->campaign->campaign;
    const struct campaign_search *s = &c->searches[i];
    struct strbuf budget = {0};
    if (cli_given(r->args, CLI_QUIET)) return;
    campaign_describe_budget(&s->settings, &budget);
    fprintf(stderr, "search %u of %u: %s %s on %s: ", s->number, c->n_searches, s->name, s->sizes,
            campaign_device_of(&r->campaign->devices, s)->device.name);
    if (st->state == CAMPAIGN_COMPLETE)
        fprintf(stderr, "complete, skipped\n");
    else if (st->run)
        fprintf(stderr, "%s, resumed after %" PRIu64 " evaluations\n", budget.text, st->evaluations);
    else
        fprintf(stderr, "%s\n", budget.text);
    strbuf_free(&budget);
}

static const char *reason_of(const struct session_report *r)
{
    if (r->exhausted) return "explored";
    if (r->settled) return "settled";
    if (r->stuck) return "stuck";
    return r->barren ? "barren" : "budget";
}

/* What is left of a search after it was set up. */
static bool search(const struct cli_args *a, struct tune *t, const char **reason, struct diag *d)
{
    bool ok = tune_search(t, d);
    ok = tune_quote(t, d) && ok;
    const struct tune_report *report = tune_report(t);
    if (!ok || report->search.interrupted) return ok;
    if (report->search.n_contenders == 0)
        diag_plain(d, "no valid implementation was found%s%s",
                   *report->search.last_failure ? "; the last one: " : "", report->search.last_failure);
    ok = cli_doubt_status(a, &report->doubt, CLI_OK, d) == CLI_OK;
    if (ok) *reason = reason_of(&report->search);
    return ok && report->search.n_contenders > 0;
}

bool cli_campaign_search(const struct cli_args *a, const struct tune_options *o, const char **reason,
                         struct diag *d)
{
    struct tune *t = tune_new(o, d);
    bool ok = t && search(a, t, reason, d);
    tune_free(t);
    return ok;
}

/* The run is known by now: progress is read before its end is noted, and again after it. */
static bool note_end(struct cli_campaign_running *r, unsigned i, const char *reason, struct diag *d)
{
    const struct campaign *c = r->campaign->campaign;
    if (!campaign_progress_update(r->progress, d)) return false;
    int64_t run = campaign_progress_of(r->progress, i)->run;
    if (!reason || !run) return true;
    return campaign_note_end(c, &c->searches[i], run, reason, d) && campaign_progress_update(r->progress, d);
}

void cli_campaign_ended(struct cli_campaign_running *r, unsigned i, bool ok, const char *reason,
                        struct diag *d)
{
    const struct campaign_search *s = &r->campaign->campaign->searches[i];
    ok = note_end(r, i, reason, d) && ok;
    r->failed[i] = !ok && !stop_requested(r->stop_fd);
    if (r->failed[i]) fprintf(stderr, "search %u: %s %s failed\n", s->number, s->name, s->sizes);
    if (r->failed[i] || ok) diag_print(d, stderr);
}

static void run_search(struct cli_campaign_running *r, unsigned i)
{
    const struct campaign *c = r->campaign->campaign;
    const struct cli_args *a = r->args;
    const char *reason = NULL;
    struct diag *d = diag_new();
    struct tune_options o = campaign_tune_options(&c->searches[i]);
    o.store = c->store;
    o.resume = campaign_progress_of(r->progress, i)->run > 0;
    o.quiet = cli_given(a, CLI_QUIET);
    o.verbose = cli_given(a, CLI_VERBOSE);
    o.stop_fd = r->stop_fd;
    bool ok = cli_campaign_search(a, &o, &reason, d);
    cli_campaign_ended(r, i, ok, reason, d);
    diag_free(d);
}

/* ---- the campaign ---- */

static void run_all(struct cli_campaign_running *r)
{
    for (unsigned i = 0; i < r->campaign->campaign->n_searches && !stop_requested(r->stop_fd); i++) {
        const struct campaign_status *st = campaign_progress_of(r->progress, i);
        cli_campaign_announce(r, i);
        if (st->state != CAMPAIGN_COMPLETE) run_search(r, i);
    }
}

/* A line for each choice of programs that were tuned on several devices. */
static bool print_portables(const struct cli_args *a, const struct campaign *c, struct diag *d)
{
    struct winners *w;
    size_t n;
    const struct portable *list = portable_of_store(c->store, &w, &n, d);
    for (size_t i = 0; list && !cli_given(a, CLI_JSON) && i < n; i++) {
        struct strbuf text = {0};
        portable_print(&list[i], &text);
        printf("portable: %s\n", text.text);
        strbuf_free(&text);
    }
    winners_free(w);
    return list != NULL;
}

int cli_campaign_write(const struct cli_args *a, const struct campaign *c, const struct campaign_progress *p,
                       struct diag *d)
{
    bool any = false, found = false;
    for (unsigned i = 0; i < c->n_searches; i++) {
        any = any || campaign_progress_of(p, i)->run;
        found = found || figure_known(&campaign_progress_of(p, i)->best);
    }
    if (!any) {
        diag_plain(d, "%s: nothing of the campaign is in the store yet", c->store);
        return CLI_FAILED;
    }
    struct cli_args of = {.positional = {c->store}, .n_positional = 1};
    of.value[CLI_OUT] = c->report;
    if (!print_portables(a, c, d)) return CLI_FAILED;
    int status = cli_write_report(&of, d);
    of.value[CLI_OUT] = c->header;
    if (found && status == CLI_OK) status = cli_write_header(&of, d);
    if (status == CLI_OK && !cli_given(a, CLI_JSON))
        printf("written %s%s%s\n", c->report, found ? ", " : "", found ? c->header : "");
    return status;
}

/* The end: what was found, and where it is. */
static int conclude(struct cli_campaign_running *r, struct diag *d)
{
    const struct cli_campaign_file *c = r->campaign;
    unsigned barren, complete = cli_campaign_complete(c->campaign, r->progress, &barren);
    cli_campaign_print_progress(r->args, c, r->progress, r->failed);
    if (stop_requested(r->stop_fd)) {
        if (!cli_given(r->args, CLI_QUIET))
            fprintf(stderr,
                    "interrupted; %u of %u searches are complete; run the same command again to go on\n",
                    complete, c->campaign->n_searches);
        return CLI_FAILED;
    }
    int status = cli_campaign_write(r->args, c->campaign, r->progress, d);
    return complete == c->campaign->n_searches && barren == 0 ? status : CLI_FAILED;
}

void cli_campaign_look(struct cli_campaign_running *r)
{
    struct diag *d = diag_new();
    campaign_progress_update(r->progress, d);
    diag_free(d);
}

struct campaign_device *cli_campaign_device(struct cli_campaign_running *r, const struct campaign_search *s)
{
    const struct campaign_devices *devices = &r->campaign->devices;
    return &devices->items[campaign_device_of(devices, s) - devices->items];
}

/* Agents elsewhere say which devices there are. */
static bool begin(struct cli_campaign_running *r, struct diag *d)
{
    const struct campaign_devices *devices = &r->campaign->devices;
    if (!cli_campaign_is_remote(r->campaign->campaign))
        return campaign_require_devices(r->campaign->campaign, devices, d);
    for (unsigned i = 0; i < devices->n; i++)
        devices->items[i].found = false;
    return true;
}

/* Whether the searches will be able to record: better said before anything is measured. */
static bool try_store(const struct campaign *c, struct diag *d)
{
    struct store *s = store_open(c->store, true, d);
    store_close(s);
    return s != NULL;
}

/* --page, else the key. */
static bool start_page(struct cli_campaign_running *r, struct diag *d)
{
    const struct campaign *c = r->campaign->campaign;
    const char *option = r->args->value[CLI_PAGE];
    int port = c->page;
    if (option && !campaign_parse_page(option, &port)) {
        diag_plain(d, "--page: '%s' is neither a port (0 to %d) nor none", option, UINT16_MAX);
        return false;
    }
    if (port == CAMPAIGN_NO_PAGE) return true;
    if (!cli_page_start(r->args, c->store, (uint16_t)port, &r->page, d)) return false;
    fprintf(stderr, "page %s\n", r->page.url);
    fflush(stderr); /* a file has it now, too */
    return true;
}

/* While a store is open for writing, SQLite coordinates all who read it; a reader that came when nobody wrote
 * would fail here as soon as another one ended and emptied the log. The page's process is forked before. */
static bool hold_store(struct cli_campaign_running *r, struct diag *d)
{
    r->store = store_open(r->campaign->campaign->store, false, d);
    return r->store != NULL;
}

int cli_campaign_run(const struct cli_args *a, const struct cli_campaign_file *c, struct diag *d)
{
    struct cli_campaign_running r = {.args = a, .campaign = c, .stop_fd = cli_signals()};
    int status = CLI_USAGE;
    if (begin(&r, d) && try_store(c->campaign, d) && start_page(&r, d) && hold_store(&r, d)) {
        r.progress = campaign_progress_new(c->campaign, &c->devices);
        r.failed = base_calloc(c->campaign->n_searches + 1, sizeof *r.failed);
        bool ok = campaign_progress_update(r.progress, d);
        if (ok && cli_campaign_is_remote(c->campaign))
            ok = cli_campaign_run_fleet(&r, d);
        else if (ok)
            run_all(&r);
        status = ok ? conclude(&r, d) : CLI_FAILED;
        free(r.failed);
        campaign_progress_free(r.progress);
    }
    store_close(r.store);
    cli_page_end(&r.page);
    return cli_signal_status(r.stop_fd, status);
}
