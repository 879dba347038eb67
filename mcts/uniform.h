/* Uniform draws of solutions. A random descent takes the values of a choice alike, so it prefers solutions
 * that have few others beside them: with 9 solutions below YES and 1 below NO, the one below NO is drawn as
 * often as the other nine together. Here a value is drawn by the exact number of solutions below it, 9 to 1.
 */
#ifndef THRESH_MCTS_UNIFORM_H
#define THRESH_MCTS_UNIFORM_H

#include "mcts/branch.h"

struct pcg32;

struct mcts_uniform {
    uint32_t n; /* how many are drawn, with repetition */
    /* Hears of a solution that `times` of them are. */
    void (*arrive)(void *context, const struct space_state *leaf, uint32_t times);
    void *context;
};

/* Draws below `state`, which has a solution and is as before afterwards. Solutions arrive in the order of the
 * tree: shuffle them where the order matters. Each branching on the way counts below each of its values, so
 * space_count() of the state must be cheap. Probabilities are exact to a share of 2^-64. */
void mcts_draw_uniform(const struct mcts_branching *b, struct space_state *state,
                       const struct mcts_uniform *draws, struct pcg32 *rng);

#endif
