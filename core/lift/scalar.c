/* The table of scalar operations and types, and the reference semantics of each operation: double precision,
 * whatever the type of the program. */
#include "core/lift/scalar.h"

#include <float.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "core/base/panic.h"

struct op_entry {
    const char *name;
    unsigned arity;
    bool exact;
};

static const struct op_entry ops[] = {
#define SCALAR_OP(id, name, arity, exact) [SCALAR_##id] = {name, arity, exact},
    SCALAR_OPS(SCALAR_OP)
#undef SCALAR_OP
};

struct type_entry {
    const char *name;
    unsigned bytes, precision;
    double largest, smallest;
};

static const struct type_entry types[SCALAR_TYPE_COUNT] = {
    [SCALAR_FLOAT] = {"float", 4, 24, (double)FLT_MAX, (double)FLT_MIN},
    [SCALAR_DOUBLE] = {"double", 8, 53, DBL_MAX, DBL_MIN},
    [SCALAR_HALF] = {"half", 2, 11, 65504, 0x1p-24},
    [SCALAR_INT] = {"int", 4, 31, INT32_MAX, 0},
    [SCALAR_BOOL] = {"bool", 1, 1, 1, 0},
};

static const struct op_entry *entry_of_op(enum scalar_op op)
{
    CHECK(op < SCALAR_OP_COUNT);
    return &ops[op];
}

static const struct type_entry *entry_of_type(enum scalar_type t)
{
    CHECK(t < SCALAR_TYPE_COUNT);
    return &types[t];
}

const char *scalar_op_name(enum scalar_op op)
{
    return entry_of_op(op)->name;
}

unsigned scalar_op_arity(enum scalar_op op)
{
    return entry_of_op(op)->arity;
}

bool scalar_op_exact(enum scalar_op op)
{
    return entry_of_op(op)->exact;
}

enum scalar_op scalar_op_find(const char *name, unsigned length)
{
    for (unsigned i = 0; i < SCALAR_OP_COUNT; i++)
        if (strlen(ops[i].name) == length && !memcmp(ops[i].name, name, length)) return (enum scalar_op)i;
    return SCALAR_OP_COUNT;
}

double scalar_op_apply(enum scalar_op op, const double *args)
{
    switch (op) {
    case SCALAR_ADD:
        return args[0] + args[1];
    case SCALAR_SUB:
        return args[0] - args[1];
    case SCALAR_MULT:
        return args[0] * args[1];
    case SCALAR_DIV:
        return args[0] / args[1];
    case SCALAR_FMA:
        return fma(args[0], args[1], args[2]);
    case SCALAR_MIN:
        return fmin(args[0], args[1]);
    case SCALAR_MAX:
        return fmax(args[0], args[1]);
    case SCALAR_NEG:
        return -args[0];
    case SCALAR_ABS:
        return fabs(args[0]);
    case SCALAR_SQRT:
        return sqrt(args[0]);
    case SCALAR_RSQRT:
        return 1 / sqrt(args[0]);
    case SCALAR_EXP:
        return exp(args[0]);
    case SCALAR_LOG:
        return log(args[0]);
    case SCALAR_SIN:
        return sin(args[0]);
    case SCALAR_COS:
        return cos(args[0]);
    case SCALAR_TANH:
        return tanh(args[0]);
    case SCALAR_OP_COUNT:
        break;
    }
    PANIC("no scalar operation %d", (int)op);
}

const char *scalar_type_name(enum scalar_type t)
{
    return entry_of_type(t)->name;
}

unsigned scalar_type_bytes(enum scalar_type t)
{
    return entry_of_type(t)->bytes;
}

unsigned scalar_type_precision(enum scalar_type t)
{
    return entry_of_type(t)->precision;
}

double scalar_type_largest(enum scalar_type t)
{
    return entry_of_type(t)->largest;
}

double scalar_type_smallest(enum scalar_type t)
{
    return entry_of_type(t)->smallest;
}
