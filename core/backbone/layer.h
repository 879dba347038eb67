/* Layers of convolutions: plain implementations in which work-items share the sums over the channels
 * (plain.c). */
#ifndef THRESH_BACKBONE_LAYER_H
#define THRESH_BACKBONE_LAYER_H

#include "core/backbone/backbone.h"

enum { BB_MAX_LAYERS = 9 };

/* Those of a program whose only reduction runs over pairs of elements of two arrays: images, which have the
 * last two dimensions of the output, and kernels, which have the one before these. An output has three
 * dimensions, or four if there are several images. Returns their number, 0 for other programs. What they
 * refer to is in the arena. */
unsigned bb_layers(const struct backbone *bb, const struct space *space, const struct bb_device *device,
                   struct arena *a, struct bb_plain out[BB_MAX_LAYERS]);

#endif
