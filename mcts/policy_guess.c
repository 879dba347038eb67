/* The rollout policy `guess`: of several rollouts, evaluate the one with the largest expected improvement.
 *
 * A rollout takes a few milliseconds at most, an evaluation tens or hundreds. So `draws` rollouts are made
 * for each evaluation, and the one that promises most by what was measured before is handed out:
 *
 *     rollout             1      2      3        promise: the logarithm of the expected improvement on the
 *     promise          -3.1   -0.4   -7.9        best time under a Gaussian process (mcts/guess.h)
 *     handed out               *
 *
 * The expected improvement counts, not the expected time: the latter would draw copies of the best one.
 *
 * With `generations` the rollouts are made one part after the other, and `leaders` follows the most promising
 * ones of the parts before: an evolution by promises, of which only the best is measured. With `batch`
 * several of them are measured, one after the other, each the most promising after what was learnt and handed
 * out till then. With `redraws` nothing is measured where even the best promises much less than what was
 * measured lately: the rollouts are made again, from where the tree leads next. With `thrift` the
 * expected improvement is divided by that power of the effort of an evaluation (J. Snoek, H. Larochelle, R.
 * P. Adams, "Practical Bayesian optimization of machine learning algorithms", NIPS 2012, section 3.2:
 * expected improvement per second, which is a thrift of 1). */
#include <math.h>
#include <stddef.h>
#include <stdlib.h>

#include "mcts/guess.h"
#include "mcts/policies.h"

enum { CAPACITY = 1024 }; /* measurements remembered: a promise takes time in proportion to its square */

struct guess {
    double draws, generations, batch, redraws, thrift, slow, fastest; /* parameters */
    struct mcts_guess *process;
};

static void guess_begin(void *state, const struct space *s)
{
    struct guess *g = state;
    g->process = mcts_guess_new(s, CAPACITY, g->slow, g->fastest);
}

static void guess_end(void *state)
{
    struct guess *g = state;
    mcts_guess_free(g->process);
    g->process = NULL;
}

static bool guess_start(void *state, unsigned rollout, struct pcg32 *rng)
{
    const struct guess *g = state;
    (void)rng;
    if (rollout == 0) mcts_guess_solve(g->process);
    return false;
}

static unsigned guess_draws(const void *state)
{
    const struct guess *g = state;
    return (unsigned)g->draws;
}

static unsigned guess_generations(const void *state)
{
    const struct guess *g = state;
    return (unsigned)g->generations;
}

static unsigned guess_batch(const void *state)
{
    const struct guess *g = state;
    return (unsigned)g->batch;
}

static unsigned guess_redraws(const void *state)
{
    const struct guess *g = state;
    return (unsigned)g->redraws;
}

static double guess_thrift(const void *state)
{
    const struct guess *g = state;
    return g->thrift;
}

static void guess_rank_all(void *state, const struct mcts_leaf *leaves, unsigned n, double *ranks)
{
    const struct guess *g = state;
    mcts_guess_solve(g->process); /* for rollouts it is solved: they are ranked on several threads */
    struct mcts_traits *traits[MCTS_DRAWS_MAX] = {NULL};
    for (unsigned i = 0; i < n; i++)
        traits[i] = mcts_traits_new(g->process, &leaves[i]);
    mcts_guess_promises(g->process, (const struct mcts_traits *const *)traits, n, ranks);
    for (unsigned i = 0; i < n; i++)
        free(traits[i]);
}

static void guess_handed_out(void *state, const struct mcts_leaf *leaf)
{
    struct guess *g = state;
    mcts_guess_await(g->process, mcts_traits_new(g->process, leaf));
}

/* A failure tells nothing about time; an evaluation that was stopped was slow. */
static void guess_learn(void *state, const struct mcts_leaf *leaf, struct mcts_outcome outcome)
{
    struct guess *g = state;
    struct mcts_traits *t = mcts_traits_new(g->process, leaf);
    if (outcome.kind == MCTS_TIMED || outcome.kind == MCTS_CUT) {
        mcts_guess_learn(g->process, t, outcome.kind == MCTS_TIMED ? outcome.time : INFINITY);
        return;
    }
    mcts_guess_await_no_more(g->process, t);
    free(t);
}

void mcts_guess_policy_archive(void *state, const struct space *s, struct archive *a)
{
    struct guess *g = state;
    (void)s;
    mcts_guess_archive(g->process, a);
}

static const struct mcts_parameter PARAMETERS[] = {
    {"draws", "rollouts for each evaluation; fewer while many agents wait", offsetof(struct guess, draws), 8,
     1, MCTS_DRAWS_MAX, NULL},
    {"generations", "of these rollouts: all but the first follow the most promising ones of those before",
     offsetof(struct guess, generations), 1, 1, 100, NULL},
    {"batch", "evaluations that are selected from these rollouts", offsetof(struct guess, batch), 1, 1,
     MCTS_BATCH_MAX, NULL},
    {"redraws", "times that they are made again, elsewhere, while the best promises much less than usual",
     offsetof(struct guess, redraws), 0, 0, 100, NULL},
    {"thrift", "power of the effort of an evaluation by which its promise is divided, where it is known",
     offsetof(struct guess, thrift), 0, 0, 10, NULL},
    {"slow", "times above so many times the best count as that", offsetof(struct guess, slow), 4, 1.1, 1000,
     NULL},
    {"fastest", "share of the measurements whose times are told apart: the slower ones count as equal",
     offsetof(struct guess, fastest), 1, 0.01, 1, NULL},
};

const struct mcts_policy mcts_policy_guess = {
    .abi = MCTS_PLUGIN_ABI,
    .struct_size = sizeof(struct mcts_policy),
    .name = "guess",
    .help = "draw several rollouts, evaluate the one with the largest expected improvement",
    .state_size = sizeof(struct guess),
    .parameters = PARAMETERS,
    .n_parameters = sizeof PARAMETERS / sizeof PARAMETERS[0],
    .begin = guess_begin,
    .end = guess_end,
    .start = guess_start,
    .draws = guess_draws,
    .generations = guess_generations,
    .batch = guess_batch,
    .redraws = guess_redraws,
    .thrift = guess_thrift,
    .handed_out = guess_handed_out,
    .rank_all = guess_rank_all,
    .learn = guess_learn,
};
