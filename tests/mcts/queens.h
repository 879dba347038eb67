/* N queens as a space with a cost, for the tests of the search: small, with dead ends, of known size. */
#ifndef THRESH_TESTS_MCTS_QUEENS_H
#define THRESH_TESTS_MCTS_QUEENS_H

#include "core/space/space.h"

struct mcts_queens {
    struct space_data *data;
    struct space *space;
    struct space_state *root;
};
struct mcts_queens mcts_queens_new(unsigned n);
void mcts_queens_free(struct mcts_queens *q);

/* Sum over the slots of a fixed pseudo-random cost (1..100) of their smallest-cost value left: exact on a
 * solution, a lower bound above it. Has the type of mcts_bound; the context is not used. */
double mcts_queens_cost(void *context, const struct space_state *state);

#endif
