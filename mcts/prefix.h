/* The upper part of a tree, kept between random descents from one state: its nodes are met again and again,
 * and the trials of their values come out the same each time. A node is kept from its second visit on, with
 * what each live child writes, until the memory is used up. Results are those of descents without it. */
#ifndef THRESH_MCTS_PREFIX_H
#define THRESH_MCTS_PREFIX_H

#include "mcts/branch.h"

enum { MCTS_PREFIX_BYTES = 32 << 20 }; /* a usual limit */

struct mcts_prefix;

/* For descents with the same state, branching, cut and cut depth. Keeps about `limit` bytes. */
struct mcts_prefix *mcts_prefix_new(size_t limit);
void mcts_prefix_free(struct mcts_prefix *p); /* NULL is allowed */

/* Where a descent is: inside the kept part, or below it. */
struct mcts_place {
    uint32_t option; /* the one taken last; UINT32_MAX at the root */
    uint32_t first;  /* option of the node */
    bool inside;
};

struct mcts_place mcts_prefix_top(const struct mcts_prefix *p); /* of NULL: below */

/* At a place inside: the options of the next open choice, as mcts_try_values() gives them; *slot is the
 * choice. They are owned by the prefix until the next call. NULL: this node is not kept, the place is below
 * now. */
const struct mcts_option *mcts_prefix_options(struct mcts_prefix *p, struct mcts_place *at,
                                              const struct mcts_branching *b, struct space_state *state,
                                              double cut, uint32_t *slot, uint32_t *n,
                                              struct mcts_trials *trials);

/* Decides for option `k` of these. */
void mcts_prefix_take(const struct mcts_prefix *p, struct mcts_place *at, uint32_t k,
                      struct space_state *state);

#endif
