/* thresh store: what was measured. */
#include "coordinator/store.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "coordinator/cli/cli.h"
#include "coordinator/progress.h"

/* Counts of one run, gathered over its evaluations. */
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
    if (e->number == 0 || strcmp(e->status, "duplicate") == 0 || strcmp(e->status, "oversized") == 0)
        return true;
    add_one(o, "evaluations");
    if (strcmp(e->status, "ok") != 0) return true;
    add_one(o, "ok");
    double best = json_number_value(json_object_get(o, "best_ns"));
    if (best <= 0 || e->median_ns < best) json_object_set_new(o, "best_ns", json_real(e->median_ns));
    return true;
}

static void print_runs(json_t *runs)
{
    size_t i;
    json_t *o;
    json_array_foreach(runs, i, o)
    {
        char best[32];
        progress_time(json_number_value(json_object_get(o, "best_ns")), best, sizeof best);
        printf("run %" JSON_INTEGER_FORMAT "  %s %s  %s  %" JSON_INTEGER_FORMAT
               " evaluations, %" JSON_INTEGER_FORMAT " ok, best %s\n",
               json_integer_value(json_object_get(o, "run")), json_string_value(json_object_get(o, "kernel")),
               json_string_value(json_object_get(o, "sizes")),
               json_string_value(json_object_get(o, "device")),
               json_integer_value(json_object_get(o, "evaluations")),
               json_integer_value(json_object_get(o, "ok")), best);
    }
}

static void query(const struct cli_args *a, struct store *s, struct diag *d)
{
    struct summary summary = {a, json_array()};
    if (!store_each(s, 0, summarize, &summary, d)) {
        json_decref(summary.runs);
    } else if (cli_given(a, CLI_JSON)) {
        cli_print_json(json_pack("{s:o}", "runs", summary.runs));
    } else {
        print_runs(summary.runs);
        json_decref(summary.runs);
    }
}

static int run(const struct cli_args *a)
{
    struct diag *d = diag_new();
    bool is_query = strcmp(a->positional[0], "query") == 0;
    if (!is_query && strcmp(a->positional[0], "export") != 0)
        diag_plain(d, "'%s' is none of query, export", a->positional[0]);
    else if (is_query)
        cli_refuse_others(a, CLI_TAKES(JSON), "says nothing about query", d);
    else
        cli_refuse_others(a, CLI_TAKES(FORMAT), "says nothing about export", d);
    struct store *s = diag_failed(d) ? NULL : store_open(a->positional[1], false, d);
    if (s && is_query)
        query(a, s, d);
    else if (s)
        store_export(s, cli_given(a, CLI_FORMAT) ? a->value[CLI_FORMAT] : "jsonl", stdout, d);
    store_close(s);
    return cli_finish(d, CLI_OK);
}

const struct cli_command cli_store = {
    .name = "store",
    .positional = "query|export STORE.db",
    .least = 2,
    .most = 2,
    .takes = CLI_TAKES(FORMAT) | CLI_TAKES(JSON),
    .help = "Summarizes or exports what was measured.\v"
            "Example: thresh store export runs.db --format csv > runs.csv",
    .run = run,
};
