/* Coordinates of staged tiles: the logicals of a load, and windows, sums of logicals that overlap. */
#ifndef THRESH_BACKBONE_WINDOW_H
#define THRESH_BACKBONE_WINDOW_H

#include "core/backbone/backbone.h"

/* A coordinate: one logical, or a window, the sum of several logicals times their coefficients. */
struct bb_coordinate {
    unsigned n_terms;
    struct bb_term terms[BB_MAX_LOGICALS]; /* the one that reaches furthest first */
    int64_t extent;                        /* 1 + the most that the sum is */
    int64_t spread;                        /* of that, what readers at several spots add (spots.h) */
};

/* The coordinates of a LOAD or TAKE, in the order of its logicals; returns their number. all: itself and what
 * makes it, which a window must hold for. */
unsigned bb_coordinates(struct arena *a, const struct bb_logical *logicals, const struct bb_inst *load,
                        const struct bb_inst *const *all, unsigned n_all,
                        struct bb_coordinate out[BB_MAX_LOGICALS]);

/* Writes an instruction's indices, axes and guards with variable first + j in place of coordinate j, if that
 * is a window; the other logicals stay. */
void bb_put_windows(struct arena *a, const struct bb_logical *logicals,
                    const struct bb_coordinate *coordinates, unsigned n, uint32_t first,
                    struct bb_inst *inst);
/* Replaces variables in the indices, axes, guards and nodes of an instruction. */
void bb_put_indices(struct arena *a, struct bb_inst *inst, const struct index_expr **by, uint32_t n);

#endif
