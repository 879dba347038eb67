/* An implementation of one space as a point of another, by the names of choices and values:
 *
 *     of M=64     size(m.1)=8  size(n.1)=16  dim_kind(m.0)=GLOBAL ...
 *     for M=24    size(m.1)=8                dim_kind(m.0)=GLOBAL ...    if 16 does not divide N there
 *
 * Decisions are taken one after another, the sizes of inner levels first, as long as propagation allows them;
 * the others are left out, and what is open in the end is decided by the prior. */
#ifndef THRESH_COORDINATOR_TRANSFER_H
#define THRESH_COORDINATOR_TRANSFER_H

#include <stdbool.h>

#include "core/space/space.h"

struct mcts_prior;

struct transfer {
    struct space_state *leaf; /* the caller frees it */
    unsigned all;             /* decisions that lead to the implementation, without what follows from them */
    unsigned taken;           /* of them, those that the leaf has too */
};

/* Carries a leaf over into the space of `root` (its pins applied). false: nothing was found; out->leaf is
 * NULL. */
bool transfer_by_names(const struct space_state *leaf, const struct space_state *root,
                       struct mcts_prior *prior, struct transfer *out);

#endif
