/* Groups that have whole rows of results and keep what these need: plain implementations (plain.c). */
#ifndef THRESH_BACKBONE_ROWS_H
#define THRESH_BACKBONE_ROWS_H

#include "core/backbone/backbone.h"

enum { BB_MAX_ROWS = 8 };

/* Those of a program whose output is a matrix, or several, of sums, and whose rows have a computed value that
 * several of its reductions or elements read (stored.h): attention with one head, chains of two products. Not
 * with arithmetic after the sum, nor where dimensions have one level, as with several heads. Returns their
 * number, 0 for other programs. What they refer to is in the arena. */
unsigned bb_rows(const struct backbone *bb, const struct space *space, const struct bb_device *device,
                 struct arena *a, struct bb_plain out[BB_MAX_ROWS]);

#endif
