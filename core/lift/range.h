/* The range that a program states for the elements of an input: `input x: [float]N in 0.1..2`. Verification
 * and measurement draw the elements from it; the meaning of the program does not depend on it. */
#ifndef THRESH_LIFT_RANGE_H
#define THRESH_LIFT_RANGE_H

#include <stdbool.h>

#include "core/base/diag.h"
#include "core/lift/scalar.h"

struct lift_size;
struct lift_type;
struct strbuf;

struct lift_range {
    bool given;
    double low, high;                             /* both included; where they are sizes, after lift_bind() */
    const struct lift_size *low_size, *high_size; /* what the text says, if it is no number */
    struct source_pos at;
};

/* Whether numbers of the scalar types at the bottom of t fill the range: low < high, both representable, and
 * for integers at least two whole numbers, one if a
 * bound is a size. false after an error at the range. A range that is not given
 * passes. */
bool lift_range_check(const struct lift_range *r, const struct lift_type *t, struct diag *d);
/* A number of the type in the range, evenly spread; whole for integers. unit: from 0 to less than 1. */
double lift_range_draw(const struct lift_range *r, enum scalar_type type, double unit);
/* " in 0.1..2.0", or nothing. */
void lift_range_print(const struct lift_range *r, struct strbuf *out);

#endif
