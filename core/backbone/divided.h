/* Products whose sums groups divide: plain implementations of a product with few results (plain.c). */
#ifndef THRESH_BACKBONE_DIVIDED_H
#define THRESH_BACKBONE_DIVIDED_H

#include "core/backbone/backbone.h"

enum { BB_MAX_DIVIDED = 6 };

/* Those of a program whose only reduction runs over pairs of elements of two arrays, if its results are too
 * few for a device that has a group for each tile; returns their number, 0 for other programs. What they
 * refer to is in the arena. */
unsigned bb_divided(const struct backbone *bb, const struct space *space, const struct bb_device *device,
                    struct arena *a, struct bb_plain out[BB_MAX_DIVIDED]);

#endif
