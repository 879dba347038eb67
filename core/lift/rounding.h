/* Values with the bound of their rounding error, operation by operation. Private to core/lift; interpret.c
 * applies it to whole programs.
 *
 * First-order analysis: |y - value| <= (n + 1) u s, u = 2^-p for the p bits of the value's type. Values of
 * which a device has every bit in whatever order it computes are marked exact: inputs, whole numbers below
 * 2^p that came of whole numbers, integers. A function with jumps (a comparison, floor, a conversion to int)
 * whose argument is within its error of a jump may go either way; then the bound of what is made of it covers
 * both ways, and the value is marked:
 *
 *     if a + b < 1.0 then 0.0 else 5.0      a + b = 1.0 - 2^-24      0, off by up to 5; jumps */
#ifndef THRESH_LIFT_ROUNDING_H
#define THRESH_LIFT_ROUNDING_H

#include "core/lift/lift.h"

/* An element of an input, or a literal: rounded to its type if that does not have it. */
struct lift_value_bound rounding_input(enum scalar_type type, double value);
struct lift_value_bound rounding_literal(enum scalar_type type, double value);
/* A factor of a product of floats that a device may round to TF32, 11 significant bits. */
struct lift_value_bound rounding_factor(struct lift_value_bound x);
/* The operation on args, whose last one is of type t. */
struct lift_value_bound rounding_apply(enum scalar_op op, enum scalar_type t,
                                       const struct lift_value_bound *args);

#endif
