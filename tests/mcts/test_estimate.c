/* Estimators against the known number of solutions, the interval, the random descent and the set of seen
 * leaves. */
#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

#include "core/base/pcg32.h"
#include "mcts/descent.h"
#include "mcts/estimate.h"
#include "mcts/seen.h"
#include "tests/mcts/queens.h"

static struct mcts_estimate_config plain(enum mcts_method method, uint64_t samples, uint64_t seed)
{
    return (struct mcts_estimate_config){.method = method, .samples = samples, .seed = seed, .cut = INFINITY};
}

Test(mcts_estimate, exact_counts)
{
    static const unsigned SOLUTIONS[][2] = {{1, 1}, {4, 2}, {5, 10}, {6, 4}, {7, 40}, {8, 92}};
    for (size_t i = 0; i < sizeof SOLUTIONS / sizeof SOLUTIONS[0]; i++) {
        struct mcts_queens q = mcts_queens_new(SOLUTIONS[i][0]);
        struct mcts_estimate_config config = plain(MCTS_EXACT, 1, 1);
        struct mcts_estimate e = mcts_estimate(&config, q.root);
        cr_assert(e.complete && !e.unreliable);
        cr_assert_eq(e.leaves, SOLUTIONS[i][1]);
        cr_assert_eq(e.log_low, e.log_high);
        mcts_queens_free(&q);
    }
}

Test(mcts_estimate, exact_stops_at_its_limit)
{
    struct mcts_queens q = mcts_queens_new(8);
    struct mcts_estimate_config config = plain(MCTS_EXACT, 1, 1);
    config.node_limit = 20;
    struct mcts_estimate e = mcts_estimate(&config, q.root);
    cr_assert(!e.complete && e.nodes == 20 && e.leaves < 92 && e.log_high == INFINITY);
    mcts_queens_free(&q);
}

/* How often it was heard of, and the last of it. */
static void note_progress(void *context, uint64_t done)
{
    uint64_t *seen = context;
    cr_assert_geq(done, seen[1]);
    seen[0]++;
    seen[1] = done;
}

Test(mcts_estimate, exact_counting_tells_how_far_it_is)
{
    struct mcts_queens q = mcts_queens_new(10);
    uint64_t seen[2] = {0, 0};
    struct mcts_estimate_config config = plain(MCTS_EXACT, 1, 1);
    config.progress = note_progress;
    config.progress_context = seen;
    struct mcts_estimate e = mcts_estimate(&config, q.root);
    cr_assert_eq(e.leaves, 724);
    cr_assert(seen[0] > 0 && seen[0] == e.nodes / 1024, "%lu reports of %lu nodes", (unsigned long)seen[0],
              (unsigned long)e.nodes);
    mcts_queens_free(&q);
}

/* Descents arrive in groups, runs one by one. */
Test(mcts_estimate, sampling_tells_how_far_it_is)
{
    struct mcts_queens q = mcts_queens_new(8);
    uint64_t of_knuth[2] = {0, 0}, of_chen[2] = {0, 0};
    struct mcts_estimate_config knuth = plain(MCTS_KNUTH, 3000, 1), chen = plain(MCTS_CHEN, 30, 1);
    knuth.progress = chen.progress = note_progress;
    knuth.progress_context = of_knuth;
    chen.progress_context = of_chen;
    mcts_estimate(&knuth, q.root);
    mcts_estimate(&chen, q.root);
    cr_assert(of_knuth[1] == 3000 && of_knuth[0] > 92 && of_knuth[0] < 3000);
    cr_assert(of_chen[1] == 30 && of_chen[0] == 30);
    mcts_queens_free(&q);
}

static void note_decisions(void *context, const struct mcts_walk *w, const uint32_t *ids, uint32_t n)
{
    (void)ids;
    *(uint64_t *)context += (uint64_t)n * w->depth;
}

/* Those of dead ends too, and each as often as it was taken: not by the depths of the leaves. */
Test(mcts_estimate, decisions_are_counted)
{
    struct mcts_queens q = mcts_queens_new(6);
    struct mcts_estimate_config config = plain(MCTS_KNUTH, 500, 3);
    uint64_t decisions = 0;
    const struct mcts_descents descents = {
        .n = 500, .cut = INFINITY, .arrive = note_decisions, .context = &decisions};
    struct pcg32 rng = pcg32_seed(3, 0);
    mcts_descend_together(&config.branching, q.root, &descents, &rng);
    struct mcts_estimate e = mcts_estimate(&config, q.root);
    cr_assert_eq(e.decisions, decisions);
    cr_assert((double)decisions < 0.9 * 500 * e.mean_depth, "%lu decisions, mean depth %g",
              (unsigned long)decisions, e.mean_depth);
    mcts_queens_free(&q);
}

/* Of 40 seeds, how many intervals hold `leaves`; *mean is the mean of the estimates. */
static unsigned covered(enum mcts_method method, struct space_state *root, double leaves, double *mean)
{
    unsigned n = 0;
    *mean = 0;
    for (uint64_t seed = 1; seed <= 40; seed++) {
        struct mcts_estimate_config config = plain(method, method == MCTS_KNUTH ? 400 : 100, seed);
        struct mcts_estimate e = mcts_estimate(&config, root);
        cr_assert(!e.unreliable);
        n += e.log_low <= log(leaves) && log(leaves) <= e.log_high;
        *mean += e.leaves / 40;
    }
    return n;
}

Test(mcts_estimate, intervals_hold_the_count)
{
    static const enum mcts_method METHODS[] = {MCTS_KNUTH, MCTS_CHEN};
    struct mcts_queens q = mcts_queens_new(8);
    for (int i = 0; i < 2; i++) {
        double mean;
        unsigned n = covered(METHODS[i], q.root, 92, &mean);
        cr_assert(n >= 34, "method %d: %u of 40 intervals", i, n);
        cr_assert(fabs(mean - 92) < 4, "method %d: mean %g", i, mean);
    }
    mcts_queens_free(&q);
}

Test(mcts_estimate, methods_agree_on_the_tree)
{
    struct mcts_queens q = mcts_queens_new(8);
    struct mcts_estimate_config exact = plain(MCTS_EXACT, 1, 1), chen = plain(MCTS_CHEN, 1000, 5),
                                knuth = plain(MCTS_KNUTH, 5000, 5);
    struct mcts_estimate e = mcts_estimate(&exact, q.root), c = mcts_estimate(&chen, q.root),
                         k = mcts_estimate(&knuth, q.root);
    cr_assert_float_eq(c.mean_depth, e.mean_depth, 0.2);
    cr_assert_float_eq(k.mean_depth, e.mean_depth, 0.2);
    cr_assert_float_eq(c.dead_end_ratio, e.dead_end_ratio, 0.1);
    cr_assert(k.dead_end_ratio > 0 && k.dead_end_ratio < 1);
    mcts_queens_free(&q);
}

Test(mcts_estimate, cut_acts_on_the_first_levels)
{
    struct mcts_queens q = mcts_queens_new(8);
    double counts[4];
    for (uint32_t depth = 0; depth < 4; depth++) {
        struct mcts_estimate_config config = plain(MCTS_EXACT, 1, 1);
        config.branching.bound = mcts_queens_cost;
        config.cut = 200;
        config.cut_depth = depth;
        counts[depth] = mcts_estimate(&config, q.root).leaves;
        cr_assert(depth == 0 || counts[depth] <= counts[depth - 1]);
    }
    cr_assert_eq(counts[0], 92);
    cr_assert(counts[3] < 92);
    mcts_queens_free(&q);
}

Test(mcts_estimate, cut_of_everything_counts_nothing)
{
    struct mcts_queens q = mcts_queens_new(6);
    for (int method = MCTS_KNUTH; method <= MCTS_EXACT; method++) {
        struct mcts_estimate_config config = plain((enum mcts_method)method, 50, 1);
        config.branching.bound = mcts_queens_cost;
        config.cut = 1;
        config.cut_depth = 1;
        struct mcts_estimate e = mcts_estimate(&config, q.root);
        cr_assert(e.leaves <= 0 && e.log_leaves == -INFINITY && e.dead_end_ratio == 1);
    }
    mcts_queens_free(&q);
}

Test(mcts_estimate, interval_of_constant_and_skewed_samples)
{
    double constant[100], skewed[100];
    struct pcg32 rng = pcg32_seed(11, 0);
    for (int i = 0; i < 100; i++) {
        constant[i] = 2000;
        skewed[i] = i == 0 ? 2000 : 10 * pcg32_unit(&rng);
    }
    struct mcts_interval c = mcts_interval(constant, 100, 1), s = mcts_interval(skewed, 100, 1);
    cr_assert(c.log_mean == 2000 && c.log_low == 2000 && c.log_high == 2000 && !c.unreliable);
    cr_assert(s.unreliable && s.log_high >= s.log_mean);
    cr_assert(mcts_interval(constant, 1, 1).unreliable);
}

Test(mcts_estimate, prints_counts)
{
    static const struct {
        double log;
        const char *text;
    } CASES[] = {{0, "1"}, {-INFINITY, "0"}, {INFINITY, "inf"}};
    char out[32];
    for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
        mcts_count_print(CASES[i].log, out, sizeof out);
        cr_assert_str_eq(out, CASES[i].text);
    }
    mcts_count_print(log(724), out, sizeof out);
    cr_assert_str_eq(out, "724");
    mcts_count_print(log(1.83e21), out, sizeof out);
    cr_assert_str_eq(out, "1.83e21");
    mcts_count_print(400 * log(10), out, sizeof out);
    cr_assert_str_eq(out, "1.00e400");
}

Test(mcts_estimate, random_descent_ends_in_a_leaf_or_a_dead_end)
{
    struct mcts_queens q = mcts_queens_new(8);
    struct mcts_branching b = {0};
    struct pcg32 rng = pcg32_seed(1, 0);
    struct space_action actions[64];
    uint64_t before = space_state_hash(q.root);
    unsigned leaves = 0;
    for (int i = 0; i < 200; i++) {
        space_mark mark = space_snapshot(q.root);
        struct mcts_walk w = mcts_descend_random(&b, q.root, INFINITY, 0, &rng, actions);
        cr_assert_eq(space_open_count(q.root) == 0, w.leaf);
        cr_assert(w.trials.tried >= w.depth && w.depth <= 8);
        leaves += w.leaf;
        space_rollback(q.root, mark);
        cr_assert_eq(space_state_hash(q.root), before);
    }
    cr_assert(leaves > 0 && leaves < 200);
    mcts_queens_free(&q);
}

enum { UNIFORM_QUEENS = 6, UNIFORM_DESCENTS = 6000 };

static double sum_of(const unsigned *counts)
{
    double sum = 0;
    for (uint32_t v = 0; v < UNIFORM_QUEENS; v++)
        sum += counts[v];
    return sum;
}

/* Adds the statistic of one branching: how often each value was taken after the first action, against the
 * live ones. Returns how many values are dead. */
static uint32_t add_chi_square(struct space_state *root, struct space_action first, const unsigned *taken,
                               double *chi2, double *freedom)
{
    struct mcts_branching b = {0};
    struct mcts_option live[UNIFORM_QUEENS];
    struct mcts_trials trials = {0};
    space_mark mark = space_snapshot(root);
    cr_assert(space_apply(root, first, NULL));
    uint32_t slot = space_next_choice(root, NULL, 0), values = space_value_count(root, slot);
    uint32_t n = mcts_try_values(&b, root, slot, INFINITY, live, &trials);
    double all = sum_of(taken);
    for (uint32_t k = 0; k < n; k++) {
        double off = taken[live[k].value] - all / n;
        *chi2 += off * off / (all / n);
    }
    *freedom += n - 1.0;
    space_rollback(root, mark);
    return values - n;
}

Test(mcts_estimate, random_descents_take_live_values_equally_often)
{
    struct mcts_queens q = mcts_queens_new(UNIFORM_QUEENS);
    struct mcts_branching b = {0};
    struct pcg32 rng = pcg32_seed(11, 0);
    struct space_action actions[64];
    unsigned taken[UNIFORM_QUEENS][UNIFORM_QUEENS] = {{0}};
    for (int i = 0; i < UNIFORM_DESCENTS; i++) {
        space_mark mark = space_snapshot(q.root);
        struct mcts_walk w = mcts_descend_random(&b, q.root, INFINITY, 0, &rng, actions);
        if (w.depth > 1) taken[actions[0].value][actions[1].value]++;
        space_rollback(q.root, mark);
    }
    double chi2 = 0, freedom = 0;
    uint32_t dead = 0, slot = space_next_choice(q.root, NULL, 0);
    for (uint32_t v = 0; v < UNIFORM_QUEENS; v++)
        if (sum_of(taken[v]) > 0)
            dead += add_chi_square(q.root, (struct space_action){slot, v}, taken[v], &chi2, &freedom);
    cr_assert_gt(dead, 0, "the test needs values that are tried and die");
    cr_assert_gt(freedom, 0);
    cr_assert_lt(fabs(chi2 - freedom), 5 * sqrt(2 * freedom), "%g of %g", chi2, freedom);
    mcts_queens_free(&q);
}

enum { SAME_QUEENS = 7, SAME_DESCENTS = 4000, SAME_CUT_DEPTH = 3 };

/* Some states are hopeless, about a fifth of them. */
static double bound_by_hash(void *calls, const struct space_state *state)
{
    ++*(unsigned *)calls;
    return space_state_hash(state) % 5 == 0;
}

/* How many walks end how: [depth][leaf]. */
static void count_ends(const struct mcts_walk *walks, double ends[SAME_QUEENS + 1][2], double *leaves)
{
    memset(ends, 0, (SAME_QUEENS + 1) * sizeof ends[0]);
    *leaves = 0;
    for (int i = 0; i < SAME_DESCENTS; i++) {
        cr_assert_leq(walks[i].depth, SAME_QUEENS);
        cr_assert_geq(walks[i].trials.tried, walks[i].depth);
        ends[walks[i].depth][walks[i].leaf]++;
        if (walks[i].leaf) *leaves += exp(walks[i].log_leaves) / SAME_DESCENTS;
    }
}

static void check_same_ends(const struct mcts_walk *x, const struct mcts_walk *y)
{
    double of_x[SAME_QUEENS + 1][2], of_y[SAME_QUEENS + 1][2], leaves_x, leaves_y, chi2 = 0, freedom = -1;
    count_ends(x, of_x, &leaves_x);
    count_ends(y, of_y, &leaves_y);
    for (int i = 0; i < 2 * (SAME_QUEENS + 1); i++) {
        double a = of_x[i / 2][i % 2], b = of_y[i / 2][i % 2];
        if (a + b < 10) continue;
        chi2 += (a - b) * (a - b) / (a + b);
        freedom++;
    }
    cr_assert_gt(freedom, 2);
    cr_assert_lt(chi2, freedom + 5 * sqrt(2 * freedom));
    cr_assert_lt(fabs(leaves_x / leaves_y - 1), 0.15, "%g and %g leaves", leaves_x, leaves_y);
}

/* Keeps the walk of each. */
static void keep_walks(void *walks, const struct mcts_walk *walk, const uint32_t *ids, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        ((struct mcts_walk *)walks)[ids[i]] = *walk;
}

/* SAME_DESCENTS of them, one after the other. */
static void walk_alone(const struct mcts_branching *b, struct space_state *root, double cut,
                       struct pcg32 *rng, struct mcts_walk *walks)
{
    for (int i = 0; i < SAME_DESCENTS; i++) {
        space_mark mark = space_snapshot(root);
        walks[i] = mcts_descend_random(b, root, cut, SAME_CUT_DEPTH, rng, NULL);
        space_rollback(root, mark);
    }
}

/* As often at each end as descents alone, with much less tried, under a cut too. */
Test(mcts_descent, together_as_alone)
{
    static struct mcts_walk alone[SAME_DESCENTS], together[SAME_DESCENTS];
    for (int cuts = 0; cuts < 2; cuts++) {
        struct mcts_queens q = mcts_queens_new(SAME_QUEENS);
        unsigned calls[2] = {0, 0};
        struct mcts_branching x = {.bound = bound_by_hash, .bound_context = &calls[0]}, y = x;
        double cut = cuts ? 1 : 2;
        struct pcg32 rng = pcg32_seed(21, 0);
        uint64_t before = space_state_hash(q.root);
        y.bound_context = &calls[1];
        walk_alone(&x, q.root, cut, &rng, alone);
        const struct mcts_descents descents = {.n = SAME_DESCENTS,
                                               .cut = cut,
                                               .cut_depth = SAME_CUT_DEPTH,
                                               .arrive = keep_walks,
                                               .context = together};
        mcts_descend_together(&y, q.root, &descents, &rng);
        cr_assert_eq(space_state_hash(q.root), before);
        check_same_ends(alone, together);
        cr_assert(calls[1] > 0 && calls[1] < calls[0] / 10, "%u and %u bounds", calls[0], calls[1]);
        mcts_queens_free(&q);
    }
}

Test(mcts_descent, few_together)
{
    struct mcts_queens q = mcts_queens_new(SAME_QUEENS);
    struct mcts_branching b = {0};
    struct pcg32 rng = pcg32_seed(4, 0);
    struct mcts_walk walks[2] = {{.depth = 99}, {.depth = 99}};
    struct mcts_descents descents = {.cut = INFINITY, .arrive = keep_walks, .context = walks};
    mcts_descend_together(&b, q.root, &descents, &rng);
    cr_assert_eq(walks[0].depth, 99);
    descents.n = 1;
    mcts_descend_together(&b, q.root, &descents, &rng);
    cr_assert(walks[0].depth <= SAME_QUEENS && walks[1].depth == 99);
    mcts_queens_free(&q);
}

enum { ROUND_DESCENTS = 150 }; /* SAME_DESCENTS is no multiple of it */

struct rounds {
    struct mcts_walk walks[SAME_DESCENTS];
    unsigned arrived, arrivals[SAME_DESCENTS], groups;
};

/* Those of a round come when all of the rounds before it have. */
static void keep_rounds(void *context, const struct mcts_walk *walk, const uint32_t *ids, uint32_t n)
{
    struct rounds *r = context;
    for (uint32_t i = 0; i < n; i++) {
        cr_assert_lt(ids[i], SAME_DESCENTS);
        cr_assert_eq(ids[i] / ROUND_DESCENTS, r->arrived / ROUND_DESCENTS, "%u is number %u", ids[i],
                     r->arrived);
        r->arrivals[ids[i]]++;
        r->arrived++;
    }
    keep_walks(r->walks, walk, ids, n);
    r->groups++;
}

/* More descents than go at once. */
Test(mcts_descent, round_after_round)
{
    static struct mcts_walk alone[SAME_DESCENTS];
    static struct rounds r;
    struct mcts_queens q = mcts_queens_new(SAME_QUEENS);
    struct mcts_branching b = {0};
    struct pcg32 rng = pcg32_seed(8, 0);
    const struct mcts_descents descents = {
        .n = SAME_DESCENTS, .at_once = ROUND_DESCENTS, .cut = INFINITY, .arrive = keep_rounds, .context = &r};
    uint64_t before = space_state_hash(q.root);
    mcts_descend_together(&b, q.root, &descents, &rng);
    cr_assert_eq(space_state_hash(q.root), before);
    cr_assert_eq(r.arrived, SAME_DESCENTS);
    for (unsigned i = 0; i < SAME_DESCENTS; i++)
        cr_assert_eq(r.arrivals[i], 1, "%u: %u times", i, r.arrivals[i]);
    cr_assert_lt(r.groups, SAME_DESCENTS);
    walk_alone(&b, q.root, INFINITY, &rng, alone);
    check_same_ends(alone, r.walks);
    mcts_queens_free(&q);
}

Test(mcts_seen, agrees_with_a_list)
{
    struct mcts_seen s = {0};
    uint64_t list[3000];
    struct pcg32 rng = pcg32_seed(5, 0);
    size_t n = 0;
    for (int i = 0; i < 3000; i++) {
        uint64_t key = pcg32_below(&rng, 2000);
        bool known = false;
        for (size_t j = 0; j < n; j++)
            known |= list[j] == key || (list[j] <= 1 && key <= 1);
        cr_assert_eq(mcts_seen_has(&s, key), known);
        if (!known) list[n++] = key;
        mcts_seen_add(&s, key);
        cr_assert_eq(s.count, n);
    }
    mcts_seen_free(&s);
}
