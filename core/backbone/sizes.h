/* The possible spans of logicals and sizes of their tiles. */
#ifndef THRESH_BACKBONE_SIZES_H
#define THRESH_BACKBONE_SIZES_H

#include "core/backbone/backbone.h"

/* Sets the spans of a logical; those of extents below round_from (0: 12) are their extents. */
void bb_list_spans(struct arena *a, struct bb_logical *l, int64_t round_from);

/* The sizes that a logical's tile of a level may have, ascending, `most` at most (0: all); of a copy's window
 * they depend on the level, and the spans of all logicals are set. In the arena. */
const int64_t *bb_tile_sizes(const struct backbone *bb, struct arena *a, const struct bb_logical *l,
                             unsigned level, unsigned most, unsigned *count);

#endif
