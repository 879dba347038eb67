/* The table of scalar operations and types, and the reference semantics of each operation: double precision
 * for real types, whatever their precision in the program; 32 bits that wrap around for int.
 *
 *     2147483647 + 1 is -2147483648      -7 / 2 is -3      -7 % 2 is -1      7 / 0 is 0      7 % 0 is 7 */
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
    unsigned takes; /* set of types */
    enum scalar_type gives;
};

static const struct op_entry ops[] = {
#define SCALAR_OP(id, name, arity, exact, takes, gives) [SCALAR_##id] = {name, arity, exact, takes, gives},
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

bool scalar_op_takes(enum scalar_op op, enum scalar_type t)
{
    return entry_of_op(op)->takes >> t & 1u;
}

enum scalar_type scalar_op_gives(enum scalar_op op, enum scalar_type t)
{
    enum scalar_type gives = entry_of_op(op)->gives;
    return gives == SCALAR_SAME ? t : gives;
}

bool scalar_op_compares(enum scalar_op op)
{
    return entry_of_op(op)->gives == SCALAR_BOOL;
}

bool scalar_op_converts(enum scalar_op op)
{
    return entry_of_op(op)->gives != SCALAR_SAME && !scalar_op_compares(op);
}

unsigned scalar_op_first(enum scalar_op op)
{
    return op == SCALAR_SELECT;
}

/* ---- int ---- */

static double wrapped(uint32_t bits)
{
    return (double)(int32_t)bits;
}

static double divide(int32_t x, int32_t y)
{
    if (y == 0) return 0;
    return y == -1 ? wrapped(-(uint32_t)x) : (double)(x / y);
}

static double remain(int32_t x, int32_t y)
{
    if (y == 0) return x;
    return y == -1 ? 0 : (double)(x % y);
}

/* false: the operation has the value that it has of reals. */
static bool apply_int(enum scalar_op op, int32_t i, int32_t j, double *out)
{
    uint32_t x = (uint32_t)i, y = (uint32_t)j;
    switch (op) {
    case SCALAR_ADD:
        return *out = wrapped(x + y), true;
    case SCALAR_SUB:
        return *out = wrapped(x - y), true;
    case SCALAR_MULT:
        return *out = wrapped(x * y), true;
    case SCALAR_DIV:
        return *out = divide(i, j), true;
    case SCALAR_MOD:
        return *out = remain(i, j), true;
    case SCALAR_NEG:
        return *out = wrapped(-x), true;
    case SCALAR_ABS:
        return *out = i < 0 ? wrapped(-x) : i, true;
    case SCALAR_BITAND:
        return *out = wrapped(x & y), true;
    case SCALAR_BITOR:
        return *out = wrapped(x | y), true;
    case SCALAR_BITXOR:
        return *out = wrapped(x ^ y), true;
    case SCALAR_SHL:
        return *out = wrapped(x << (y & 31)), true;
    case SCALAR_SHR:
        return *out = (double)(i >> (y & 31)), true;
    default:
        return false;
    }
}

/* ---- reals, and what does not depend on the type ---- */

static double to_int(double x)
{
    return isnan(x) ? 0 : fmax(INT32_MIN, fmin(INT32_MAX, trunc(x)));
}

static double sign(double x)
{
    return isnan(x) ? 0 : x > 0 ? 1 : x < 0 ? -1 : x;
}

/* Comparisons, logic, selection, conversion. */
static double apply_choice(enum scalar_op op, const double *x)
{
    switch (op) {
    case SCALAR_LT:
        return x[0] < x[1];
    case SCALAR_LE:
        return x[0] <= x[1];
    case SCALAR_GT:
        return x[0] > x[1];
    case SCALAR_GE:
        return x[0] >= x[1];
    case SCALAR_EQ:
        return x[0] == x[1];
    case SCALAR_NE:
        return x[0] != x[1];
    case SCALAR_AND:
        return x[0] != 0 && x[1] != 0;
    case SCALAR_OR:
        return x[0] != 0 || x[1] != 0;
    case SCALAR_NOT:
        return x[0] == 0;
    case SCALAR_SELECT:
        return x[0] != 0 ? x[1] : x[2];
    case SCALAR_TO_FLOAT:
    case SCALAR_TO_DOUBLE:
    case SCALAR_TO_HALF:
        return x[0];
    case SCALAR_TO_INT:
        return to_int(x[0]);
    default:
        PANIC("no scalar operation %d on this type", (int)op);
    }
}

static double apply_arithmetic(enum scalar_op op, const double *x)
{
    switch (op) {
    case SCALAR_ADD:
        return x[0] + x[1];
    case SCALAR_SUB:
        return x[0] - x[1];
    case SCALAR_MULT:
        return x[0] * x[1];
    case SCALAR_DIV:
        return x[0] / x[1];
    case SCALAR_FMA:
        return fma(x[0], x[1], x[2]);
    case SCALAR_MIN:
        return fmin(x[0], x[1]);
    case SCALAR_MAX:
        return fmax(x[0], x[1]);
    case SCALAR_NEG:
        return -x[0];
    case SCALAR_ABS:
        return fabs(x[0]);
    case SCALAR_FLOOR:
        return floor(x[0]);
    case SCALAR_CEIL:
        return ceil(x[0]);
    case SCALAR_ROUND:
        return round(x[0]);
    case SCALAR_TRUNC:
        return trunc(x[0]);
    case SCALAR_SIGN:
        return sign(x[0]);
    default:
        return apply_choice(op, x);
    }
}

static double apply_function(enum scalar_op op, const double *x)
{
    switch (op) {
    case SCALAR_SQRT:
        return sqrt(x[0]);
    case SCALAR_RSQRT:
        return 1 / sqrt(x[0]);
    case SCALAR_EXP:
        return exp(x[0]);
    case SCALAR_EXP2:
        return exp2(x[0]);
    case SCALAR_LOG:
        return log(x[0]);
    case SCALAR_LOG2:
        return log2(x[0]);
    case SCALAR_LOG10:
        return log10(x[0]);
    case SCALAR_POW:
        return pow(x[0], x[1]);
    case SCALAR_HYPOT:
        return hypot(x[0], x[1]);
    case SCALAR_SIN:
        return sin(x[0]);
    case SCALAR_COS:
        return cos(x[0]);
    case SCALAR_TAN:
        return tan(x[0]);
    case SCALAR_ASIN:
        return asin(x[0]);
    case SCALAR_ACOS:
        return acos(x[0]);
    case SCALAR_ATAN:
        return atan(x[0]);
    case SCALAR_ATAN2:
        return atan2(x[0], x[1]);
    case SCALAR_SINH:
        return sinh(x[0]);
    case SCALAR_COSH:
        return cosh(x[0]);
    case SCALAR_TANH:
        return tanh(x[0]);
    case SCALAR_ERF:
        return erf(x[0]);
    default:
        return apply_arithmetic(op, x);
    }
}

double scalar_op_apply(enum scalar_op op, enum scalar_type t, const double *args)
{
    double result;
    bool two = t == SCALAR_INT && scalar_op_arity(op) == 2, whole = t == SCALAR_INT && op != SCALAR_SELECT;
    if (whole && apply_int(op, (int32_t)args[0], two ? (int32_t)args[1] : 0, &result)) return result;
    return apply_function(op, args);
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

double scalar_type_lowest(enum scalar_type t)
{
    return t == SCALAR_INT ? INT32_MIN : -scalar_type_largest(t);
}

double scalar_type_smallest(enum scalar_type t)
{
    return entry_of_type(t)->smallest;
}
