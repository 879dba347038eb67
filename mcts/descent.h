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

enum { MCTS_AT_ONCE = 1 << 24 }; /* so many together are worth it, and take 100 MB */

/* Random descents that go together: where some of them meet, values are tried once for all of them, so much
 * more is shared the more there are. */
struct mcts_descents {
    uint32_t n;       /* how many; their numbers are 0 to n - 1 */
    uint32_t at_once; /* the next so many begin when those before have ended; 0: MCTS_AT_ONCE */
    double cut;
    uint32_t cut_depth;
    /* Hears of their ends, in no order: the walk of n of them, which are ids[0..n). */
    void (*arrive)(void *context, const struct mcts_walk *walk, const uint32_t *ids, uint32_t n);
    void *context;
};

/* The descents are independent of each other. Takes 6 bytes for each that goes at once. The state is as
 * before. */
void mcts_descend_together(const struct mcts_branching *b, struct space_state *state,
                           const struct mcts_descents *descents, struct pcg32 *rng);

#endif
