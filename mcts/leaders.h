/* The leaders: the few best implementations measured so far, kept as whole vectors, for rollouts to imitate.
 * A rollout that repeats most decisions of a leader looks at its neighbourhood, whatever the order of
 * choices. */
#ifndef THRESH_MCTS_LEADERS_H
#define THRESH_MCTS_LEADERS_H

#include <stdint.h>

#include "core/space/space.h"

struct pcg32;

enum { MCTS_NO_VALUE = UINT16_MAX }; /* of a slot that is not live in the implementation */

/* Zero-initialise but for capacity; mcts_leaders_free(). */
struct mcts_leaders {
    unsigned capacity, count;
    struct mcts_leader {
        double time;      /* ns */
        uint16_t *values; /* of each slot */
    } * list;             /* fastest first */
};

/* Whether an implementation of that time would be taken. */
bool mcts_leaders_wants(const struct mcts_leaders *l, double time);
/* Takes an implementation if it is among the fastest. */
void mcts_leaders_add(struct mcts_leaders *l, const struct space_state *leaf, double time);
/* The values of one of them, the r-th fastest (from 0) with a weight of 1 / (r + 1); NULL: there are none.
 * Valid until the next addition. */
const uint16_t *mcts_leaders_draw(const struct mcts_leaders *l, struct pcg32 *rng);
void mcts_leaders_free(struct mcts_leaders *l);

#endif
