/* thresh replay: builds and verifies a stored implementation, times it again in the way of a search's final
 * rounds (coordinator/figure.h), and compares the time with the recorded one:
 *
 *     ok: verified, 800 launches in 4 windows
 *     recorded  82.68 us (81.91 to 84.02, 11 rounds)
 *     replayed  83.1 us (82.6 to 83.9, 20 rounds)
 *     ratio     1.005 (replayed / recorded)
 *
 * A sequence of kernels is verified and timed as a whole. The rounds are spread over windows, one second
 * apart. A disturbance shows as drift between the windows and as processor time that other processes used. */
#include <math.h>
#include <stdio.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "agent/evaluate.h"
#include "agent/limits.h"
#include "coordinator/cli/data.h"
#include "coordinator/cli/doubt.h"
#include "coordinator/cli/stored.h"
#include "coordinator/figure.h"
#include "coordinator/limits.h"
#include "coordinator/load.h"
#include "coordinator/sequence/file.h"
#include "core/backbone/matrix.h"
#include "core/base/arena.h"
#include "core/base/attr.h"
#include "core/base/clock.h"
#include "core/base/hash.h"
#include "core/base/strbuf.h"
#include "core/pipeline/code.h"

enum { WINDOWS = 4, WINDOW_ROUNDS = 5, MOST_WINDOW_ROUNDS = 1000, MOST_NOTES = 6, NOTE_BYTES = 256 };
static const double most_ns = 20e9;    /* for all launches, unless --launches is given */
static const double window_ms = 100;   /* of rounds, in each window: at least WINDOW_ROUNDS rounds */
static const double warm_ms = 50;      /* of rounds that are not timed, before each window */
static const double busy = 0.1;        /* noted: share of the processors that others used */
static const double drift_noted = 0.1; /* slowest window / fastest window - 1 */

/* What was measured. */
struct replayed {
    struct evaluation verified;
    struct verify_doubt doubt; /* outputs that cannot be verified */
    unsigned rounds, launches; /* of a window; in all */
    double *times;             /* [WINDOWS * rounds], ns */
    double windows[WINDOWS];   /* medians, ns */
    struct figure recorded, figure;
    struct figure_ratio ratio;
    double others; /* share of the processors */
    char notes[MOST_NOTES][NOTE_BYTES];
    unsigned n_notes;
};

/* ---- measuring ---- */

/* Launches of a round: as many as in the batch of the verified run; one if a launch is long. */
static unsigned batch_of(const struct evaluation *e)
{
    return e->median_ns >= AGENT_LONG_NS ? 1 : e->n_samples;
}

/* Rounds in a window; round_ms: what one of them takes, with all that is between launches. */
static unsigned rounds_of(const struct cli_args *a, uint64_t launches, const struct evaluation *e,
                          double round_ms)
{
    double batch = batch_of(e), rounds = fmax(WINDOW_ROUNDS, ceil(window_ms / round_ms));
    if (cli_given(a, CLI_LAUNCHES))
        rounds = ceil((double)launches / batch / WINDOWS);
    else
        rounds = fmin(rounds, floor(most_ns / (batch * e->median_ns) / WINDOWS));
    return (unsigned)fmin(fmax(rounds, 1), MOST_WINDOW_ROUNDS);
}

static double own_ms(const struct evaluator *ev)
{
    struct timespec t = {0};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return evaluator_processor_ms(ev) + (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

/* Runs rounds whose times are not kept: after a pause the processor runs at a lower frequency, its caches are
 * cold and threads sleep. Returns what a round takes, in ms. */
static double warm_up(struct evaluator *ev, const struct cg_kernel *kernel)
{
    double start = clock_now_ms(), passed = 0, discarded;
    unsigned rounds = 0;
    for (; passed < warm_ms; passed = clock_now_ms() - start, rounds++)
        evaluator_rounds(ev, &kernel, 1, 1, 0, &discarded);
    return passed / rounds;
}

static void time_windows(struct replayed *r, struct evaluator *ev, const struct cg_kernel *kernel)
{
    static const char stat[] = "/proc/stat";
    double weighted = 0, all = 0;
    for (unsigned w = 0; w < WINDOWS; w++) {
        struct load from, to;
        double *times = r->times + w * r->rounds;
        if (w) nanosleep(&(struct timespec){.tv_sec = 1}, NULL);
        bool known = load_read(stat, &from);
        double used = own_ms(ev);
        warm_up(ev, kernel);
        evaluator_rounds(ev, &kernel, 1, r->rounds, w, times);
        r->windows[w] = figure_of_rounds(times, r->rounds).median_ns;
        if (!known || !load_read(stat, &to)) continue;
        weighted += load_of_others(&from, &to, own_ms(ev) - used) * (to.all - from.all);
        all += to.all - from.all;
    }
    r->others = all > 0 ? weighted / all : 0;
}

/* ---- the report ---- */

BASE_PRINTF(2, 3) static void note(struct replayed *r, const char *fmt, ...)
{
    va_list args;
    if (r->n_notes == MOST_NOTES) return;
    va_start(args, fmt);
    vsnprintf(r->notes[r->n_notes++], NOTE_BYTES, fmt, args);
    va_end(args);
}

static double drift(const struct replayed *r)
{
    double low = INFINITY, high = 0;
    for (unsigned w = 0; w < WINDOWS; w++) {
        if (!(r->windows[w] > 0)) continue;
        low = fmin(low, r->windows[w]);
        high = fmax(high, r->windows[w]);
    }
    return high > 0 ? high / low - 1 : 0;
}

static void judge(struct replayed *r, const struct best_file *b, const struct device *device)
{
    if (figure_known(&r->recorded) && !figure_quoted(&r->recorded))
        note(r, "the recorded time was measured during the search, without the time between launches; the "
                "two times are not comparable");
    if (strcmp(b->device.name, device->name) != 0)
        note(r, "the recorded time was measured on another device: %s", b->device.name);
    if (r->others > busy)
        note(r, "the machine is busy: other processes used %.0f %% of the processors", 100 * r->others);
    if (drift(r) > drift_noted)
        note(r, "the time drifted: the slowest window is %.0f %% slower than the fastest", 100 * drift(r));
}

/* " --input x=/home/me/x.npy" for each file. */
static void print_inputs(const json_t *recorded, struct strbuf *out)
{
    const char *name;
    json_t *path;
    json_object_foreach(json_object_get(recorded, "inputs"), name, path)
        strbuf_printf(out, " --input %s=%s", name, json_string_value(path));
}

/* Notes if the recorded time is of other data. */
static void judge_data(struct replayed *r, const struct best_file *b, const struct given *data)
{
    char hash[HASH_HEX_BYTES] = "";
    struct strbuf inputs = {0};
    json_t *recorded = b->data ? json_loads(b->data, 0, NULL) : NULL;
    const char *wanted = json_string_value(json_object_get(recorded, "hash"));
    if (data) hash_hex(given_hash(data), hash);
    print_inputs(recorded, &inputs);
    if (wanted && strcmp(wanted, hash) != 0 && inputs.length > 0)
        note(r, "the recorded time was measured on other data:%s", inputs.text);
    else if (!wanted && data && figure_known(&r->recorded))
        note(r, "the recorded time was measured on generated data");
    strbuf_free(&inputs);
    json_decref(recorded);
}

static json_t *reals_json(const double *x, size_t n)
{
    json_t *array = json_array();
    for (size_t i = 0; i < n; i++)
        json_array_append_new(array, cli_real_json(x[i]));
    return array;
}

static void print_json(const struct replayed *r, bool ok, const char *error)
{
    json_t *notes = json_array();
    for (unsigned i = 0; i < r->n_notes; i++)
        json_array_append_new(notes, json_string(r->notes[i]));
    json_t *o = json_pack(
        "{s:s,s:o,s:o,s:o,s:i,s:o,s:o,s:o,s:f,s:o,s:o}", "status", eval_status_name(r->verified.status),
        "samples_ns", reals_json(r->times, ok ? (size_t)WINDOWS * r->rounds : 0), "median_ns",
        ok ? json_real(r->figure.median_ns) : json_null(), "replayed", figure_json(&r->figure), "launches",
        (int)r->launches, "windows_ns", reals_json(r->windows, ok ? WINDOWS : 0), "recorded",
        figure_json(&r->recorded), "ratio",
        r->ratio.quotient > 0 ? json_real(r->ratio.quotient) : json_null(), "other_load", r->others, "notes",
        notes, "error", ok ? json_null() : json_string(error));
    cli_add_doubt(o, &r->doubt);
    cli_print_json(o);
}

static void print_text(const struct replayed *r)
{
    char text[FIGURE_TEXT];
    printf("ok: verified, %u launches in %d windows\n", r->launches, WINDOWS);
    printf("recorded  %s\n", figure_print(&r->recorded, text));
    printf("replayed  %s\n", figure_print(&r->figure, text));
    if (r->ratio.quotient > 0) printf("ratio     %.3f (replayed / recorded)\n", r->ratio.quotient);
    for (unsigned i = 0; i < r->n_notes; i++)
        printf("note: %s\n", r->notes[i]);
}

/* false: the outputs are wrong, or it could not be timed. */
static bool print_replay(const struct cli_args *a, const struct replayed *r)
{
    bool valid = r->verified.status == EVAL_OK, ok = valid && figure_known(&r->figure);
    const char *error = valid ? "the implementation was verified, but no round of launches could be timed"
                              : r->verified.message;
    if (cli_given(a, CLI_JSON))
        print_json(r, ok, error);
    else if (ok)
        print_text(r);
    else
        printf("%s: %s\n", valid ? "error" : eval_status_name(r->verified.status), error);
    return ok;
}

/* Lowers the recorded actions. false after an error. */
static bool rebuild(const struct best_file *b, struct pipeline_code *code, struct diag *d)
{
    char why[EVAL_MESSAGE] = "";
    bool ok = pipeline_lower_actions(b->problem, b->actions, b->n_actions, code, why, sizeof why);
    if (ok)
        cli_stored_note_text(b, code->hash);
    else
        diag_plain(d, "cannot rebuild the implementation: %s", why);
    return ok;
}

/* --timeout, or ten times the recorded time; 0 after an error. */
static double limit_ns(const struct cli_args *a, const struct best_file *b, struct diag *d)
{
    double seconds;
    if (!cli_seconds(a, CLI_TIMEOUT, &seconds, d)) return 0;
    return cli_given(a, CLI_TIMEOUT) ? seconds * 1e9 : fmax(10 * b->figure.median_ns, LIMIT_FIRST_NS);
}

/* Verifies the kernel, then times it. */
static void measure(const struct cli_args *a, const struct best_file *b, struct evaluator *ev,
                    const struct cg_kernel *kernel, struct replayed *r, const struct eval_settings *settings,
                    uint64_t launches)
{
    r->recorded = b->figure;
    if (evaluator_note(ev)[0]) note(r, "%s", evaluator_note(ev));
    evaluator_run(ev, kernel, settings, &r->verified);
    r->doubt = evaluator_doubt(ev);
    if (r->verified.status != EVAL_OK) return;
    r->rounds = rounds_of(a, launches, &r->verified, warm_up(ev, kernel));
    r->launches = WINDOWS * r->rounds * batch_of(&r->verified);
    r->times = base_calloc((size_t)WINDOWS * r->rounds, sizeof *r->times);
    time_windows(r, ev, kernel);
    r->figure = figure_of_rounds(r->times, (size_t)WINDOWS * r->rounds);
    r->ratio = figure_ratio(&r->figure, &r->recorded, NULL, NULL, 0);
}

/* What the options say of a replay. */
struct setting {
    struct device device;
    uint64_t launches;
    struct eval_settings evaluation;
};

static bool read_setting(const struct cli_args *a, const struct best_file *b, struct setting *s,
                         struct diag *d)
{
    const char *selector = cli_given(a, CLI_DEVICE) ? a->value[CLI_DEVICE] : b->device.name;
    s->evaluation = (struct eval_settings){
        .verify = true, .thorough = true, .second_look = true, .limit_ns = limit_ns(a, b, d)};
    return !diag_failed(d) && cli_positive(a, CLI_LAUNCHES, 1, &s->launches, d) &&
           device_select(selector, &s->device, d);
}

/* Measures and prints; `b` has what was recorded. Returns the exit status. */
static int replay_on(const struct cli_args *a, const struct setting *s, const struct best_file *b,
                     struct evaluator *ev, const struct cg_kernel *kernel, const struct given *data,
                     struct diag *d)
{
    struct replayed r = {0};
    measure(a, b, ev, kernel, &r, &s->evaluation, s->launches);
    judge(&r, b, &s->device);
    judge_data(&r, b, data);
    bool ok = print_replay(a, &r);
    free(r.times);
    return cli_doubt_status(a, &r.doubt, ok ? CLI_OK : CLI_FAILED, d);
}

/* Replays the implementation on the selected device; returns the exit status. */
static int replay(const struct cli_args *a, const struct best_file *b, struct diag *d)
{
    struct setting s;
    struct pipeline_code code;
    if (!read_setting(a, b, &s, d) || !rebuild(b, &code, d)) return CLI_USAGE;
    struct given *data = NULL;
    int status = CLI_USAGE;
    if (cli_load_data(a, b->problem->program, &data, d)) {
        struct evaluator *ev = evaluator_new_for(b->problem, &s.device, 1,
                                                 &(struct eval_inputs){.seed = 1, .data = data}, NULL, d);
        status = ev ? replay_on(a, &s, b, ev, &code.kernel, data, d) : CLI_FAILED;
        evaluator_free(ev);
    }
    given_free(data);
    pipeline_code_clear(&code);
    return status;
}

/* ---- sequences ---- */

/* Replays the kernels of a sequence, one after the other. */
static int replay_kernels(const struct cli_args *a, const struct sequence_file *f, const struct setting *s,
                          const struct best_file *recorded, struct diag *d)
{
    struct sequence_chain chain, naive = {0};
    struct given *data = NULL;
    int status = CLI_USAGE;
    if (sequence_file_chain(f, &chain, d) && sequence_file_naive(f, &naive, d) &&
        cli_load_data(a, f->program, &data, d)) {
        struct eval_inputs inputs = {.seed = 1, .data = data};
        for (unsigned i = 0; i < f->n_parts; i++)
            inputs.rounds_factors |=
                bb_may_round_factors(f->parts[i].problem->backbone, &f->parts[i].problem->limits);
        struct evaluator *ev = sequence_whole_open(f->program, naive.kernels, &s->device, &inputs, d);
        status = ev ? replay_on(a, s, recorded, ev, chain.kernels, data, d) : CLI_FAILED;
        evaluator_free(ev);
    }
    given_free(data);
    sequence_chain_clear(&naive);
    sequence_chain_clear(&chain);
    return status;
}

static int replay_sequence(const struct cli_args *a, json_t *o, struct diag *d)
{
    struct sequence_file f;
    struct setting s;
    int status = CLI_USAGE;
    if (sequence_read(o, &f, d)) {
        const struct best_file recorded = {.device = f.device, .figure = f.figure, .data = f.data};
        if (read_setting(a, &recorded, &s, d)) status = replay_kernels(a, &f, &s, &recorded, d);
    }
    sequence_file_clear(&f);
    return status;
}

static int run_replay(const struct cli_args *a)
{
    struct diag *d = diag_new();
    struct best_file b = {0};
    json_t *sequence = cli_stored_sequence(a);
    int status = sequence                    ? replay_sequence(a, sequence, d)
                 : cli_stored_load(a, &b, d) ? replay(a, &b, d)
                                             : CLI_USAGE;
    status = cli_finish(d, status);
    json_decref(sequence);
    best_file_clear(&b);
    return status;
}

const struct cli_command cli_replay = {
    .name = "replay",
    .positional = "BEST.json|STORE.db",
    .least = 1,
    .most = 1,
    .takes = {CLI_TAKES(BEST), CLI_TAKES(NUMBER), CLI_TAKES(DEVICE), CLI_TAKES(PARAM), CLI_TAKES(TIMEOUT),
              CLI_TAKES(LAUNCHES), CLI_USER_DATA, CLI_TAKES(ALLOW_NONFINITE), CLI_TAKES(JSON)},
    .notes = {{CLI_TIMEOUT, "10s",
               "time limit of one launch (default: ten times the recorded time, at least 2s)"}},
    .help =
        "Builds, verifies and times a stored implementation again. It prints the new time, the recorded time "
        "and their ratio, with a note if the machine was busy or the two times are not comparable. Select an "
        "implementation of a store with --best or --number. With --input it is verified and timed on your "
        "data.\v"
        "Example: thresh replay thresh-out/best.json",
    .run = run_replay,
};
