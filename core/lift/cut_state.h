/* Cutting, shared by cut.c (where a program may be cut), cut_copy.c (the text of a part) and cut_parts.c (the
 * sequence). Private to core/lift. */
#ifndef THRESH_LIFT_CUT_STATE_H
#define THRESH_LIFT_CUT_STATE_H

#include "core/lift/cut.h"

/* Whether a value of the type can be an output of one kernel and an input of another. */
bool cut_can_store(const struct lift_type *t, struct arena *a);

/* Outputs of one shape, which one part computes. */
struct cut_group {
    unsigned n, outputs[LIFT_MAX_OUTPUTS];
    bool updates; /* one of them is written over an input */
};

/* The groups of the program's outputs in the order in which they run: those that write over inputs come last.
 * Returns their number. */
unsigned cut_group_outputs(const struct lift_program *p, struct cut_group groups[LIFT_MAX_OUTPUTS]);
/* The value of an output, without the LETs around all outputs. */
const struct lift_expr *cut_output_value(const struct lift_program *p, unsigned output);

/* ---- cut_copy.c ---- */

/* A parameter of the whole and its copy in a part. */
struct cut_twin {
    const struct lift_param *from;
    struct lift_param *to;
};

/* What an input of a part is. */
struct cut_reading {
    unsigned input, cut; /* of the whole; the other one is LIFT_NONE */
};

/* A part that is being copied. */
struct cut_copier {
    struct arena *arena;
    const struct lift_program *whole;
    const struct lift_cuts *cuts;
    const bool *chosen;
    const struct lift_expr *root; /* the value of the part itself, which is no temporary in it */
    bool nameless;                /* every name is made from "v", for comparison */
    struct cut_twin *twins;
    size_t n_twins, cap_twins;
    struct cut_reading *readings; /* of the part's inputs */
    size_t n_readings, cap_readings, cap_inputs;
    struct lift_expr **lets; /* values that are not cut and that the part mentions, in order */
    size_t n_lets, cap_lets;
    struct lift_program *part;
};

/* What is stored of a cut: a scalar as an array of one element. */
const struct lift_type *cut_stored_type(const struct cut_copier *c, const struct lift_cut *cut);
/* The text of the program that computes a chosen cut, in the arena; c->readings are its inputs then.
 * nameless: with names that do not depend on those of the program, for comparison. */
const char *cut_text_of(struct cut_copier *c, unsigned cut, bool nameless);
/* The same of a group of outputs. */
const char *cut_text_of_group(struct cut_copier *c, const struct cut_group *g, bool nameless);

#endif
