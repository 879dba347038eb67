/* The scalar operations and types of the language: one table, read by the type checker, the interpreter, the
 * backbone, the code generator and the error analysis. `map(fun v -> max(v, 0.0), x)` applies SCALAR_MAX; how
 * a kernel spells it is in the target table (core/codegen/target.h).
 *
 * SCALAR_OP(id, name, arity, exact): `exact` operations on integers that stay below 2^p give the same bits in
 * any order of summation, so that results on integer inputs can be compared exactly. */
#ifndef THRESH_LIFT_SCALAR_H
#define THRESH_LIFT_SCALAR_H

#include <stdbool.h>

#define SCALAR_OPS(SCALAR_OP)                                                                                \
    SCALAR_OP(ADD, "add", 2, true)                                                                           \
    SCALAR_OP(SUB, "sub", 2, true)                                                                           \
    SCALAR_OP(MULT, "mult", 2, true)                                                                         \
    SCALAR_OP(DIV, "div", 2, false)                                                                          \
    SCALAR_OP(FMA, "fma", 3, true)                                                                           \
    SCALAR_OP(MIN, "min", 2, true)                                                                           \
    SCALAR_OP(MAX, "max", 2, true)                                                                           \
    SCALAR_OP(NEG, "neg", 1, true)                                                                           \
    SCALAR_OP(ABS, "abs", 1, true)                                                                           \
    SCALAR_OP(SQRT, "sqrt", 1, false)                                                                        \
    SCALAR_OP(RSQRT, "rsqrt", 1, false)                                                                      \
    SCALAR_OP(EXP, "exp", 1, false)                                                                          \
    SCALAR_OP(LOG, "log", 1, false)                                                                          \
    SCALAR_OP(SIN, "sin", 1, false)                                                                          \
    SCALAR_OP(COS, "cos", 1, false)                                                                          \
    SCALAR_OP(TANH, "tanh", 1, false)

enum scalar_op {
#define SCALAR_OP(id, name, arity, exact) SCALAR_##id,
    SCALAR_OPS(SCALAR_OP)
#undef SCALAR_OP
        SCALAR_OP_COUNT
};

enum scalar_type { SCALAR_FLOAT, SCALAR_DOUBLE, SCALAR_HALF, SCALAR_INT, SCALAR_BOOL, SCALAR_TYPE_COUNT };

enum { SCALAR_MAX_ARITY = 3 };

const char *scalar_op_name(enum scalar_op op);
unsigned scalar_op_arity(enum scalar_op op);
bool scalar_op_exact(enum scalar_op op);
/* SCALAR_OP_COUNT if there is no such operation. */
enum scalar_op scalar_op_find(const char *name, unsigned length);
/* The operation in double precision: the reference semantics. args has scalar_op_arity() values. */
double scalar_op_apply(enum scalar_op op, const double *args);

const char *scalar_type_name(enum scalar_type t); /* "float", as in Lift */
unsigned scalar_type_bytes(enum scalar_type t);
/* Bits of the significand: 24 float, 53 double, 11 half, 31 int. */
unsigned scalar_type_precision(enum scalar_type t);
/* The largest number; larger results overflow: float 3.4e38, double 1.8e308, half 65504, int 2^31 - 1,
 * bool 1. */
double scalar_type_largest(enum scalar_type t);
/* A device may replace a result of a smaller magnitude with zero: float 2^-126, double 2^-1022, half 2^-24
 * (halves keep all of their numbers). 0 for int and bool. */
double scalar_type_smallest(enum scalar_type t);

#endif
