/* thresh tune: runs a campaign and prints what it found. */
#include "coordinator/tune.h"

#include <inttypes.h>
#include <stdlib.h>

#include "coordinator/best.h"
#include "coordinator/cli/cli.h"
#include "coordinator/cli/tune_space.h"
#include "coordinator/progress.h"

enum { DEFAULT_EVALUATIONS = 300, MOST_TEXT_KIB = 32 << 10 /* half of what a runner takes */ };

static bool read_options(const struct cli_args *a, struct tune_options *o, struct diag *d)
{
    uint64_t otherwise = cli_given(a, CLI_TIME) ? 0 : DEFAULT_EVALUATIONS;
    o->path = a->positional[0];
    o->sizes = a->value[CLI_SIZE];
    o->device = a->value[CLI_DEVICE];
    o->heuristic = a->value[CLI_HEURISTIC];
    o->order = a->value[CLI_ORDER];
    o->pins = a->pins.items;
    o->n_pins = a->pins.n;
    o->no_bound = cli_given(a, CLI_NO_BOUND);
    o->description = a->value[CLI_DESCRIPTION];
    o->no_prior = cli_given(a, CLI_NO_PRIOR);
    o->resume = cli_given(a, CLI_RESUME);
    o->quiet = cli_given(a, CLI_QUIET);
    o->verbose = cli_given(a, CLI_VERBOSE);
    o->store = a->value[CLI_STORE];
    o->listen = a->value[CLI_LISTEN];
    o->recorded = a->value[CLI_RECORDED];
    uint64_t kib = 0;
    if (!cli_positive(a, CLI_TEXT_LIMIT, 0, &kib, d)) return false;
    o->most_text_bytes = (size_t)(kib < MOST_TEXT_KIB ? kib : MOST_TEXT_KIB) << 10;
    return cli_count(a, CLI_SEED, 1, &o->seed, d) && cli_share(a, CLI_DISTANCE, &o->distance, d) &&
           cli_share(a, CLI_AUDIT_CUTS, &o->audit_cuts, d) &&
           cli_positive(a, CLI_EVALUATIONS, otherwise, &o->evaluations, d) &&
           cli_seconds(a, CLI_TIME, &o->time_s, d);
}

static json_t *ns_json(double ns)
{
    return ns > 0 ? json_real(ns) : json_null();
}

static void print_json(const struct tune_options *o, const struct device *dev, const struct tune_report *r)
{
    double best = r->n_top ? r->top[0].figure.median_ns : 0;
    json_t *found = r->n_top ? json_integer((json_int_t)r->top[0].found_at) : json_null();
    cli_print_json(json_pack(
        "{s:s,s:s,s:I,s:I,s:I,s:I,s:I,s:I,s:o,s:o,s:o,s:o,s:I,s:f,s:f,s:f,s:I,s:o,s:o,s:b,s:I,s:I,s:I}",
        "kernel", o->path, "device", dev->name, "evaluations", (json_int_t)r->evaluations, "ok",
        (json_int_t)r->ok, "failed", (json_int_t)r->failed, "cut", (json_int_t)r->cut, "duplicates",
        (json_int_t)r->duplicates, "oversized", (json_int_t)r->oversized, "best_ns", ns_json(best),
        "naive_ns", ns_json(r->naive.figure.median_ns), "speedup", ns_json(r->speedup.quotient), "found_at",
        found, "seed", (json_int_t)o->seed, "elapsed_s", r->elapsed_s, "evaluations_per_s",
        r->elapsed_s > 0 ? (double)r->evaluations / r->elapsed_s : 0.0, "dead_end_ratio", r->dead_end_ratio,
        "nodes", (json_int_t)r->nodes, "nodes_by_cause", cli_causes_json(r->by_cause), "store",
        o->store ? json_string(o->store) : json_null(), "quoted", (int)r->quoted, "audited",
        (json_int_t)r->audited, "violations", (json_int_t)r->violations, "reopened",
        (json_int_t)r->reopened));
}

/* written: the folder that has the result; NULL: there is none. */
static void print_table(const struct tune_options *o, const struct device *dev, const struct tune_report *r,
                        const char *written)
{
    char best[FIGURE_TEXT], naive[FIGURE_TEXT];
    printf("kernel       %s %s\ndevice       %s\n", o->path, o->sizes ? o->sizes : "", dev->name);
    printf("evaluations  %" PRIu64 " (%" PRIu64 " ok, %" PRIu64 " failed, %" PRIu64 " cut; %" PRIu64
           " duplicates and %" PRIu64 " too large texts not measured)\n",
           r->evaluations, r->ok, r->failed, r->cut, r->duplicates, r->oversized);
    printf("time         %.1f s, dead-end ratio %.3f\n", r->elapsed_s, r->dead_end_ratio);
    cli_print_nodes(r->nodes, r->by_cause);
    printf("naive        %s\n", figure_print(&r->naive.figure, naive));
    if (r->n_top)
        printf("best         %s, found at evaluation %" PRIu64 "\n", figure_print(&r->top[0].figure, best),
               r->top[0].found_at);
    if (r->speedup.quotient > 0)
        printf("speedup      %.2fx%s\n", r->speedup.quotient, r->speedup.rounds ? "" : " (search)");
    if (o->audit_cuts > 0)
        printf("audited      %" PRIu64 " that the bound would have left out\n", r->audited);
    if (r->violations)
        printf("violations   %" PRIu64 " times below the lower bound, %" PRIu64
               " nodes opened again: 'thresh device characterize' again\n",
               r->violations, r->reopened);
    if (r->exhausted) printf("the space is exhausted: every implementation was looked at\n");
    if (r->stuck) printf("ended early: very many descents found nothing new\n");
    if (r->barren) printf("ended early: too many duplicates and too large texts in a row\n");
    if (written) printf("written      %s/best.cl, best.json, host.c\n", written);
}

static bool write_result(const struct tune_options *o, struct tune *t, const char *out, struct diag *d)
{
    const struct tune_report *r = tune_report(t);
    if (r->n_top == 0) {
        if (!r->interrupted) diag_plain(d, "no valid implementation was found");
        return false;
    }
    struct best b = {.problem = tune_problem(t),
                     .device = tune_device(t),
                     .lowering = &o->lowering,
                     .sizes = o->sizes ? o->sizes : "",
                     .actions = r->top[0].actions,
                     .n_actions = r->top[0].n_actions,
                     .figure = r->top[0].figure,
                     .naive = r->naive.figure};
    return best_write(out, &b, d);
}

/* Searches, quotes and prints; what was found before an error is printed too. */
static int campaign(const struct cli_args *a, const struct tune_options *o, struct tune *t, struct diag *d)
{
    const char *out = cli_given(a, CLI_OUT) ? a->value[CLI_OUT] : "thresh-out";
    if (!best_make_folder(out, d)) return CLI_USAGE;
    bool ok = tune_search(t, d);
    tune_quote(t);
    const struct tune_report *r = tune_report(t);
    bool written = write_result(o, t, out, d);
    if (cli_given(a, CLI_JSON))
        print_json(o, tune_device(t), r);
    else
        print_table(o, tune_device(t), r, written ? out : NULL);
    return ok && written ? CLI_OK : CLI_FAILED;
}

/* A program, or --space. */
static bool has_input(const struct cli_args *a, struct diag *d)
{
    if (a->n_positional) return true;
    diag_plain(d, "KERNEL.lift or --space FILE.space is missing");
    return false;
}

/* Options that are about --space, and those of agents. */
static bool refuse_others(const struct cli_args *a, struct diag *d)
{
    static const enum cli_key others[] = {CLI_SPACE, CLI_COMMAND, CLI_TIMEOUT, CLI_DATA, CLI_PARAM},
                              runners[] = {CLI_RUNNERS}, device[] = {CLI_DEVICE};
    return cli_refuse(a, others, sizeof others / sizeof others[0], "says nothing about a program", d) &&
           cli_refuse(a, runners, 1, "is for --space, and for `thresh agent`", d) &&
           (!cli_given(a, CLI_LISTEN) ||
            cli_refuse(a, device, 1, "says nothing with --listen: it is for `thresh agent`", d));
}

/* What is about the bound. The description is also that of the device for which recorded timings stand. */
static bool refuse_unbounded(const struct cli_args *a, struct diag *d)
{
    static const enum cli_key bounded[] = {CLI_AUDIT_CUTS, CLI_DISTANCE, CLI_DESCRIPTION};
    return !cli_given(a, CLI_NO_BOUND) ||
           cli_refuse(a, bounded, cli_given(a, CLI_RECORDED) ? 2 : 3, "says nothing with --no-bound", d);
}

/* The device that recorded timings stand for. false after an error. */
static bool stand_in(const struct cli_args *a, struct tune_options *o, struct device *described,
                     struct diag *d)
{
    if (!o->recorded) return true;
    o->stands_for = described;
    if (cli_given(a, CLI_DESCRIPTION) && !cli_given(a, CLI_DEVICE) && !o->listen)
        return cli_select_device(a, NULL, described, d);
    diag_plain(d, "--recorded needs the --description of the device, and neither --device nor --listen");
    return false;
}

static int run(const struct cli_args *a)
{
    if (cli_given(a, CLI_SPACE) && !a->n_positional) return cli_tune_space(a);
    struct diag *d = diag_new();
    struct tune_options o = {.stop_fd = cli_signals()};
    struct device described;
    struct tune *t = NULL;
    int status = CLI_USAGE;
    size_t n;
    bool sound = has_input(a, d) && refuse_others(a, d) && refuse_unbounded(a, d) && read_options(a, &o, d) &&
                 cli_try_heuristic(a, d);
    char *text = sound ? source_read_file(o.path, CLI_PROGRAM_BYTES, &n, d) : NULL;
    o.text = text;
    if (text && stand_in(a, &o, &described, d)) t = tune_new(&o, d);
    if (t) status = campaign(a, &o, t, d);
    status = cli_signal_status(o.stop_fd, status);
    status = cli_finish(d, status);
    tune_free(t);
    free(text);
    return status;
}

const struct cli_command cli_tune = {
    .name = "tune",
    .positional = "KERNEL.lift | --space FILE.space --command 'PROG {x}'",
    .least = 0,
    .most = 1,
    .takes = CLI_PROGRAM | CLI_TAKES(HEURISTIC) | CLI_TAKES(EVALUATIONS) | CLI_TAKES(TIME) |
             CLI_TAKES(NO_BOUND) | CLI_TAKES(NO_PRIOR) | CLI_TAKES(DISTANCE) | CLI_TAKES(AUDIT_CUTS) |
             CLI_TAKES(DESCRIPTION) | CLI_TAKES(TEXT_LIMIT) | CLI_TAKES(STORE) | CLI_TAKES(RESUME) |
             CLI_TAKES(LISTEN) | CLI_TAKES(RECORDED) | CLI_TAKES(OUT) | CLI_TAKES(QUIET) |
             CLI_TAKES(VERBOSE) | CLI_TAKES(SPACE) | CLI_TAKES(COMMAND) | CLI_TAKES(TIMEOUT) |
             CLI_TAKES(DATA) | CLI_TAKES(PARAM) | CLI_TAKES(RUNNERS),
    .notes =
        {{CLI_OUT, "DIR",
          "where best.cl, best.json and host.c go (default thresh-out); with --space: best.json (default: "
          "nowhere)"},
         {CLI_TIMEOUT, "10s", "--space: time for one run of the command (default 60s)"},
         {CLI_RUNNERS, "N", "--space: how many programs run at once (default 1, at most 256)"}},
    .help = "Searches for the fastest implementation and compares it with the naive one. With --space any "
            "space is searched: each candidate is evaluated by the command, whose {placeholders} are choices "
            "(or which reads them as JSON), and which prints a time in ns.\v"
            "Example: thresh tune matmul.lift --size M=512,N=512,K=512 --time 10m --store runs.db\n"
            "         thresh tune --space tiles.space --command './bench {block_x} {tile}' --runners 4",
    .run = run,
};
