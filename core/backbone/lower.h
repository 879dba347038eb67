/* What the two halves of lowering share: lower.c makes the main logicals and instructions, build.c
 * strip-mines them, adds the latent copies and numbers everything. Internal to core/backbone. */
#ifndef THRESH_BACKBONE_LOWER_H
#define THRESH_BACKBONE_LOWER_H

#include "core/backbone/backbone.h"

struct arena;
struct viewer;

/* Grows while the program is evaluated; without tiles, dimensions and copies. */
struct lowering {
    struct arena *arena;
    struct diag *diag;
    struct viewer *viewer;
    const struct lift_program *program;
    size_t n_logicals, cap_logicals, n_insts, cap_insts;
    struct bb_logical *logicals;
    struct bb_inst *insts;
    struct bb_buffer *buffers; /* one an input, then the output */
    bool failed;
};

/* Makes the backbone of a finished lowering. */
struct backbone *bb_build(const struct lowering *l, const struct bb_options *o);

#endif
