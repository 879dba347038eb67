/* Results: statistics along the path, a new best time, and what policies learn. */
#include <math.h>

#include "mcts/tree_state.h"

unsigned mcts_tree_rollouts(const struct mcts_tree *t)
{
    return mcts_policies_draws(t->policies);
}

unsigned mcts_tree_batch(const struct mcts_tree *t)
{
    return mcts_policies_batch(t->policies);
}

void mcts_tree_limit_rollouts(struct mcts_tree *t, unsigned most)
{
    t->roller.most = most;
}

void mcts_tree_known_time(struct mcts_tree *t, double time)
{
    if (!(time > 0) || time >= t->roller.best_time) return;
    t->roller.best_time = time;
    t->roller.cut = fmin(t->roller.cut, time * t->cut_factor);
}

void mcts_tree_teach(struct mcts_tree *t, const struct space_state *leaf, double time)
{
    struct mcts_roller *r = &t->roller;
    double features[MCTS_FEATURES_MAX];
    mcts_leaf_values(leaf, r->values);
    if (r->features.n) r->features.of(r->features.context, leaf, features);
    struct mcts_leaf known =
        mcts_leaf_of(space_of(leaf), r->values, mcts_leaf_bound(&r->branching, leaf), &r->features, features);
    mcts_policies_learn(t->policies, &known, (struct mcts_outcome){MCTS_TIMED, time});
}

static void count_outcome(struct mcts_stats *s, enum mcts_outcome_kind kind)
{
    switch (kind) {
    case MCTS_TIMED:
        s->timed++;
        break;
    case MCTS_FAILED:
        s->failed++;
        break;
    case MCTS_CUT:
        s->cut++;
        break;
    case MCTS_DUPLICATE:
        s->duplicates++;
        break;
    }
}

void mcts_tree_report(struct mcts_tree *t, const struct mcts_descent *d, struct mcts_outcome outcome)
{
    bool timed = outcome.kind == MCTS_TIMED && outcome.time > 0 && isfinite(outcome.time);
    if (outcome.kind == MCTS_TIMED && !timed) outcome.kind = MCTS_FAILED;
    count_outcome(&t->stats, outcome.kind);
    for (size_t i = d->n_path; i-- > 0;) {
        if (timed) mcts_nodes_record(&t->nodes, d->path[i], outcome.time);
        mcts_heuristic_backpropagate(t->heuristic, d->path[i], (uint32_t)i, outcome);
    }
    if (d->values) {
        struct mcts_leaf leaf = mcts_tree_leaf_of(t, d);
        mcts_policies_learn(t->policies, &leaf, outcome);
    }
    if (timed && outcome.time < t->stats.best_time) {
        t->stats.best_time = outcome.time;
        mcts_tree_known_time(t, outcome.time);
    }
}
