/* The best of several rollouts from one node, made on several threads.
 *
 * If the policies wish several rollouts for an evaluation, each has a generator of its own, so that they are
 * the same on whatever thread they are made, and in whatever order:
 *
 *     rollout    0       1       2       3       4         of 8
 *     thread     tree's  second  second  tree's  second
 *     rank      -3.1    -0.4    -7.9    -1.2    ...        rollout 1 is handed out
 *
 * Each thread has a state, a copy of the policies' states and a lower bound of its own. With a policy of a
 * plug-in all rollouts are made on the tree's thread. */
#ifndef THRESH_MCTS_ROLLOUTS_H
#define THRESH_MCTS_ROLLOUTS_H

#include "mcts/rollout.h"
#include "mcts/spares.h"

struct mcts_rollouts;

/* The context of branching.bound on another thread, 1, 2, ...: a bound may keep what it computed. Called on
 * the tree's thread before the rollouts of each evaluation. */
typedef void *(*mcts_thread_bound)(void *context, unsigned thread);

struct mcts_rollouts_options {
    unsigned threads;        /* with the tree's; 0 and 1: that alone */
    mcts_thread_bound bound; /* NULL: branching.bound_context serves all threads */
    void *bound_context;
};

/* Of a tree with that root (copied). The roller is borrowed, with all that it points to. */
struct mcts_rollouts *mcts_rollouts_new(struct mcts_roller *r, const struct space_state *root,
                                        const struct mcts_rollouts_options *o);
void mcts_rollouts_free(struct mcts_rollouts *all); /* NULL is allowed */

/* As many rollouts from `state` at `depth` as the policies wish: takes the implementation with the largest
 * rank, the first of equals, and appends its actions. `root`: the state's mark at the root. Unless it returns
 * MCTS_ROLLOUT_LEAF the actions are as before and the state is unspecified (the caller rolls it back). The
 * policies have been told that rollout 0 starts. */
enum mcts_rollout_end mcts_rollouts_best(struct mcts_rollouts *all, struct space_state *state,
                                         space_mark root, uint32_t depth, struct mcts_actions *actions);

/* The rank of what the last mcts_rollouts_best() took; false: it was not ranked. */
bool mcts_rollouts_rank(const struct mcts_rollouts *all, double *rank);

/* Keeps the most promising of the implementations that the last mcts_rollouts_best() did not take, each once,
 * if policies wish more than one evaluation of them; at most half as many evaluations are made as there were
 * rollouts. The frontier is n_actions actions below the root. */
void mcts_rollouts_keep_others(const struct mcts_rollouts *all, const struct mcts_actions *actions,
                               size_t n_actions, struct mcts_spares *spares);

#endif
