/* See limits.h. */
#include "core/lift/limits.h"

#include <float.h>
#include <stdint.h>

#include "core/base/panic.h"

static const struct {
    double largest, smallest;
} limits[SCALAR_TYPE_COUNT] = {
    [SCALAR_FLOAT] = {(double)FLT_MAX, (double)FLT_MIN},
    [SCALAR_DOUBLE] = {DBL_MAX, DBL_MIN},
    [SCALAR_HALF] = {65504, 0x1p-24},
    [SCALAR_INT] = {INT32_MAX, 0},
    [SCALAR_BOOL] = {1, 0},
};

double lift_largest(enum scalar_type t)
{
    CHECK(t < SCALAR_TYPE_COUNT);
    return limits[t].largest;
}

double lift_smallest(enum scalar_type t)
{
    CHECK(t < SCALAR_TYPE_COUNT);
    return limits[t].smallest;
}
