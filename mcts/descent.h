/* Random descents: from a state down to a leaf or a dead end, by a live value drawn uniformly at each
 * branching.
 *
 *     4 live values, 2, 3: leaf             Knuth's estimate of the number of leaves: 4 * 2 * 3 = 24
 *     4 live values, 3, none: dead end      0
 */
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

enum { MCTS_AT_ONCE = 1 << 24 }; /* descents together: they take 100 MB */

/* Random descents that go together: where several of them meet, values are tried once for all of them, so
 * that a descent costs less the more there are. */
struct mcts_descents {
    uint32_t n;       /* how many; their numbers are 0 to n - 1 */
    uint32_t at_once; /* how many go together before the next begin; 0: MCTS_AT_ONCE */
    double cut;
    uint32_t cut_depth;
    /* Called with their ends, in no particular order: the walk of n of them, which are ids[0..n). */
    void (*arrive)(void *context, const struct mcts_walk *walk, const uint32_t *ids, uint32_t n);
    void *context;
};

/* The descents are independent of each other. Takes 6 bytes for each that goes at once. The state is as
 * before. */
void mcts_descend_together(const struct mcts_branching *b, struct space_state *state,
                           const struct mcts_descents *descents, struct pcg32 *rng);

#endif
