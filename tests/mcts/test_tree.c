/* The tree on N queens: exhaustion, crediting, concurrency of descents, cuts, reproducibility, plug-in
 * faults. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/diag.h"
#include "core/base/hash.h"
#include "mcts/tree.h"
#include "tests/mcts/plugin.h"
#include "tests/mcts/queens.h"

struct tree_case {
    struct mcts_queens queens;
    struct diag *d;
    struct mcts_heuristic *heuristic;
    struct mcts_tree *tree;
};

static struct tree_case open_case(unsigned n, const char *spec, const struct mcts_config *config)
{
    struct tree_case c = {.queens = mcts_queens_new(n), .d = diag_new()};
    c.heuristic = mcts_heuristic_load(spec, c.d);
    cr_assert_not_null(c.heuristic, "%s", spec);
    c.tree = mcts_tree_new(c.queens.root, c.heuristic, config);
    return c;
}

static void close_case(struct tree_case *c)
{
    mcts_tree_free(c->tree);
    mcts_heuristic_free(c->heuristic);
    diag_free(c->d);
    mcts_queens_free(&c->queens);
}

static struct mcts_outcome timed(double time)
{
    return (struct mcts_outcome){MCTS_TIMED, time};
}

/* Runs to the end with the cost as time; returns the number of implementations and checks that all differ. */
static unsigned run_out(struct tree_case *c)
{
    struct mcts_seen seen = {0};
    struct mcts_descent d = {0};
    unsigned n = 0;
    enum mcts_status status;
    while ((status = mcts_tree_next(c->tree, &d)) == MCTS_OK) {
        cr_assert(!mcts_seen_has(&seen, d.hash));
        cr_assert_eq(space_open_count(mcts_tree_state(c->tree)), 0);
        mcts_seen_add(&seen, d.hash);
        mcts_tree_report(c->tree, &d, timed(mcts_queens_cost(NULL, mcts_tree_state(c->tree))));
        n++;
    }
    cr_assert_eq(status, MCTS_EXHAUSTED);
    mcts_seen_free(&seen);
    mcts_descent_free(&d);
    return n;
}

Test(mcts_tree, hands_out_every_solution_once)
{
    static const char *const SPECS[] = {"tag", "uct", "uct:formula=puct", "random", "bound", "roundrobin"};
    static const unsigned SOLUTIONS[][2] = {{1, 1}, {4, 2}, {5, 10}, {6, 4}, {8, 92}};
    struct mcts_config config = mcts_config_default();
    for (size_t s = 0; s < sizeof SPECS / sizeof SPECS[0]; s++)
        for (size_t i = 0; i < sizeof SOLUTIONS / sizeof SOLUTIONS[0]; i++) {
            struct tree_case c = open_case(SOLUTIONS[i][0], SPECS[s], &config);
            cr_assert_eq(run_out(&c), SOLUTIONS[i][1], "%s %u", SPECS[s], SOLUTIONS[i][0]);
            struct mcts_stats stats = mcts_tree_stats(c.tree);
            cr_assert_eq(stats.nodes[MCTS_LIVE], 0);
            cr_assert_eq(stats.timed, SOLUTIONS[i][1]);
            close_case(&c);
        }
}

Test(mcts_tree, exhausts_without_restarts_or_budget)
{
    struct mcts_config config = mcts_config_default();
    config.restarts = 0;
    config.backtrack_nodes = 1;
    struct tree_case c = open_case(6, "tag", &config);
    cr_assert_eq(run_out(&c), 4);
    close_case(&c);
}

static bool tree_stop_at_zero(void *left)
{
    unsigned *n = left;
    return (*n)-- == 0;
}

/* Told to stop the tree descends no further, and later goes on as if it had not been told. */
Test(mcts_tree, stops_between_descents)
{
    struct mcts_config config = mcts_config_default(), stopped = config;
    unsigned left = 0;
    stopped.stop = tree_stop_at_zero;
    stopped.stop_context = &left;
    struct tree_case c = open_case(6, "tag", &config), s = open_case(6, "tag", &stopped);
    struct mcts_descent d = {0}, e = {0};
    enum mcts_status status;
    cr_assert_eq(mcts_tree_next(s.tree, &e), MCTS_STUCK);
    cr_assert_eq(mcts_tree_stats(s.tree).descents, 0);
    while ((status = mcts_tree_next(c.tree, &d)) == MCTS_OK) {
        while (left = 1, mcts_tree_next(s.tree, &e) == MCTS_STUCK)
            continue;
        cr_assert_eq(e.hash, d.hash);
        cr_assert_eq(mcts_tree_stats(s.tree).descents, mcts_tree_stats(c.tree).descents);
        mcts_tree_report(c.tree, &d, timed(5));
        mcts_tree_report(s.tree, &e, timed(5));
    }
    cr_assert_eq(status, MCTS_EXHAUSTED);
    mcts_descent_free(&d);
    mcts_descent_free(&e);
    close_case(&c);
    close_case(&s);
}

Test(mcts_tree, actions_lead_to_the_implementation)
{
    struct mcts_config config = mcts_config_default();
    struct tree_case c = open_case(8, "tag", &config);
    struct mcts_descent d = {0};
    for (int i = 0; i < 50; i++) {
        cr_assert_eq(mcts_tree_next(c.tree, &d), MCTS_OK);
        struct space_state *replay = space_state_clone(c.queens.root);
        struct space_failure why;
        for (size_t a = 0; a < d.n_actions; a++) {
            cr_assert(space_apply(replay, d.actions[a], &why));
            if (a + 1 >= d.n_path) continue;
            struct mcts_node_info node = mcts_tree_node(c.tree, d.path[a + 1]);
            cr_assert(node.parent == d.path[a] && node.action.value == d.actions[a].value);
        }
        cr_assert_eq(space_state_hash(replay), d.hash);
        space_state_free(replay);
        mcts_tree_report(c.tree, &d, timed(100 + i));
    }
    mcts_descent_free(&d);
    close_case(&c);
}

Test(mcts_tree, credits_the_whole_path)
{
    struct mcts_config config = mcts_config_default();
    struct tree_case c = open_case(8, "tag:topk=3", &config);
    static const double TIMES[] = {50, 20, 90, 10, 70, 30};
    struct mcts_descent d[6] = {{0}};
    for (int i = 0; i < 6; i++) {
        cr_assert_eq(mcts_tree_next(c.tree, &d[i]), MCTS_OK);
        for (size_t j = 0; j < d[i].n_path; j++)
            cr_assert(mcts_tree_node(c.tree, d[i].path[j]).visits >
                      mcts_tree_node(c.tree, d[i].path[j]).times);
    }
    cr_assert_eq(mcts_tree_node(c.tree, 0).visits, mcts_tree_stats(c.tree).descents);
    for (int i = 5; i >= 0; i--)
        mcts_tree_report(c.tree, &d[i], timed(TIMES[i]));
    for (uint32_t node = 0; node < mcts_tree_size(c.tree); node++) {
        unsigned times = 0;
        double best = INFINITY;
        for (int i = 0; i < 6; i++)
            for (size_t j = 0; j < d[i].n_path; j++) {
                if (d[i].path[j] != node) continue;
                times++;
                best = fmin(best, TIMES[i]);
            }
        cr_assert_eq(mcts_tree_node(c.tree, node).times, times);
        cr_assert_eq(mcts_tree_node(c.tree, node).best_time, best);
    }
    for (int i = 0; i < 6; i++)
        mcts_descent_free(&d[i]);
    close_case(&c);
}

Test(mcts_tree, failures_and_duplicates_are_visits_only)
{
    struct mcts_config config = mcts_config_default();
    struct tree_case c = open_case(8, "tag", &config);
    static const struct mcts_outcome OUTCOMES[] = {
        {MCTS_FAILED, 0}, {MCTS_CUT, 0}, {MCTS_DUPLICATE, 5}, {MCTS_TIMED, NAN}, {MCTS_TIMED, 0}};
    struct mcts_descent d = {0};
    for (int i = 0; i < 5; i++) {
        cr_assert_eq(mcts_tree_next(c.tree, &d), MCTS_OK);
        mcts_tree_report(c.tree, &d, OUTCOMES[i]);
    }
    struct mcts_stats stats = mcts_tree_stats(c.tree);
    cr_assert(stats.failed == 3 && stats.cut == 1 && stats.duplicates == 1 && stats.timed == 0);
    cr_assert_eq(mcts_tree_node(c.tree, 0).times, 0);
    cr_assert_eq(stats.best_time, INFINITY);
    mcts_descent_free(&d);
    close_case(&c);
}

/* With all descents outstanding the space still ends, and late reports are taken. */
Test(mcts_tree, many_outstanding_descents)
{
    enum { SOLUTIONS = 92 };
    struct mcts_config config = mcts_config_default();
    struct tree_case c = open_case(8, "tag", &config);
    struct mcts_descent d[SOLUTIONS] = {{0}}, last = {0};
    for (int i = 0; i < SOLUTIONS; i++)
        cr_assert_eq(mcts_tree_next(c.tree, &d[i]), MCTS_OK);
    cr_assert_eq(mcts_tree_next(c.tree, &last), MCTS_EXHAUSTED);
    for (int i = 0; i < SOLUTIONS; i++) {
        mcts_tree_report(c.tree, &d[i], timed(1000 - i));
        mcts_descent_free(&d[i]);
    }
    cr_assert_eq(mcts_tree_stats(c.tree).best_time, 1000 - SOLUTIONS + 1);
    close_case(&c);
}

static double least_cost(unsigned n)
{
    struct mcts_config config = mcts_config_default();
    struct tree_case c = open_case(n, "random", &config);
    run_out(&c);
    double best = mcts_tree_stats(c.tree).best_time;
    close_case(&c);
    return best;
}

Test(mcts_tree, bound_cuts_and_keeps_the_optimum)
{
    static const char *const SPECS[] = {"tag", "bound", "uct"};
    struct mcts_config config = mcts_config_default();
    config.branching.bound = mcts_queens_cost;
    double best = least_cost(8);
    for (int i = 0; i < 3; i++) {
        struct tree_case c = open_case(8, SPECS[i], &config);
        unsigned n = run_out(&c);
        cr_assert(n < 92, "%s handed out %u", SPECS[i], n);
        cr_assert_eq(mcts_tree_stats(c.tree).best_time, best, "%s", SPECS[i]);
        struct mcts_stats stats = mcts_tree_stats(c.tree);
        cr_assert(stats.nodes[MCTS_BOUND] + stats.rollouts.trials.dead_bound > 0);
        cr_assert_eq(stats.nodes[MCTS_LIVE], 0);
        close_case(&c);
    }
}

/* Mean cost of the first implementation over 100 seeds, which its actions lead to. */
static double first_cost(const char *spec)
{
    struct mcts_config config = mcts_config_default();
    config.branching.bound = mcts_queens_cost;
    double sum = 0;
    for (config.seed = 1; config.seed <= 100; config.seed++) {
        struct tree_case c = open_case(9, spec, &config);
        struct mcts_descent d = {0};
        cr_assert_eq(mcts_tree_next(c.tree, &d), MCTS_OK);
        struct space_state *again = space_state_clone(c.queens.root);
        for (size_t i = 0; i < d.n_actions; i++)
            cr_assert(space_apply(again, d.actions[i], NULL));
        cr_assert_eq(space_state_hash(again), d.hash);
        sum += mcts_queens_cost(NULL, again);
        space_state_free(again);
        mcts_descent_free(&d);
        close_case(&c);
    }
    return sum / 100;
}

/* Before anything was measured the one of several rollouts with the least bound is handed out, by any
 * heuristic with the policy `guess`. */
Test(mcts_tree, better_of_several_rollouts_by_the_bound)
{
    double one = first_cost("tag:draws=1"), two = first_cost("tag:draws=2"),
           eight = first_cost("tag:draws=8");
    cr_assert_lt(two, one);
    cr_assert_lt(eight, two);
    cr_assert_eq(first_cost("random"), first_cost("random:rollout=guess,draws=1"));
    cr_assert_lt(first_cost("random:rollout=guess"), first_cost("random"));
}

/* Mean cost of the 15th to 24th implementation over 40 seeds, without a bound. */
static double later_cost(const char *spec)
{
    struct mcts_config config = mcts_config_default();
    double sum = 0;
    for (config.seed = 1; config.seed <= 40; config.seed++) {
        struct tree_case c = open_case(9, spec, &config);
        struct mcts_descent d = {0};
        for (int i = 0; i < 24; i++) {
            cr_assert_eq(mcts_tree_next(c.tree, &d), MCTS_OK);
            double cost = mcts_queens_cost(NULL, mcts_tree_state(c.tree));
            mcts_tree_report(c.tree, &d, timed(cost));
            sum += i >= 14 ? cost : 0;
        }
        mcts_descent_free(&d);
        close_case(&c);
    }
    return sum / 400;
}

/* Without a bound it is what was measured that tells the rollouts apart. */
Test(mcts_tree, better_of_several_rollouts_by_what_was_learnt)
{
    cr_assert_lt(later_cost("tag"), later_cost("tag:draws=1"));
    cr_assert_lt(later_cost("uct:rollout=guess"), later_cost("uct:rollout=uniform"));
}

Test(mcts_tree, known_time_cuts_everything)
{
    struct mcts_config config = mcts_config_default();
    config.branching.bound = mcts_queens_cost;
    struct tree_case c = open_case(6, "tag", &config);
    struct mcts_descent d = {0};
    mcts_tree_known_time(c.tree, 0.5);
    cr_assert_eq(mcts_tree_next(c.tree, &d), MCTS_EXHAUSTED);
    cr_assert_null(d.path);
    close_case(&c);
}

/* A bound that claims `factor` times what it may. */
static double exaggerated_cost(void *context, const struct space_state *state)
{
    return *(const double *)context * mcts_queens_cost(NULL, state);
}

/* Each node of the tree is counted under one cause, and none lives. */
static void check_causes(const struct tree_case *c)
{
    struct mcts_stats stats = mcts_tree_stats(c->tree);
    uint64_t nodes = 0;
    for (int cause = 0; cause < MCTS_N_CAUSES; cause++)
        nodes += cause == MCTS_CONSTRAINT ? 0 : stats.nodes[cause];
    cr_assert_eq(nodes, mcts_tree_size(c->tree));
    cr_assert_eq(stats.nodes[MCTS_LIVE], 0);
}

/* Draws n times below cuts and reports what is found; returns how many that are and checks that all differ.
 */
static unsigned look_below_cuts(struct tree_case *c, unsigned n)
{
    struct mcts_seen seen = {0};
    struct mcts_descent d = {0};
    unsigned found = 0;
    while (n-- > 0) {
        if (mcts_tree_next_below_cut(c->tree, &d) != MCTS_OK) continue;
        cr_assert(!mcts_seen_has(&seen, d.hash));
        mcts_seen_add(&seen, d.hash);
        mcts_tree_report(c->tree, &d, timed(mcts_queens_cost(NULL, mcts_tree_state(c->tree))));
        found++;
    }
    mcts_seen_free(&seen);
    mcts_descent_free(&d);
    return found;
}

/* An exaggerated bound leaves implementations out; once it is right and taken anew, none of those is lost
 * that the right bound would have kept. */
Test(mcts_tree, bounds_taken_anew_reopen_what_they_wrongly_cut)
{
    double factor = 3, best = least_cost(8);
    struct mcts_config config = mcts_config_default();
    config.branching.bound = exaggerated_cost;
    config.branching.bound_context = &factor;
    struct tree_case c = open_case(8, "bound", &config);
    mcts_tree_known_time(c.tree, 2 * best);
    cr_assert_eq(run_out(&c), 0);
    factor = 1;
    cr_assert_gt(mcts_tree_take_bounds(c.tree), 0);
    cr_assert_gt(run_out(&c), 0);
    cr_assert_eq(mcts_tree_stats(c.tree).best_time, best);
    check_causes(&c);
    close_case(&c);
}

/* What was drawn below cuts was evaluated: it stays closed when the bound that had cut it is taken anew, and
 * is not handed out again. Draws below cuts leave no node alive. */
Test(mcts_tree, what_was_evaluated_below_cuts_is_not_reopened)
{
    static const double FACTORS[] = {1.2, 1.5, 2, 3};
    double factor, best = least_cost(8);
    struct mcts_config config = mcts_config_default();
    config.branching.bound = exaggerated_cost;
    config.branching.bound_context = &factor;
    for (int i = 0; i < 4; i++)
        for (config.seed = 1; config.seed <= 5; config.seed++) {
            factor = FACTORS[i];
            struct tree_case c = open_case(8, "bound", &config);
            unsigned n = run_out(&c);
            n += look_below_cuts(&c, 60);
            check_causes(&c);
            factor = 0.5;
            mcts_tree_take_bounds(c.tree);
            n += run_out(&c);
            cr_expect_leq(n, 92, "some come twice");
            cr_expect_eq(mcts_tree_stats(c.tree).best_time, best);
            check_causes(&c);
            close_case(&c);
        }
}

/* Taking the same bounds again opens nothing that they cut. */
Test(mcts_tree, bounds_taken_anew_keep_their_cuts)
{
    struct mcts_config config = mcts_config_default();
    config.branching.bound = mcts_queens_cost;
    struct tree_case c = open_case(7, "tag", &config);
    run_out(&c);
    struct mcts_stats before = mcts_tree_stats(c.tree);
    mcts_tree_take_bounds(c.tree);
    struct mcts_stats after = mcts_tree_stats(c.tree);
    cr_assert_geq(after.nodes[MCTS_BOUND], before.nodes[MCTS_BOUND]);
    cr_assert_eq(run_out(&c), 0);
    close_case(&c);
}

static void note_cut(void *context, const struct mcts_tree *t, uint32_t node, struct space_state *candidate)
{
    unsigned *told = context;
    struct mcts_node_info info = mcts_tree_node(t, node);
    cr_assert_eq(info.cause, MCTS_BOUND);
    cr_assert_eq(info.bound, mcts_queens_cost(NULL, candidate));
    cr_assert_geq(info.bound, mcts_tree_cut(t));
    cr_assert_eq(space_first_value(candidate, info.action.slot), info.action.value);
    ++*told;
}

/* Every cut is told once; draws below cuts are implementations that the search had left out. */
Test(mcts_tree, cuts_are_told_and_can_be_looked_below)
{
    unsigned told = 0;
    struct mcts_config config = mcts_config_default();
    config.branching.bound = mcts_queens_cost;
    config.on_cut = note_cut;
    config.cut_context = &told;
    struct tree_case c = open_case(8, "bound", &config);
    struct mcts_descent d = {0};
    cr_assert_eq(mcts_tree_next_below_cut(c.tree, &d), MCTS_STUCK);
    mcts_tree_known_time(c.tree, 2 * least_cost(8));
    run_out(&c);
    cr_assert_gt(told, 0);
    cr_assert_geq(mcts_tree_stats(c.tree).nodes[MCTS_BOUND], told);
    unsigned found = 0;
    for (int i = 0; i < 50; i++) {
        if (mcts_tree_next_below_cut(c.tree, &d) != MCTS_OK) continue;
        double cost = mcts_queens_cost(NULL, mcts_tree_state(c.tree));
        cr_assert_geq(cost, mcts_tree_cut(c.tree));
        mcts_tree_report(c.tree, &d, timed(cost));
        found++;
    }
    cr_assert_gt(found, 0);
    mcts_descent_free(&d);
    close_case(&c);
}

/* A hash of all decisions of a run whose times are recorded one descent late. */
static uint64_t run_hash(const char *spec, uint64_t seed)
{
    struct mcts_config config = mcts_config_default();
    config.seed = seed;
    config.branching.bound = mcts_queens_cost;
    config.cut_factor = 1.5;
    struct tree_case c = open_case(9, spec, &config);
    struct mcts_descent d[2] = {{0}};
    uint64_t h = HASH_START;
    for (int i = 0; i < 60 && mcts_tree_next(c.tree, &d[i % 2]) == MCTS_OK; i++) {
        const struct mcts_descent *now = &d[i % 2], *late = &d[(i + 1) % 2];
        h = hash_bytes(h, now->actions, now->n_actions * sizeof now->actions[0]);
        h = hash_bytes(h, now->path, now->n_path * sizeof now->path[0]);
        if (i) mcts_tree_report(c.tree, late, timed(200 + (double)(late->hash % 1000)));
    }
    mcts_descent_free(&d[0]);
    mcts_descent_free(&d[1]);
    close_case(&c);
    return hash_finish(h);
}

Test(mcts_tree, same_seed_same_decisions)
{
    static const char *const SPECS[] = {"tag", "uct", "random", "roundrobin"};
    for (int i = 0; i < 4; i++) {
        cr_assert_eq(run_hash(SPECS[i], 3), run_hash(SPECS[i], 3), "%s", SPECS[i]);
        cr_assert_neq(run_hash(SPECS[i], 3), run_hash(SPECS[i], 4), "%s", SPECS[i]);
    }
}

static uint32_t bad_select(void *state, const struct mcts_view *view, double *score)
{
    (void)state;
    (void)view;
    *score = NAN;
    return 0;
}

static const struct mcts_plugin BAD = {
    .abi = MCTS_PLUGIN_ABI, .struct_size = sizeof(struct mcts_plugin), .name = "bad", .select = bad_select};

Test(mcts_tree, faulty_heuristic_keeps_the_results)
{
    struct mcts_queens q = mcts_queens_new(8);
    struct diag *diag = diag_new();
    struct mcts_heuristic *h = mcts_heuristic_new(&BAD, "bad", "", diag);
    struct mcts_config config = mcts_config_default();
    struct mcts_tree *t = mcts_tree_new(q.root, h, &config);
    struct mcts_descent d = {0};
    cr_assert_eq(mcts_tree_next(t, &d), MCTS_OK);
    mcts_tree_report(t, &d, timed(7));
    cr_assert_eq(mcts_tree_next(t, &d), MCTS_ERROR);
    cr_assert_not_null(strstr(mcts_tree_error(t), "heuristic bad"));
    cr_assert_eq(mcts_tree_stats(t).best_time, 7);
    mcts_descent_free(&d);
    mcts_tree_free(t);
    mcts_heuristic_free(h);
    diag_free(diag);
    mcts_queens_free(&q);
}

/* Builds a plug-in as a user would, and searches with it. */
static void search_with_plugin(const char *source, const char *name, const char *parameters)
{
    struct mcts_plugin_file file = mcts_plugin_build(source, name);
    char spec[256];
    snprintf(spec, sizeof spec, "%s:%s", file.library, parameters);
    struct mcts_config config = mcts_config_default();
    struct tree_case c = open_case(8, spec, &config);
    cr_assert_str_eq(mcts_heuristic_plugin(c.heuristic)->name, name);
    cr_assert_eq(run_out(&c), 92);
    close_case(&c);
    mcts_plugin_remove(&file);
}

Test(mcts_tree, worked_example_plugin)
{
    search_with_plugin("cat experiments/heuristics/greedy.c", "greedy", "epsilon=0.2");
}

/* The lines that the page tells to copy. */
Test(mcts_tree, plugin_of_the_page)
{
    search_with_plugin(
        "awk '/^.*2[.] Copy/{on=1} /^.*3[.] Build/{on=0} on && /^(    |$)/{print substr($0, 5)}' "
        "experiments/heuristics/README.md",
        "anneal", "heat=0.2,cooling=0.9");
}

/* How many queens of the path's implementation stand where those of the best one do. */
static unsigned alike(const struct space_state *leaf, const struct space_state *best)
{
    unsigned n = 0;
    for (uint32_t slot = 0; slot < space_slot_count(space_of(leaf)); slot++)
        n += space_first_value(leaf, slot) == space_first_value(best, slot);
    return n;
}

/* The mean number of queens shared with the first implementation, which is reported as the fastest. */
static double mean_alike(const char *spec)
{
    enum { N = 12, DESCENTS = 60 };
    struct mcts_config config = mcts_config_default();
    struct tree_case c = open_case(N, spec, &config);
    struct mcts_descent d = {0};
    struct space_state *best = NULL;
    double sum = 0;
    for (int i = 0; i < DESCENTS; i++) {
        cr_assert_eq(mcts_tree_next(c.tree, &d), MCTS_OK);
        if (best)
            sum += alike(mcts_tree_state(c.tree), best);
        else
            best = space_state_clone(mcts_tree_state(c.tree));
        mcts_tree_report(c.tree, &d, timed(i == 0 ? 1 : 1000 + i));
        cr_assert_eq(mcts_tree_stats(c.tree).best_time, 1);
    }
    space_state_free(best);
    mcts_descent_free(&d);
    close_case(&c);
    return sum / (DESCENTS - 1);
}

Test(mcts_tree, rollouts_imitate_the_leaders)
{
    double none = mean_alike("tag:rollout=leaders,imitate=0,jump=1"),
           always = mean_alike("tag:rollout=leaders,imitate=1,jump=1");
    cr_assert(always > 1.5 * none, "%g queens alike without, %g with imitation", none, always);
    none = mean_alike("tag:imitate=0,jump=1"), always = mean_alike("tag:imitate=1,jump=1");
    cr_assert(always > none, "with guess: %g queens alike without, %g with imitation", none, always);
    none = mean_alike("random"), always = mean_alike("random:rollout=leaders,leaders=1,imitate=1,jump=1");
    cr_assert(always > 1.5 * none, "random: %g queens alike without, %g with imitation", none, always);
}

/* Every implementation counts in each tree node above it, also where the rollout began at the root. */
Test(mcts_tree, jumps_count_in_the_tree)
{
    struct mcts_config config = mcts_config_default();
    struct tree_case c = open_case(8, "tag:imitate=1,jump=1", &config);
    struct mcts_descent d = {0};
    for (int i = 0; i < 60 && mcts_tree_next(c.tree, &d) == MCTS_OK; i++) {
        for (size_t j = 1; j < d.n_path; j++) {
            struct mcts_node_info node = mcts_tree_node(c.tree, d.path[j]);
            cr_assert_eq(node.parent, d.path[j - 1]);
            cr_assert_eq(node.action.value, d.actions[j - 1].value);
        }
        struct mcts_node_info last = mcts_tree_node(c.tree, d.path[d.n_path - 1]);
        for (uint32_t k = 0; k < last.n_children && d.n_path <= d.n_actions; k++)
            cr_assert(mcts_tree_node(c.tree, last.first_child + k).action.value !=
                          d.actions[d.n_path - 1].value ||
                      mcts_tree_node(c.tree, last.first_child + k).cause != MCTS_LIVE);
        mcts_tree_report(c.tree, &d, timed(100 + i));
    }
    mcts_descent_free(&d);
    close_case(&c);
}
