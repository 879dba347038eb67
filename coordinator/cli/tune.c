/* thresh tune: runs a campaign and prints what it found. */
#include "coordinator/tune.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "coordinator/best.h"
#include "coordinator/cli/data.h"
#include "coordinator/cli/doubt.h"
#include "coordinator/cli/kind.h"
#include "coordinator/cli/launched.h"
#include "coordinator/cli/tune_sequence.h"
#include "coordinator/cli/tune_space.h"
#include "core/base/arena.h"
#include "core/base/units.h"

static bool read_options(const struct cli_args *a, struct arena *arena, struct tune_options *o,
                         struct diag *d)
{
    uint64_t otherwise = cli_given(a, CLI_TIME) ? 0 : LIMIT_EVALUATIONS;
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
    o->keys = a->value[CLI_KEYS];
    o->recorded = a->value[CLI_RECORDED];
    o->learn_from = a->learned.items;
    o->n_learn_from = a->learned.n;
    o->baselines = a->baselines.items;
    o->n_baselines = a->baselines.n;
    uint64_t kib = 0;
    if (!cli_lowering(a, &o->lowering, d)) return false;
    if (!cli_positive(a, CLI_TEXT_LIMIT, 0, &kib, d)) return false;
    o->most_text_bytes = (size_t)(kib < LIMIT_TEXT_KIB_MOST ? kib : LIMIT_TEXT_KIB_MOST) << 10;
    return cli_read_data(a, arena, &o->data, d) && cli_runners(a, &o->runners, d) &&
           cli_count(a, CLI_SEED, 1, &o->seed, d) && cli_share(a, CLI_DISTANCE, &o->distance, d) &&
           cli_share(a, CLI_AUDIT_CUTS, &o->audit_cuts, d) &&
           cli_positive(a, CLI_EVALUATIONS, otherwise, &o->evaluations, d) &&
           cli_seconds(a, CLI_TIME, &o->time_s, d) && cli_seconds(a, CLI_ROUNDS_TIME, &o->rounds_s, d);
}

static json_t *ns_json(double ns)
{
    return ns > 0 ? json_real(ns) : json_null();
}

/* NULL: nothing was found. */
static const struct session_pick *winner(const struct tune_report *r)
{
    return r->search.n_contenders ? &r->search.contenders[0] : NULL;
}

static json_t *contenders_json(const struct tune_report *r)
{
    json_t *list = json_array();
    for (unsigned i = 0; i < r->search.n_contenders; i++) {
        const struct session_pick *p = &r->search.contenders[i];
        json_array_append_new(list, json_pack("{s:s,s:I,s:o}", "label", p->label, "number",
                                              (json_int_t)p->number, "figure", figure_json(&p->figure)));
    }
    return list;
}

static json_t *baselines_json(const struct tune_report *r)
{
    json_t *list = json_array();
    for (unsigned i = 0; i < r->n_baselines; i++) {
        const struct tune_baseline *b = &r->baselines[i];
        json_array_append_new(list, json_pack("{s:s,s:s,s:o,s:o,s:o}", "label", b->label, "status", b->status,
                                              "message", b->why ? json_string(b->why) : json_null(), "figure",
                                              figure_json(&b->pick.figure), "speedup", ns_json(b->speedup)));
    }
    return list;
}

/* What is known of the winner beside its time. */
static json_t *verdict_json(const struct tune_report *r)
{
    const struct tune_verdict *v = &r->verdict;
    const struct session_pick *best = winner(r);
    double ns = best ? best->figure.median_ns : 0;
    return json_pack("{s:f,s:f,s:o,s:o,s:o,s:o,s:o,s:b,s:o}", "flop", v->work.operations, "bytes",
                     v->work.bytes, "gflops", ns > 0 ? json_real(v->work.operations / ns) : json_null(),
                     "gbytes_per_s", ns > 0 ? json_real(v->work.bytes / ns) : json_null(), "bound_ns",
                     ns_json(v->bound_ns), "best_bound_ns", ns_json(v->best_bound_ns), "bound_share",
                     ns_json(v->share), "gains_little", (int)v->gains_little, "advice",
                     v->advice ? json_string(v->advice) : json_null());
}

/* The result itself: where it comes from, its figures, and how they compare. */
static json_t *result_json(const struct tune_report *r)
{
    const struct session_pick *best = winner(r);
    const struct figure none = {0};
    json_t *found = best && best->found_at ? json_integer((json_int_t)best->found_at) : json_null();
    json_t *o = json_pack(
        "{s:o,s:o,s:o,s:o,s:o,s:o,s:b,s:I,s:o,s:o,s:o,s:o,s:o,s:o}", "best_ns",
        ns_json(best ? best->figure.median_ns : 0), "best", figure_json(best ? &best->figure : &none),
        "best_from", best ? json_string(best->label) : json_null(), "found_at", found, "naive_ns",
        ns_json(r->naive.figure.median_ns), "naive", figure_json(&r->naive.figure), "naive_excluded",
        (int)r->naive_excluded, "naive_repeats", (json_int_t)r->naive_repeats, "speedup",
        ns_json(r->search.speedup.quotient), "speedup_low", ns_json(r->search.speedup.low), "speedup_high",
        ns_json(r->search.speedup.high), "contenders", contenders_json(r), "baselines", baselines_json(r),
        "nodes_by_cause", cli_causes_json(r->search.by_cause));
    json_t *verdict = verdict_json(r);
    json_object_update(o, verdict);
    json_decref(verdict);
    return o;
}

static void print_json(const struct tune_options *o, const struct device *dev, const struct tune_report *r)
{
    json_t *all = json_pack(
        "{s:s,s:s,s:I,s:I,s:I,s:I,s:I,s:I,s:I,s:f,s:f,s:f,s:I,s:o,s:b,s:I,s:I,s:I}", "kernel", o->path,
        "device", dev->name, "evaluations", (json_int_t)r->search.evaluations, "ok", (json_int_t)r->search.ok,
        "failed", (json_int_t)r->search.failed, "cut", (json_int_t)r->search.cut, "duplicates",
        (json_int_t)r->search.duplicates, "oversized", (json_int_t)r->search.oversized, "seed",
        (json_int_t)o->seed, "elapsed_s", r->search.elapsed_s, "evaluations_per_s",
        r->search.elapsed_s > 0 ? (double)r->search.evaluations / r->search.elapsed_s : 0.0, "dead_end_ratio",
        r->search.dead_end_ratio, "nodes", (json_int_t)r->search.nodes, "store",
        o->store ? json_string(o->store) : json_null(), "quoted", (int)r->search.quoted, "audited",
        (json_int_t)r->search.audited, "violations", (json_int_t)r->violations, "reopened",
        (json_int_t)r->reopened);
    json_t *result = result_json(r);
    json_object_update(all, result);
    json_decref(result);
    cli_add_doubt(all, &r->doubt);
    cli_print_json(all);
}

static void print_naive(const struct tune_report *r)
{
    char text[FIGURE_TEXT];
    printf("naive        %s%s%s%s\n", figure_print(&r->naive.figure, text), r->naive_why ? ", " : "",
           r->naive_why ? r->naive_why : "",
           r->naive_excluded ? ", excluded by --pin: measured for comparison only" : "");
    if (r->naive_repeats > 1)
        printf("             computes each shared reduction %" PRId64
               " times, once for each output that uses it\n",
               r->naive_repeats);
}

/* "implementation 14, found at evaluation 12", "the naive implementation", "plain: one work-item per row". */
static void print_origin(const struct session_pick *p)
{
    if (p->found_at)
        printf("implementation %" PRId64 ", found at evaluation %" PRIu64, p->number, p->found_at);
    else
        printf("%s", p->number == 0 ? "the naive implementation" : p->label);
}

/* Where one with a lower median lost, the difference was noise, or it had left before the machine slowed
 * down. */
static void print_pick(const char *name, const struct session_pick *p, const struct session_pick *best)
{
    char text[FIGURE_TEXT];
    bool below = p->figure.median_ns < best->figure.median_ns;
    printf("%-12s %s, ", name, figure_print(&p->figure, text));
    print_origin(p);
    printf("%s\n", below && figure_quoted(&p->figure) ? ", not faster in most rounds" : "");
}

/* "baseline     61 us (60.1 to 61.9, 11 rounds), mm.cl:matmul: best is 1.8x as fast". */
static void print_baseline(const struct tune_baseline *b)
{
    static const char word[] = "baseline ";
    char text[FIGURE_TEXT];
    const char *name = b->label + strlen(word);
    if (b->why) {
        printf("baseline     %s, left out: %s: %.*s\n", name, b->status, (int)strcspn(b->why, "\n"), b->why);
        return;
    }
    printf("baseline     %s, %s", figure_print(&b->pick.figure, text), name);
    if (b->speedup > 0) printf(": best is %.3gx as fast", b->speedup);
    printf("\n");
}

static void print_speedup(const struct figure_ratio *s)
{
    if (s->rounds)
        printf("speedup      %.2fx (%.2fx to %.2fx within rounds)\n", s->quotient, s->low, s->high);
    else if (s->quotient > 0)
        printf("speedup      %.2fx (search)\n", s->quotient);
}

static void print_verdict(const struct tune_report *r)
{
    const struct tune_verdict *v = &r->verdict;
    double ns = winner(r)->figure.median_ns;
    char bound[UNITS_BYTES], own[UNITS_BYTES];
    printf("rate         ");
    if (v->work.operations > 0) printf("%.3g GFLOP/s, ", v->work.operations / ns);
    printf("%.3g GB/s\n", v->work.bytes / ns);
    units_time(v->bound_ns, bound, sizeof bound);
    units_time(v->best_bound_ns, own, sizeof own);
    if (v->bound_ns > 0)
        printf("lower bound  %s, %.2g %% of the best time; bound of this implementation %s\n", bound,
               100 * v->share, own);
    if (v->gains_little)
        printf("little gain  less than %.1fx over the naive implementation. %s\n", LIMIT_GAIN, v->advice);
}

/* The naive implementation, the winner, the one after it, and what the winner is worth. */
static void print_result(const struct tune_options *o, const struct tune_report *r)
{
    print_naive(r);
    for (unsigned i = 0; i < r->n_baselines; i++)
        print_baseline(&r->baselines[i]);
    if (!winner(r)) return;
    print_pick("best", winner(r), winner(r));
    for (unsigned i = 1; i < r->search.n_contenders; i++)
        if (!store_is_baseline(r->search.contenders[i].number) &&
            (o->verbose || (i == 1 && r->search.contenders[i].number != 0)))
            print_pick(i == 1 ? "second" : "", &r->search.contenders[i], winner(r));
    print_speedup(&r->search.speedup);
    print_verdict(r);
}

/* written: the folder that has the result; NULL: there is none. */
static void print_table(const struct tune_options *o, const struct device *dev, const struct tune_report *r,
                        const char *written)
{
    printf("kernel       %s %s\ndevice       %s\n", o->path, o->sizes ? o->sizes : "", dev->name);
    printf("evaluations  %" PRIu64 " (%" PRIu64 " ok, %" PRIu64 " failed, %" PRIu64 " cut; %" PRIu64
           " duplicates and %" PRIu64 " oversized texts skipped)\n",
           r->search.evaluations, r->search.ok, r->search.failed, r->search.cut, r->search.duplicates,
           r->search.oversized);
    printf("time         %.1f s\n", r->search.elapsed_s);
    if (o->verbose) cli_print_nodes(r->search.nodes, r->search.by_cause);
    print_result(o, r);
    if (o->audit_cuts > 0)
        printf("audited      %" PRIu64 " implementations that the lower bound had pruned\n",
               r->search.audited);
    if (r->violations)
        printf("violations   %" PRIu64 " times below the lower bound, %" PRIu64
               " pruned nodes reopened: run 'thresh device characterize' again\n",
               r->violations, r->reopened);
    if (r->search.exhausted)
        printf("fully explored: every implementation was evaluated or pruned by the lower bound\n");
    if (r->search.stuck) printf("ended early: search stalled, no new implementation found\n");
    if (r->search.barren) printf("ended early: too many duplicates and oversized texts in a row\n");
    if (written) printf("written      %s/best.cl, best.json, host.c\n", written);
}

/* Searches, quotes and prints; what was found before an error is printed too. */
static int campaign(const struct cli_args *a, const struct tune_options *o, struct tune *t, struct diag *d)
{
    const char *out = cli_given(a, CLI_OUT) ? a->value[CLI_OUT] : "thresh-out";
    if (!best_make_folder(out, d)) return CLI_USAGE;
    bool ok = tune_search(t, d);
    ok = tune_quote(t, d) && ok;
    const struct tune_report *r = tune_report(t);
    bool written = tune_write(t, out, d);
    if (cli_given(a, CLI_JSON))
        print_json(o, tune_device(t), r);
    else
        print_table(o, tune_device(t), r, written ? out : NULL);
    return cli_doubt_status(a, &r->doubt, ok && written ? CLI_OK : CLI_FAILED, d);
}

/* A program, or --space. */
static bool has_input(const struct cli_args *a, struct diag *d)
{
    if (a->n_positional) return true;
    diag_plain(d, "missing argument: KERNEL.lift or --space FILE.space");
    return false;
}

/* Options that are about --space, and those of agents. */
static bool refuse_others(const struct cli_args *a, struct diag *d)
{
    static const enum cli_key others[] = {CLI_SPACE, CLI_COMMAND, CLI_TIMEOUT, CLI_DATA},
                              measured[] = {CLI_INPUT, CLI_OUTPUT_REFERENCE, CLI_TOLERANCE, CLI_RUNNERS},
                              of_agent[] = {CLI_RUNNERS, CLI_DEVICE}, keys[] = {CLI_KEYS},
                              recorded[] = {CLI_RECORDED};
    return cli_refuse(a, others, sizeof others / sizeof others[0], "does not apply to a Lift program", d) &&
           (cli_given(a, CLI_LISTEN) || cli_refuse(a, keys, 1, "needs --listen tcp://ADDRESS:PORT", d)) &&
           (!cli_given(a, CLI_RECORDED) || cli_refuse(a, measured, sizeof measured / sizeof measured[0],
                                                      "does not apply with --recorded: nothing is run", d)) &&
           (!cli_given(a, CLI_LAUNCH) ||
            (cli_refuse(a, of_agent, 2,
                        "does not apply with --launch; write for example local:2,device=gpu,runners=4", d) &&
             cli_refuse(a, recorded, 1, "does not apply with --launch: nothing is measured", d))) &&
           (!cli_given(a, CLI_LISTEN) ||
            cli_refuse(a, of_agent, 2, "does not apply with --listen; give it to 'thresh agent'", d));
}

/* What is about the bound. The description is also that of the device for which recorded timings stand. */
static bool refuse_unbounded(const struct cli_args *a, struct diag *d)
{
    static const enum cli_key bounded[] = {CLI_AUDIT_CUTS, CLI_DISTANCE, CLI_DESCRIPTION};
    return !cli_given(a, CLI_NO_BOUND) ||
           cli_refuse(a, bounded, cli_given(a, CLI_RECORDED) ? 2 : 3, "does not apply with --no-bound", d);
}

/* The device that recorded timings stand for. false after an error. */
static bool stand_in(const struct cli_args *a, struct tune_options *o, struct device *described,
                     struct diag *d)
{
    if (!o->recorded) return true;
    o->stands_for = described;
    if (cli_given(a, CLI_DESCRIPTION) && !cli_given(a, CLI_DEVICE) && !o->listen)
        return cli_select_device(a, NULL, described, d);
    diag_plain(
        d,
        "--recorded for a Lift program needs --description FILE.json of the device, and neither --device nor "
        "--listen");
    return false;
}

/* Before an endpoint is opened and agents are awaited. */
static bool has_run(const struct cli_args *a, struct diag *d)
{
    if (!cli_given(a, CLI_RESUME) || cli_given(a, CLI_STORE)) return true;
    diag_plain(d, "--resume needs --store FILE");
    return false;
}

/* Searches with agents of --launch, if there are any; they are ended before the socket is closed. */
static int search(const struct cli_args *a, struct tune_options *o, struct diag *d)
{
    struct cli_launched launched;
    struct tune *t = NULL;
    int status = CLI_USAGE;
    bool ready = cli_launch_read(a, &launched, d);
    o->listen = cli_launch_endpoint(a, &launched);
    if (ready && cli_launch_start(a, &launched, &o->stop_fd, d)) t = tune_new(o, d);
    if (t) status = campaign(a, o, t, d);
    if (cli_launch_end(&launched, d)) status = CLI_FAILED;
    tune_free(t);
    return status;
}

static int run(const struct cli_args *a)
{
    if (cli_given(a, CLI_SPACE) && !a->n_positional) return cli_tune_space(a);
    struct arena *arena = arena_new();
    struct diag *d = diag_new();
    struct tune_options o = {.stop_fd = cli_signals()};
    struct device described;
    int status = CLI_USAGE, signals = o.stop_fd;
    size_t n;
    bool sound = has_input(a, d) && has_run(a, d) && refuse_others(a, d) && refuse_unbounded(a, d) &&
                 read_options(a, arena, &o, d) && cli_try_heuristic(a, d) &&
                 cli_expect_kind(o.path, CLI_KIND_PROGRAM, d);
    char *text = sound ? source_read_file(o.path, CLI_PROGRAM_BYTES, &n, d) : NULL;
    o.text = text;
    struct sequence_plan *plan = NULL;
    if (text && stand_in(a, &o, &described, d) && cli_plan_sequence(a, &o, &plan, d))
        status = plan ? cli_tune_sequence(a, &o, plan, search, d) : search(a, &o, d);
    sequence_plan_free(plan);
    status = cli_finish(d, cli_signal_status(signals, status));
    free(text);
    arena_free(arena);
    return status;
}

const struct cli_command cli_tune = {
    .name = "tune",
    .positional = "KERNEL.lift | --space FILE.space --command 'PROG {x}'",
    .least = 0,
    .most = 1,
    .takes = {CLI_PROGRAM,
              CLI_TAKES(HEURISTIC),
              CLI_TAKES(EVALUATIONS),
              CLI_TAKES(TIME),
              CLI_TAKES(ROUNDS_TIME),
              CLI_TAKES(NO_BOUND),
              CLI_TAKES(NO_PRIOR),
              CLI_TAKES(DISTANCE),
              CLI_TAKES(AUDIT_CUTS),
              CLI_TAKES(DESCRIPTION),
              CLI_TAKES(TEXT_LIMIT),
              CLI_TAKES(STORE),
              CLI_TAKES(RESUME),
              CLI_TAKES(LISTEN),
              CLI_TAKES(KEYS),
              CLI_TAKES(LAUNCH),
              CLI_TAKES(RECORDED),
              CLI_TAKES(OUT),
              CLI_TAKES(QUIET),
              CLI_TAKES(ALLOW_NONFINITE),
              CLI_TAKES(VERBOSE),
              CLI_TAKES(SPACE),
              CLI_TAKES(COMMAND),
              CLI_TAKES(TIMEOUT),
              CLI_TAKES(DATA),
              CLI_USER_DATA,
              CLI_TAKES(CUT),
              CLI_TAKES(BASELINE),
              CLI_TAKES(RUNNERS),
              CLI_TAKES(LEARN_FROM)},
    .notes = {{CLI_CUT, "auto|none|all|NAMES",
               "cut the program into kernels that run one after the other, at values that 'thresh lift cut' "
               "lists; auto tries one kernel and cuts, and takes the fastest (default auto)"},
              {CLI_OUT, "DIR",
               "folder for best.cl, best.json and host.c (default thresh-out); with --space for best.json "
               "(default: "
               "not written)"},
              {CLI_TIMEOUT, "10s", "with --space: time limit of one run of the command (default 60s)"},
              {CLI_RUNNERS, "N",
               "runner processes, which build and measure, at most 16 (default: 2 on a CPU; on a GPU one for "
               "each core and for each 8 builds, at least 4); with "
               "--space: number of commands that run at the same time (default 1, at most 256)"}},
    .help = cli_tune_help,
    .run = run,
};
