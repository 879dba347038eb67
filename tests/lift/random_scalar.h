/* Random scalar expressions over all operations and types: their text, and what a device may make of them,
 * evaluated apart from the interpreter. */
#ifndef THRESH_TESTS_LIFT_RANDOM_SCALAR_H
#define THRESH_TESTS_LIFT_RANDOM_SCALAR_H

#include "core/base/pcg32.h"
#include "core/base/strbuf.h"
#include "core/lift/scalar.h"

struct arena;

/* The inputs of an expression, each an array of N elements: a, b float; c, d double; h half; i, j int. */
enum { RANDOM_INPUTS = 7 };
extern const enum scalar_type random_input_types[RANDOM_INPUTS];

struct random_scalar {
    enum scalar_type type;
    unsigned n_args;   /* 0: an input, or with input == RANDOM_INPUTS a number */
    enum scalar_op op; /* n_args > 0 */
    unsigned input;
    double number;
    const struct random_scalar *args[SCALAR_MAX_ARITY];
};

/* No `half` and no operations of it: devices may lack them. */
const struct random_scalar *random_scalar_new(struct arena *a, struct pcg32 *rng, enum scalar_type type,
                                              unsigned depth, bool half);
/* As infix text with no more parentheses than needed; mixed with named calls. */
void random_scalar_print(const struct random_scalar *e, struct pcg32 *rng, struct strbuf *out);
/* "size N", the inputs, and an output that maps the expression over them. */
void random_scalar_program(const char *expression, bool half, struct strbuf *out);
/* An element of an input. */
double random_scalar_draw(struct pcg32 *rng, enum scalar_type type);
/* What a device makes of it that rounds each operation to its type, and errs in functions by as many ulps as
 * OpenCL allows, at random. */
double random_scalar_value(const struct random_scalar *e, const double *inputs, struct pcg32 *rng);

#endif
