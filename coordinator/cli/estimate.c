/* thresh estimate: the number of implementations of a program. thresh descend: the speed of random descents.
 *
 *     $ thresh estimate axpy.lift --size N=64
 *     implementations  1.2e+05 (95 % interval 9.8e+04 to 1.5e+05)
 *     method           knuth, 10000 samples, 2.10 s
 *     ... */
#include "coordinator/cli/estimate.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "coordinator/cli/bounding.h"
#include "coordinator/cli/space_open.h"
#include "core/base/arena.h"
#include "core/base/clock.h"
#include "core/base/pcg32.h"
#include "mcts/descent.h"

static const char *const method_names[] = {
    [MCTS_KNUTH] = "knuth", [MCTS_CHEN] = "chen", [MCTS_EXACT] = "exact"};

static const char *const counted[] = {
    [MCTS_KNUTH] = "descents", [MCTS_CHEN] = "samples", [MCTS_EXACT] = "implementations"};

/* About 15 s for a matrix product. */
static const uint64_t default_samples[] = {[MCTS_KNUTH] = 10000, [MCTS_CHEN] = 60, [MCTS_EXACT] = 1};

/* What to do about an unreliable estimate. */
static const char *const advice[] = {
    [MCTS_KNUTH] = "a few descents contribute most of the sum; the true number is probably larger: increase "
                   "--samples or use"
                   " --method chen, which is less skewed but slower per sample",
    [MCTS_CHEN] = "a few samples contribute most of the sum: increase --samples",
    [MCTS_EXACT] = "the count stopped at the limit: increase --limit"};

static const char *advice_on(const struct mcts_estimate *e)
{
    if (e->method == MCTS_EXACT || isfinite(e->log_leaves)) return advice[e->method];
    return "no sample reached an implementation: there are few or none; --method exact counts them all";
}

static bool find_method(const char *name, enum mcts_method *out, struct diag *d)
{
    for (unsigned i = 0; i < sizeof method_names / sizeof method_names[0]; i++) {
        *out = (enum mcts_method)i;
        if (!name || strcmp(name, method_names[i]) == 0) return true;
    }
    diag_plain(d, "--method: unknown estimator '%s'; expected one of knuth, chen, exact", name);
    return false;
}

/* Refuses options of other methods, and --depth without --cut. */
static bool refuse_others(const struct cli_args *a, enum mcts_method method, struct diag *d)
{
    static const enum cli_key sampling[] = {CLI_SAMPLES, CLI_SEED}, limit[] = {CLI_LIMIT},
                              depth[] = {CLI_DEPTH};
    bool ok = method == MCTS_EXACT
                  ? cli_refuse(a, sampling, 2, "does not apply to --method exact, which takes no samples", d)
                  : cli_refuse(a, limit, 1, "applies only to --method exact", d);
    return (cli_given(a, CLI_CUT) || cli_refuse(a, depth, 1, "does not apply without --cut", d)) && ok;
}

bool cli_estimate_options(const struct cli_args *a, struct mcts_estimate_config *c, struct diag *d)
{
    *c = (struct mcts_estimate_config){0};
    return find_method(a->value[CLI_METHOD], &c->method, d) && refuse_others(a, c->method, d) &&
           cli_samples(a, default_samples[c->method], &c->samples, d) &&
           cli_count(a, CLI_SEED, 1, &c->seed, d) && cli_count(a, CLI_LIMIT, 0, &c->node_limit, d);
}

void cli_estimate_print_count(const char *what, const struct mcts_estimate *e, bool exact)
{
    char count[64], low[64], high[64];
    mcts_count_print(e->log_leaves, count, sizeof count);
    mcts_count_print(e->log_low, low, sizeof low);
    mcts_count_print(e->log_high, high, sizeof high);
    if (exact)
        printf("%-16s %s (exact)\n", what, count);
    else
        printf("%-16s %s (95 %% interval %s to %s)\n", what, count, low, high);
}

void cli_estimate_print(const struct cli_args *a, const char *what, const struct mcts_estimate *e,
                        double elapsed_s)
{
    uint64_t descents = e->method == MCTS_KNUTH ? e->samples : 0;
    if (cli_given(a, CLI_JSON)) {
        json_t *o = json_pack(
            "{s:s,s:I,s:o,s:o,s:o,s:o,s:f,s:f,s:b,s:b}", "method", method_names[e->method], "samples",
            (json_int_t)e->samples, "estimate", cli_count_json(e->log_leaves), "log10",
            isfinite(e->log_leaves) ? json_real(e->log_leaves / log(10)) : json_null(), "ci95_low",
            cli_count_json(e->log_low), "ci95_high", cli_count_json(e->log_high), "mean_depth", e->mean_depth,
            "elapsed_s", elapsed_s, "complete", (int)e->complete, "unreliable", (int)e->unreliable);
        cli_add_dead_ends(o, e->dead_end_ratio, descents);
        cli_print_json(o);
        return;
    }
    cli_estimate_print_count(what, e, e->method == MCTS_EXACT && e->complete);
    if (e->unreliable) printf("unreliable       %s\n", advice_on(e));
    printf("method           %s, %" PRIu64 " samples, %.2f s\n", method_names[e->method], e->samples,
           elapsed_s);
    cli_print_dead_ends(e->dead_end_ratio, descents);
    printf("mean depth       %.1f\n", e->mean_depth);
}

static struct cli_counting counting_of(const char *what)
{
    double now = clock_s();
    return (struct cli_counting){what, now, now};
}

struct cli_counting cli_counting_start(enum mcts_method method)
{
    return counting_of(counted[method]);
}

void cli_counting_show(void *context, uint64_t done)
{
    struct cli_counting *c = context;
    double now = clock_s();
    if (now - c->shown_s < 2) return;
    c->shown_s = now;
    fprintf(stderr, "%" PRIu64 " %s so far, %.0f/s\n", done, c->what, (double)done / (now - c->start_s));
}

static int run_estimate(const struct cli_args *a)
{
    if (cli_is_space(a->positional[0])) return cli_estimate_space(a);
    static const enum cli_key of_spaces[] = {CLI_DATA};
    struct diag *d = diag_new();
    struct cli_problem p = {0};
    struct mcts_estimate_config c;
    struct cli_bounding bounding = {0};
    if (cli_refuse(a, of_spaces, 1, "applies only to a space (FILE.space or FILE.so)", d) &&
        cli_estimate_options(a, &c, d) && cli_problem_open(a, &p, d)) {
        struct cli_counting counting = cli_counting_start(c.method);
        if (!cli_given(a, CLI_QUIET)) c.progress = cli_counting_show;
        c.progress_context = &counting;
        if (cli_bounding_open(a, &p, &bounding, d)) {
            c.branching = bounding.branching;
            c.cut = bounding.cut;
            c.cut_depth = bounding.depth;
            struct mcts_estimate e = mcts_estimate(&c, p.root);
            cli_estimate_print(a, "implementations", &e, clock_s() - counting.start_s);
        }
    }
    int status = cli_finish(d, CLI_OK);
    cli_bounding_close(&bounding);
    cli_problem_close(&p);
    return status;
}

const struct cli_command cli_estimate = {
    .name = "estimate",
    .positional = "KERNEL.lift|FILE.space|FILE.so",
    .least = 1,
    .most = 1,
    .takes = {CLI_PROGRAM, CLI_ESTIMATING, CLI_BOUNDING},
    .notes = {{CLI_SAMPLES, "N", "number of samples (default 10000; with --method chen 60)"},
              {CLI_LIMIT, "N", "with --method exact: stop after N nodes of the tree (default: no limit)"},
              {CLI_METHOD, "knuth|chen|exact",
               "estimator: Knuth's random descents (default), Chen's heuristic sampling, or an exact count"}},
    .help = "Estimates the number of implementations of a program, or of solutions of a space. It prints the "
            "estimate with its 95 % interval. If the solutions of a space can be counted quickly, the exact "
            "number "
            "is printed instead.\v"
            "Example: thresh estimate matmul.lift --size M=512,N=512,K=512 --method chen --samples 200",
    .run = run_estimate,
};

/* ---- descend ---- */

enum { DESCENTS_KEPT = 1024 };

struct descents {
    uint64_t arrived, dead_ends, decisions;
    double elapsed_s, logs[DESCENTS_KEPT]; /* log weights of the first descents */
    struct mcts_interval leaves;
    struct cli_counting *counting; /* NULL: progress is not shown */
};

static void add_descents(void *context, const struct mcts_walk *w, const uint32_t *ids, uint32_t n)
{
    struct descents *out = context;
    for (uint32_t i = 0; i < n; i++)
        if (ids[i] < DESCENTS_KEPT) out->logs[ids[i]] = w->leaf ? w->log_leaves : -INFINITY;
    out->decisions += (uint64_t)n * w->depth;
    if (!w->leaf) out->dead_ends += n;
    out->arrived += n;
    if (out->counting) cli_counting_show(out->counting, out->arrived);
}

static void descend(const struct cli_problem *p, uint32_t samples, uint64_t seed, struct descents *out)
{
    struct mcts_branching b = {.order = p->order.parts, .n_order = p->order.n};
    const struct mcts_descents descents = {
        .n = samples, .cut = INFINITY, .arrive = add_descents, .context = out};
    struct pcg32 rng = pcg32_seed(seed, 0);
    double start = clock_s();
    mcts_descend_together(&b, p->root, &descents, &rng);
    out->elapsed_s = clock_s() - start;
    out->leaves = mcts_interval(out->logs, samples < DESCENTS_KEPT ? samples : DESCENTS_KEPT, seed);
}

static void print_descents(const struct cli_args *a, const struct cli_problem *p, const struct descents *r)
{
    double n = (double)r->arrived, log10_leaves = r->leaves.log_mean / log(10);
    json_t *leaves = isfinite(log10_leaves) ? json_real(log10_leaves) : json_null();
    json_t *o =
        json_pack("{s:I,s:f,s:f,s:f,s:I,s:I,s:o}", "samples", (json_int_t)r->arrived, "descents_per_s",
                  n / r->elapsed_s, "decisions_per_s", (double)r->decisions / r->elapsed_s, "mean_depth",
                  (double)r->decisions / n, "vector_bytes", (json_int_t)space_vector_bytes(p->problem->space),
                  "statements", (json_int_t)bb_statement_count(p->problem->backbone), "log10_leaves", leaves);
    cli_add_dead_ends(o, (double)r->dead_ends / n, r->arrived);
    if (cli_given(a, CLI_JSON)) {
        cli_print_json(o);
        return;
    }
    printf("descents         %" PRIu64 ", %.1f/s, %.0f decisions/s\n", r->arrived, n / r->elapsed_s,
           (double)r->decisions / r->elapsed_s);
    cli_print_dead_ends((double)r->dead_ends / n, r->arrived);
    printf("mean depth       %.1f\n", (double)r->decisions / n);
    printf("vector           %zu bytes, %u statements\nimplementations  about 1e%.1f\n",
           space_vector_bytes(p->problem->space), bb_statement_count(p->problem->backbone), log10_leaves);
    json_decref(o);
}

static bool is_program(const char *path, struct diag *d)
{
    if (!cli_is_space(path)) return true;
    diag_plain(d, "'%s' is a space, not a program: use 'thresh space descend %s'", path, path);
    return false;
}

static int run_descend(const struct cli_args *a)
{
    struct diag *d = diag_new();
    struct cli_problem p = {0};
    struct descents r = {0};
    uint64_t samples, seed;
    if (is_program(a->positional[0], d) && cli_samples(a, 1000, &samples, d) &&
        cli_count(a, CLI_SEED, 1, &seed, d) && cli_problem_open(a, &p, d)) {
        struct cli_counting counting = counting_of("descents");
        if (!cli_given(a, CLI_QUIET)) r.counting = &counting;
        descend(&p, (uint32_t)samples, seed, &r);
        print_descents(a, &p, &r);
    }
    int status = cli_finish(d, CLI_OK);
    cli_problem_close(&p);
    return status;
}

const struct cli_command cli_descend = {
    .name = "descend",
    .positional = "KERNEL.lift",
    .least = 1,
    .most = 1,
    .takes = {CLI_PROGRAM, CLI_TAKES(SAMPLES), CLI_TAKES(QUIET), CLI_TAKES(DESCRIPTION)},
    .notes = {{CLI_SAMPLES, "N", "number of descents (default 1000)"},
              {CLI_DESCRIPTION, "FILE.json", "description of the device, if the device is not present"}},
    .help =
        "Measures the speed of random descents from the root of the space to implementations. At each "
        "decision "
        "all values are tried by propagation and one of the possible values is drawn. Descents with the same "
        "decisions share their propagations.\v"
        "Example: thresh descend matmul.lift --size M=512,N=512,K=512 --samples 1000",
    .run = run_descend,
};
