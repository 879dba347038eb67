/* What the two halves of lowering share: lower.c makes the main logicals and instructions, build.c
 * strip-mines them, adds the latent copies and numbers everything. Internal to core/backbone. */
#ifndef THRESH_BACKBONE_LOWER_H
#define THRESH_BACKBONE_LOWER_H

#include "core/backbone/backbone.h"
#include "core/base/diag.h"

struct arena;
struct lift_array;
struct lift_type;
struct reduction;
struct tree;
struct view;
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
    size_t cap_trees;
    const struct tree **trees; /* of each LOAD, and of each TAKE the STORED: what it is, with its spots */
    struct bb_buffer *buffers; /* one an array of the program */
    struct bb_overwrite *overwrites;
    unsigned n_stored;   /* scalars that an element of the outputs has, at most */
    unsigned n_parallel; /* logicals of the outputs, the first ones */
    bool parallel;       /* they are known */
    unsigned n_shape;    /* dimensions of the outputs with an extent above 1 */
    struct {
        int64_t extent;
        const struct index_expr *index; /* in the parallel logicals: several, if it is joined */
    } shape[BB_MAX_LOGICALS];
    bool failed;
};

/* An instruction's expression while it is made. */
struct bb_flat {
    const struct reduction *step_of; /* the reduction whose accumulator it may read; NULL: none */
    struct bb_node *nodes;
    uint32_t *operands;
    size_t n_nodes, cap_nodes, n_operands, cap_operands;
};

/* ---- lower.c ---- */

/* Reports what is not supported yet, once. */
void bb_lower_unsupported(struct lowering *l, struct source_pos at, const char *what);
/* Reports at `at` that the evaluation of what stands there has given up. */
void bb_lower_check_viewer(struct lowering *l, struct source_pos at);
/* The index of the elements of an array whose view is v: new logicals, one for each array that was joined to
 * it, so that the indices of what was joined are affine. */
const struct index_expr *bb_lower_index(struct lowering *l, const struct view *v,
                                        const struct lift_type *array, bool reduction);
/* The STORE of a scalar to an element of an array, and what it reads. */
void bb_lower_store(struct lowering *l, const struct lift_array *array, const struct tree *t,
                    const struct index_expr *index, struct source_pos at);
/* Makes a logical one of the instruction's own. */
void bb_lower_own(struct lowering *l, struct bb_inst *inst, uint32_t logical, struct source_pos at);
/* Whether an instruction is called so. */
bool bb_lower_named(const struct lowering *l, const char *stem, const char *suffix);
/* A new instruction, named after the stem, and its number once it is complete. */
struct bb_inst bb_lower_inst(const struct lowering *l, enum bb_inst_kind kind, const char *stem,
                             enum scalar_type type);
uint32_t bb_lower_push(struct lowering *l, const struct bb_inst *inst);
/* Appends a node that reads scalar `part` of an instruction. */
void bb_lower_operand(struct lowering *l, struct bb_flat *f, uint32_t inst, unsigned part,
                      enum scalar_type type);
/* Appends a tree in postfix order; makes the loads and reductions it reads. The accumulator is operand 0 of
 * its own STEP; a reduction inside that reads it would have to wait for each of its values. */
void bb_lower_flatten(struct lowering *l, const struct tree *t, struct bb_flat *f, struct source_pos at);
/* Gives an instruction its expression, and the logicals that its indices mention. */
void bb_lower_take(struct lowering *l, struct bb_inst *inst, const struct bb_flat *f, struct source_pos at);

/* ---- lower_value.c ---- */

/* The LOAD or TAKE that a tree is. */
uint32_t bb_lower_load(struct lowering *l, const struct tree *t, struct source_pos at);
uint32_t bb_lower_stored(struct lowering *l, const struct tree *t, struct source_pos at);

/* ---- outputs.c ---- */

/* The STOREs of all outputs. env: of the inputs. */
void bb_lower_outputs(struct lowering *l, const struct view_env *env);

/* ---- reduce.c ---- */

/* Makes the logicals along which its operands vary the instruction's own. */
void bb_lower_own_operands(struct lowering *l, struct bb_inst *inst, struct source_pos at);
/* The STEP of a reduction, made by its first reader; BB_NONE after errors. */
uint32_t bb_lower_reduction(struct lowering *l, struct reduction *r);

/* ---- build.c ---- */

/* Makes the backbone of a finished lowering. */
struct backbone *bb_build(const struct lowering *l, const struct bb_options *o);

#endif
