/* Batches: several evaluations of the rollouts that were made for one (mcts/spares.h). */
#include <criterion/criterion.h>
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/diag.h"
#include "core/base/pcg32.h"
#include "mcts/policies.h"
#include "mcts/tree.h"
#include "tests/mcts/queens.h"

enum { QUEENS = 8, MOST = 200 };

/* ---- a heuristic with a policy that records what it is asked ---- */

static struct {
    unsigned draws, batch;
    bool walks;        /* rollouts start where the tree ends; else at the root */
    unsigned starts;   /* rollouts that began evaluations */
    unsigned rollouts; /* all of them */
    unsigned handed_out;
    double promises[MOST]; /* of what was handed out */
} asked;

/* The column of the first queen: the larger, the better. */
static double promise(const struct mcts_leaf *leaf)
{
    return leaf->values[0] + leaf->values[1] / 10.0;
}

static bool watcher_start(void *state, unsigned rollout, struct pcg32 *rng)
{
    (void)state, (void)rng;
    asked.starts += rollout == 0;
    asked.rollouts++;
    return !asked.walks;
}

static double watcher_rank(void *state, const struct mcts_leaf *leaf)
{
    (void)state;
    return promise(leaf);
}

static unsigned watcher_draws(const void *state)
{
    (void)state;
    return asked.draws;
}

static unsigned watcher_batch(const void *state)
{
    (void)state;
    return asked.batch;
}

static void watcher_handed_out(void *state, const struct mcts_leaf *leaf)
{
    (void)state;
    cr_assert_lt(asked.handed_out, MOST);
    asked.promises[asked.handed_out++] = promise(leaf);
}

static void watcher_learn(void *state, const struct mcts_leaf *leaf, struct mcts_outcome outcome)
{
    (void)state, (void)leaf, (void)outcome;
}

static uint32_t watcher_select(void *state, const struct mcts_view *view, double *score)
{
    (void)state;
    *score = 0;
    return pcg32_below(view->rng, view->n_children);
}

static const struct mcts_policy POLICY = {.abi = MCTS_PLUGIN_ABI,
                                          .struct_size = sizeof(struct mcts_policy),
                                          .name = "own",
                                          .start = watcher_start,
                                          .draws = watcher_draws,
                                          .rank = watcher_rank,
                                          .learn = watcher_learn,
                                          .batch = watcher_batch,
                                          .handed_out = watcher_handed_out};
static const struct mcts_plugin PLUGIN = {.abi = MCTS_PLUGIN_ABI,
                                          .struct_size = sizeof(struct mcts_plugin),
                                          .name = "watcher",
                                          .select = watcher_select,
                                          .own = &POLICY};

struct batch_case {
    struct mcts_queens queens;
    struct mcts_heuristic *heuristic;
    struct mcts_tree *tree;
    struct diag *diag;
};

static struct batch_case open_with(const struct mcts_plugin *plugin, unsigned draws, unsigned batch,
                                   const struct mcts_config *config)
{
    struct batch_case c = {.queens = mcts_queens_new(QUEENS), .diag = diag_new()};
    memset(&asked, 0, sizeof asked);
    asked.draws = draws;
    asked.batch = batch;
    c.heuristic = mcts_heuristic_new(plugin, "watcher", "rollout=own", c.diag);
    cr_assert_not_null(c.heuristic);
    c.tree = mcts_tree_new(c.queens.root, c.heuristic, config);
    return c;
}

static struct batch_case open_case(const struct mcts_plugin *plugin, unsigned draws, unsigned batch,
                                   bool bounded)
{
    struct mcts_config config = mcts_config_default();
    if (bounded) config.branching.bound = mcts_queens_cost;
    return open_with(plugin, draws, batch, &config);
}

static void close_case(struct batch_case *c)
{
    mcts_tree_free(c->tree);
    mcts_heuristic_free(c->heuristic);
    mcts_queens_free(&c->queens);
    diag_free(c->diag);
}

/* false: nothing is left. */
static bool draw(struct batch_case *c, double time)
{
    struct mcts_descent d = {0};
    enum mcts_status status = mcts_tree_next(c->tree, &d);
    cr_assert(status == MCTS_OK || status == MCTS_EXHAUSTED, "%s", mcts_tree_error(c->tree));
    if (status == MCTS_OK) mcts_tree_report(c->tree, &d, (struct mcts_outcome){MCTS_TIMED, time});
    mcts_descent_free(&d);
    return status == MCTS_OK;
}

/* ---- tests ---- */

Test(mcts_batch, shares_the_rollouts_of_one_evaluation)
{
    struct batch_case c = open_case(&PLUGIN, 40, 4, false);
    for (int i = 0; i < 20; i++)
        draw(&c, 100);
    cr_expect(asked.handed_out == 20 && asked.starts == 5 && asked.rollouts == 5 * 40, "%u %u %u",
              asked.handed_out, asked.starts, asked.rollouts);
    for (unsigned i = 0; i < 20; i++)
        if (i % 4) cr_expect_leq(asked.promises[i], asked.promises[i - 1], "%u: the next best", i);
    close_case(&c);
}

/* A search of the whole space hands each solution out once, whether it is a spare or not. */
Test(mcts_batch, hands_out_everything_once)
{
    for (unsigned batch = 1; batch <= 64; batch += 21) {
        struct batch_case c = open_case(&PLUGIN, 40, batch, false);
        unsigned n = 0;
        while (draw(&c, 100))
            n++;
        cr_expect_eq(n, 92, "batches of %u: the queens have 92 solutions, %u were found", batch, n);
        cr_expect_eq(mcts_tree_stats(c.tree).nodes[MCTS_LIVE], 0);
        close_case(&c);
    }
}

/* At most half of the rollouts are evaluated. */
Test(mcts_batch, is_smaller_with_few_rollouts)
{
    struct batch_case c = open_case(&PLUGIN, 40, 8, false);
    mcts_tree_limit_rollouts(c.tree, 10);
    for (int i = 0; i < 10; i++)
        draw(&c, 100);
    cr_expect_eq(asked.starts, 2);
    mcts_tree_limit_rollouts(c.tree, 3);
    for (int i = 0; i < 8; i++)
        draw(&c, 100);
    cr_expect_eq(asked.starts, 2 + 8);
    close_case(&c);
}

/* Rollouts that find the same implementation are one spare: most of 400 rollouts are copies of 92 solutions.
 */
Test(mcts_batch, copies_take_no_places)
{
    struct batch_case c = open_case(&PLUGIN, 400, 30, false);
    for (int i = 0; i < 60; i++)
        draw(&c, 100);
    cr_expect(asked.handed_out == 60 && asked.starts == 2, "%u", asked.starts);
    close_case(&c);
}

/* A draw below a cut leaves the batch as it is. */
Test(mcts_batch, goes_on_after_an_audit)
{
    struct batch_case c = open_case(&PLUGIN, 60, 1, true);
    unsigned audits = 0;
    asked.walks = true;
    for (int i = 0; i < 12; i++)
        draw(&c, 400); /* expands some nodes and cuts some */
    asked.walks = false;
    asked.starts = 0;
    asked.batch = 12;
    for (int i = 0; i < 12; i++) {
        struct mcts_descent d = {0};
        bool audit = i % 3 == 2 && mcts_tree_next_below_cut(c.tree, &d) == MCTS_OK;
        if (!audit) cr_assert_eq(mcts_tree_next(c.tree, &d), MCTS_OK);
        audits += audit;
        mcts_tree_report(c.tree, &d, (struct mcts_outcome){MCTS_TIMED, 400});
        mcts_descent_free(&d);
    }
    cr_expect(audits > 0 && asked.starts == 1, "%u audits, %u", audits, asked.starts);
    close_case(&c);
}

/* A time that is reported between two evaluations of a batch prunes spares. */
Test(mcts_batch, pruned_spares_are_not_handed_out)
{
    struct batch_case c = open_case(&PLUGIN, 60, 60, true);
    double best = INFINITY;
    for (int i = 0; i < 40; i++) {
        struct mcts_descent d = {0};
        if (mcts_tree_next(c.tree, &d) != MCTS_OK) break;
        cr_expect_lt(d.leaf_bound, best, "%d", i);
        double time = d.leaf_bound + 1;
        if (time < best) best = time;
        mcts_tree_report(c.tree, &d, (struct mcts_outcome){MCTS_TIMED, time});
        mcts_descent_free(&d);
    }
    cr_expect_lt(best, INFINITY);
    cr_expect(asked.handed_out > 2 && asked.starts > 1, "%u of %u", asked.handed_out, asked.starts);
    close_case(&c);
}

/* A policy of interface 5 ends before the callbacks of batches. */
Test(mcts_batch, older_policies_have_none)
{
    struct mcts_policy older = POLICY;
    struct mcts_plugin plugin = PLUGIN;
    older.abi = 5;
    older.struct_size = offsetof(struct mcts_policy, batch);
    plugin.own = &older;
    struct batch_case c = open_case(&plugin, 10, 4, false);
    for (int i = 0; i < 6; i++)
        draw(&c, 100);
    cr_expect(asked.starts == 6 && asked.handed_out == 0);
    close_case(&c);
}

/* ---- batches that promise little ---- */

static double third; /* the rank of what the third batch promises; 0: that of all others */

static double poor_rank(void *state, const struct mcts_leaf *leaf)
{
    (void)state, (void)leaf;
    return asked.starts == 3 ? third : 0;
}

/* A search with a policy that ranks so. */
static struct batch_case open_ranked(double (*rank)(void *state, const struct mcts_leaf *leaf),
                                     unsigned batch)
{
    static struct mcts_policy policy;
    static struct mcts_plugin plugin;
    policy = POLICY;
    policy.rank = rank;
    plugin = PLUGIN;
    plugin.own = &policy;
    return open_case(&plugin, 20, batch, false);
}

/* `starts`: the numbers of the batches that evaluations are of, until 0. */
static void expect_starts(double (*rank)(void *state, const struct mcts_leaf *leaf), const unsigned *starts)
{
    struct batch_case c = open_ranked(rank, 4);
    for (size_t i = 0; starts[i]; i++) {
        draw(&c, 100);
        cr_expect_eq(asked.starts, starts[i], "%g, %zu: %u", third, i, asked.starts);
    }
    close_case(&c);
}

Test(mcts_batch, a_poor_one_ends_after_its_first_evaluation)
{
    third = -10;
    expect_starts(poor_rank, (const unsigned[]){1, 1, 1, 1, 2, 2, 2, 2, 3, 4, 4, 4, 4, 5, 0});
    third = -2.1;
    expect_starts(poor_rank, (const unsigned[]){1, 1, 1, 1, 2, 2, 2, 2, 3, 4, 4, 4, 4, 5, 0});
    third = -1.9;
    expect_starts(poor_rank, (const unsigned[]){1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 4, 4, 4, 4, 0});
}

/* What the third batch still has after three evaluations is poor. */
static double falling_rank(void *state, const struct mcts_leaf *leaf)
{
    (void)state, (void)leaf;
    return asked.starts == 3 && asked.handed_out > 10 ? -10 : 0;
}

Test(mcts_batch, ends_in_its_middle)
{
    expect_starts(falling_rank, (const unsigned[]){1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 4, 0});
}

/* What is usual is what the last 32 evaluations promised: once all promise as little, batches are whole. */
static double low_rank(void *state, const struct mcts_leaf *leaf)
{
    (void)state, (void)leaf;
    return asked.starts > 3 ? -10 : 0;
}

Test(mcts_batch, is_compared_with_the_last_evaluations)
{
    struct batch_case c = open_ranked(low_rank, 4);
    for (int i = 0; i < 12 + 16; i++) /* three batches, then single evaluations until half of all are low */
        draw(&c, 100);
    unsigned starts = asked.starts;
    cr_expect_gt(starts, 3 + 10, "%u", starts);
    for (int i = 0; i < 16; i++)
        draw(&c, 100);
    cr_expect_leq(asked.starts, starts + 5, "%u and %u", starts, asked.starts);
    close_case(&c);
}

/* Nothing is known of what is usual before eight evaluations. */
Test(mcts_batch, the_first_ones_are_whole)
{
    third = -10;
    struct batch_case c = open_ranked(poor_rank, 2);
    for (unsigned i = 0; i < 8; i++) {
        draw(&c, 100);
        cr_expect_eq(asked.starts, i / 2 + 1, "%u: %u", i, asked.starts);
    }
    close_case(&c);
}

/* ---- rollouts that are made again ---- */

static double tenth; /* the rank of the 10th to the 12th rollouts; that of all others is 0 */
static unsigned redraws;

static unsigned watcher_redraws(const void *state)
{
    (void)state;
    return redraws;
}

static double rank_of_tenth(void *state, const struct mcts_leaf *leaf)
{
    (void)state, (void)leaf;
    return asked.starts >= 10 && asked.starts <= 12 ? tenth : 0;
}

/* Rollouts that were begun for the tenth evaluation. */
static unsigned starts_of_tenth(double rank, unsigned most)
{
    static struct mcts_policy policy;
    static struct mcts_plugin plugin;
    policy = POLICY;
    policy.rank = rank_of_tenth;
    policy.redraws = watcher_redraws;
    plugin = PLUGIN;
    plugin.own = &policy;
    tenth = rank;
    redraws = most;
    struct batch_case c = open_case(&plugin, 20, 1, false);
    for (int i = 0; i < 10; i++)
        draw(&c, 100);
    unsigned starts = asked.starts;
    cr_expect_eq(asked.handed_out, 10);
    close_case(&c);
    return starts - 9;
}

Test(mcts_batch, poor_rollouts_are_made_again)
{
    cr_expect_eq(starts_of_tenth(-1.1, 5), 4);
    cr_expect_eq(starts_of_tenth(-0.9, 5), 1);
}

Test(mcts_batch, so_often_at_most)
{
    cr_expect_eq(starts_of_tenth(-10, 0), 1);
    cr_expect_eq(starts_of_tenth(-10, 2), 3);
}

/* A policy of interface 6 ends before the callback. */
Test(mcts_batch, older_policies_evaluate_poor_ones)
{
    struct mcts_policy older = POLICY;
    struct mcts_plugin plugin = PLUGIN;
    older.abi = 6;
    older.struct_size = offsetof(struct mcts_policy, redraws);
    older.rank = rank_of_tenth;
    plugin.own = &older;
    tenth = -10;
    struct batch_case c = open_case(&plugin, 20, 1, false);
    for (int i = 0; i < 12; i++)
        draw(&c, 100);
    cr_expect_eq(asked.starts, 12);
    close_case(&c);
}

/* A space of which everything is drawn in the end, however poor. */
static double ever_poorer(void *state, const struct mcts_leaf *leaf)
{
    (void)state, (void)leaf;
    return -2.0 * asked.starts;
}

Test(mcts_batch, everything_is_evaluated_in_the_end)
{
    struct mcts_policy policy = POLICY;
    struct mcts_plugin plugin = PLUGIN;
    policy.rank = ever_poorer;
    policy.redraws = watcher_redraws;
    plugin.own = &policy;
    redraws = 3;
    struct batch_case c = open_case(&plugin, 4, 1, false);
    unsigned n = 0;
    while (draw(&c, 100))
        n++;
    cr_expect_eq(n, asked.handed_out);
    cr_expect_eq(mcts_tree_stats(c.tree).handed_out, n);
    close_case(&c);
}

/* ---- thrift ---- */

static double thrift;

static double watcher_thrift(const void *state)
{
    (void)state;
    return thrift;
}

/* The column of the first queen is the effort, too. */
static void feature_of_queens(void *context, const struct space_state *leaf, double *features)
{
    (void)context;
    features[0] = space_first_value(leaf, 0);
}

static double effort_of_queens(const double *features)
{
    return features[0];
}

/* The column of the first queen in what is handed out of 40 rollouts, and of a batch of them. */
static void first_columns(const struct mcts_policy *own, double wish, bool known, int columns[2])
{
    struct mcts_plugin plugin = PLUGIN;
    struct mcts_config config = mcts_config_default();
    plugin.own = own;
    thrift = wish;
    config.features = (struct mcts_features){1, feature_of_queens, NULL, known ? effort_of_queens : NULL};
    struct batch_case c = open_with(&plugin, 40, 2, &config);
    draw(&c, 100);
    draw(&c, 100);
    cr_assert_eq(asked.starts, 1);
    for (int i = 0; i < 2; i++)
        columns[i] = (int)asked.promises[i];
    close_case(&c);
}

/* Of unknown effort, and of a policy of interface 7, which ends before the callback, it does not count. */
Test(mcts_batch, thrift_prefers_less_effort)
{
    struct mcts_policy policy = POLICY, older = POLICY;
    int columns[2];
    policy.thrift = older.thrift = watcher_thrift;
    older.abi = 7;
    older.struct_size = offsetof(struct mcts_policy, thrift);
    first_columns(&policy, 0.1, true, columns); /* the larger column is still better */
    cr_expect(columns[0] == QUEENS - 1 && columns[1] == QUEENS - 1, "%d %d", columns[0], columns[1]);
    first_columns(&policy, 3, true, columns);
    cr_expect(columns[0] == 0 && columns[1] == 0, "%d %d", columns[0], columns[1]);
    first_columns(&policy, 3, false, columns);
    cr_expect_eq(columns[0], QUEENS - 1, "%d", columns[0]);
    first_columns(&older, 3, true, columns);
    cr_expect_eq(columns[0], QUEENS - 1, "%d", columns[0]);
}

Test(mcts_batch, thrift_is_a_number)
{
    struct mcts_policy policy = POLICY;
    struct mcts_plugin plugin = PLUGIN;
    struct mcts_config config = mcts_config_default();
    struct mcts_descent d = {0};
    policy.thrift = watcher_thrift;
    plugin.own = &policy;
    config.features = (struct mcts_features){1, feature_of_queens, NULL, effort_of_queens};
    thrift = NAN;
    struct batch_case c = open_with(&plugin, 4, 1, &config);
    cr_assert_eq(mcts_tree_next(c.tree, &d), MCTS_ERROR);
    cr_expect(strstr(mcts_tree_error(c.tree), "thrift nan is not a finite number"), "%s",
              mcts_tree_error(c.tree));
    mcts_descent_free(&d);
    close_case(&c);
}
