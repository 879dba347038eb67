/* Transpositions through local memory, plain implementations as a programmer of a GPU writes them first
 * (plain.c). */
#ifndef THRESH_BACKBONE_TRANSPOSED_H
#define THRESH_BACKBONE_TRANSPOSED_H

#include "core/backbone/backbone.h"

enum { BB_MAX_TRANSPOSED = 3 };

/* Those of an element-wise program with arrays that are contiguous in another dimension than its output;
 * returns their number, 0 for other programs. What they refer to is in the arena. */
unsigned bb_transposed(const struct backbone *bb, const struct space *space, const struct bb_device *device,
                       struct arena *a, struct bb_plain out[BB_MAX_TRANSPOSED]);

#endif
