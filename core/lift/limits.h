/* The largest and the smallest numbers of the scalar types: where results overflow and underflow. */
#ifndef THRESH_LIFT_LIMITS_H
#define THRESH_LIFT_LIMITS_H

#include "core/lift/scalar.h"

/* float 3.4e38, double 1.8e308, half 65504, int 2^31 - 1, bool 1. */
double lift_largest(enum scalar_type t);
/* A device may replace a result of a smaller magnitude with zero: float 2^-126, double 2^-1022, half 2^-24
 * (halves keep all of their numbers). 0 for int and bool. */
double lift_smallest(enum scalar_type t);

#endif
