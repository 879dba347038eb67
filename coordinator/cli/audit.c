/* thresh audit: is the lower bound one, and how near does it come? Compares bounds with times: of random
 * implementations measured now (with --cut NS only of those that a search with that best time would leave
 * out), or of all that a store has recorded. A time below its bound is a violation: a bug of the model or a
 * rate of the description that is too low; the first ones are explained. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/evaluate.h"
#include "coordinator/candidate.h"
#include "coordinator/cli/bounding.h"
#include "coordinator/cli/characterize.h"
#include "coordinator/store.h"
#include "core/base/arena.h"
#include "core/base/clock.h"
#include "core/base/pcg32.h"
#include "core/base/stats.h"
#include "core/base/stop.h"
#include "core/base/strbuf.h"
#include "mcts/descent.h"

enum { MOST_EXPLAINED = 3, DRAWS_A_SAMPLE = 200 };
static const double CLOCK_NOISE = 0.02, GOOD = 3;

struct auditing {
    const struct cli_args *args;
    struct diag *diag;
    int stop_fd;            /* cli_signals() */
    double *bounds, *times; /* ns */
    size_t n, capacity, violations;
    uint64_t drawn, unmeasured;
    struct strbuf explained;
    struct perfmodel_device corrected; /* with the figures that no violation contradicts */
    /* of a store: the problem of the rows so far */
    struct problem *problem;
    struct perfmodel *model;
    int64_t run;
};

static void add(struct auditing *u, struct perfmodel *m, const struct space_state *leaf, double time)
{
    struct perfmodel_reason reason;
    double bound = perfmodel_bound(m, leaf, &reason);
    if (u->n == u->capacity) {
        u->capacity = 2 * u->capacity + 64;
        u->bounds = base_realloc(u->bounds, u->capacity * sizeof *u->bounds);
        u->times = base_realloc(u->times, u->capacity * sizeof *u->times);
    }
    u->bounds[u->n] = bound;
    u->times[u->n++] = time;
    if (time >= (1 - CLOCK_NOISE) * bound) return;
    perfmodel_violated(&u->corrected, &reason, time);
    if (u->violations++ >= MOST_EXPLAINED) return;
    strbuf_printf(&u->explained, "measured %.4g ns, but\n", time);
    perfmodel_explain(m, &reason, &u->explained);
}

/* ---- measured now ---- */

static void measure(struct auditing *u, struct evaluator *ev, const struct cli_problem *p,
                    struct perfmodel *m)
{
    static const struct eval_settings settings = {.batch_ns = 10e6, .verify = false};
    struct candidate c = {0};
    struct evaluation e = {0};
    char why[EVAL_MESSAGE] = "";
    if (!candidate_lower(p->problem, &p->device, p->root, &c, why, sizeof why)) return;
    evaluator_run(ev, &c.kernel, &settings, &e);
    if (e.status == EVAL_OK)
        add(u, m, p->root, e.median_ns);
    else
        u->unmeasured++;
    candidate_clear(&c);
}

/* Draws until there are enough, or a signal; with a cut, implementations below it are not looked at. */
static void sample(struct auditing *u, struct evaluator *ev, const struct cli_problem *p,
                   const struct cli_bounding *b, uint64_t samples, uint64_t seed, double time_s)
{
    double end = time_s > 0 ? clock_s() + time_s : INFINITY;
    struct pcg32 rng = pcg32_seed(seed, 0);
    struct mcts_branching all = {.order = p->order.parts, .n_order = p->order.n};
    uint64_t most = samples * DRAWS_A_SAMPLE;
    while (u->n + u->unmeasured < samples && u->drawn < most && clock_s() < end &&
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
        cli_seconds(a, CLI_TIME, &time_s, u->diag) && cli_problem_open(a, &p, u->diag) &&
        cli_bounding_open(a, &p, &b, u->diag)) {
        bool described = !p.device.max_alloc_bytes;
        if (described) diag_plain(u->diag, "audit measures: name the described device with --device, too");
        if (!b.model && !described) b.model = cli_model(a, p.problem, &p.device, u->diag);
        if (b.model) u->corrected = *perfmodel_described(b.model);
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

static bool open_run(struct auditing *u, const struct store_run *run)
{
    struct device dev;
    close_run(u);
    u->run = run->id;
    u->problem = cli_run_problem(u->args, run, &dev, u->diag);
    if (u->problem) u->model = cli_model(u->args, u->problem, &dev, u->diag);
    if (u->model && !u->corrected.name[0]) u->corrected = *perfmodel_described(u->model);
    return u->model != NULL;
}

static bool audit_row(void *context, const struct store_run *run, const struct store_evaluation *e)
{
    struct auditing *u = context;
    struct space_action *actions;
    size_t n;
    const char *why;
    if (stop_requested(u->stop_fd)) return false;
    if (strcmp(e->status, "ok") != 0) return true;
    if (run->id != u->run && !open_run(u, run)) return false;
    if (!store_actions_parse(e->actions, &actions, &n)) return true;
    struct space_state *leaf = problem_replay(u->problem, actions, (unsigned)n, &why);
    if (leaf) add(u, u->model, leaf, e->median_ns);
    space_state_free(leaf);
    free(actions);
    return true;
}

static void audit_store(struct auditing *u)
{
    struct store *s = store_open(u->args->positional[0], false, u->diag);
    if (s) store_each(s, 0, audit_row, u, u->diag);
    store_close(s);
    close_run(u);
}

/* ---- the report ---- */

static double best_time(const struct auditing *u)
{
    double best = INFINITY;
    for (size_t i = 0; i < u->n; i++)
        best = fmin(best, u->times[i]);
    return best;
}

/* Quantiles of bound / time over implementations within `within` times the best. Returns how many. */
static size_t tightness(const struct auditing *u, double within, double quantiles[3])
{
    double *ratios = base_malloc((u->n + 1) * sizeof *ratios), best = best_time(u);
    size_t n = 0;
    for (size_t i = 0; i < u->n; i++)
        if (u->times[i] <= within * best) ratios[n++] = u->bounds[i] / u->times[i];
    for (int q = 0; q < 3; q++)
        quantiles[q] = n ? stats_quantile(ratios, n, 0.1 + 0.4 * q) : 0;
    free(ratios);
    return n;
}

static json_t *pairs_json(const struct auditing *u)
{
    json_t *list = json_array();
    for (size_t i = 0; i < u->n; i++)
        json_array_append_new(list, json_pack("[f,f]", u->bounds[i], u->times[i]));
    return list;
}

static void print_report(const struct auditing *u)
{
    double all[3], good[3];
    tightness(u, INFINITY, all);
    size_t n_good = tightness(u, GOOD, good);
    const char *explained = u->explained.text ? u->explained.text : "";
    if (cli_given(u->args, CLI_JSON)) {
        cli_print_json(json_pack("{s:I,s:I,s:f,s:[f,f,f],s:I,s:[f,f,f],s:s,s:o}", "measured",
                                 (json_int_t)u->n, "violations", (json_int_t)u->violations, "best_ns",
                                 best_time(u), "tightness", all[0], all[1], all[2], "good",
                                 (json_int_t)n_good, "tightness_good", good[0], good[1], good[2], "explained",
                                 explained, "bound_and_time", pairs_json(u)));
        return;
    }
    printf("measured         %zu (%" PRIu64 " more failed or were cut)\n", u->n, u->unmeasured);
    printf("violations       %zu\n%s", u->violations, explained);
    if (u->violations) printf("'--out FOLDER' writes a description with the figures that would have held\n");
    printf("bound / time     %.3g median (%.3g to %.3g are 80 %%)\n", all[1], all[0], all[2]);
    printf("within 3x best   %.3g median (%.3g to %.3g) of %zu\n", good[1], good[0], good[2], n_good);
}

static bool is_store(const char *path)
{
    size_t n = strlen(path);
    return n > 3 && strcmp(path + n - 3, ".db") == 0;
}

/* The description that would have held, where --out says. */
static void save_corrected(const struct auditing *u)
{
    char path[PATH_MAX_TEXT];
    const char *folder = u->args->value[CLI_OUT];
    if (!u->violations || !folder || !cli_save_description(&u->corrected, folder, path, sizeof path, u->diag))
        return;
    fprintf(stderr, "written %s\n", path);
}

#define OF_STORE                                                                                             \
    (CLI_TAKES(DEVICE) | CLI_TAKES(DESCRIPTION) | CLI_TAKES(OUT) | CLI_TAKES(JSON) | CLI_TAKES(QUIET))

static int run(const struct cli_args *a)
{
    struct auditing u = {.args = a, .diag = diag_new(), .stop_fd = cli_signals()};
    if (!is_store(a->positional[0]))
        audit_program(&u);
    else if (cli_refuse_others(a, OF_STORE, "says nothing about a store", u.diag))
        audit_store(&u);
    bool empty = !u.n && !diag_failed(u.diag);
    if (u.n && !diag_failed(u.diag)) print_report(&u), save_corrected(&u);
    if (empty) diag_plain(u.diag, "nothing was measured");
    int status = empty || u.violations ? CLI_FAILED : CLI_OK;
    status = cli_finish(u.diag, cli_signal_status(u.stop_fd, status));
    free(u.bounds);
    free(u.times);
    strbuf_free(&u.explained);
    return status;
}

const struct cli_command cli_audit = {
    .name = "audit",
    .positional = "KERNEL.lift|STORE.db",
    .least = 1,
    .most = 1,
    .takes = CLI_PROGRAM | CLI_TAKES(SAMPLES) | CLI_TAKES(QUIET) | CLI_TAKES(OUT) | CLI_TAKES(TIME) |
             CLI_TAKES(CUT) | CLI_TAKES(DESCRIPTION),
    .notes = {{CLI_OUT, "DIR", "folder for a corrected description, if a time is below its bound"},
              {CLI_SAMPLES, "N", "number of implementations (default 100)"},
              {CLI_CUT, "NS", "only what a search with a best time of NS would leave out"}},
    .help =
        "Compares lower bounds with measured times: of random implementations, or of a store's. Exit status "
        "1 if a time is below its bound.\v"
        "Example: thresh audit matmul.lift --size M=128,N=128,K=128 --samples 300 --cut 50000",
    .run = run,
};
