/* thresh audit: checks lower bounds against measured times.
 *
 *     bound 40 us, time 100 us     tightness 0.4
 *     bound 40 us, time 38 us      a violation: the model is wrong, or a rate of the description is too low
 *
 * The implementations are drawn at random and measured now (with --cut NS only those that a search with that
 * best time would prune), or they are the evaluations of a store. The first violations are explained.
 *
 * A store may have runs of several programs and devices. A time is compared with the best one of the same
 * program on the same device, and a violation corrects the description of its own device. Runs that cannot be
 * opened again (they have no program, or their device is not present) are skipped. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/evaluate.h"
#include "coordinator/cli/bounding.h"
#include "coordinator/cli/characterize.h"
#include "coordinator/cli/kind.h"
#include "coordinator/store.h"
#include "core/base/arena.h"
#include "core/base/clock.h"
#include "core/base/pcg32.h"
#include "core/base/stats.h"
#include "core/base/stop.h"
#include "core/base/strbuf.h"
#include "core/base/units.h"
#include "core/pipeline/code.h"
#include "mcts/descent.h"

enum { MOST_EXPLAINED = 3, DRAWS_A_SAMPLE = 200 };
static const double CLOCK_NOISE = 0.02, GOOD = 3;

struct measured {
    double bound_ns, time_ns;
    unsigned subject;
};

/* A program on a device. */
struct subject {
    uint64_t fingerprint;
    unsigned device;
    double best_ns;
};

struct described {
    struct perfmodel_device corrected; /* with values that no measured time violates */
    bool violated;
};

struct auditing {
    const struct cli_args *args;
    struct diag *diag;
    int stop_fd; /* cli_signals() */
    struct measured *measured;
    size_t n, capacity, violations;
    uint64_t drawn, unmeasured;
    struct strbuf explained;
    struct subject *subjects;
    struct described *devices;
    unsigned n_subjects, n_devices;
    unsigned subject;        /* of the measurements that are added next */
    char lost[EVAL_MESSAGE]; /* why the device is lost; "": it is not */
    /* Of a store: the run of the current row. */
    struct problem *problem;
    struct perfmodel *model; /* NULL: the run is skipped */
    int64_t run;
    unsigned skipped; /* runs */
};

static unsigned find_device(struct auditing *u, const struct perfmodel_device *description)
{
    unsigned i = 0;
    while (i < u->n_devices && strcmp(u->devices[i].corrected.name, description->name) != 0)
        i++;
    if (i < u->n_devices) return i;
    u->devices = base_realloc(u->devices, (i + 1) * sizeof *u->devices);
    u->devices[u->n_devices++] = (struct described){.corrected = *description};
    return i;
}

/* Measurements that are added next belong to this program on this device. */
static void take_subject(struct auditing *u, const struct problem *p, const struct perfmodel *m)
{
    struct subject s = {p->fingerprint, find_device(u, perfmodel_described(m)), INFINITY};
    unsigned i = 0;
    while (i < u->n_subjects &&
           (u->subjects[i].fingerprint != s.fingerprint || u->subjects[i].device != s.device))
        i++;
    u->subject = i;
    if (i < u->n_subjects) return;
    u->subjects = base_realloc(u->subjects, (i + 1) * sizeof *u->subjects);
    u->subjects[u->n_subjects++] = s;
}

/* Dates the corrected values today. */
static void date_corrections(struct perfmodel_device *dev)
{
    for (int f = 0; f < PERFMODEL_FIGURE_COUNT; f++)
        if (dev->source[f] == PERFMODEL_VIOLATED && !*dev->dated[f].day) cli_today(dev->dated[f].day);
}

static void note_violation(struct auditing *u, const struct perfmodel *m,
                           const struct perfmodel_reason *reason, double time)
{
    struct described *device = &u->devices[u->subjects[u->subject].device];
    if (isfinite(reason->ns)) {
        perfmodel_violated(&device->corrected, reason, time);
        date_corrections(&device->corrected);
        device->violated = true;
    }
    if (u->violations++ >= MOST_EXPLAINED) return;
    char measured[UNITS_BYTES];
    units_time(time, measured, sizeof measured);
    strbuf_printf(&u->explained, "measured %s, below the bound:\n", measured);
    perfmodel_explain(m, reason, &u->explained);
}

static void add(struct auditing *u, struct perfmodel *m, const struct space_state *leaf, double time)
{
    struct perfmodel_reason reason;
    double bound = perfmodel_bound(m, leaf, &reason);
    if (u->n == u->capacity) {
        u->capacity = 2 * u->capacity + 64;
        u->measured = base_realloc(u->measured, u->capacity * sizeof *u->measured);
    }
    u->measured[u->n++] = (struct measured){bound, time, u->subject};
    u->subjects[u->subject].best_ns = fmin(u->subjects[u->subject].best_ns, time);
    if (time < (1 - CLOCK_NOISE) * bound) note_violation(u, m, &reason, time);
}

/* ---- measured now ---- */

static void measure(struct auditing *u, struct evaluator *ev, const struct cli_problem *p,
                    struct perfmodel *m)
{
    static const struct eval_settings settings = {.batch_ns = 10e6, .verify = false};
    struct pipeline_code c;
    struct evaluation e = {0};
    char why[EVAL_MESSAGE] = "";
    if (!pipeline_lower(p->problem, p->root, &c, why, sizeof why)) return;
    evaluator_run(ev, &c.kernel, &settings, &e);
    if (e.status == EVAL_DEVICE_LOST)
        snprintf(u->lost, sizeof u->lost, "%s", *e.message ? e.message : eval_status_name(e.status));
    else if (e.status == EVAL_OK)
        add(u, m, p->root, e.median_ns);
    else
        u->unmeasured++;
    pipeline_code_clear(&c);
}

/* Draws until there are enough implementations, or a signal arrives, or the device is lost. With a cut it
 * takes only implementations that a search would prune. */
static void sample(struct auditing *u, struct evaluator *ev, const struct cli_problem *p,
                   const struct cli_bounding *b, uint64_t samples, uint64_t seed, double time_s)
{
    double end = time_s > 0 ? clock_s() + time_s : INFINITY;
    struct pcg32 rng = pcg32_seed(seed, 0);
    struct mcts_branching all = {.order = p->order.parts, .n_order = p->order.n};
    uint64_t most = samples * DRAWS_A_SAMPLE;
    while (u->n + u->unmeasured < samples && u->drawn < most && clock_s() < end && !*u->lost &&
           !stop_requested(u->stop_fd)) {
        space_mark mark = space_snapshot(p->root);
        struct mcts_walk w = mcts_descend_random(&all, p->root, INFINITY, 0, &rng, NULL);
        u->drawn++;
        bool wanted = w.leaf && (!isfinite(b->cut) || perfmodel_bound(b->model, p->root, NULL) >= b->cut);
        if (wanted) measure(u, ev, p, b->model);
        space_rollback(p->root, mark);
    }
}

static void audit_program(struct auditing *u)
{
    const struct cli_args *a = u->args;
    struct cli_problem p = {0};
    struct cli_bounding b = {0};
    uint64_t samples, seed;
    double time_s;
    if (cli_samples(a, 100, &samples, u->diag) && cli_count(a, CLI_SEED, 1, &seed, u->diag) &&
        cli_seconds(a, CLI_TIME, &time_s, u->diag) && cli_problem_open_to_measure(a, &p, u->diag) &&
        cli_bounding_open(a, &p, &b, u->diag)) {
        bool described = !p.device.max_alloc_bytes;
        if (described)
            diag_plain(u->diag,
                       "'thresh audit' measures on a device: select the described device with --device, too");
        if (!b.model && !described) b.model = cli_model(a, p.problem, &p.device, u->diag);
        if (b.model) take_subject(u, p.problem, b.model);
        struct evaluator *ev =
            b.model && !described ? evaluator_new(p.problem, &p.device, 1, seed, u->diag) : NULL;
        if (ev) sample(u, ev, &p, &b, samples, seed, time_s);
        evaluator_free(ev);
    }
    cli_bounding_close(&b);
    cli_problem_close(&p);
}

/* ---- recorded ---- */

static void close_run(struct auditing *u)
{
    perfmodel_free(u->model);
    problem_free(u->problem);
    u->model = NULL;
    u->problem = NULL;
}

/* The problem of a run on the device that its times are of. */
static struct problem *problem_of(const struct auditing *u, const struct store_run *run, struct device *dev,
                                  struct diag *d)
{
    struct problem *p = cli_run_problem(u->args, run, dev, d);
    if (!p || strcmp(dev->name, run->device) == 0) return p;
    diag_plain(d, "run %" PRId64 " was measured on '%s', not on '%s'", run->id, run->device, dev->name);
    problem_free(p);
    return NULL;
}

/* Prints why a run cannot be audited. */
static void skip_run(struct auditing *u, const struct diag *d)
{
    u->skipped++;
    diag_print(d, stderr);
    fprintf(stderr, "note: run %" PRId64 " is skipped\n", u->run);
}

/* Opens the run of the next rows. A run that cannot be audited has no model. */
static void open_run(struct auditing *u, const struct store_run *run)
{
    struct device dev;
    struct diag *d = diag_new();
    close_run(u);
    u->run = run->id;
    u->problem = problem_of(u, run, &dev, d);
    if (u->problem) u->model = cli_model(u->args, u->problem, &dev, d);
    if (u->model)
        take_subject(u, u->problem, u->model);
    else
        skip_run(u, d);
    diag_free(d);
}

static bool audit_row(void *context, const struct store_run *run, const struct store_evaluation *e)
{
    struct auditing *u = context;
    struct space_action *actions;
    size_t n;
    const char *why;
    if (stop_requested(u->stop_fd)) return false;
    if (strcmp(e->status, "ok") != 0) return true;
    if (run->id != u->run) open_run(u, run);
    if (!u->model) return true;
    if (!store_actions_parse(e->actions, &actions, &n)) return true;
    struct space_state *leaf = problem_replay(u->problem, actions, n, &why);
    if (leaf) add(u, u->model, leaf, e->median_ns);
    space_state_free(leaf);
    free(actions);
    return true;
}

static void audit_store(struct auditing *u)
{
    struct store *s = store_open_to_read(u->args->positional[0], u->diag);
    if (s) store_each(s, 0, audit_row, u, u->diag);
    if (!u->n && u->skipped) diag_plain(u->diag, "%s: no run can be audited", u->args->positional[0]);
    store_close(s);
    close_run(u);
}

/* ---- the report ---- */

/* The best time; null if there are several programs or devices. */
static json_t *best_json(const struct auditing *u)
{
    return u->n_subjects == 1 ? json_real(u->subjects[0].best_ns) : json_null();
}

/* Quantiles of bound / time over implementations within `within` times the best of their subject. Returns how
 * many. */
static size_t tightness(const struct auditing *u, double within, double quantiles[3])
{
    double *ratios = base_malloc((u->n + 1) * sizeof *ratios);
    size_t n = 0;
    for (size_t i = 0; i < u->n; i++) {
        const struct measured *m = &u->measured[i];
        if (m->time_ns <= within * u->subjects[m->subject].best_ns) ratios[n++] = m->bound_ns / m->time_ns;
    }
    for (int q = 0; q < 3; q++)
        quantiles[q] = n ? stats_quantile(ratios, n, 0.1 + 0.4 * q) : 0;
    free(ratios);
    return n;
}

static json_t *pairs_json(const struct auditing *u)
{
    json_t *list = json_array();
    for (size_t i = 0; i < u->n; i++)
        json_array_append_new(
            list, json_pack("[o,f]", cli_real_json(u->measured[i].bound_ns), u->measured[i].time_ns));
    return list;
}

static json_t *quantiles_json(const double quantiles[3])
{
    return json_pack("[o,o,o]", cli_real_json(quantiles[0]), cli_real_json(quantiles[1]),
                     cli_real_json(quantiles[2]));
}

static void print_report(const struct auditing *u)
{
    double all[3], good[3];
    tightness(u, INFINITY, all);
    size_t n_good = tightness(u, GOOD, good);
    const char *explained = u->explained.text ? u->explained.text : "";
    if (cli_given(u->args, CLI_JSON)) {
        cli_print_json(json_pack("{s:I,s:I,s:I,s:o,s:o,s:I,s:o,s:s,s:o}", "measured", (json_int_t)u->n,
                                 "left_out", (json_int_t)u->skipped, "violations", (json_int_t)u->violations,
                                 "best_ns", best_json(u), "tightness", quantiles_json(all), "good",
                                 (json_int_t)n_good, "tightness_good", quantiles_json(good), "explained",
                                 explained, "bound_and_time", pairs_json(u)));
        return;
    }
    printf("measured         %zu (%" PRIu64 " more failed or were stopped as too slow)\n", u->n,
           u->unmeasured);
    if (u->skipped) printf("skipped          %u run%s\n", u->skipped, u->skipped == 1 ? "" : "s");
    if (u->n_subjects > 1)
        printf("programs         %u (counted once for each size and device)\n", u->n_subjects);
    printf("violations       %zu\n%s", u->violations, explained);
    if (u->violations) printf("--out DIR writes a corrected description of the device\n");
    printf("bound / time     %.3g median (80 %% are between %.3g and %.3g)\n", all[1], all[0], all[2]);
    printf("within 3x best   %.3g median (80 %% are between %.3g and %.3g), %zu implementation%s\n", good[1],
           good[0], good[2], n_good, n_good == 1 ? "" : "s");
}

static bool is_store(const char *path)
{
    return cli_ends_with(path, ".db") || cli_kind_of(path) == CLI_KIND_STORE;
}

/* Writes the corrected descriptions to --out. */
static void save_corrected(const struct auditing *u)
{
    char path[PATH_MAX_TEXT];
    const char *folder = u->args->value[CLI_OUT];
    for (unsigned i = 0; folder && i < u->n_devices; i++) {
        const struct described *device = &u->devices[i];
        if (device->violated && cli_save_description(&device->corrected, folder, path, sizeof path, u->diag))
            fprintf(stderr, "written %s\n", path);
    }
}

#define OF_STORE                                                                                             \
    CLI_SET(CLI_TAKES(DEVICE), CLI_TAKES(DESCRIPTION), CLI_TAKES(OUT), CLI_TAKES(JSON), CLI_TAKES(QUIET))

static int run(const struct cli_args *a)
{
    struct auditing u = {.args = a, .diag = diag_new(), .stop_fd = cli_signals()};
    if (!is_store(a->positional[0]))
        audit_program(&u);
    else if (cli_refuse_others(a, OF_STORE, "does not apply to a store", u.diag))
        audit_store(&u);
    bool empty = !u.n && !diag_failed(u.diag);
    if (u.n && !diag_failed(u.diag)) print_report(&u), save_corrected(&u);
    if (*u.lost)
        diag_plain(u.diag, "the device is lost: %s", u.lost);
    else if (empty)
        diag_plain(u.diag, "nothing was measured");
    int status = empty || *u.lost || u.violations ? CLI_FAILED : CLI_OK;
    status = cli_finish(u.diag, cli_signal_status(u.stop_fd, status));
    free(u.measured);
    free(u.subjects);
    free(u.devices);
    strbuf_free(&u.explained);
    return status;
}

const struct cli_command cli_audit = {
    .name = "audit",
    .positional = "KERNEL.lift|STORE.db",
    .least = 1,
    .most = 1,
    .takes = {CLI_PROGRAM, CLI_TAKES(SAMPLES), CLI_TAKES(QUIET), CLI_TAKES(OUT), CLI_TAKES(TIME),
              CLI_TAKES(CUT), CLI_TAKES(DESCRIPTION)},
    .notes = {{CLI_OUT, "DIR", "folder for a corrected description, written if a time is below its bound"},
              {CLI_SAMPLES, "N", "number of implementations (default 100)"},
              {CLI_CUT, "NS",
               "take only implementations whose lower bound is at least NS ns (default: all)"}},
    .help =
        "Compares lower bounds with measured times, of random implementations or of the evaluations in a "
        "store. "
        "The exit status is 1 if a time is below its bound.\n"
        "Runs of a store that cannot be opened again (of 'tune --space', of a device that is not present, of "
        "another version of thresh) are skipped with a note. In JSON an infinite bound is null, and so is "
        "the "
        "best time of several programs or devices.\v"
        "Example: thresh audit matmul.lift --size M=128,N=128,K=128 --samples 300 --cut 50000",
    .run = run,
};
