/* Tiled products, plain implementations as a programmer of a GPU writes them first (plain.c). */
#ifndef THRESH_BACKBONE_TILED_H
#define THRESH_BACKBONE_TILED_H

#include "core/backbone/backbone.h"

enum { BB_MAX_TILED = 5 };

/* The tiled implementations of a program whose only reduction runs over pairs of elements of two arrays, as
 * that of a product does, or of a batch of them; returns their number, 0 for other programs. What they refer
 * to is in the arena. */
unsigned bb_tiled(const struct backbone *bb, const struct space *space, const struct bb_device *device,
                  struct arena *a, struct bb_plain out[BB_MAX_TILED]);

#endif
