/* Coordinates of staged tiles: the logicals of a load, and windows, sums of logicals that overlap. */
#ifndef THRESH_BACKBONE_WINDOW_H
#define THRESH_BACKBONE_WINDOW_H

#include "core/backbone/backbone.h"

/* A coordinate: one logical, or a window, the sum of several logicals times their coefficients. */
struct bb_coordinate {
    unsigned n_terms;
    struct bb_term terms[BB_MAX_LOGICALS]; /* the one that reaches furthest first */
    int64_t extent;                        /* 1 + the most that the sum is */
};

/* The coordinates of a load, in the order of its logicals; returns their number. */
unsigned bb_coordinates(struct arena *a, const struct bb_logical *logicals, const struct bb_inst *load,
                        struct bb_coordinate out[BB_MAX_LOGICALS]);

/* Writes a load's index and guards with variable first + j in place of coordinate j, if that is a window; the
 * other logicals stay. */
void bb_put_windows(struct arena *a, const struct bb_logical *logicals,
                    const struct bb_coordinate *coordinates, unsigned n, uint32_t first,
                    struct bb_inst *load);

#endif
