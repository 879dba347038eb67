/* Products of half numbers, and tiles of them for devices that multiply matrices (core/codegen/matrix.c). */
#ifndef THRESH_BACKBONE_MATRIX_H
#define THRESH_BACKBONE_MATRIX_H

#include "core/backbone/backbone.h"

/* Whether a step (an instruction) is one of a matrix product of half numbers that is summed in float,
 * acc + float(a) * float(b), over one dimension; each operand has a dimension of the results to itself. Then
 * loads[] are the instructions that load the operands, in the order of the expression. They may be staged. */
bool bb_multiplies_halves(const struct backbone *bb, uint32_t step, uint32_t loads[2]);

/* Work-items that multiply together: lanes of the two operands (core/codegen/matrix.c). */
enum { BB_LEFT_LANES = 8, BB_RIGHT_LANES = 4, BB_BUNDLE = BB_LEFT_LANES * BB_RIGHT_LANES };
enum { BB_MAX_MATRIX = 6, BB_HALF_VECTOR = 8 /* half numbers of 16 bytes, the rows of matrices */ };

/* The plain implementations in matrices of a program whose only reduction is such a product; returns their
 * number, 0 for other programs and devices. What they refer to is in the arena. */
unsigned bb_matrix(const struct backbone *bb, const struct space *space, const struct bb_device *device,
                   struct arena *a, struct bb_plain out[BB_MAX_MATRIX]);

#endif
