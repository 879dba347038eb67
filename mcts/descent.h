/* Random descents: down from a state by a live value drawn uniformly at each branching, after trying all of
 * them. */
#ifndef THRESH_MCTS_DESCENT_H
#define THRESH_MCTS_DESCENT_H

#include "mcts/branch.h"

struct pcg32;

/* The end of a random descent. */
struct mcts_walk {
    bool leaf;         /* else a dead end */
    uint32_t depth;    /* branchings passed */
    double log_leaves; /* natural logarithm of the product of the live branching factors: Knuth's estimate at
                          a leaf */
    struct mcts_trials trials;
};

/* One descent. The cut acts on children at depths 1..cut_depth. Leaves the state at the leaf or at the dead
 * end (take a snapshot before). If `actions` is not NULL it has room for space_slot_count() and gets the
 * `depth` actions. */
struct mcts_walk mcts_descend_random(const struct mcts_branching *b, struct space_state *state, double cut,
                                     uint32_t cut_depth, struct pcg32 *rng, struct space_action *actions);

/* Hears of the ends of descents that go together: the walk of n of them, which are ids[0..n). */
struct mcts_arrivals {
    void (*arrive)(void *context, const struct mcts_walk *walk, const uint32_t *ids, uint32_t n);
    void *context;
};

enum { MCTS_DESCENTS = 1 << 24 }; /* so many at a time are worth it, and take 100 MB */

/* How many of the descents that are left go together. */
static inline uint32_t mcts_descents_of(uint64_t left)
{
    return left < MCTS_DESCENTS ? (uint32_t)left : MCTS_DESCENTS;
}

/* n descents, numbers 0 to n - 1, independent of each other; they arrive in no order. Where some of them
 * meet, values are tried once for all of them: so much more is shared the more there are. Takes 6 bytes a
 * descent. The state is as before. */
void mcts_descend_together(const struct mcts_branching *b, struct space_state *state, double cut,
                           uint32_t cut_depth, struct pcg32 *rng, uint32_t n,
                           const struct mcts_arrivals *arrivals);

#endif
