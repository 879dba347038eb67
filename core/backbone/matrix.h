/* Products, and tiles of them for devices that multiply matrices (core/codegen/matrix.c). */
#ifndef THRESH_BACKBONE_MATRIX_H
#define THRESH_BACKBONE_MATRIX_H

#include "core/backbone/backbone.h"

/* What a product multiplies. A *row* of a matrix is 16 bytes of neighbours. */
struct bb_factors {
    uint32_t loads[2]; /* of the operands, in the order of the expression; they may be staged */
    int64_t row;       /* elements of a row: 8 half numbers, 4 floats */
};
/* Whether a step (an instruction) is one of a matrix product that is summed in float over one dimension, each
 * operand having a dimension of the results to itself: of half numbers, acc + float(a) * float(b), or, if the
 * user allows TF32, of floats, acc + a * b. */
bool bb_multiplies(const struct backbone *bb, uint32_t step, struct bb_factors *out);
/* The same on a device: whether some product of the program may take TF32. */
bool bb_may_round_factors(const struct backbone *bb, const struct bb_device *device);

enum { BB_ROW_BYTES = 16 };
/* Work-items that multiply together: lanes of the two operands (core/codegen/matrix.c). */
enum { BB_LEFT_LANES = 8, BB_RIGHT_LANES = 4, BB_BUNDLE = BB_LEFT_LANES * BB_RIGHT_LANES };
enum { BB_MAX_MATRIX = 6, BB_HALF_VECTOR = 8 /* half numbers of a row */ };

/* The plain implementations in matrices of a program whose only reduction is such a product; returns their
 * number, 0 for other programs and devices. What they refer to is in the arena. */
unsigned bb_matrix(const struct backbone *bb, const struct space *space, const struct bb_device *device,
                   struct arena *a, struct bb_plain out[BB_MAX_MATRIX]);

#endif
