/* The error bounds of scalar operations; rounding.h says what they mean.
 *
 *     a + b       s = s_a + s_b     n = the larger of n_a and n_b, + 1
 *     sqrt(a)     s = |value| + |derivative| s_a                        n = n_a + 10 (OpenCL allows 3 ulp)
 *     a < b       exact if |a - b| exceeds both errors, otherwise jumps
 *     if c ...    the bound of the value taken; where c jumps, both branches' bounds and their distance
 *     half(a)     the error of a in units of the new type, + 1
 *     a * b       with factors that may be rounded to TF32: n of each + 2^13, unless it has 11 bits */
#include "core/lift/rounding.h"

#include <math.h>
#include <stdint.h>

#include "core/base/panic.h"

typedef struct lift_value_bound bound;

/* ---- absolute errors ---- */

/* 2^-scalar_type_precision(t). */
static double unit(enum scalar_type t)
{
    static const double units[SCALAR_TYPE_COUNT] = {[SCALAR_FLOAT] = 0x1p-24,
                                                    [SCALAR_DOUBLE] = 0x1p-53,
                                                    [SCALAR_HALF] = 0x1p-11,
                                                    [SCALAR_INT] = 0x1p-31,
                                                    [SCALAR_BOOL] = 0x1p-1};
    return units[t];
}

/* How far a device's value may be from x. The interpreter's own rounding counts where it is no finer. */
static double error_of(enum scalar_type t, const bound *x)
{
    double size = fabs(x->value), smallest = scalar_type_smallest(t);
    if (x->overflows || !isfinite(x->s)) return INFINITY;
    if (x->exact) return size > 0 && size < smallest ? smallest : 0;
    return (t == SCALAR_DOUBLE ? 2 : 1) * (x->n + 1) * (unit(t) * x->s + smallest);
}

/* Raises the bound to an absolute error. */
static void raise_to(bound *x, enum scalar_type t, double error)
{
    double s = error / ((x->n + 1) * unit(t));
    if (isfinite(x->s) && !(s <= x->s)) x->s = s;
}

static bool is_whole(const bound *x)
{
    return x->exact && x->value == nearbyint(x->value);
}

/* Whether the type has the number exactly; of a real type, leaving subnormal numbers out. */
static bool is_number_of(enum scalar_type t, double x)
{
    if (t == SCALAR_INT) return x == nearbyint(x) && x >= INT32_MIN && x <= INT32_MAX;
    int exponent;
    double size = fabs(x);
    bool normal = size == 0 || size >= scalar_type_smallest(t);
    if (!normal || !(size <= scalar_type_largest(t))) return false;
    if (t == SCALAR_FLOAT) return x == (double)(float)x;
    double digits = ldexp(frexp(x, &exponent), (int)scalar_type_precision(t));
    return digits == nearbyint(digits);
}

/* ---- leaves ---- */

struct lift_value_bound rounding_input(enum scalar_type type, double value)
{
    return (bound){.value = value,
                   .s = fabs(value),
                   .exact = is_number_of(type, value),
                   .exact_ops = true,
                   .fits = true};
}

struct lift_value_bound rounding_literal(enum scalar_type type, double value)
{
    bound x = rounding_input(type, value);
    x.constant = true;
    return x;
}

/* ---- factors ---- */

struct lift_value_bound rounding_factor(struct lift_value_bound x)
{
    static const double bits = 11, largest = 0x1.ffep127;
    int exponent;
    double digits = ldexp(frexp(x.value, &exponent), (int)bits);
    if (x.exact && digits == nearbyint(digits)) return x;
    x.exact = x.exact_ops = false;
    x.n += ldexp(1, 24 - (int)bits); /* 2^-11 of the value, in units of 2^-24 */
    if (fabs(x.value) > largest) x.overflows = true;
    return x;
}

/* ---- functions ---- */

/* Magnitude of the derivative of a function of one argument x with value y; a bound where it is periodic. */
static double derivative(enum scalar_op op, double x, double y)
{
    switch (op) {
    case SCALAR_SQRT:
        return y > 0 ? 0.5 / y : 0;
    case SCALAR_RSQRT:
        return fabs(0.5 * y / x);
    case SCALAR_EXP:
        return y;
    case SCALAR_EXP2:
        return y * log(2);
    case SCALAR_LOG:
        return fabs(1 / x);
    case SCALAR_LOG2:
        return fabs(1 / (x * log(2)));
    case SCALAR_LOG10:
        return fabs(1 / (x * log(10)));
    case SCALAR_TAN:
        return 1 + y * y;
    case SCALAR_ASIN:
    case SCALAR_ACOS:
        return 1 / sqrt(1 - x * x);
    case SCALAR_SINH:
        return cosh(x);
    case SCALAR_COSH:
        return fabs(sinh(x));
    case SCALAR_ERF:
        return 1.2;
    default:
        return 1;
    }
}

/* Magnitudes of the derivatives of a function of x[0] and x[1] with value y. */
static void derivatives(enum scalar_op op, const bound *x, double y, double out[2])
{
    double a = fabs(x[0].value), b = fabs(x[1].value), square = a * a + b * b;
    if (op == SCALAR_POW) {
        out[0] = b == 0 ? 0 : b * pow(a, x[1].value - 1);
        out[1] = y == 0 ? 0 : fabs(y * log(a));
    } else if (op == SCALAR_ATAN2) {
        out[0] = b / square;
        out[1] = a / square;
    } else {
        out[0] = out[1] = 1;
    }
}

/* Rounding steps that a function's own error counts for: twice the ulps that OpenCL allows it. */
static double steps_of(enum scalar_op op)
{
    if (op == SCALAR_POW || op == SCALAR_ERF) return 32;
    return op == SCALAR_ATAN2 ? 12 : 10;
}

/* An argument that is exact has no part in the error, whatever the derivative. */
static double effect(const bound *x, double derivative)
{
    if (!isfinite(x->s)) return x->s;
    return x->exact && !isfinite(derivative) ? 0 : derivative * x->s;
}

static void bound_function(enum scalar_op op, const bound *x, bound *out)
{
    double d[2] = {0};
    unsigned n = scalar_op_arity(op);
    if (n == 1)
        d[0] = derivative(op, x[0].value, out->value);
    else
        derivatives(op, x, out->value, d);
    out->s = fabs(out->value);
    for (unsigned i = 0; i < n; i++) {
        out->s += effect(&x[i], d[i]);
        out->n = fmax(out->n, x[i].n);
    }
    out->n += steps_of(op);
}

/* ---- arithmetic ---- */

/* Whether max never selects the constant c over x, whatever the signs of the inputs: x is at least -s, and
 * computed with an error below s. */
static bool never_selected(double c, const bound *x)
{
    return c < -2 * x->s;
}

/* The larger bound, as another output may select the other operand. A constant that no output selects, the
 * -1e30 that a maximum starts from, has no part in it. sign: 1 for max, -1 for min. */
static void bound_extreme(double sign, const bound *x, bound *out)
{
    bool drop[2];
    for (int i = 0; i < 2; i++)
        drop[i] = x[i].constant && never_selected(sign * x[i].value, &x[1 - i]);
    out->s = fmax(drop[0] ? 0 : x[0].s, drop[1] ? 0 : x[1].s);
    out->n = fmax(drop[0] ? 0 : x[0].n, drop[1] ? 0 : x[1].n);
    out->exact = x[0].exact && x[1].exact;
}

static void add_steps(bound *out, const bound *x, const bound *y, double steps)
{
    out->n = fmax(x->n, y->n) + steps;
}

static void multiply_steps(bound *out, const bound *x, double steps)
{
    out->n = x[0].n + x[1].n + steps;
}

static void bound_real(enum scalar_op op, const bound *x, bound *out)
{
    switch (op) {
    case SCALAR_ADD:
    case SCALAR_SUB:
        out->s = x[0].s + x[1].s;
        add_steps(out, &x[0], &x[1], 1);
        return;
    case SCALAR_MULT:
        out->s = x[0].s * x[1].s;
        multiply_steps(out, x, 1);
        return;
    case SCALAR_FMA: {
        bound product = {0};
        multiply_steps(&product, x, 1);
        out->s = x[0].s * x[1].s + x[2].s;
        add_steps(out, &product, &x[2], 1);
        return;
    }
    case SCALAR_DIV:
        out->s = x[0].s * x[1].s / (x[1].value * x[1].value);
        multiply_steps(out, x, 5);
        return;
    case SCALAR_MIN:
    case SCALAR_MAX:
        bound_extreme(op == SCALAR_MAX ? 1 : -1, x, out);
        return;
    case SCALAR_NEG:
    case SCALAR_ABS:
        out->s = x[0].s;
        out->n = x[0].n;
        out->exact = x[0].exact;
        return;
    default:
        bound_function(op, x, out);
    }
}

/* Real arithmetic on whole numbers is exact where the sum of their magnitudes is. */
static void bound_arithmetic(enum scalar_op op, enum scalar_type t, const bound *x, bound *out)
{
    bool whole = scalar_op_exact(op);
    for (unsigned i = 0; i < scalar_op_arity(op); i++)
        whole = whole && is_whole(&x[i]);
    bound_real(op, x, out);
    out->exact = out->exact || (whole && out->s * unit(t) < 1);
    out->fits = out->fits && (out->constant || out->s * unit(t) < 1);
}

/* Integers are exact. One that came of a rounding that jumps keeps its error where that is simple. */
static void bound_int(enum scalar_op op, const bound *x, bound *out)
{
    double error = 0;
    bool simple = op == SCALAR_ADD || op == SCALAR_SUB || op == SCALAR_NEG || op == SCALAR_ABS ||
                  op == SCALAR_MIN || op == SCALAR_MAX;
    out->exact = true;
    for (unsigned i = 0; i < scalar_op_arity(op); i++) {
        out->exact = out->exact && x[i].exact;
        error += error_of(SCALAR_INT, &x[i]);
    }
    out->s = fabs(out->value);
    if (out->exact) return;
    bool known = simple && out->s + error < scalar_type_largest(SCALAR_INT);
    raise_to(out, SCALAR_INT, known ? error : INFINITY);
}

/* ---- jumps ---- */

/* Whether operands that far apart compare alike on every device. */
static void bound_comparison(enum scalar_type t, const bound *x, bound *out)
{
    double error = error_of(t, &x[0]) + error_of(t, &x[1]);
    out->exact = error == 0 || fabs(x[0].value - x[1].value) > error;
}

static void bound_logic(enum scalar_op op, const bound *x, bound *out)
{
    bool decides = op == SCALAR_OR; /* the value of either operand that is the result alone */
    out->exact = x[0].exact;
    if (op == SCALAR_NOT) return;
    out->exact = x[0].exact && x[1].exact;
    for (int i = 0; i < 2; i++)
        out->exact = out->exact || (x[i].exact && (x[i].value != 0) == decides);
}

/* floor and its like, and the conversion to int: monotone, so that the ends of the argument's error show
 * whether there is a jump between them. */
static void bound_steps(enum scalar_op op, enum scalar_type t, const bound *x, bound *out)
{
    double error = error_of(t, x), ends[] = {x->value - error, x->value + error};
    double low = scalar_op_apply(op, t, &ends[0]), high = scalar_op_apply(op, t, &ends[1]);
    out->s = fabs(out->value);
    out->exact = error == 0 || low == high;
    if (!out->exact) raise_to(out, scalar_op_gives(op, t), high - low);
}

/* Whether a function is not sure to be defined: its argument is within its error of the end of the domain, or
 * of the pole of a quotient. Of a NaN pow makes 1 beside 1 or 0, which may be off. */
static bool may_be_undefined(enum scalar_op op, enum scalar_type t, const bound *x)
{
    double error = error_of(t, x), low = x->value - error, high = x->value + error;
    bool none = op == SCALAR_POW && (isnan(x[0].value) || isnan(x[1].value));
    switch (op) {
    case SCALAR_SQRT:
        return low < 0;
    case SCALAR_RSQRT:
    case SCALAR_LOG:
    case SCALAR_LOG2:
    case SCALAR_LOG10:
        return error > 0 && low <= 0;
    case SCALAR_ASIN:
    case SCALAR_ACOS:
        return low < -1 || high > 1;
    case SCALAR_POW:
        return none || (low <= 0 && !x[1].exact);
    case SCALAR_DIV:
        return !x[1].exact && fabs(x[1].value) <= error_of(t, &x[1]);
    default:
        return false;
    }
}

/* The angle of a point next to the negative x axis, where it jumps by 2 pi; of a zero, by pi. */
static bool jumps_at_axis(enum scalar_type t, const bound *x)
{
    double error = error_of(t, &x[1]);
    if (fabs(x[0].value) > error_of(t, &x[0]) || x[1].value - error > 0) return false;
    return !x[0].exact || (x[1].value + error >= 0 && !x[1].exact);
}

/* The value that is taken; where the condition may go either way, the bound covers both. */
static void bound_selection(enum scalar_type t, const bound *x, bound *out)
{
    const bound *taken = &x[x[0].value != 0 ? 1 : 2], *other = &x[x[0].value != 0 ? 2 : 1];
    bool same = taken->exact && other->exact && taken->value == other->value;
    out->s = taken->s;
    out->n = taken->n;
    out->exact = x[0].exact ? taken->exact : same;
    out->jumps = taken->jumps;
    out->overflows = taken->overflows;
    if (x[0].exact || same) return;
    out->jumps = true;
    out->overflows = taken->overflows || other->overflows;
    out->n = fmax(taken->n, other->n);
    raise_to(out, t, fmax(error_of(t, taken), fabs(taken->value - other->value) + error_of(t, other)));
}

/* ---- conversions between numbers ---- */

static void bound_conversion(enum scalar_type from, enum scalar_type to, const bound *x, bound *out)
{
    double finer = unit(from) / unit(to); /* the error in units of the new type */
    out->s = x->s;
    out->n = x->n;
    out->exact = x->exact && is_number_of(to, x->value);
    out->fits = out->fits && (out->constant || out->s * unit(to) < 1);
    if (out->exact) return;
    if (from == SCALAR_INT) {
        out->n = 1;
        raise_to(out, to, 2 * error_of(from, x));
    } else if (finer >= 1) {
        out->s *= finer;
    } else {
        out->n = (x->exact ? 0 : (x->n + 1) * finer) + 1;
    }
}

/* ---- all of them ---- */

static bool is_logic(enum scalar_op op)
{
    return op == SCALAR_AND || op == SCALAR_OR || op == SCALAR_NOT;
}

static bool rounds(enum scalar_op op)
{
    return op == SCALAR_FLOOR || op == SCALAR_CEIL || op == SCALAR_ROUND || op == SCALAR_TRUNC ||
           op == SCALAR_SIGN;
}

static void bound_op(enum scalar_op op, enum scalar_type t, const bound *x, bound *out)
{
    if (op == SCALAR_SELECT)
        bound_selection(t, x, out);
    else if (scalar_op_compares(op))
        bound_comparison(t, x, out);
    else if (is_logic(op))
        bound_logic(op, x, out);
    else if (rounds(op) || (op == SCALAR_TO_INT && t != SCALAR_INT))
        bound_steps(op, t, x, out);
    else if (scalar_op_converts(op))
        bound_conversion(t, scalar_op_gives(op, t), x, out);
    else if (t == SCALAR_INT)
        bound_int(op, x, out);
    else
        bound_arithmetic(op, t, x, out);
    if (t == SCALAR_INT || t == SCALAR_BOOL) return;
    bool apart = op == SCALAR_ATAN2 && jumps_at_axis(t, x);
    if (!apart && (isnan(out->value) || out->overflows || !may_be_undefined(op, t, x))) return;
    raise_to(out, t, apart ? 7 : INFINITY);
    out->jumps = true;
}

/* A result that overflows the operation's type is marked (not an infinity such as 1 / 0, which is the result
 * in every type); one so small that a device may replace it with zero is off by as much, in units of u. */
static void bound_range(enum scalar_type type, bound *out)
{
    double size = fabs(out->value), smallest = scalar_type_smallest(type);
    if (isfinite(size) && size > scalar_type_largest(type)) out->overflows = true;
    if (size > 0 && size < smallest) out->s += smallest / unit(type);
}

struct lift_value_bound rounding_apply(enum scalar_op op, enum scalar_type t,
                                       const struct lift_value_bound *args)
{
    enum scalar_type type = scalar_op_gives(op, t);
    double values[SCALAR_MAX_ARITY];
    bound out = {.exact_ops = scalar_op_exact(op) || t == SCALAR_INT, .fits = true, .constant = true};
    for (unsigned i = 0; i < scalar_op_arity(op); i++) {
        values[i] = args[i].value;
        out.exact_ops = out.exact_ops && args[i].exact_ops;
        out.fits = out.fits && args[i].fits;
        out.constant = out.constant && args[i].constant;
        out.jumps = out.jumps || args[i].jumps;
        out.overflows = out.overflows || args[i].overflows;
    }
    out.value = scalar_op_apply(op, t, values);
    bound_op(op, t, args, &out);
    bound_range(type, &out);
    if (isnan(out.s)) out.s = INFINITY;
    if (type == SCALAR_BOOL || rounds(op) || type == SCALAR_INT) out.jumps = !out.exact;
    return out;
}
