/* What the two halves of lowering share: lower.c makes the main logicals and instructions, build.c
 * strip-mines them, adds the latent copies and numbers everything. Internal to core/backbone. */
#ifndef THRESH_BACKBONE_LOWER_H
#define THRESH_BACKBONE_LOWER_H

#include "core/backbone/backbone.h"
#include "core/base/diag.h"

struct arena;
struct lift_array;
struct lift_type;
struct tree;
struct view_env;
struct viewer;

/* Grows while the program is evaluated; without tiles, dimensions and copies. */
struct lowering {
    struct arena *arena;
    struct diag *diag;
    struct viewer *viewer;
    const struct lift_program *program;
    size_t n_logicals, cap_logicals, n_insts, cap_insts, n_overwrites, cap_overwrites;
    struct bb_logical *logicals;
    struct bb_inst *insts;
    struct bb_buffer *buffers; /* one an array of the program */
    struct bb_overwrite *overwrites;
    unsigned n_stored;   /* scalars that an element of the outputs has, at most */
    unsigned n_parallel; /* logicals of the outputs, the first ones */
    bool parallel;       /* they are known */
    bool failed;
};

/* ---- lower.c ---- */

/* Reports what is not supported yet, once. */
void bb_lower_unsupported(struct lowering *l, struct source_pos at, const char *what);
/* Reports at `at` that the evaluation of what stands there has given up. */
void bb_lower_check_viewer(struct lowering *l, struct source_pos at);
/* A new logical for an array's elements; an extent of 1 needs none and gives index 0. */
const struct index_expr *bb_lower_logical(struct lowering *l, const struct lift_type *array, bool reduction);
/* The STORE of a scalar to an element of an array, and what it reads. */
void bb_lower_store(struct lowering *l, const struct lift_array *array, const struct tree *t,
                    const struct index_expr *index, struct source_pos at);

/* ---- outputs.c ---- */

/* The STOREs of all outputs. env: of the inputs. */
void bb_lower_outputs(struct lowering *l, const struct view_env *env);

/* ---- build.c ---- */

/* Makes the backbone of a finished lowering. */
struct backbone *bb_build(const struct lowering *l, const struct bb_options *o);

#endif
