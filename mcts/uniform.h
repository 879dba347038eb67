/* Uniform draws: every solution of a space with the same probability.
 *
 * A random descent draws each value of a choice with the same probability, so solutions with few others
 * beside them are drawn more often:
 *
 *     big = YES   9 solutions below it     a random descent draws each of these with probability 1/18
 *     big = NO    1 solution below it      and this one with probability 1/2
 *
 * Here a value is drawn by the exact number of solutions below it, 9 to 1, which space_count() tells. */
#ifndef THRESH_MCTS_UNIFORM_H
#define THRESH_MCTS_UNIFORM_H

#include "mcts/branch.h"

struct pcg32;

struct mcts_uniform {
    uint32_t n; /* how many are drawn, with repetition */
    /* Called with each solution that was drawn, and how many times. */
    void (*arrive)(void *context, const struct space_state *leaf, uint32_t times);
    void *context;
    uint64_t work_limit; /* of all counts together; 0: no limit. 2^25 is about a second: uniform.c */
};

/* Draws below `state`, which has a solution and is as before afterwards. Solutions arrive in the order of the
 * tree: shuffle them where the order matters. Each branching on the way counts the solutions below each of
 * its values. Probabilities are exact to a share of 2^-64. false: the counts reached work_limit; the
 * solutions that arrived before are not a uniform sample, so discard them. */
bool mcts_draw_uniform(const struct mcts_branching *b, struct space_state *state,
                       const struct mcts_uniform *draws, struct pcg32 *rng);

#endif
