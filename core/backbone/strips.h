/* Products in strips of columns, plain implementations as a programmer of a CPU writes them first (plain.c).
 */
#ifndef THRESH_BACKBONE_STRIPS_H
#define THRESH_BACKBONE_STRIPS_H

#include "core/backbone/backbone.h"

enum { BB_MAX_STRIPS = 5 };

/* Those of a program whose only reduction runs over pairs of elements of two arrays, the second of which is
 * contiguous along the rows of the results; returns their number, 0 for other programs and for GPUs. What
 * they refer to is in the arena. */
unsigned bb_strips(const struct backbone *bb, const struct space *space, const struct bb_device *device,
                   struct arena *a, struct bb_plain out[BB_MAX_STRIPS]);

#endif
