/* thresh levels: the number of candidates at each depth of the tree, with and without pruning by the lower
 * bound ("Partially specified implementations", table 3 and section 5.5).
 *
 * Both are estimated by random descents (Knuth 1975): the product of the branching factors down to a depth is
 * an unbiased estimate of the nodes at that depth. A descent that finds 3, then 2 possible values contributes
 * 3 to depth 1 and 6 to depth 2. The same descents estimate the pruned tree: below the first pruned node a
 * descent contributes 0. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "coordinator/cli/bounding.h"
#include "core/base/arena.h"
#include "core/base/panic.h"
#include "core/base/pcg32.h"

enum { DEEPEST = 256 };

/* The bound, with the time that it takes. */
struct timed_bound {
    struct perfmodel *model; /* NULL: nothing is pruned */
    uint64_t calls;
    double ns;
};

struct levels {
    const struct cli_bounding *bounding;
    struct mcts_branching branching;
    struct timed_bound timed;
    struct space_state *state;
    struct pcg32 rng;
    uint32_t depth;
    double nodes[DEEPEST + 1], nodes_cut[DEEPEST + 1]; /* sums of weights */
    double squares[DEEPEST + 1], squares_cut[DEEPEST + 1];
    struct mcts_option options[MCTS_VALUES_MAX];
    struct mcts_trials trials;
};

/* Processor time of this thread: unaffected by other load. */
static double now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static double timed_hook(void *context, const struct space_state *state)
{
    struct timed_bound *t = context;
    double start = now_ns(), bound = perfmodel_bound(t->model, state, NULL);
    t->ns += now_ns() - start;
    t->calls++;
    return bound;
}

static void take(struct space_state *state, struct space_action action)
{
    struct space_failure why;
    bool live = space_apply(state, action, &why);
    CHECK(live);
}

static void add_level(struct levels *l, uint32_t depth, double weight, double weight_cut)
{
    l->nodes[depth] += weight;
    l->nodes_cut[depth] += weight_cut;
    l->squares[depth] += weight * weight;
    l->squares_cut[depth] += weight_cut * weight_cut;
}

/* One descent. At each level it counts the children that are not pruned, and draws one of all children. */
static void descend(struct levels *l)
{
    const struct cli_bounding *b = l->bounding;
    const struct mcts_branching *branching = &l->branching;
    double weight = 1;
    bool below = true; /* no node of the path is pruned */
    space_mark mark = space_snapshot(l->state);
    for (uint32_t depth = 1; depth <= l->depth; depth++) {
        uint32_t slot = space_next_choice(l->state, branching->order, branching->n_order), live = 0;
        uint32_t n = slot == UINT32_MAX
                         ? 0
                         : mcts_try_values(branching, l->state, slot, INFINITY, l->options, &l->trials);
        if (n == 0) break;
        for (uint32_t i = 0; i < n; i++)
            live += l->options[i].bound < b->cut;
        add_level(l, depth, weight * n, below ? weight * live : 0);
        uint32_t drawn = pcg32_below(&l->rng, n);
        below = below && l->options[drawn].bound < b->cut;
        weight *= n;
        take(l->state, (struct space_action){slot, l->options[drawn].value});
    }
    space_rollback(l->state, mark);
}

static double relative_error(double sum, double squares, double n)
{
    double mean = sum / n, variance = squares / n - mean * mean;
    return mean > 0 && variance > 0 ? 1.96 * sqrt(variance / n) / mean : 0;
}

static json_t *level_json(const struct levels *l, uint32_t depth, double n)
{
    double nodes = l->nodes[depth], cut = l->nodes_cut[depth];
    return json_pack("{s:i,s:f,s:f,s:f,s:f,s:f}", "depth", (int)depth, "nodes", nodes / n, "nodes_cut",
                     cut / n, "share", nodes > 0 ? cut / nodes : 0, "error",
                     relative_error(nodes, l->squares[depth], n), "error_cut",
                     relative_error(cut, l->squares_cut[depth], n));
}

static double cost_us(const struct levels *l)
{
    return l->timed.calls ? l->timed.ns / (double)l->timed.calls * 1e-3 : 0;
}

static void print_levels(const struct cli_args *a, const struct levels *l, uint64_t samples)
{
    double n = (double)samples;
    json_t *list = json_array();
    if (!cli_given(a, CLI_JSON)) printf("depth nodes ci95 nodes_cut ci95 share\n");
    for (uint32_t depth = 1; depth <= l->depth && l->nodes[depth] > 0; depth++) {
        double nodes = l->nodes[depth], cut = l->nodes_cut[depth];
        json_array_append_new(list, level_json(l, depth, n));
        if (cli_given(a, CLI_JSON)) continue;
        printf("%" PRIu32 " %.4g %.0f%% %.4g %.0f%% %.4g\n", depth, nodes / n,
               100 * relative_error(nodes, l->squares[depth], n), cut / n,
               100 * relative_error(cut, l->squares_cut[depth], n), cut / nodes);
    }
    if (cli_given(a, CLI_JSON))
        cli_print_json(json_pack("{s:I,s:f,s:I,s:o}", "samples", (json_int_t)samples, "bound_us", cost_us(l),
                                 "bounds", (json_int_t)l->timed.calls, "levels", list));
    else
        json_decref(list);
}

static int run(const struct cli_args *a)
{
    struct diag *d = diag_new();
    struct cli_problem p = {0};
    struct cli_bounding bounding = {0};
    uint64_t samples, seed;
    if (cli_samples(a, 1000, &samples, d) && cli_count(a, CLI_SEED, 1, &seed, d) &&
        cli_problem_open(a, &p, d) && cli_bounding_open(a, &p, &bounding, d)) {
        struct levels *l = base_calloc(1, sizeof *l);
        l->bounding = &bounding;
        l->branching = bounding.branching;
        l->timed.model = bounding.model;
        if (bounding.model) l->branching.bound = timed_hook;
        l->branching.bound_context = &l->timed;
        l->state = p.root;
        l->rng = pcg32_seed(seed, 0);
        l->depth = bounding.depth < DEEPEST ? bounding.depth : DEEPEST;
        for (uint64_t i = 0; i < samples; i++)
            descend(l);
        print_levels(a, l, samples);
        free(l);
    }
    int status = cli_finish(d, CLI_OK);
    cli_bounding_close(&bounding);
    cli_problem_close(&p);
    return status;
}

const struct cli_command cli_levels = {
    .name = "levels",
    .positional = "KERNEL.lift",
    .least = 1,
    .most = 1,
    .takes = {CLI_PROGRAM, CLI_TAKES(SAMPLES), CLI_BOUNDING, CLI_TAKES(QUIET)},
    .help =
        "Estimates the number of candidates at each depth of the tree, with and without pruning by the lower "
        "bound. The columns are the depth, the number of nodes with its 95 % error, the number that remains "
        "after "
        "pruning (--cut) with its error, and the share that remains.\v"
        "Example: thresh levels matmul.lift --size M=1024,N=1024,K=1024 --cut 114000 --depth 10 "
        "--samples 2000",
    .run = run,
};
