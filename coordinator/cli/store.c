/* thresh store: the contents of a store, a line for each run (query) or for each evaluation (export); several
 * stores as one (merge).
 *
 *     $ thresh store query runs.db
 *     run 1  matmul.lift M=512,N=512,K=512  NVIDIA H200  300 evaluations, 297 ok, best 82.68 us (...)
 *     $ thresh store merge night1.db night2.db -o all.db
 *     all.db: 7 runs, 2100 evaluations */
#include "coordinator/store.h"

#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>

#include "coordinator/cli/cli.h"
#include "coordinator/cli/export.h"
#include "coordinator/cli/table.h"
#include "coordinator/export.h"
#include "coordinator/merge.h"
#include "core/base/panic.h"

/* The runs with their counts, gathered over all evaluations. */
struct summary {
    const struct cli_args *args;
    json_t *runs; /* array of objects */
};

static json_t *run_object(struct summary *s, const struct store_run *run)
{
    size_t n = json_array_size(s->runs);
    json_t *last = n ? json_array_get(s->runs, n - 1) : NULL;
    for (size_t i = 0; i < n; i++) {
        json_t *o = json_array_get(s->runs, i);
        if (json_integer_value(json_object_get(o, "run")) == run->id) return o;
    }
    last = json_pack("{s:I,s:s,s:s,s:s,s:I,s:I,s:I,s:n}", "run", (json_int_t)run->id, "kernel", run->path,
                     "sizes", run->sizes, "device", run->device, "seed", (json_int_t)run->seed, "evaluations",
                     (json_int_t)0, "ok", (json_int_t)0, "best_ns");
    json_array_append_new(s->runs, last);
    return last;
}

static void add_one(json_t *o, const char *key)
{
    json_object_set_new(o, key, json_integer(json_integer_value(json_object_get(o, key)) + 1));
}

static bool summarize(void *context, const struct store_run *run, const struct store_evaluation *e)
{
    struct summary *s = context;
    json_t *o = run_object(s, run);
    if (e->number <= 0 || strcmp(e->status, "duplicate") == 0 || strcmp(e->status, "oversized") == 0)
        return true;
    add_one(o, "evaluations");
    if (strcmp(e->status, "ok") != 0) return true;
    add_one(o, "ok");
    return true;
}

/* A run's times: those of its final rounds, else those of the search. */
struct run_figures {
    struct figure best, naive;
};

static bool take_quoted(void *context, const struct store_figure *f)
{
    struct run_figures *r = context;
    if (!figure_known(&r->best)) r->best = f->figure;
    if (f->number == 0) r->naive = f->figure;
    return true;
}

static bool take_search(void *context, const struct store_run *run, const struct store_evaluation *e)
{
    struct run_figures *r = context;
    (void)run;
    if (strcmp(e->status, "ok") != 0) return true;
    struct figure f = figure_of_search(e->median_ns);
    if (!figure_known(&r->best) || f.median_ns < r->best.median_ns) r->best = f;
    if (e->number == 0) r->naive = f;
    return true;
}

/* Adds to each run its best time, its naive time and the speedup. */
static bool add_figures(struct store *s, json_t *runs, struct diag *d)
{
    size_t i;
    json_t *o;
    json_array_foreach(runs, i, o)
    {
        int64_t id = json_integer_value(json_object_get(o, "run"));
        struct run_figures r = {0};
        if (!store_each_figure(s, id, take_quoted, &r, d)) return false;
        if (!figure_known(&r.best) && !store_each(s, id, take_search, &r, d)) return false;
        struct figure_ratio speedup = {0};
        if (figure_comparable(&r.naive, &r.best)) speedup = figure_ratio(&r.naive, &r.best, NULL, NULL, 0);
        json_object_set_new(o, "quoted", json_boolean(figure_quoted(&r.best)));
        json_object_set_new(o, "best_ns", figure_known(&r.best) ? json_real(r.best.median_ns) : json_null());
        json_object_set_new(o, "best", figure_json(&r.best));
        json_object_set_new(o, "naive", figure_json(&r.naive));
        json_object_set_new(o, "speedup", speedup.quotient > 0 ? json_real(speedup.quotient) : json_null());
    }
    return true;
}

static void print_runs(json_t *runs)
{
    size_t i;
    json_t *o;
    json_array_foreach(runs, i, o)
    {
        char best[FIGURE_TEXT];
        struct figure f;
        figure_read_json(json_object_get(o, "best"), &f);
        printf("run %" JSON_INTEGER_FORMAT "  %s %s  %s  %" JSON_INTEGER_FORMAT
               " evaluations, %" JSON_INTEGER_FORMAT " ok, best %s\n",
               json_integer_value(json_object_get(o, "run")), json_string_value(json_object_get(o, "kernel")),
               json_string_value(json_object_get(o, "sizes")),
               json_string_value(json_object_get(o, "device")),
               json_integer_value(json_object_get(o, "evaluations")),
               json_integer_value(json_object_get(o, "ok")), figure_print(&f, best));
    }
}

static int query(const struct cli_args *a, struct diag *d)
{
    struct summary summary = {a, json_array()};
    struct store *s = store_open_to_read(a->positional[1], d);
    if (!s || !store_each(s, 0, summarize, &summary, d) || !add_figures(s, summary.runs, d)) {
        json_decref(summary.runs);
    } else if (cli_given(a, CLI_JSON)) {
        cli_print_json(json_pack("{s:o}", "runs", summary.runs));
    } else {
        print_runs(summary.runs);
        json_decref(summary.runs);
    }
    store_close(s);
    return CLI_OK;
}

static int export(const struct cli_args *a, struct diag *d)
{
    const char *format = cli_given(a, CLI_FORMAT) ? a->value[CLI_FORMAT] : "jsonl";
    if (export_is_of_rows(format)) return cli_export_rows(a, a->positional + 1, 1, format, d);
    diag_plain(d, "--format: unknown format '%s'; expected jsonl or csv ('thresh export' has others)",
               format);
    return CLI_USAGE;
}

/* ---- merge ---- */

/* Whether a signal has arrived at the descriptor of cli_signals(). */
static bool is_interrupted(void *fd)
{
    struct pollfd p = {.fd = *(int *)fd, .events = POLLIN};
    return p.fd >= 0 && poll(&p, 1, 0) > 0;
}

static void print_merge(const struct cli_args *a, const struct merge_report *r)
{
    const char *out = a->value[CLI_OUT];
    if (cli_given(a, CLI_JSON)) {
        cli_print_json(json_pack("{s:s,s:I,s:I,s:I,s:I,s:s}", "store", out, "runs", (json_int_t)r->runs,
                                 "evaluations", (json_int_t)r->evaluations, "present", (json_int_t)r->present,
                                 "continued", (json_int_t)r->continued, "notes",
                                 r->notes.text ? r->notes.text : ""));
        return;
    }
    printf("%s: %" PRIu64 " runs, %" PRIu64 " evaluations\n", out, r->runs, r->evaluations);
    if (r->present)
        printf("%" PRIu64 " run%s present in an earlier source\n", r->present,
               r->present == 1 ? " is" : "s are");
    if (r->continued) printf("%" PRIu64 " runs continue shorter ones of an earlier source\n", r->continued);
    if (r->notes.text) fputs(r->notes.text, stdout);
}

/* Whether every source is a store that can be read. */
static bool check_sources(const struct cli_args *a, struct diag *d)
{
    for (unsigned i = 1; i < a->n_positional; i++) {
        struct store *s = store_open_to_read(a->positional[i], d);
        if (!s) return false;
        store_close(s);
    }
    return true;
}

static int merge(const struct cli_args *a, struct diag *d)
{
    struct merge_report report = {0};
    if (!cli_given(a, CLI_OUT)) diag_plain(d, "--out FILE.db is missing: the store to write");
    if (diag_failed(d) || !check_sources(a, d)) return CLI_USAGE;
    int fd = cli_signals();
    bool ok = merge_stores(a->positional + 1, a->n_positional - 1, a->value[CLI_OUT], is_interrupted, &fd,
                           &report, d);
    if (ok) print_merge(a, &report);
    strbuf_free(&report.notes);
    return cli_signal_status(fd, ok ? CLI_OK : CLI_FAILED);
}

static const struct {
    const char *name;
    unsigned most; /* stores */
    struct cli_set takes;
    int (*run)(const struct cli_args *a, struct diag *d);
} verbs[] = {{"query", 1, {CLI_TAKES(JSON)}, query},
             {"export", 1, {CLI_TAKES(FORMAT), CLI_TAKES(OUT)}, export},
             {"merge", CLI_MAX_POSITIONAL, {CLI_TAKES(OUT), CLI_TAKES(JSON)}, merge}};

static int run(const struct cli_args *a)
{
    struct diag *d = diag_new();
    size_t n = sizeof verbs / sizeof verbs[0], verb = 0;
    int status = CLI_USAGE;
    while (verb < n && strcmp(a->positional[0], verbs[verb].name) != 0)
        verb++;
    if (cli_check_verb(&cli_store, a->positional[0], d)) {
        CHECK(verb < n);
        cli_refuse_of_verb(&cli_store, a, verbs[verb].takes, d);
        if (a->n_positional - 1 > verbs[verb].most)
            diag_plain(d, "unexpected argument '%s': 'thresh store %s' takes one store",
                       a->positional[1 + verbs[verb].most], verbs[verb].name);
        if (!diag_failed(d)) status = verbs[verb].run(a, d);
    }
    return cli_finish(d, status);
}

const struct cli_command cli_store = {
    .name = "store",
    .positional = "query|export|merge STORE.db [STORE.db...]",
    .least = 2,
    .most = CLI_MAX_POSITIONAL,
    .takes = {CLI_TAKES(FORMAT), CLI_TAKES(OUT), CLI_TAKES(JSON)},
    .notes = {{CLI_OUT, "FILE", "export: file to write (default: standard output); merge: the new store"},
              {CLI_FORMAT, "jsonl|csv", "export: JSON lines or CSV (default jsonl)"},
              {CLI_JSON, NULL, "query, merge: print one JSON object"}},
    .help =
        "Summarizes, exports or joins stores. 'query' prints a line for each run, 'export' one for each "
        "evaluation.\n"
        "'merge' writes a new store with the runs of all stores. A run that several stores have is copied "
        "once: the longest one, if it continues the others; otherwise each is kept, and named. The sources "
        "do not change.\v"
        "Example: thresh store query runs.db\n"
        "         thresh store export runs.db --format csv --out runs.csv\n"
        "         thresh store merge night1.db night2.db --out all.db",
    .run = run,
};
