/* Rollouts of an evaluation in generations: what policies are shown of them, and whom the later ones follow.
 */
#include <criterion/criterion.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/arena.h"
#include "core/base/diag.h"
#include "core/base/pcg32.h"
#include "core/space/data.h"
#include "mcts/policies.h"
#include "mcts/tree.h"
#include "tests/mcts/queens.h"

enum { QUEENS = 8, NODES = 24, MOST_SHOWN = 16 };

extern const struct space_def space_def_colouring;

/* ---- a heuristic with a policy that records what it is shown ---- */

static struct {
    unsigned generations, n[MOST_SHOWN], calls;
    bool wrong; /* a rank that is not that of its leaf */
} shown;

/* The number of nodes of the last colour. */
static double promise(const struct mcts_leaf *leaf)
{
    double sum = 0;
    for (uint32_t slot = 0; slot < NODES; slot++)
        sum += leaf->values[slot] == 2;
    return sum;
}

static double watcher_rank(void *state, const struct mcts_leaf *leaf)
{
    (void)state;
    return promise(leaf);
}

static unsigned watcher_generations(const void *state)
{
    (void)state;
    return shown.generations;
}

static void watcher_drawn(void *state, const struct mcts_leaf *leaves, const double *ranks, unsigned n)
{
    (void)state;
    if (shown.calls < MOST_SHOWN) shown.n[shown.calls] = n;
    shown.calls++;
    for (unsigned i = 0; i < n; i++)
        shown.wrong |= ranks[i] != promise(&leaves[i]);
}

static uint32_t watcher_select(void *state, const struct mcts_view *view, double *score)
{
    (void)state;
    *score = 0;
    return pcg32_below(view->rng, view->n_children);
}

static const struct mcts_policy WATCHER_POLICY = {.abi = MCTS_PLUGIN_ABI,
                                                  .struct_size = sizeof(struct mcts_policy),
                                                  .name = "own",
                                                  .rank = watcher_rank,
                                                  .generations = watcher_generations,
                                                  .drawn = watcher_drawn};
static const struct mcts_plugin WATCHER = {.abi = MCTS_PLUGIN_ABI,
                                           .struct_size = sizeof(struct mcts_plugin),
                                           .name = "watcher",
                                           .select = watcher_select,
                                           .own = &WATCHER_POLICY};

/* Nodes without edges: each of three colours, whatever the others are. */
static struct space_data *lone_nodes(void)
{
    struct space_data *data = space_data_new();
    for (unsigned i = 0; i < NODES; i++) {
        char name[16];
        snprintf(name, sizeof name, "v%u", i);
        space_data_object(data, "Node", name);
    }
    return data;
}

/* The mean promise of what n evaluations of `draws` rollouts hand out. Nothing is measured. */
static double mean_promise_of(const struct mcts_plugin *plugin, unsigned draws, unsigned generations,
                              unsigned n)
{
    char parameters[64];
    snprintf(parameters, sizeof parameters, "rollout=leaders+own+guess,draws=%u", draws);
    shown.generations = generations;
    shown.calls = 0;
    struct diag *d = diag_new();
    struct mcts_heuristic *h = mcts_heuristic_new(plugin, "watcher", parameters, d);
    cr_assert_not_null(h, "%s", diag_count(d) ? diag_message(d, 0) : "");
    struct space_data *nodes = lone_nodes();
    struct space *space = space_instantiate(&space_def_colouring, nodes, d);
    struct space_failure why;
    struct space_state *root = space_root(space, &why);
    cr_assert_not_null(root);
    struct mcts_config config = mcts_config_default();
    struct mcts_tree *tree = mcts_tree_new(root, h, &config);
    struct mcts_descent descent = {0};
    double sum = 0;
    for (unsigned i = 0; i < n; i++) {
        cr_assert_eq(mcts_tree_next(tree, &descent), MCTS_OK, "%s", mcts_tree_error(tree));
        for (uint32_t slot = 0; slot < NODES; slot++)
            sum += space_first_value(mcts_tree_state(tree), slot) == 2;
        mcts_tree_report(tree, &descent, (struct mcts_outcome){.kind = MCTS_FAILED});
    }
    mcts_descent_free(&descent);
    mcts_tree_free(tree);
    mcts_heuristic_free(h);
    space_state_free(root);
    space_free(space);
    space_data_free(nodes);
    diag_free(d);
    return sum / n;
}

static double mean_promise(unsigned draws, unsigned generations, unsigned n)
{
    return mean_promise_of(&WATCHER, draws, generations, n);
}

/* All generations but the last are shown, each rollout once. */
Test(mcts_generations, are_shown_with_their_ranks)
{
    mean_promise(10, 4, 1);
    cr_expect(shown.calls == 3 && shown.n[0] == 2 && shown.n[1] == 3 && shown.n[2] == 2, "%u: %u %u %u",
              shown.calls, shown.n[0], shown.n[1], shown.n[2]);
    mean_promise(3, 8, 1);
    cr_expect(shown.calls == 2 && shown.n[0] == 1 && shown.n[1] == 1, "%u: no generation is empty",
              shown.calls);
    mean_promise(10, 1, 2);
    cr_expect_eq(shown.calls, 0);
    cr_expect(!shown.wrong);
}

/* With equally many rollouts those that follow promising ones promise more. */
Test(mcts_generations, follow_what_promises_most)
{
    double alone = mean_promise(96, 1, 40), evolved = mean_promise(96, 8, 40);
    cr_expect(evolved > alone + 1, "%g, %g", evolved, alone);
}

/* A policy of interface 4 ends before the callbacks of generations. */
Test(mcts_generations, older_policies_have_none)
{
    struct mcts_policy older = WATCHER_POLICY;
    struct mcts_plugin plugin = WATCHER;
    older.abi = 4;
    older.struct_size = offsetof(struct mcts_policy, generations);
    plugin.own = &older;
    cr_expect_gt(mean_promise_of(&plugin, 10, 4, 2), 0);
    cr_expect_eq(shown.calls, 0);
}

/* ---- leaders that are apart ---- */

struct leaders_case {
    struct mcts_queens queens;
    void *state;
};

static void set_parameter(void *state, const char *name, double value)
{
    const struct mcts_policy *p = &mcts_policy_leaders;
    for (uint32_t i = 0; i < p->n_parameters; i++)
        if (strcmp(p->parameters[i].key, name) == 0)
            memcpy((char *)state + p->parameters[i].offset, &value, sizeof value);
}

static struct leaders_case leaders_open(double apart)
{
    const struct mcts_policy *p = &mcts_policy_leaders;
    struct leaders_case c = {mcts_queens_new(QUEENS), base_calloc(1, p->state_size)};
    set_parameter(c.state, "leaders", 8);
    set_parameter(c.state, "imitate", 1);
    set_parameter(c.state, "jump", 1);
    set_parameter(c.state, "follow", 1);
    set_parameter(c.state, "apart", apart);
    p->begin(c.state, c.queens.space);
    return c;
}

static void leaders_close(struct leaders_case *c)
{
    mcts_policy_leaders.end(c->state);
    free(c->state);
    mcts_queens_free(&c->queens);
}

static void learn(struct leaders_case *c, const uint16_t *values, double time)
{
    struct mcts_leaf leaf = {.space = c->queens.space, .values = values};
    mcts_policy_leaders.learn(c->state, &leaf, (struct mcts_outcome){MCTS_TIMED, time});
}

/* The last values of the leaders that many rollouts follow, as a set of bits. */
static unsigned followed(struct leaders_case *c)
{
    struct pcg32 rng = pcg32_seed(1, 1);
    unsigned set = 0;
    for (int i = 0; i < 400; i++) {
        uint32_t value;
        mcts_policy_leaders.start(c->state, 0, &rng);
        struct mcts_choice choice = {.slot = QUEENS - 1, .luck = 0.5, .rng = &rng};
        cr_assert(mcts_policy_leaders.propose(c->state, &choice, &value));
        set |= 1u << value;
    }
    return set;
}

/* Leaders 0, 1, 2, 3 differ from the first in so many of their eight values. */
static unsigned followed_of_four(double apart, const double *times)
{
    static const uint16_t VALUES[4][QUEENS] = {{1, 1, 1, 1, 1, 1, 1, 0},
                                               {1, 1, 1, 1, 1, 1, 1, 1},
                                               {2, 1, 1, 1, 1, 1, 1, 2},
                                               {2, 2, 2, 2, 1, 1, 1, 3}};
    struct leaders_case c = leaders_open(apart);
    for (int i = 0; i < 4; i++)
        learn(&c, VALUES[i], times[i]);
    unsigned set = followed(&c);
    leaders_close(&c);
    return set;
}

Test(mcts_generations, only_the_fastest_of_near_leaders_is_kept)
{
    static const double RISING[] = {10, 20, 30, 40}, FALLING[] = {40, 30, 20, 10};
    cr_expect_eq(followed_of_four(0, RISING), 0xf, "all");
    cr_expect_eq(followed_of_four(0.25, RISING), 0xd, "1 differs from 0 in an eighth");
    cr_expect_eq(followed_of_four(0.25, FALLING), 0xe, "0 gives way to 1; 1 differs from 2 in a quarter");
    cr_expect_eq(followed_of_four(0.3, RISING), 0x9);
    cr_expect_eq(followed_of_four(1, RISING), 0x1);
}
