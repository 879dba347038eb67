/* thresh verify: builds and runs random implementations and compares their outputs with the reference.
 * Nothing is timed.
 *
 *     draw a leaf -> lower it -> new text? -> submit to a runner -> take the result -> count its values
 *
 * Each distinct OpenCL text is checked as in a search: in a runner process, on all sets of inputs, with
 * filled outputs and guard zones. Draws are stratified (coordinator/sampling.h). They go on until there are
 * enough texts and each value of each choice occurs in LEAST of them. They depend on the seed alone, and on
 * no result, so that none has to be waited for: one slow build does not hold up the others. What is at work
 * when the time is over is neither right nor wrong; only the first result is waited for. A failing
 * implementation is written as a best.json for `thresh replay`.
 *
 * A program that is no kernel, with a scan that is read in another order or outputs of different dimensions,
 * is the kernels that 'thresh tune --cut all' makes of it: each is verified as a program of its own. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "agent/evaluate.h"
#include "agent/fits.h"
#include "coordinator/best.h"
#include "coordinator/cli/data.h"
#include "coordinator/cli/doubt.h"
#include "coordinator/flights.h"
#include "coordinator/progress.h"
#include "coordinator/sampling.h"
#include "coordinator/sequence/plan.h"
#include "coordinator/solution.h"
#include "core/base/arena.h"
#include "core/base/clock.h"
#include "core/base/stop.h"
#include "core/base/strbuf.h"
#include "core/pipeline/code.h"
#include "mcts/seen.h"

enum { LEAST = 20, MOST_WRITTEN = 20, MOST_MISSES = 20000, TURN_MS = 200 };

struct verifying {
    const struct cli_args *args;
    const char *path; /* of the program, or of one kernel of a sequence */
    struct cli_problem p;
    struct given *data; /* of the user; NULL: all inputs are generated */
    struct evaluator *evaluator;
    struct sampling *sampling;
    struct mcts_seen texts;
    struct flights *flights;
    uint64_t seed, samples;
    uint64_t drawn, dead_ends, duplicates, not_lowered, statuses[EVAL_STATUS_COUNT];
    uint64_t abandoned;                               /* at work when the time was over */
    uint64_t misses;                                  /* consecutive draws without a new text */
    uint64_t unoptimized[EVAL_UNOPTIMIZED_WRONG + 1]; /* of the wrong results, by what a second look found */
    json_t *failures;
    size_t written;         /* files of other kernels */
    double start_s, time_s; /* time_s 0: no limit */
    int stop_fd;            /* cli_signals() */
    struct progress progress;
};

/* ---- failures ---- */

/* Writes the leaf as DIR/N/best.json, DIR from --out. The caller frees the path. NULL: there are MOST_WRITTEN
 * already, or an error was added. */
static char *write_failure(const struct verifying *v, const struct space_state *leaf, struct diag *d)
{
    size_t n = v->written + json_array_size(v->failures);
    const char *dir = cli_given(v->args, CLI_OUT) ? v->args->value[CLI_OUT] : "thresh-verify";
    if (n >= MOST_WRITTEN || !best_make_folder(dir, d)) return NULL;
    struct strbuf path = {0};
    struct best b = {.problem = v->p.problem, .device = &v->p.device, .lowering = &v->p.lowering};
    b.sizes = v->args->value[CLI_SIZE] ? v->args->value[CLI_SIZE] : "";
    struct space_action *actions = solution_actions(NULL, leaf, &b.n_actions);
    b.actions = actions;
    strbuf_printf(&path, "%s/%zu", dir, n);
    if (best_write(path.text, &b, d)) strbuf_add(&path, "/best.json");
    free(actions);
    return strbuf_take(&path);
}

static json_t *right_unoptimized(enum eval_unoptimized u)
{
    return u == EVAL_UNOPTIMIZED_UNKNOWN ? json_null() : json_boolean(u == EVAL_UNOPTIMIZED_RIGHT);
}

static void record_failure(struct verifying *v, const struct space_state *leaf, const char *status,
                           const char *message, enum eval_unoptimized u, struct diag *d)
{
    char *path = write_failure(v, leaf, d);
    json_t *file = path ? json_string(path) : json_null();
    json_array_append_new(v->failures, json_pack("{s:s,s:s,s:o,s:o}", "status", status, "message", message,
                                                 "right_unoptimized", right_unoptimized(u), "file", file));
    v->unoptimized[u]++;
    free(path);
}

/* ---- one implementation ---- */

/* Sends the leaf to a runner. */
static void submit(struct verifying *v, const struct space_state *leaf, const struct cg_kernel *kernel)
{
    static const struct eval_settings settings = {
        .verify = true, .untimed = true, .thorough = true, .second_look = true};
    sampling_count(v->sampling, leaf);
    flights_submit(v->flights, leaf, kernel, &settings);
}

static void consider(struct verifying *v, const struct space_state *leaf, struct diag *d)
{
    struct pipeline_code c;
    char why[EVAL_MESSAGE] = "";
    if (!pipeline_lower(v->p.problem, leaf, &c, why, sizeof why)) {
        v->not_lowered++;
        record_failure(v, leaf, "not_lowered", why, EVAL_UNOPTIMIZED_UNKNOWN, d);
        return;
    }
    if (mcts_seen_has(&v->texts, c.hash)) {
        v->duplicates++;
    } else {
        v->misses = 0;
        mcts_seen_add(&v->texts, c.hash);
        submit(v, leaf, &c.kernel);
    }
    pipeline_code_clear(&c);
}

static void draw(struct verifying *v, struct diag *d)
{
    space_mark mark = space_snapshot(v->p.root);
    v->drawn++;
    v->misses++;
    if (sampling_draw(v->sampling, v->p.root))
        consider(v, v->p.root, d);
    else
        v->dead_ends++;
    space_rollback(v->p.root, mark);
}

static void take_result(struct verifying *v, const struct flight *f, struct diag *d)
{
    const struct evaluation *e = &f->result;
    v->statuses[e->status]++;
    if (e->status == EVAL_OK)
        sampling_confirm(v->sampling, f->leaf);
    else
        record_failure(v, f->leaf, eval_status_name(e->status), e->message, e->unoptimized, d);
}

/* ---- the loop ---- */

static bool is_late(const struct verifying *v)
{
    return v->time_s > 0 && clock_s() - v->start_s > v->time_s;
}

static uint64_t failed(const struct verifying *v)
{
    uint64_t n = v->not_lowered;
    for (int s = EVAL_OK + 1; s < EVAL_STATUS_COUNT; s++)
        n += v->statuses[s];
    return n;
}

/* Taken, or landed behind one that has not. */
static bool has_result(const struct verifying *v)
{
    return v->statuses[EVAL_OK] + failed(v) > v->not_lowered ||
           flights_count(v->flights) > flights_in_air(v->flights);
}

/* The command ends: the time is over and there is a result, the device is lost, or a signal has arrived. */
static bool is_over(const struct verifying *v)
{
    return (is_late(v) && has_result(v)) || v->statuses[EVAL_DEVICE_LOST] > 0 || stop_requested(v->stop_fd);
}

/* If all that is under way is right, there are not enough texts or values yet, and new texts are found. */
static bool wants_more(const struct verifying *v)
{
    uint64_t hoped = v->statuses[EVAL_OK] + flights_count(v->flights);
    bool enough = hoped >= v->samples && sampling_covered(v->sampling);
    return !enough && v->misses < MOST_MISSES && !is_late(v);
}

static int turn_ms(const struct verifying *v)
{
    double left_ms = 1e3 * (v->time_s - (clock_s() - v->start_s));
    return v->time_s > 0 && left_ms >= 0 && left_ms < TURN_MS ? (int)left_ms + 1 : TURN_MS;
}

static void take_results(struct verifying *v, struct diag *d)
{
    struct flight f;
    while (flights_take(v->flights, &f)) {
        take_result(v, &f, d);
        space_state_free(f.leaf);
    }
}

/* Runners have all that they take, or there is nothing to draw. */
static bool must_wait(const struct verifying *v)
{
    return !wants_more(v) || flights_count(v->flights) == FLIGHTS_MOST ||
           flights_in_air(v->flights) >= evaluator_capacity(v->evaluator);
}

/* What has ended counts. A lost device fails one implementation, the others were not verified. */
static void abandon_rest(struct verifying *v, struct diag *d)
{
    struct flight f;
    flights_hear(v->flights, 0);
    while (flights_pop(v->flights, &f)) {
        bool lost = f.result.status == EVAL_DEVICE_LOST && v->statuses[EVAL_DEVICE_LOST] > 0;
        if (f.landed && !lost) take_result(v, &f, d);
        v->abandoned += !f.landed || lost;
        space_state_free(f.leaf);
    }
}

static void verify_all(struct verifying *v, struct diag *d)
{
    while (!is_over(v) && (wants_more(v) || flights_count(v->flights) > 0)) {
        bool waits = must_wait(v);
        if (!waits) draw(v, d);
        flights_hear(v->flights, waits ? turn_ms(v) : 0);
        take_results(v, d);
        progress_show(&v->progress,
                      &(struct progress_state){.done = v->statuses[EVAL_OK] + flights_count(v->flights) -
                                                       flights_in_air(v->flights),
                                               .total = v->samples,
                                               .failed = failed(v),
                                               .elapsed_s = clock_s() - v->start_s,
                                               .limit_s = v->time_s});
    }
    abandon_rest(v, d);
    progress_end(&v->progress);
}

/* ---- the report ---- */

static const char *value_state(const struct sampling_value *x)
{
    if (x->confirmed >= LEAST) return "covered";
    if (x->excluded) return "excluded";
    return x->confirmed ? "rare" : "unreached";
}

static json_t *values_json(const struct verifying *v)
{
    unsigned n;
    const struct sampling_value *values = sampling_values(v->sampling, &n);
    const struct space *s = v->p.problem->space;
    json_t *array = json_array();
    for (unsigned i = 0; i < n; i++) {
        char name[CLI_NAME_BYTES];
        space_value_name(s, values[i].slot, values[i].value, name, sizeof name);
        json_array_append_new(array,
                              json_pack("{s:s,s:s,s:I,s:s}", "choice", space_group_name(s, values[i].group),
                                        "value", name, "texts", (json_int_t)values[i].confirmed, "state",
                                        value_state(&values[i])));
    }
    return array;
}

static json_t *statuses_json(const struct verifying *v)
{
    json_t *o = json_object();
    for (int s = 0; s < EVAL_STATUS_COUNT; s++)
        json_object_set_new(o, eval_status_name((enum eval_status)s),
                            json_integer((json_int_t)v->statuses[s]));
    return o;
}

static void print_json(const struct verifying *v, double elapsed_s, const struct verify_doubt *doubt)
{
    const char *sizes = v->args->value[CLI_SIZE];
    json_t *o =
        json_pack("{s:s,s:s,s:s,s:I,s:I,s:I,s:I,s:I,s:I,s:I,s:o,s:i,s:o,s:O,s:f,s:f}", "kernel", v->path,
                  "sizes", sizes ? sizes : "", "device", v->p.device.name, "seed", (json_int_t)v->seed,
                  "verified", (json_int_t)v->statuses[EVAL_OK], "drawn", (json_int_t)v->drawn, "duplicates",
                  (json_int_t)v->duplicates, "dead_ends", (json_int_t)v->dead_ends, "not_lowered",
                  (json_int_t)v->not_lowered, "abandoned", (json_int_t)v->abandoned, "statuses",
                  statuses_json(v), "least", LEAST, "values", values_json(v), "failures", v->failures,
                  "elapsed_s", elapsed_s, "verified_per_s", (double)v->statuses[EVAL_OK] / elapsed_s);
    cli_add_doubt(o, doubt);
    cli_print_json(o);
}

static void print_rare(const struct verifying *v)
{
    unsigned n, covered = 0, excluded = 0;
    const struct sampling_value *values = sampling_values(v->sampling, &n);
    for (unsigned i = 0; i < n; i++) {
        covered += values[i].confirmed >= LEAST;
        excluded += values[i].excluded;
    }
    printf("values       %u of %u occur in at least %d texts; %u excluded by constraints\n", covered, n,
           LEAST, excluded);
    for (unsigned i = 0; i < n; i++) {
        char name[CLI_NAME_BYTES];
        const struct space *s = v->p.problem->space;
        space_value_name(s, values[i].slot, values[i].value, name, sizeof name);
        if (values[i].confirmed < LEAST)
            printf("  %s = %s: %" PRIu64 " text%s, %s\n", space_group_name(s, values[i].group), name,
                   values[i].confirmed, values[i].confirmed == 1 ? "" : "s", value_state(&values[i]));
    }
}

static void print_unoptimized(const struct verifying *v)
{
    uint64_t right = v->unoptimized[EVAL_UNOPTIMIZED_RIGHT],
             looks = right + v->unoptimized[EVAL_UNOPTIMIZED_WRONG];
    if (looks > 0)
        printf("unoptimized  %" PRIu64 " of %" PRIu64
               " wrong results that were built again are right without the compiler's optimizations\n",
               right, looks);
}

static void print_failures(const struct verifying *v)
{
    size_t i;
    json_t *o;
    json_array_foreach(v->failures, i, o)
    {
        const char *file = json_string_value(json_object_get(o, "file"));
        printf("%s: %s%s%s\n", json_string_value(json_object_get(o, "status")),
               json_string_value(json_object_get(o, "message")), file ? "\n  " : "", file ? file : "");
    }
}

static void print_table(const struct verifying *v, double elapsed_s)
{
    printf("kernel       %s %s\ndevice       %s\n", v->path,
           v->args->value[CLI_SIZE] ? v->args->value[CLI_SIZE] : "", v->p.device.name);
    printf("verified     %" PRIu64 " distinct texts, %.1f/s\n", v->statuses[EVAL_OK],
           (double)v->statuses[EVAL_OK] / elapsed_s);
    printf("drawn        %" PRIu64 " (%" PRIu64 " duplicates, %" PRIu64 " dead ends", v->drawn, v->duplicates,
           v->dead_ends);
    if (v->abandoned > 0) printf(", %" PRIu64 " not verified in time", v->abandoned);
    printf(")\n");
    printf("failed       %" PRIu64 " (%" PRIu64 " not lowered", failed(v), v->not_lowered);
    for (int s = EVAL_OK + 1; s < EVAL_STATUS_COUNT; s++)
        printf(", %" PRIu64 " %s", v->statuses[s], eval_status_name((enum eval_status)s));
    printf(")\n");
    print_unoptimized(v);
    print_rare(v);
    print_failures(v);
}

static int verify(struct verifying *v, unsigned runners, struct diag *d)
{
    const struct eval_inputs inputs = {.seed = v->seed, .data = v->data};
    v->evaluator = evaluator_new_for(v->p.problem, &v->p.device, runners, &inputs, NULL, d);
    if (!v->evaluator) return CLI_FAILED;
    v->flights = flights_new(v->evaluator);
    v->sampling = sampling_new(v->p.root, LEAST, v->seed);
    v->failures = json_array();
    v->progress = progress_start(cli_given(v->args, CLI_QUIET));
    v->start_s = clock_s();
    verify_all(v, d);
    double elapsed_s = clock_s() - v->start_s;
    const struct verify_doubt doubt = evaluator_doubt(v->evaluator);
    if (cli_given(v->args, CLI_JSON))
        print_json(v, elapsed_s, &doubt);
    else
        print_table(v, elapsed_s);
    return cli_doubt_status(v->args, &doubt, failed(v) ? CLI_FAILED : CLI_OK, d);
}

/* ---- the command ---- */

static void close_verifying(struct verifying *v)
{
    flights_free(v->flights);
    evaluator_free(v->evaluator);
    given_free(v->data);
    sampling_free(v->sampling);
    mcts_seen_free(&v->texts);
    json_decref(v->failures);
    cli_problem_close(&v->p);
}

/* Verifies the kernels one after the other, those that come after one that fails, too. */
static int verify_parts(struct verifying *whole, const struct sequence_plan *plan, unsigned runners,
                        struct diag *d)
{
    static const enum cli_key single[] = {CLI_PIN, CLI_INPUT, CLI_OUTPUT_REFERENCE, CLI_TOLERANCE};
    int status = CLI_OK;
    if (!cli_refuse(whole->args, single, sizeof single / sizeof *single,
                    "applies to one kernel, and the program is a sequence of them", d))
        return CLI_USAGE;
    for (unsigned i = 0; i < plan->n_programs && !stop_requested(whole->stop_fd); i++) {
        struct verifying v = *whole;
        int one = CLI_USAGE;
        v.path = plan->programs[i].path;
        if (cli_problem_open_part(v.args, v.path, plan->programs[i].text, &v.p, d) &&
            fits_device(v.p.problem, &v.p.device, d))
            one = verify(&v, runners, d);
        status = status == CLI_OK ? one : status;
        whole->written += json_array_size(v.failures);
        close_verifying(&v);
    }
    return status;
}

/* The kernels of a program that could not be opened as one; NULL: there are none. */
static struct sequence_plan *plan_parts(const struct verifying *v)
{
    struct diag *ignored = diag_new();
    const char *path = v->args->positional[0], *sizes = v->args->value[CLI_SIZE];
    struct sequence_plan *plan = NULL;
    if (v->p.text && !v->p.problem)
        plan = sequence_plan_new(path, v->p.text, sizes, "all", &v->p.lowering, ignored);
    diag_free(ignored);
    return plan;
}

/* Errors of the program as one kernel count if it is none as a sequence either. */
static int verify_program(struct verifying *v, unsigned runners, struct diag *d)
{
    struct diag *one = diag_new();
    int status = CLI_USAGE;
    bool opened = cli_problem_open_to_measure(v->args, &v->p, one);
    struct sequence_plan *plan = opened ? NULL : plan_parts(v);
    if (plan) {
        status = verify_parts(v, plan, runners, d);
    } else if (!opened) {
        cli_problem_close(&v->p);
        status = cli_problem_open_to_measure(v->args, &v->p, d) ? CLI_FAILED : CLI_USAGE;
    } else if (cli_load_data(v->args, v->p.problem->program, &v->data, d) &&
               fits_device(v->p.problem, &v->p.device, d)) {
        status = verify(v, runners, d);
    }
    sequence_plan_free(plan);
    diag_free(one);
    return status;
}

static int run(const struct cli_args *a)
{
    struct diag *d = diag_new();
    struct verifying v = {.args = a, .path = a->positional[0], .stop_fd = cli_signals()};
    unsigned runners;
    int status = CLI_USAGE;
    if (cli_samples(a, 300, &v.samples, d) && cli_count(a, CLI_SEED, 1, &v.seed, d) &&
        cli_runners(a, &runners, d) && cli_seconds(a, CLI_TIME, &v.time_s, d))
        status = verify_program(&v, runners, d);
    status = cli_finish(d, cli_signal_status(v.stop_fd, status));
    close_verifying(&v);
    return status;
}

const struct cli_command cli_verify = {
    .name = "verify",
    .positional = "KERNEL.lift",
    .least = 1,
    .most = 1,
    .takes = {CLI_INSTANCE, CLI_TAKES(SAMPLES), CLI_TAKES(TIME), CLI_TAKES(RUNNERS), CLI_TAKES(OUT),
              CLI_USER_DATA, CLI_TAKES(ALLOW_NONFINITE), CLI_TAKES(QUIET)},
    .notes = {{CLI_OUT, "DIR", "folder for implementations that failed (default thresh-verify)"},
              {CLI_SAMPLES, "N", "number of distinct OpenCL texts (default 300)"}},
    .help =
        "Builds and runs random implementations and compares their outputs with the reference. It ends when "
        "--samples distinct OpenCL texts are verified and each value of each choice has occurred in 20 of "
        "them, or "
        "after --time and the first result; what is being built or run then is not verified. Values that "
        "many draws could not "
        "reach are listed. An implementation that fails is "
        "written "
        "to --out; 'thresh replay' repeats the failure. The first 20 whose outputs are wrong are built and "
        "run once more with -cl-opt-disable. Where the outputs are right then, the fault is probably one of "
        "the device's compiler ('right_unoptimized' in --json).\n"
        "With --input an implementation is verified on your data, and beside that on generated numbers, "
        "which "
        "show what a tolerance hides: a lost term of a long sum.\n"
        "A program that cannot be one kernel is verified kernel by kernel, as 'thresh lift cut' prints them, "
        "each "
        "with --samples and --time of its own.\v"
        "Example: thresh verify matmul.lift --size M=32,N=16,K=16 --samples 300 --seed 1\n"
        "         thresh verify axpy.lift --size N=1024 --input x=x.npy",
    .run = run,
};
