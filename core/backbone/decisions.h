/* A row of decisions: what makes a candidate one known implementation, or leaves little of it open. It is
 * taken by space_apply_all(), which refuses it if the space lacks one of its choices or values. The naive
 * implementation of y = a * x + y over N = 1024 is
 *
 *     size(n.1)=1  size(n.2)=1  size(n.3)=1  dim_kind(store.n.0)=GLOBAL  map_encoding(store.n.0)=GLB0
 *
 * and the like for the dimensions of the other instructions. */
#ifndef THRESH_BACKBONE_DECISIONS_H
#define THRESH_BACKBONE_DECISIONS_H

#include "core/space/space.h"

struct arena;

struct bb_decisions {
    struct space_action *items; /* in the arena that they were added with */
    unsigned n;
    size_t capacity;
};

/* Adds one. */
void bb_decisions_add(struct bb_decisions *d, struct arena *a, struct space_action decision);

#endif
