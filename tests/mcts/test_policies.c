/* Rollout policies: the same decisions as before they were policies, lists of them and their errors, a policy
 * of a plug-in, and plug-ins of interface 1. */
#include <criterion/criterion.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/base/archive.h"
#include "core/base/diag.h"
#include "core/base/hash.h"
#include "core/base/pcg32.h"
#include "mcts/rollout.h"
#include "mcts/tree.h"
#include "tests/fixture/kernel.h"
#include "tests/mcts/plugin.h"
#include "tests/mcts/queens.h"

struct policy_case {
    struct mcts_queens queens;
    struct diag *d;
    struct mcts_heuristic *heuristic;
    struct mcts_tree *tree;
};

static struct policy_case policy_open(struct mcts_heuristic *h, const struct mcts_config *config)
{
    struct policy_case c = {.queens = mcts_queens_new(9), .d = diag_new(), .heuristic = h};
    c.tree = mcts_tree_new(c.queens.root, h, config);
    return c;
}

static void policy_close(struct policy_case *c)
{
    mcts_tree_free(c->tree);
    mcts_heuristic_free(c->heuristic);
    diag_free(c->d);
    mcts_queens_free(&c->queens);
}

static struct mcts_heuristic *policy_load(const char *spec)
{
    struct diag *d = diag_new();
    struct mcts_heuristic *h = mcts_heuristic_load(spec, d);
    cr_assert_not_null(h, "%s: %s", spec, diag_count(d) ? diag_message(d, 0) : "");
    diag_free(d);
    return h;
}

static double policy_prior(void *context, const struct space_state *state, struct space_action action)
{
    (void)context, (void)state;
    return action.value % 3 ? 1 : 4;
}

static struct mcts_outcome policy_outcome(uint64_t hash)
{
    enum mcts_outcome_kind kind = hash % 7 ? MCTS_TIMED : hash % 2 ? MCTS_CUT : MCTS_FAILED;
    return (struct mcts_outcome){kind, 200 + (double)(hash % 1000)};
}

/* A hash of all decisions of a search with a bound, a prior and draws below cuts, whose results are reported
 * one descent late. */
enum { POLICY_DRAWS = 60, POLICY_NEVER = 0 };

/* Goes on with a new tree that reads a snapshot of the old one, and of the descents. */
static void policy_move(struct policy_case *c, const char *spec, const struct mcts_config *config,
                        struct mcts_descent d[2])
{
    char path[64];
    snprintf(path, sizeof path, "/tmp/thresh-tree-%ld", (long)getpid());
    for (int reads = 0; reads <= 1; reads++) {
        struct archive *a = reads ? archive_read(path) : archive_write(path, c->d);
        cr_assert(a && mcts_tree_can_archive(c->tree));
        mcts_tree_archive(c->tree, a);
        mcts_descent_archive(c->tree, &d[0], a);
        mcts_descent_archive(c->tree, &d[1], a);
        cr_assert(archive_close(a, c->d));
        if (reads) break;
        mcts_descent_free(&d[0]);
        mcts_descent_free(&d[1]);
        mcts_tree_free(c->tree);
        mcts_heuristic_free(c->heuristic);
        c->heuristic = policy_load(spec);
        c->tree = mcts_tree_new(c->queens.root, c->heuristic, config);
    }
    unlink(path);
}

/* `moves`: bits of the draws before which the tree is replaced by one that was read from a snapshot. */
static uint64_t policy_decisions_by(const char *spec, uint64_t seed, unsigned threads, uint64_t moves)
{
    struct mcts_config config = mcts_config_default();
    config.seed = seed;
    config.threads = threads;
    config.branching.bound = mcts_queens_cost;
    config.cut_factor = 1.5;
    config.prior = policy_prior;
    struct policy_case c = policy_open(policy_load(spec), &config);
    struct mcts_descent d[2] = {{0}};
    uint64_t h = HASH_START;
    for (int i = 0; i < POLICY_DRAWS; i++) {
        if (moves >> i & 1) policy_move(&c, spec, &config, d);
        struct mcts_descent *now = &d[i % 2], *late = &d[(i + 1) % 2];
        bool below = i % 10 == 9 && mcts_tree_next_below_cut(c.tree, now) == MCTS_OK;
        if (!below && mcts_tree_next(c.tree, now) != MCTS_OK) break;
        h = hash_bytes(h, now->actions, now->n_actions * sizeof now->actions[0]);
        h = hash_bytes(h, now->path, now->n_path * sizeof now->path[0]);
        if (i) mcts_tree_report(c.tree, late, policy_outcome(late->hash));
    }
    mcts_descent_free(&d[0]);
    mcts_descent_free(&d[1]);
    policy_close(&c);
    return hash_finish(h);
}

static uint64_t policy_decisions(const char *spec, uint64_t seed)
{
    return policy_decisions_by(spec, seed, 1, POLICY_NEVER);
}

/* Rollouts have generators of their own, so that it does not matter who makes them. */
Test(mcts_policies, decisions_do_not_depend_on_threads)
{
    static const char *const SPECS[] = {"tag",
                                        "uct",
                                        "tag:draws=3",
                                        "tag:draws=40",
                                        "tag:rollout=leaders",
                                        "bound:rollout=own+guess",
                                        "tag:draws=20,generations=4,apart=0.3",
                                        "tag:draws=20,generations=2,batch=5",
                                        "tag:draws=10,redraws=3,slow=16",
                                        "tag:draws=20,generations=2,fastest=0.3,focus=0.5,jump=1"};
    for (size_t i = 0; i < sizeof SPECS / sizeof SPECS[0]; i++) {
        uint64_t alone = policy_decisions(SPECS[i], 5);
        for (unsigned threads = 2; threads <= 8; threads += 3)
            cr_expect_eq(policy_decisions_by(SPECS[i], 5, threads, POLICY_NEVER), alone, "%s, %u threads",
                         SPECS[i], threads);
    }
}

/* One snapshot, from which the rest of the search goes on; and nine one after the other, at each seventh
 * draw. */
Test(mcts_policies, decisions_do_not_depend_on_snapshots)
{
    static const char *const SPECS[] = {"tag",
                                        "uct:formula=puct,value=best",
                                        "random",
                                        "bound",
                                        "roundrobin",
                                        "tag:rollout=leaders",
                                        "tag:draws=20,generations=4,apart=0.3",
                                        "tag:draws=20,generations=2,batch=5",
                                        "tag:draws=10,redraws=3,slow=16",
                                        "tag:draws=20,generations=2,fastest=0.3,focus=0.5,jump=1"};
    static const uint64_t MOVES[] = {UINT64_C(1) << 7, UINT64_C(1) << 35, UINT64_C(0x102040810204081)};
    for (size_t i = 0; i < sizeof SPECS / sizeof SPECS[0]; i++) {
        uint64_t straight = policy_decisions(SPECS[i], 6);
        for (size_t k = 0; k < sizeof MOVES / sizeof MOVES[0]; k++)
            cr_expect_eq(policy_decisions_by(SPECS[i], 6, 2, MOVES[k]), straight, "%s, %zu", SPECS[i], k);
    }
}

/* `bound` as recorded with revision 2193b7c, where leaders, prior and expected improvement were part of the
 * tree; the others since rollouts draw values before they try them, those with `guess` since its scales are
 * long at first, or since what is like stopped measurements promises less. */
Test(mcts_policies, defaults_decide_as_before)
{
    static const struct {
        const char *spec;
        uint64_t decisions[2]; /* of seeds 3 and 4 */
    } RECORDED[] = {
        {"tag", {0x04aee88b58044e0e, 0x1a4b9b24e374be24}},
        {"uct", {0xb8796566dfc30920, 0xafdbdb060b1d25e7}},
        {"uct:formula=puct,value=best", {0x7d292c60a1116be8, 0x9bd79e2695493ce6}},
        {"random", {0x0f1cd09914104ab0, 0xd4b1fda427fc80f5}},
        {"bound", {0x152eb3441d197c8d, 0xaf2d33d8c42652ad}},
        {"roundrobin", {0x9fbde26db778b088, 0x73a06b7c0d2fead2}},
    };
    for (size_t i = 0; i < sizeof RECORDED / sizeof RECORDED[0]; i++)
        for (uint64_t seed = 3; seed <= 4; seed++)
            cr_expect_eq(policy_decisions(RECORDED[i].spec, seed), RECORDED[i].decisions[seed - 3],
                         "%s, %d: 0x%016" PRIx64, RECORDED[i].spec, (int)seed,
                         policy_decisions(RECORDED[i].spec, seed));
}

/* ---- values that are drawn before they are tried ---- */

static void eager_weigh(void *state, const struct mcts_view *view, double *weights)
{
    (void)state;
    mcts_default_weights(view, weights);
}

static uint32_t eager_select(void *state, const struct mcts_view *view, double *score)
{
    (void)state, (void)view;
    return (uint32_t)(*score = 0);
}

/* The weights of prior and bound in a policy of its own: all values are tried, then one is drawn. */
static const struct mcts_plugin EAGER = {.abi = MCTS_PLUGIN_ABI,
                                         .struct_size = sizeof(struct mcts_plugin),
                                         .name = "eager",
                                         .select = eager_select,
                                         .rollout = eager_weigh};

enum { LAZY_N = 9, LAZY_ROLLOUTS = 4000 };

/* How often each column of the first two queens ends an unrestricted rollout. Frees h. Returns how many
 * values were tried. */
static uint64_t lazy_count(struct mcts_heuristic *h, double best, double cut, double counts[2][LAZY_N])
{
    struct mcts_queens q = mcts_queens_new(LAZY_N);
    struct mcts_seen seen = {0};
    struct mcts_actions actions = {0};
    struct mcts_roller r = {.branching.bound = mcts_queens_cost,
                            .policies = mcts_heuristic_policies(h),
                            .rng = pcg32_seed(7, 1),
                            .seen = &seen,
                            .best_time = best,
                            .cut = cut,
                            .prior = policy_prior,
                            .weights_only = true,
                            .restarts = 100};
    mcts_roller_init(&r, q.space);
    memset(counts, 0, 2 * LAZY_N * sizeof counts[0][0]);
    for (unsigned i = 0; i < LAZY_ROLLOUTS; i++) {
        space_mark mark = space_snapshot(q.root);
        actions.count = 0;
        if (mcts_rollout(&r, q.root, 0, &actions) == MCTS_ROLLOUT_LEAF)
            for (uint32_t slot = 0; slot < 2; slot++)
                counts[slot][space_first_value(q.root, slot)]++;
        space_rollback(q.root, mark);
    }
    free(actions.list);
    mcts_roller_free(&r);
    mcts_heuristic_free(h);
    mcts_queens_free(&q);
    return r.stats.trials.tried;
}

/* Values have the same probabilities whether all of them are tried, or only those that are drawn: with bounds
 * that make some unlikely, and with a best time so small that all weights are 0. */
Test(mcts_policies, values_drawn_before_they_are_tried_are_as_likely)
{
    static const struct {
        double best, cut; /* ns */
    } CASES[] = {{500, 500}, {260, 300}, {240, 270}, {1, INFINITY}};
    struct diag *d = diag_new();
    for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
        double best = CASES[i].best, cut = CASES[i].cut, all[2][LAZY_N], some[2][LAZY_N];
        uint64_t tried = lazy_count(mcts_heuristic_new(&EAGER, "eager", "", d), best, cut, all);
        uint64_t fewer = lazy_count(policy_load("random:rollout=prior+bound"), best, cut, some);
        for (unsigned slot = 0; slot < 2; slot++) {
            double chi = 0;
            for (unsigned v = 0; v < LAZY_N; v++)
                if (all[slot][v] + some[slot][v] > 0)
                    chi += pow(all[slot][v] - some[slot][v], 2) / (all[slot][v] + some[slot][v]);
            cr_expect_lt(chi, 30, "best %g, queen %u: %g with 8 degrees of freedom", best, slot, chi);
        }
        cr_expect_lt(2 * fewer, tried, "best %g: %d of %d", best, (int)fewer, (int)tried);
    }
    diag_free(d);
}

/* Naming the defaults changes nothing; other policies do. */
Test(mcts_policies, defaults_can_be_named)
{
    uint64_t tag = policy_decisions("tag", 3);
    cr_expect_eq(policy_decisions("tag:rollout=prior+bound+leaders+guess", 3), tag);
    cr_expect_eq(policy_decisions("tag:rollout=guess+leaders+bound+prior,draws=8,follow=0.9", 3), tag);
    cr_expect_eq(policy_decisions("random:rollout=uniform", 3), policy_decisions("random", 3));
    cr_expect_eq(policy_decisions("bound:rollout=own", 3), policy_decisions("bound", 3));
    static const char *const OTHERS[] = {"tag:rollout=uniform",
                                         "tag:rollout=prior",
                                         "tag:rollout=bound",
                                         "tag:rollout=leaders",
                                         "tag:rollout=guess",
                                         "tag:rollout=prior+bound",
                                         "tag:rollout=leaders+guess",
                                         "tag:draws=2",
                                         "tag:leaders=1",
                                         "tag:imitate=0.1",
                                         "tag:jump=0",
                                         "tag:follow=0.6",
                                         "tag:focus=0.9",
                                         "tag:fastest=0.3"};
    uint64_t others[sizeof OTHERS / sizeof OTHERS[0]];
    for (size_t i = 0; i < sizeof OTHERS / sizeof OTHERS[0]; i++) {
        others[i] = policy_decisions(OTHERS[i], 3);
        cr_expect_neq(others[i], tag, "%s", OTHERS[i]);
        for (size_t k = 0; k < i; k++)
            cr_expect_neq(others[i], others[k], "%s and %s", OTHERS[i], OTHERS[k]);
    }
}

static void policy_refused(const char *spec, const char *text)
{
    struct diag *d = diag_new();
    cr_expect_null(mcts_heuristic_load(spec, d), "%s", spec);
    cr_assert_eq(diag_count(d), 1, "%s", spec);
    cr_expect(strstr(diag_message(d, 0), text), "%s: %s", spec, diag_message(d, 0));
    diag_free(d);
}

Test(mcts_policies, errors_name_what_is_known)
{
    policy_refused("tag:rollout=leader+guess",
                   "tag: unknown rollout policy 'leader'; did you mean 'leaders'?");
    policy_refused("tag:rollout=best",
                   "unknown rollout policy 'best' (known: prior, bound, leaders, guess, uniform)");
    policy_refused("tag:rollout=", "unknown rollout policy ''");
    policy_refused("tag:rollout=prior++guess", "unknown rollout policy ''");
    policy_refused("tag:rollout=own", "tag has no rollout policy 'own'");
    policy_refused("bound:rollout=mine", "(known: prior, bound, leaders, guess, uniform, own)");
    policy_refused("tag:rollout=guess+prior+guess", "rollout policy 'guess' is given twice");
    policy_refused(
        "tag:rollout=leaders,draws=2",
        "'draws' is a parameter of the rollout policy 'guess', which is not in use: add it to rollout=");
    policy_refused("random:imitate=1", "parameter of the rollout policy 'leaders', which is not in use");
    policy_refused("tag:imitate=2", "'imitate=2': expected a number from 0 to 1");
    policy_refused("tag:leaders=0", "expected a number from 1 to 1000");
    policy_refused("tag:role=x", "unknown parameter 'role'");
}

/* ---- a policy of a plug-in ---- */

/* Its state: what its callbacks were called with. */
struct spy {
    double propose, rank, jump, draws; /* parameters: what its callbacks return */
    unsigned begun, ended, started, learnt, ranked;
    uint32_t slots;
    double best;
    bool faulty; /* something was not as the interface says */
};

static uint32_t spy_select(void *state, const struct mcts_view *view, double *score)
{
    struct spy *s = state;
    *score = 0;
    s->faulty |= !view->weights || view->node == MCTS_NO_NODE;
    for (uint32_t i = 0; i < view->n_children; i++)
        s->faulty |= view->weights[i] != 1 + view->children[i].action.value;
    return pcg32_below(view->rng, view->n_children);
}

static void spy_begin(void *state, const struct space *s)
{
    struct spy *spy = state;
    spy->begun++;
    spy->slots = space_slot_count(s);
}

static void spy_end(void *state)
{
    struct spy *s = state;
    s->ended++;
    cr_expect(s->begun == 1 && s->ended == 1 && !s->faulty);
}

static bool spy_start(void *state, unsigned rollout, struct pcg32 *rng)
{
    struct spy *s = state;
    (void)rng;
    s->faulty |= rollout >= s->draws || rollout >= MCTS_DRAWS_MAX;
    s->started++;
    return s->jump > 0;
}

/* The same value for each choice. */
static bool spy_propose(void *state, const struct mcts_choice *c, uint32_t *value)
{
    struct spy *s = state;
    s->faulty |= c->slot >= s->slots || c->luck < 0 || c->luck >= 1;
    *value = (uint32_t)s->propose;
    return true;
}

static void spy_weigh(void *state, const struct mcts_view *view, double *weights)
{
    (void)state;
    for (uint32_t i = 0; i < view->n_children; i++)
        weights[i] = 1 + view->children[i].action.value;
}

static unsigned spy_draws(const void *state)
{
    const struct spy *s = state;
    return (unsigned)s->draws;
}

static unsigned spy_ranked; /* of all trees */

static double spy_rank(void *state, const struct mcts_leaf *leaf)
{
    struct spy *s = state;
    s->ranked++;
    spy_ranked++;
    for (uint32_t slot = 0; slot < s->slots; slot++)
        s->faulty |= leaf->values[slot] >= s->slots;
    return s->rank > 0 ? NAN : leaf->values[0];
}

static void spy_learn(void *state, const struct mcts_leaf *leaf, struct mcts_outcome outcome)
{
    struct spy *s = state;
    s->learnt++;
    s->faulty |= outcome.kind != MCTS_TIMED || outcome.time != 100 + leaf->values[0] || leaf->bound != 0;
}

static const struct mcts_parameter SPY_PARAMETERS[] = {
    {"propose", "", offsetof(struct spy, propose), 8, 0, 1e6, NULL},
    {"rank", "", offsetof(struct spy, rank), 0, 0, 1, NULL},
    {"jump", "", offsetof(struct spy, jump), 1, 0, 1, NULL},
    {"draws_of_mine", "", offsetof(struct spy, draws), 3, 0, 4e9, NULL},
};
static const struct mcts_policy SPY_POLICY = {.abi = MCTS_PLUGIN_ABI,
                                              .struct_size = sizeof(struct mcts_policy),
                                              .name = "spy",
                                              .begin = spy_begin,
                                              .end = spy_end,
                                              .start = spy_start,
                                              .propose = spy_propose,
                                              .weigh = spy_weigh,
                                              .draws = spy_draws,
                                              .rank = spy_rank,
                                              .learn = spy_learn};
static const struct mcts_plugin SPY = {.abi = MCTS_PLUGIN_ABI,
                                       .struct_size = sizeof(struct mcts_plugin),
                                       .name = "spy",
                                       .state_size = sizeof(struct spy),
                                       .parameters = SPY_PARAMETERS,
                                       .n_parameters = 4,
                                       .select = spy_select,
                                       .own = &SPY_POLICY};

/* Hands out n implementations; returns the mean column of their first queen. */
static double policy_search_spy(const char *parameters, unsigned n)
{
    struct mcts_config config = mcts_config_default();
    struct diag *d = diag_new();
    struct mcts_heuristic *h = mcts_heuristic_new(&SPY, "spy", parameters, d);
    cr_assert_not_null(h, "%s", diag_count(d) ? diag_message(d, 0) : "");
    diag_free(d);
    struct policy_case c = policy_open(h, &config);
    struct mcts_descent descent = {0};
    double sum = 0;
    for (unsigned i = 0; i < n; i++) {
        cr_assert_eq(mcts_tree_next(c.tree, &descent), MCTS_OK, "%s", mcts_tree_error(c.tree));
        uint32_t column = space_first_value(mcts_tree_state(c.tree), 0);
        mcts_tree_report(c.tree, &descent, (struct mcts_outcome){MCTS_TIMED, 100.0 + column});
        sum += column;
    }
    mcts_descent_free(&descent);
    policy_close(&c);
    return sum / n;
}

/* All callbacks are called as documented (spy_end() checks). With rollouts from the root: a value that is
 * proposed is taken where it lives, and ignored where it does not. */
Test(mcts_policies, own_policy_is_called_and_followed)
{
    double last = policy_search_spy("propose=8", 10), first = policy_search_spy("propose=0", 10),
           none = policy_search_spy("propose=1000000", 10);
    cr_expect(last == 8 && first == 0, "%g, %g", last, first);
    cr_expect(none > 4 && none < 8, "drawn by weights of 1 to 9, the largest of three: %g", none);
    policy_search_spy("jump=0", 40);
    policy_search_spy("jump=0,rollout=own+uniform", 40);
    cr_expect_eq(policy_search_spy("draws_of_mine=4e9,propose=1000000", 1), 8, "the largest of 1,000");
}

/* Leaves that are ranked for an evaluation. */
static unsigned policy_ranked(unsigned draws, unsigned most)
{
    struct mcts_config config = mcts_config_default();
    struct diag *d = diag_new();
    char parameters[64];
    snprintf(parameters, sizeof parameters, "propose=1000000,draws_of_mine=%u", draws);
    struct policy_case c = policy_open(mcts_heuristic_new(&SPY, "spy", parameters, d), &config);
    struct mcts_descent descent = {0};
    cr_expect_eq(mcts_tree_rollouts(c.tree), draws);
    mcts_tree_limit_rollouts(c.tree, most);
    spy_ranked = 0;
    cr_assert_eq(mcts_tree_next(c.tree, &descent), MCTS_OK);
    mcts_descent_free(&descent);
    policy_close(&c);
    diag_free(d);
    return spy_ranked;
}

Test(mcts_policies, what_is_taught_is_imitated)
{
    const struct mcts_config config = mcts_config_default();
    struct pcg32 rng = pcg32_seed(8, 1);
    struct mcts_descent d = {0};
    struct policy_case c = policy_open(policy_load("tag:rollout=leaders,imitate=1,jump=1,follow=1"), &config);
    struct space_state *leaf = space_state_clone(c.queens.root);
    while (!kernel_descend(leaf, &rng)) {
        space_state_free(leaf);
        leaf = space_state_clone(c.queens.root);
    }
    mcts_tree_teach(c.tree, leaf, 100);
    cr_assert_eq(mcts_tree_next(c.tree, &d), MCTS_OK);
    cr_expect_eq(d.hash, space_state_hash(leaf));
    cr_expect_eq(mcts_tree_stats(c.tree).timed, 0);
    mcts_descent_free(&d);
    space_state_free(leaf);
    policy_close(&c);
}

Test(mcts_policies, rollouts_can_be_limited)
{
    static const struct {
        unsigned draws, most, ranked; /* one rollout needs no rank */
    } cases[] = {{8, 0, 8}, {8, 8, 8}, {8, 9, 8},  {8, 7, 7},
                 {8, 2, 2}, {8, 1, 0}, {1, 10, 0}, {1000, 80, 80}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        cr_expect_eq(policy_ranked(cases[i].draws, cases[i].most), cases[i].ranked, "%u rollouts, %u at most",
                     cases[i].draws, cases[i].most);
}

Test(mcts_policies, rank_that_is_not_a_number_is_an_error)
{
    struct mcts_config config = mcts_config_default();
    struct diag *d = diag_new();
    struct policy_case c = policy_open(mcts_heuristic_new(&SPY, "spy", "rank=1", d), &config);
    struct mcts_descent descent = {0};
    cr_expect_eq(mcts_tree_next(c.tree, &descent), MCTS_ERROR);
    cr_expect(
        strstr(mcts_tree_error(c.tree), "heuristic spy: rollout policy own: the rank of an implementation"),
        "%s", mcts_tree_error(c.tree));
    policy_close(&c);
    diag_free(d);
}

Test(mcts_policies, own_policy_of_another_version_is_refused)
{
    struct mcts_policy old = SPY_POLICY;
    struct mcts_plugin plugin = SPY;
    struct diag *d = diag_new();
    plugin.own = &old;
    old.struct_size = 8;
    cr_expect_null(mcts_heuristic_new(&plugin, "spy.so", "", d));
    old = SPY_POLICY;
    old.state_size = 8;
    cr_expect_null(mcts_heuristic_new(&plugin, "spy.so", "", d));
    cr_assert_eq(diag_count(d), 2);
    cr_expect(strstr(diag_message(d, 1), "spy.so: the policy 'own' must have a supported"), "%s",
              diag_message(d, 1));
    diag_free(d);
}

/* Ranks each implementation by the column of its first queen, all of them in one call. */
static void spy_rank_all(void *state, const struct mcts_leaf *leaves, unsigned n, double *ranks)
{
    struct spy *s = state;
    for (unsigned i = 0; i < n; i++) {
        ranks[i] = spy_rank(s, &leaves[i]);
        s->faulty |= n < 8;
    }
}

/* The same of interface 3, whose leaves are shorter than those of the host: each comes alone. */
static void spy_rank_shorter(void *state, const struct mcts_leaf *leaves, unsigned n, double *ranks)
{
    cr_expect_eq(n, 1);
    ranks[0] = spy_rank(state, leaves);
}

/* A policy may rank the rollouts of an evaluation together; it decides as one that ranks them alone. A policy
 * of interface 2, which has no such callback, still loads. */
Test(mcts_policies, ranks_of_an_evaluation_may_be_asked_for_together)
{
    struct mcts_policy together = SPY_POLICY, old = SPY_POLICY, shorter;
    struct mcts_plugin plugin = SPY;
    struct mcts_leaf leaves[9];
    uint16_t values[9][9] = {{0}};
    double alone[9], sums[9];
    char error[64];
    struct diag *d = diag_new();
    old.abi = 2;
    old.struct_size = offsetof(struct mcts_policy, rank_all);
    old.rank_all = spy_rank_all; /* beyond what the policy says that it has */
    together.rank_all = spy_rank_all;
    together.rank = NULL;
    shorter = together;
    shorter.abi = 3;
    shorter.rank_all = spy_rank_shorter;
    for (int i = 0; i < 9; i++) {
        values[i][0] = (uint16_t)(i * 4 % 9);
        leaves[i] = (struct mcts_leaf){.values = values[i]};
    }
    const struct mcts_policy *const OWN[] = {&SPY_POLICY, &old, &together, &shorter};
    for (int i = 0; i < 4; i++) {
        plugin.own = OWN[i];
        struct mcts_heuristic *h = mcts_heuristic_new(&plugin, "spy", "", d);
        cr_assert_not_null(h, "%s", diag_count(d) ? diag_message(d, 0) : "");
        struct mcts_policies *p = mcts_heuristic_policies(h);
        cr_assert(mcts_policies_rank(p, leaves, 9, i ? sums : alone, error, sizeof error));
        cr_expect(i == 0 || memcmp(sums, alone, sizeof sums) == 0, "%d", i);
        mcts_heuristic_free(h);
    }
    cr_expect(alone[2] == 8 && alone[7] == 1);
    diag_free(d);
}

/* Weights of several policies multiply. */
Test(mcts_policies, weights_multiply)
{
    struct mcts_child children[] = {{.prior = 2, .bound = 30, .action.value = 0},
                                    {.prior = 3, .bound = 60, .action.value = 1}};
    struct mcts_view view = {.children = children, .n_children = 2, .best_time = 70};
    double weights[2];
    char error[64];
    struct diag *d = diag_new();
    struct mcts_heuristic *h = mcts_heuristic_new(&SPY, "spy", "rollout=prior+own+bound", d);
    cr_assert(mcts_policies_weigh(mcts_heuristic_policies(h), &view, weights, error, sizeof error));
    cr_expect(weights[0] == 2 * 1 * 40 && weights[1] == 3 * 2 * 10, "%g %g", weights[0], weights[1]);
    mcts_heuristic_free(h);
    diag_free(d);
}

/* ---- plug-ins in shared objects ---- */

static uint64_t policy_decisions_of(const struct mcts_plugin_file *file, const char *parameters)
{
    char spec[256];
    snprintf(spec, sizeof spec, "%s%s", file->library, parameters);
    return policy_decisions(spec, 3);
}

/* A plug-in that was compiled against interface 1 decides as it does against this one, and can be given the
 * new policies. */
Test(mcts_policies, plugins_of_interface_1_still_load, .timeout = 120)
{
    struct mcts_plugin_file now = mcts_plugin_build("cat experiments/heuristics/greedy.c", "greedy"),
                            old = mcts_plugin_build_with("cat experiments/heuristics/greedy.c", "greedy",
                                                         "-include tests/mcts/interface1/mcts/heuristic.h");
    static const char *const PARAMETERS[] = {"", ":epsilon=0.3", ":rollout=leaders+guess,draws=3"};
    for (int i = 0; i < 3; i++)
        cr_expect_eq(policy_decisions_of(&old, PARAMETERS[i]), policy_decisions_of(&now, PARAMETERS[i]), "%s",
                     PARAMETERS[i]);
    struct mcts_heuristic *h = policy_load(old.library);
    cr_expect_eq(mcts_heuristic_plugin(h)->abi, 1);
    cr_expect(!mcts_heuristic_wants_weights(h));
    mcts_heuristic_free(h);
    mcts_plugin_remove(&now);
    mcts_plugin_remove(&old);
}

/* The worked example: its own policy, alone and beside built-in ones, makes a difference. */
Test(mcts_policies, worked_example, .timeout = 120)
{
    struct mcts_plugin_file file = mcts_plugin_build("cat experiments/heuristics/frequency.c", "frequency");
    uint64_t own = policy_decisions_of(&file, ":rollout=own");
    cr_expect_eq(policy_decisions_of(&file, ":rollout=own"), own);
    cr_expect_neq(policy_decisions_of(&file, ":rollout=uniform"), own);
    cr_expect_neq(policy_decisions_of(&file, ":rollout=own,strength=100"), own);
    cr_expect_neq(policy_decisions_of(&file, ":rollout=own+leaders"), own);
    cr_expect_eq(policy_decisions_of(&file, ""), policy_decisions_of(&file, ":rollout=own+guess"));
    mcts_plugin_remove(&file);
}

/* The policy of the page, with a heuristic around it. */
Test(mcts_policies, policy_of_the_page, .timeout = 120)
{
    struct mcts_plugin_file file = mcts_plugin_build(
        "{ echo '#include \"mcts/heuristic.h\"'; awk '/^.*4[.] Rollout/{on=1} /^.*5[.] Rules/{on=0} "
        "on && /^(    [^$]|$)/{print substr($0, 5)}' experiments/heuristics/README.md; echo '"
        "static uint32_t mine_select(void *state, const struct mcts_view *view, double *score) {"
        " uint32_t child; return mcts_widen(view, 2, &child, score) ? child : 0; }"
        "extern const struct mcts_plugin thresh_heuristic;"
        "const struct mcts_plugin thresh_heuristic = {.abi = MCTS_PLUGIN_ABI, .struct_size = sizeof(struct "
        "mcts_plugin), .name = \"mine\", .state_size = sizeof(struct mine), .select = mine_select, "
        ".own = &OWN, .policies = \"own+guess\"};'; }",
        "mine");
    cr_expect_neq(policy_decisions_of(&file, ""), policy_decisions_of(&file, ":rollout=guess"));
    cr_expect_neq(policy_decisions_of(&file, ":rollout=own"), policy_decisions_of(&file, ""));
    mcts_plugin_remove(&file);
}
