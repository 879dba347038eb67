/* Searches of the whole space of a program without its device: times are interpolated. For example
 *
 *     search-surrogate --description DEVICE.json --seeds 20 --heuristic tag A.pool STORE.db
 *
 * searches the space of the first run of STORE.db. An implementation takes the mean of the times of those
 * rows of A.pool whose features are nearest to its own, by logarithms, weighted by 1 / distance. It prints
 * what search-bench prints; times are divided by the best of the pool.
 *
 * A pool alone (bench.c) is easier than its space: each row was selected by some search, and a rollout draws
 * nothing else. Here rollouts draw from all implementations, as in `thresh tune`. A search takes as long as
 * one on the device without the device. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "coordinator/cli/bounding.h"
#include "coordinator/guidance.h"
#include "coordinator/store.h"
#include "core/base/arena.h"
#include "core/base/diag.h"
#include "experiments/search/options.h"
#include "experiments/search/pool.h"
#include "mcts/tree.h"

enum { NEAREST = 3 }; /* rows that a time is made of */

/* Beside a distance, so that an implementation of the pool has nearly its own time. */
static const double LEAST_DISTANCE = 1e-3;

/* Rows of the pool with a time. */
struct timed {
    double *features; /* [n][ESTIMATE_FEATURES] */
    double *log_ns;   /* [n] */
    size_t n;
};

/* A space that is searched. */
struct subject {
    const struct search_options *options;
    struct cli_args args; /* as if thresh were called with them */
    char *name;           /* of the pool */
    struct problem *problem;
    struct device device;
    struct perfmodel *model; /* NULL: not known */
    struct mcts_prior *prior;
    struct space_state *root;
    struct pool *pool;
    struct timed timed;
    double optimum; /* ns */
};

/* ---- times ---- */

static void features_of(void *context, const struct space_state *leaf, double *features)
{
    const struct subject *b = context;
    guidance_features(b->problem, &b->device, leaf, features);
}

/* Of two implementations; `most` or more: at least that. */
static double distance(const double *a, const double *b, double most)
{
    double sum = 0;
    for (unsigned i = 0; i < ESTIMATE_FEATURES && sum < most; i++)
        sum += fabs(a[i] - b[i]);
    return sum;
}

static double interpolate(const struct timed *t, const double *features)
{
    double nearest[NEAREST], log_ns[NEAREST] = {0}, sum = 0, weights = 0;
    for (unsigned k = 0; k < NEAREST; k++)
        nearest[k] = INFINITY;
    for (size_t i = 0; i < t->n; i++) {
        unsigned k = NEAREST - 1;
        double d = distance(t->features + i * ESTIMATE_FEATURES, features, nearest[k]);
        if (d >= nearest[k]) continue;
        for (; k > 0 && nearest[k - 1] > d; k--) {
            nearest[k] = nearest[k - 1];
            log_ns[k] = log_ns[k - 1];
        }
        nearest[k] = d;
        log_ns[k] = t->log_ns[i];
    }
    for (unsigned k = 0; k < NEAREST; k++) {
        sum += log_ns[k] / (nearest[k] + LEAST_DISTANCE);
        weights += 1 / (nearest[k] + LEAST_DISTANCE);
    }
    return exp(sum / weights);
}

/* ---- a search ---- */

struct flight {
    struct mcts_descent descent;
    double ns;
};

/* Results that are not told yet, the oldest first. */
struct in_flight {
    struct flight list[SEARCH_IN_FLIGHT];
    uint32_t n;
};

static void tell_oldest(struct mcts_tree *t, struct in_flight *f)
{
    mcts_tree_report(t, &f->list[0].descent, (struct mcts_outcome){MCTS_TIMED, f->list[0].ns});
    mcts_descent_free(&f->list[0].descent);
    memmove(&f->list[0], &f->list[1], --f->n * sizeof f->list[0]);
}

/* Evaluates what was drawn, and prints its time if it is the best. */
static void evaluate(struct subject *b, struct in_flight *f, struct mcts_descent d,
                     const struct space_state *leaf, uint32_t number, double *best)
{
    double features[ESTIMATE_FEATURES];
    features_of(b, leaf, features);
    double ns = interpolate(&b->timed, features);
    f->list[f->n++] = (struct flight){d, ns};
    if (ns >= *best) return;
    printf("%s%" PRIu32 ":%.6g", isfinite(*best) ? " " : "", number, ns / b->optimum);
    *best = ns;
}

/* Prints the course. false: the heuristic is at fault. */
static bool draw_all(struct subject *b, struct mcts_tree *t)
{
    struct in_flight f = {.n = 0};
    double best = INFINITY;
    enum mcts_status status = MCTS_OK;
    for (uint32_t done = 0, stuck = 0; done < b->options->evaluations && stuck < SEARCH_STUCK;) {
        struct mcts_descent d = {0};
        status = mcts_tree_next(t, &d);
        if (status == MCTS_ERROR || status == MCTS_EXHAUSTED) break;
        stuck = status == MCTS_STUCK ? stuck + 1 : 0;
        if (status == MCTS_OK) evaluate(b, &f, d, mcts_tree_state(t), ++done, &best);
        if (f.n == b->options->in_flight || (status == MCTS_STUCK && f.n > 0)) tell_oldest(t, &f);
    }
    if (status == MCTS_ERROR) fprintf(stderr, "search-surrogate: %s\n", mcts_tree_error(t));
    while (f.n > 0)
        tell_oldest(t, &f);
    return status != MCTS_ERROR;
}

static struct mcts_config config_of(struct subject *b, uint64_t seed)
{
    struct mcts_config c = mcts_config_default();
    c.seed = seed;
    c.branching.bound = b->model ? perfmodel_hook : NULL;
    c.branching.bound_context = b->model;
    c.features =
        (struct mcts_features){ESTIMATE_FEATURES, features_of, b, b->device.gpu ? estimate_effort : NULL};
    c.prior = mcts_prior_weight;
    c.prior_context = b->prior;
    return c;
}

static bool search(struct subject *b, const char *heuristic, uint32_t seed)
{
    struct diag *d = diag_new();
    struct mcts_heuristic *h = mcts_heuristic_load(heuristic, d);
    diag_print(d, stderr);
    diag_free(d);
    if (!h) return false;
    struct mcts_config c = config_of(b, seed);
    struct mcts_tree *t = mcts_tree_new(b->root, h, &c);
    if (b->pool->known_ns > 0) mcts_tree_known_time(t, b->pool->known_ns);
    search_print_head(b->options, b->name, heuristic, seed);
    bool ok = draw_all(b, t);
    putchar('\n');
    fflush(stdout);
    mcts_tree_free(t);
    mcts_heuristic_free(h);
    return ok;
}

/* ---- the space ---- */

/* The first row of a store: of its run. */
struct first_row {
    struct subject *subject;
    struct diag *diag;
};

static bool take_run(void *context, const struct store_run *run, const struct store_evaluation *e)
{
    struct first_row *f = context;
    struct subject *b = f->subject;
    (void)e;
    if (!b->problem) b->problem = cli_run_problem(&b->args, run, &b->device, f->diag);
    return false;
}

/* Of a device without a description there are no lower bounds. */
static void open_model(struct subject *b)
{
    struct diag *d = diag_new();
    b->model = cli_model(&b->args, b->problem, &b->device, d);
    if (!b->model) fprintf(stderr, "note: no lower bounds: %s\n", diag_message(d, 0));
    diag_free(d);
}

static bool open_problem(struct subject *b, const char *path, struct diag *d)
{
    struct first_row first = {b, d};
    struct store *s = store_open_to_read(path, d);
    if (s) store_each(s, 0, take_run, &first, d);
    store_close(s);
    if (s && !b->problem && !diag_failed(d)) diag_plain(d, "%s: no evaluation", path);
    if (!b->problem) return false;
    b->prior = guidance_prior(b->problem, &b->device, d);
    b->root = space_root(b->problem->space, NULL);
    open_model(b);
    return b->prior && b->root;
}

static bool open_pool(struct subject *b, const char *path, struct diag *d)
{
    FILE *in = fopen(path, "r");
    if (!in) diag_plain(d, "%s: cannot be read", path);
    if (in) b->pool = pool_read(path, in, d);
    if (in) fclose(in);
    if (!b->pool) return false;
    struct timed *t = &b->timed;
    size_t bytes = ESTIMATE_FEATURES * sizeof t->features[0], known = b->pool->n_features;
    t->features = base_malloc(b->pool->n_rows * bytes + 1);
    t->log_ns = base_malloc(b->pool->n_rows * sizeof t->log_ns[0] + 1);
    for (size_t i = 0; known == ESTIMATE_FEATURES && i < b->pool->n_rows; i++) {
        const struct pool_row *r = &b->pool->rows[i];
        if (r->status != POOL_OK) continue;
        memcpy(t->features + t->n * ESTIMATE_FEATURES, r->features, bytes);
        t->log_ns[t->n++] = log(r->time_ns);
    }
    b->optimum = pool_best_ns(b->pool);
    if (t->n < NEAREST)
        diag_plain(d, "%s: less than %d implementations with features and a time", path, NEAREST);
    return t->n >= NEAREST;
}

static void close_subject(struct subject *b)
{
    perfmodel_free(b->model);
    mcts_prior_free(b->prior);
    space_state_free(b->root);
    problem_free(b->problem);
    pool_free(b->pool);
    free(b->name);
    free(b->timed.features);
    free(b->timed.log_ns);
}

static bool search_all(const struct search_options *o, const char *pool, const char *store)
{
    struct diag *d = diag_new();
    struct subject b = {.options = o, .name = search_pool_name(pool)};
    b.args.value[CLI_DESCRIPTION] = o->description;
    bool ok = open_pool(&b, pool, d) && open_problem(&b, store, d);
    diag_print(d, stderr);
    for (unsigned h = 0; ok && h < o->n_heuristics; h++)
        for (uint32_t i = 0; ok && i < o->seeds; i++)
            ok = search(&b, o->heuristics[h], o->first_seed + i);
    close_subject(&b);
    diag_free(d);
    return ok;
}

int main(int argc, char **argv)
{
    struct search_options o = {
        .label = "-", .first_seed = 1, .seeds = 50, .evaluations = 300, .in_flight = 16};
    bool ok = search_options_read(&o, "d", argc, argv);
    if (!ok || optind + 2 != argc) {
        fprintf(stderr,
                "usage: search-surrogate [--label TEXT] [--description DEVICE.json] [--heuristic SPEC]..."
                " [--first-seed N] [--seeds N] [--evaluations N] [--in-flight N] POOL STORE.db\n");
        return 2;
    }
    return search_all(&o, argv[optind], argv[optind + 1]) ? 0 : 2;
}
