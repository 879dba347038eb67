/* thresh store: the contents of a store, a line for each run (query) or for each evaluation (export).
 *
 *     $ thresh store query runs.db
 *     run 1  matmul.lift M=512,N=512,K=512  NVIDIA H200  300 evaluations, 297 ok, best 82.68 us (...) */
#include "coordinator/store.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "coordinator/cli/cli.h"
#include "coordinator/cli/table.h"
#include "core/base/file.h"

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

static void query(const struct cli_args *a, struct store *s, struct diag *d)
{
    struct summary summary = {a, json_array()};
    if (!store_each(s, 0, summarize, &summary, d) || !add_figures(s, summary.runs, d)) {
        json_decref(summary.runs);
    } else if (cli_given(a, CLI_JSON)) {
        cli_print_json(json_pack("{s:o}", "runs", summary.runs));
    } else {
        print_runs(summary.runs);
        json_decref(summary.runs);
    }
}

/* Writes to --out, completely or not at all, or to standard output. */
static int export(const struct cli_args *a, struct store *s, struct diag *d)
{
    const char *format = cli_given(a, CLI_FORMAT) ? a->value[CLI_FORMAT] : "jsonl";
    struct file_new f;
    if (!cli_given(a, CLI_OUT)) return store_export(s, format, stdout, d) ? CLI_OK : CLI_USAGE;
    if (!file_begin(&f, a->value[CLI_OUT], d)) return CLI_USAGE;
    if (store_export(s, format, f.out, d)) return file_end(&f, d) ? CLI_OK : CLI_FAILED;
    file_drop(&f);
    return CLI_USAGE;
}

static int run(const struct cli_args *a)
{
    struct diag *d = diag_new();
    int status = CLI_OK;
    bool is_query = strcmp(a->positional[0], "query") == 0;
    bool known = cli_check_verb(&cli_store, a->positional[0], d);
    if (known)
        cli_refuse_of_verb(&cli_store, a, is_query ? CLI_TAKES(JSON) : CLI_TAKES(FORMAT) | CLI_TAKES(OUT), d);
    struct store *s = diag_failed(d) ? NULL : store_open_to_read(a->positional[1], d);
    if (s && is_query)
        query(a, s, d);
    else if (s)
        status = export(a, s, d);
    store_close(s);
    return cli_finish(d, status);
}

const struct cli_command cli_store = {
    .name = "store",
    .positional = "query|export STORE.db",
    .least = 2,
    .most = 2,
    .takes = CLI_TAKES(FORMAT) | CLI_TAKES(OUT) | CLI_TAKES(JSON),
    .notes = {{CLI_OUT, "FILE", "export: file to write (default: standard output)"},
              {CLI_FORMAT, "jsonl|csv", "export: JSON lines or CSV (default jsonl)"},
              {CLI_JSON, NULL, "query: print one JSON object"}},
    .help = "Summarizes or exports a store. 'query' prints a line for each run, 'export' one for each "
            "evaluation.\v"
            "Example: thresh store query runs.db\n"
            "         thresh store export runs.db --format csv --out runs.csv",
    .run = run,
};
