/* The scalar operations and types of the language: one table, read by the type checker, the interpreter, the
 * backbone, the code generator and the error analysis. `map(fun v -> max(v, 0.0), x)` applies SCALAR_MAX; how
 * a kernel spells it is in the target table (core/codegen/target.h).
 *
 * SCALAR_OP(id, name, arity, exact, takes, gives):
 *   exact  on whole numbers below 2^p the result is one, the same bits in any order of summation, so that
 *          results on such inputs can be compared exactly. All operations on int are exact
 *   takes  the types of the operands, SCALAR_REALS and so on, all of one type (but the condition of select)
 *   gives  the type of the result; SCALAR_SAME: that of the operands */
#ifndef THRESH_LIFT_SCALAR_H
#define THRESH_LIFT_SCALAR_H

#include <stdbool.h>

enum scalar_type { SCALAR_FLOAT, SCALAR_DOUBLE, SCALAR_HALF, SCALAR_INT, SCALAR_BOOL, SCALAR_TYPE_COUNT };
#define SCALAR_SAME SCALAR_TYPE_COUNT

/* Sets of types: bits 1 << enum scalar_type. */
enum {
    SCALAR_REALS = 1 << SCALAR_FLOAT | 1 << SCALAR_DOUBLE | 1 << SCALAR_HALF,
    SCALAR_INTS = 1 << SCALAR_INT,
    SCALAR_NUMBERS = SCALAR_REALS | SCALAR_INTS,
    SCALAR_BOOLS = 1 << SCALAR_BOOL,
    SCALAR_ALL = SCALAR_NUMBERS | SCALAR_BOOLS
};

#define SCALAR_OPS(SCALAR_OP)                                                                                \
    SCALAR_OP(ADD, "add", 2, true, SCALAR_NUMBERS, SCALAR_SAME)                                              \
    SCALAR_OP(SUB, "sub", 2, true, SCALAR_NUMBERS, SCALAR_SAME)                                              \
    SCALAR_OP(MULT, "mult", 2, true, SCALAR_NUMBERS, SCALAR_SAME)                                            \
    SCALAR_OP(DIV, "div", 2, false, SCALAR_NUMBERS, SCALAR_SAME)                                             \
    SCALAR_OP(MOD, "mod", 2, true, SCALAR_INTS, SCALAR_SAME)                                                 \
    SCALAR_OP(FMA, "fma", 3, true, SCALAR_REALS, SCALAR_SAME)                                                \
    SCALAR_OP(MIN, "min", 2, true, SCALAR_NUMBERS, SCALAR_SAME)                                              \
    SCALAR_OP(MAX, "max", 2, true, SCALAR_NUMBERS, SCALAR_SAME)                                              \
    SCALAR_OP(NEG, "neg", 1, true, SCALAR_NUMBERS, SCALAR_SAME)                                              \
    SCALAR_OP(ABS, "abs", 1, true, SCALAR_NUMBERS, SCALAR_SAME)                                              \
    SCALAR_OP(LT, "lt", 2, true, SCALAR_NUMBERS, SCALAR_BOOL)                                                \
    SCALAR_OP(LE, "le", 2, true, SCALAR_NUMBERS, SCALAR_BOOL)                                                \
    SCALAR_OP(GT, "gt", 2, true, SCALAR_NUMBERS, SCALAR_BOOL)                                                \
    SCALAR_OP(GE, "ge", 2, true, SCALAR_NUMBERS, SCALAR_BOOL)                                                \
    SCALAR_OP(EQ, "eq", 2, true, SCALAR_NUMBERS, SCALAR_BOOL)                                                \
    SCALAR_OP(NE, "ne", 2, true, SCALAR_NUMBERS, SCALAR_BOOL)                                                \
    SCALAR_OP(AND, "and", 2, true, SCALAR_BOOLS, SCALAR_SAME)                                                \
    SCALAR_OP(OR, "or", 2, true, SCALAR_BOOLS, SCALAR_SAME)                                                  \
    SCALAR_OP(NOT, "not", 1, true, SCALAR_BOOLS, SCALAR_SAME)                                                \
    SCALAR_OP(SELECT, "select", 3, true, SCALAR_ALL, SCALAR_SAME)                                            \
    SCALAR_OP(TO_FLOAT, "float", 1, true, SCALAR_NUMBERS, SCALAR_FLOAT)                                      \
    SCALAR_OP(TO_DOUBLE, "double", 1, true, SCALAR_NUMBERS, SCALAR_DOUBLE)                                   \
    SCALAR_OP(TO_HALF, "half", 1, true, SCALAR_NUMBERS, SCALAR_HALF)                                         \
    SCALAR_OP(TO_INT, "int", 1, true, SCALAR_NUMBERS, SCALAR_INT)                                            \
    SCALAR_OP(BITAND, "bitand", 2, true, SCALAR_INTS, SCALAR_SAME)                                           \
    SCALAR_OP(BITOR, "bitor", 2, true, SCALAR_INTS, SCALAR_SAME)                                             \
    SCALAR_OP(BITXOR, "bitxor", 2, true, SCALAR_INTS, SCALAR_SAME)                                           \
    SCALAR_OP(SHL, "shl", 2, true, SCALAR_INTS, SCALAR_SAME)                                                 \
    SCALAR_OP(SHR, "shr", 2, true, SCALAR_INTS, SCALAR_SAME)                                                 \
    SCALAR_OP(FLOOR, "floor", 1, true, SCALAR_REALS, SCALAR_SAME)                                            \
    SCALAR_OP(CEIL, "ceil", 1, true, SCALAR_REALS, SCALAR_SAME)                                              \
    SCALAR_OP(ROUND, "round", 1, true, SCALAR_REALS, SCALAR_SAME)                                            \
    SCALAR_OP(TRUNC, "trunc", 1, true, SCALAR_REALS, SCALAR_SAME)                                            \
    SCALAR_OP(SIGN, "sign", 1, true, SCALAR_REALS, SCALAR_SAME)                                              \
    SCALAR_OP(SQRT, "sqrt", 1, false, SCALAR_REALS, SCALAR_SAME)                                             \
    SCALAR_OP(RSQRT, "rsqrt", 1, false, SCALAR_REALS, SCALAR_SAME)                                           \
    SCALAR_OP(EXP, "exp", 1, false, SCALAR_REALS, SCALAR_SAME)                                               \
    SCALAR_OP(EXP2, "exp2", 1, false, SCALAR_REALS, SCALAR_SAME)                                             \
    SCALAR_OP(LOG, "log", 1, false, SCALAR_REALS, SCALAR_SAME)                                               \
    SCALAR_OP(LOG2, "log2", 1, false, SCALAR_REALS, SCALAR_SAME)                                             \
    SCALAR_OP(LOG10, "log10", 1, false, SCALAR_REALS, SCALAR_SAME)                                           \
    SCALAR_OP(POW, "pow", 2, false, SCALAR_REALS, SCALAR_SAME)                                               \
    SCALAR_OP(HYPOT, "hypot", 2, false, SCALAR_REALS, SCALAR_SAME)                                           \
    SCALAR_OP(SIN, "sin", 1, false, SCALAR_REALS, SCALAR_SAME)                                               \
    SCALAR_OP(COS, "cos", 1, false, SCALAR_REALS, SCALAR_SAME)                                               \
    SCALAR_OP(TAN, "tan", 1, false, SCALAR_REALS, SCALAR_SAME)                                               \
    SCALAR_OP(ASIN, "asin", 1, false, SCALAR_REALS, SCALAR_SAME)                                             \
    SCALAR_OP(ACOS, "acos", 1, false, SCALAR_REALS, SCALAR_SAME)                                             \
    SCALAR_OP(ATAN, "atan", 1, false, SCALAR_REALS, SCALAR_SAME)                                             \
    SCALAR_OP(ATAN2, "atan2", 2, false, SCALAR_REALS, SCALAR_SAME)                                           \
    SCALAR_OP(SINH, "sinh", 1, false, SCALAR_REALS, SCALAR_SAME)                                             \
    SCALAR_OP(COSH, "cosh", 1, false, SCALAR_REALS, SCALAR_SAME)                                             \
    SCALAR_OP(TANH, "tanh", 1, false, SCALAR_REALS, SCALAR_SAME)                                             \
    SCALAR_OP(ERF, "erf", 1, false, SCALAR_REALS, SCALAR_SAME)

enum scalar_op {
#define SCALAR_OP(id, name, arity, exact, takes, gives) SCALAR_##id,
    SCALAR_OPS(SCALAR_OP)
#undef SCALAR_OP
        SCALAR_OP_COUNT
};

enum { SCALAR_MAX_ARITY = 3 };

const char *scalar_op_name(enum scalar_op op);
unsigned scalar_op_arity(enum scalar_op op);
bool scalar_op_exact(enum scalar_op op);
/* SCALAR_OP_COUNT if there is no such operation. */
enum scalar_op scalar_op_find(const char *name, unsigned length);
/* Whether its operands may be of this type; of select, its second and third. */
bool scalar_op_takes(enum scalar_op op, enum scalar_type t);
/* The type of its result, where the last operand is of type t. */
enum scalar_type scalar_op_gives(enum scalar_op op, enum scalar_type t);
bool scalar_op_compares(enum scalar_op op); /* lt le gt ge eq ne */
bool scalar_op_converts(enum scalar_op op); /* float double half int */
/* The first operand that is of the type of the others: 1 for select, else 0. */
unsigned scalar_op_first(enum scalar_op op);
/* The reference semantics: double precision where the last operand's type t is real, 32 bits that wrap around
 * where it is int. x / 0 is 0 and x % 0 is x, of integers; shifts take their amount modulo 32. A bool is 0 or
 * 1. args has scalar_op_arity() values. */
double scalar_op_apply(enum scalar_op op, enum scalar_type t, const double *args);

const char *scalar_type_name(enum scalar_type t); /* "float", as in Lift */
unsigned scalar_type_bytes(enum scalar_type t);
/* Bits of the significand: 24 float, 53 double, 11 half, 31 int. */
unsigned scalar_type_precision(enum scalar_type t);
/* The largest number; larger results overflow: float 3.4e38, double 1.8e308, half 65504, int 2^31 - 1,
 * bool 1. */
double scalar_type_largest(enum scalar_type t);
/* The least number of a type: the other end. */
double scalar_type_lowest(enum scalar_type t);
/* A device may replace a result of a smaller magnitude with zero: float 2^-126, double 2^-1022, half 2^-24
 * (halves keep all of their numbers). 0 for int and bool. */
double scalar_type_smallest(enum scalar_type t);

#endif
