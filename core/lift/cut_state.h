/* Cutting, shared by cut.c (where a program may be cut) and cut_parts.c (the parts). Private to core/lift. */
#ifndef THRESH_LIFT_CUT_STATE_H
#define THRESH_LIFT_CUT_STATE_H

#include "core/lift/cut.h"

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

#endif
