/* Panels of a product: plain implementations in which a group has whole rows of the output (plain.c). */
#ifndef THRESH_BACKBONE_PANEL_H
#define THRESH_BACKBONE_PANEL_H

#include "core/backbone/backbone.h"

enum { BB_MAX_PANELS = 6 };

/* Those of a program whose only reduction runs over pairs of elements of two arrays, and whose rows of the
 * first one fit local memory; returns their number, 0 for other programs. What they refer to is in the arena.
 */
unsigned bb_panels(const struct backbone *bb, const struct space *space, const struct bb_device *device,
                   struct arena *a, struct bb_plain out[BB_MAX_PANELS]);

#endif
