/* What the two halves of lowering share: lower.c makes the main logicals and instructions, build.c
 * strip-mines them, adds the latent copies and numbers everything. Internal to core/backbone. */
#ifndef THRESH_BACKBONE_LOWER_H
#define THRESH_BACKBONE_LOWER_H

#include "core/backbone/backbone.h"
#include "core/base/diag.h"

struct arena;
struct lift_type;
struct view;
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

/* Reports that something is not supported yet: the first of them. */
void lower_unsupported(struct lowering *l, struct source_pos at, const char *what);
/* The index of an array's elements: new logicals, one for each array that was joined to this one, so that the
 * indices of what was joined are affine. */
const struct index_expr *lower_add_index(struct lowering *l, const struct view *v,
                                         const struct lift_type *array, bool reduction);
/* Makes a logical the instruction's own. */
void lower_own_logical(struct lowering *l, struct bb_inst *inst, uint32_t logical, struct source_pos at);

/* Makes the backbone of a finished lowering. */
struct backbone *bb_build(const struct lowering *l, const struct bb_options *o);

#endif
