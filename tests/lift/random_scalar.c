/* See random_scalar.h. */
#include "tests/lift/random_scalar.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdint.h>

#include "core/base/arena.h"
#include "core/lift/lift.h"

const enum scalar_type random_input_types[RANDOM_INPUTS] = {
    SCALAR_FLOAT, SCALAR_FLOAT, SCALAR_DOUBLE, SCALAR_DOUBLE, SCALAR_HALF, SCALAR_INT, SCALAR_INT};
static const char input_names[] = "abcdhij";

/* ---- making ---- */

static double number_of(struct pcg32 *rng, enum scalar_type type)
{
    static const double reals[] = {0, 1, -1, 0.5, 2, 0.1, -3}, ints[] = {0, 1, -1, 2, 3, -7, 2147483647};
    return (type == SCALAR_INT ? ints : reals)[pcg32_below(rng, 7)];
}

static struct random_scalar *leaf(struct arena *a, struct pcg32 *rng, enum scalar_type type)
{
    struct random_scalar *e = ARENA_NEW(a, struct random_scalar);
    *e = (struct random_scalar){.type = type, .input = RANDOM_INPUTS, .number = pcg32_below(rng, 2)};
    if (type == SCALAR_BOOL) return e;
    e->number = number_of(rng, type);
    if (pcg32_below(rng, 4) == 0) return e;
    do
        e->input = pcg32_below(rng, RANDOM_INPUTS);
    while (random_input_types[e->input] != type);
    return e;
}

static enum scalar_type any_type(struct pcg32 *rng, enum scalar_op op, bool half)
{
    enum scalar_type t;
    do
        t = (enum scalar_type)pcg32_below(rng, SCALAR_TYPE_COUNT);
    while (!scalar_op_takes(op, t) || (t == SCALAR_HALF && !half));
    return t;
}

/* An operation that gives the type, and the type of its operands. */
static enum scalar_op any_op(struct pcg32 *rng, enum scalar_type type, bool half, enum scalar_type *of)
{
    for (;;) {
        enum scalar_op op = (enum scalar_op)pcg32_below(rng, SCALAR_OP_COUNT);
        *of = any_type(rng, op, half);
        if (scalar_op_gives(op, *of) == type) return op;
    }
}

const struct random_scalar *random_scalar_new(struct arena *a, struct pcg32 *rng, enum scalar_type type,
                                              unsigned depth, bool half)
{
    struct random_scalar *e = leaf(a, rng, type);
    enum scalar_type of;
    if (depth == 0) return e;
    e->op = any_op(rng, type, half, &of);
    e->n_args = scalar_op_arity(e->op);
    for (unsigned i = 0; i < e->n_args; i++) {
        bool condition = e->op == SCALAR_SELECT && i == 0;
        unsigned below = depth - 1 - (depth > 1 ? pcg32_below(rng, 2) : 0);
        e->args[i] = random_scalar_new(a, rng, condition ? SCALAR_BOOL : of, below, half);
    }
    return e;
}

/* ---- text ---- */

/* Binding strength: 7 a primary, 1 what stands in parentheses as an operand. */
struct sign {
    enum scalar_op op;
    const char *text;
    int strength;
};
static const struct sign signs[] = {
    {SCALAR_OR, " || ", 2}, {SCALAR_AND, " && ", 3}, {SCALAR_LT, " < ", 4},   {SCALAR_LE, " <= ", 4},
    {SCALAR_GT, " > ", 4},  {SCALAR_GE, " >= ", 4},  {SCALAR_EQ, " == ", 4},  {SCALAR_NE, " != ", 4},
    {SCALAR_ADD, " + ", 5}, {SCALAR_SUB, " - ", 5},  {SCALAR_MULT, " * ", 6}, {SCALAR_DIV, " / ", 6},
    {SCALAR_MOD, " % ", 6}, {SCALAR_NEG, "- ", 7},   {SCALAR_NOT, "!", 7},
};

static void print_leaf(const struct random_scalar *e, struct strbuf *out)
{
    if (e->input < RANDOM_INPUTS) {
        strbuf_printf(out, "%c", input_names[e->input]);
    } else if (e->type == SCALAR_BOOL) {
        strbuf_add(out, e->number != 0 ? "true" : "false");
    } else {
        strbuf_add(out, "(");
        lift_print_number(e->number, out);
        strbuf_printf(out, " : %s)", scalar_type_name(e->type));
    }
}

static void print_at(const struct random_scalar *e, int strength, struct pcg32 *rng, struct strbuf *out);

static void print_infix(const struct random_scalar *e, const struct sign *s, int strength, struct pcg32 *rng,
                        struct strbuf *out)
{
    bool compares = s->strength == 4;
    if (s->strength < strength) strbuf_add(out, "(");
    if (e->n_args == 2) print_at(e->args[0], s->strength + compares, rng, out);
    strbuf_add(out, s->text);
    print_at(e->args[e->n_args - 1], s->strength + (e->n_args == 2), rng, out);
    if (s->strength < strength) strbuf_add(out, ")");
}

static void print_if(const struct random_scalar *e, int strength, struct pcg32 *rng, struct strbuf *out)
{
    static const char *const words[] = {"if ", " then ", " else "};
    if (strength > 1) strbuf_add(out, "(");
    for (int i = 0; i < 3; i++) {
        strbuf_add(out, words[i]);
        print_at(e->args[i], 1, rng, out);
    }
    if (strength > 1) strbuf_add(out, ")");
}

static void print_call(const struct random_scalar *e, struct pcg32 *rng, struct strbuf *out)
{
    strbuf_add(out, scalar_op_name(e->op));
    for (unsigned i = 0; i < e->n_args; i++) {
        strbuf_add(out, i ? ", " : "(");
        print_at(e->args[i], 1, rng, out);
    }
    strbuf_add(out, ")");
}

static void print_at(const struct random_scalar *e, int strength, struct pcg32 *rng, struct strbuf *out)
{
    if (!e->n_args) {
        print_leaf(e, out);
        return;
    }
    bool named = pcg32_below(rng, 4) == 0;
    for (size_t i = 0; !named && i < sizeof signs / sizeof signs[0]; i++)
        if (signs[i].op == e->op) {
            print_infix(e, &signs[i], strength, rng, out);
            return;
        }
    if (!named && e->op == SCALAR_SELECT)
        print_if(e, strength, rng, out);
    else
        print_call(e, rng, out);
}

void random_scalar_print(const struct random_scalar *e, struct pcg32 *rng, struct strbuf *out)
{
    print_at(e, 1, rng, out);
}

void random_scalar_program(const char *expression, bool half, struct strbuf *out)
{
    strbuf_add(out, "size N\n");
    for (int i = 0; i < RANDOM_INPUTS; i++)
        strbuf_printf(out, "input %c: [%s]N\n", input_names[i],
                      scalar_type_name(random_input_types[i] == SCALAR_HALF && !half
                                           ? SCALAR_FLOAT
                                           : random_input_types[i]));
    strbuf_printf(out, "output map(fun (a, b, c, d, h, i, j) -> %s, zip(a, b, c, d, h, i, j))\n", expression);
}

/* ---- values ---- */

static double round_half(double x)
{
    int exponent;
    if (!isfinite(x) || x == 0) return x;
    double digits = frexp(x, &exponent);
    int lost = exponent < -13 ? -13 - exponent : 0;
    double y = ldexp(nearbyint(ldexp(digits, 11 - lost)), exponent - 11 + lost);
    return fabs(y) > 65504 ? copysign(INFINITY, y) : y;
}

static double rounded(enum scalar_type type, double x)
{
    if (type == SCALAR_FLOAT) return (double)(float)x;
    return type == SCALAR_HALF ? round_half(x) : x;
}

double random_scalar_draw(struct pcg32 *rng, enum scalar_type type)
{
    if (type != SCALAR_INT)
        return rounded(type, pcg32_below(rng, 3) ? pcg32_unit(rng) * 4 - 2 : pcg32_below(rng, 5) - 2.0);
    return pcg32_below(rng, 3) ? pcg32_below(rng, 40) - 20.0 : (double)(int32_t)pcg32_next(rng);
}

static int32_t int_value(enum scalar_op op, int64_t x, int64_t y)
{
    switch (op) {
    case SCALAR_ADD:
        return (int32_t)(x + y);
    case SCALAR_SUB:
        return (int32_t)(x - y);
    case SCALAR_MULT:
        return (int32_t)(x * y);
    case SCALAR_DIV:
        return y == 0 ? 0 : (int32_t)(x / y);
    case SCALAR_MOD:
        return (int32_t)(y == 0 ? x : x % y);
    case SCALAR_MIN:
        return (int32_t)(x < y ? x : y);
    case SCALAR_MAX:
        return (int32_t)(x > y ? x : y);
    case SCALAR_NEG:
        return (int32_t)-x;
    case SCALAR_ABS:
        return (int32_t)(x < 0 ? -x : x);
    case SCALAR_BITAND:
        return (int32_t)(x & y);
    case SCALAR_BITOR:
        return (int32_t)(x | y);
    case SCALAR_BITXOR:
        return (int32_t)(x ^ y);
    case SCALAR_SHL:
        return (int32_t)((uint64_t)x << (y & 31));
    case SCALAR_SHR:
        return (int32_t)(x >> (y & 31));
    default:
        cr_assert_fail("%s of int", scalar_op_name(op));
        return 0;
    }
}

/* Values of functions, and the ulps of OpenCL C 1.2, table 7.4. */
struct function {
    enum scalar_op op;
    double ulps;
    double (*one)(double);
    double (*two)(double, double);
};

static double rsqrt_of(double x)
{
    return 1 / sqrt(x);
}

static double sign_of(double x)
{
    return x != x ? 0 : (x > 0) - (x < 0);
}

static const struct function functions[] = {
    {SCALAR_SQRT, 3, sqrt, NULL},    {SCALAR_RSQRT, 2, rsqrt_of, NULL}, {SCALAR_EXP, 3, exp, NULL},
    {SCALAR_EXP2, 3, exp2, NULL},    {SCALAR_LOG, 3, log, NULL},        {SCALAR_LOG2, 3, log2, NULL},
    {SCALAR_LOG10, 3, log10, NULL},  {SCALAR_SIN, 4, sin, NULL},        {SCALAR_COS, 4, cos, NULL},
    {SCALAR_TAN, 5, tan, NULL},      {SCALAR_ASIN, 4, asin, NULL},      {SCALAR_ACOS, 4, acos, NULL},
    {SCALAR_ATAN, 5, atan, NULL},    {SCALAR_SINH, 4, sinh, NULL},      {SCALAR_COSH, 4, cosh, NULL},
    {SCALAR_TANH, 5, tanh, NULL},    {SCALAR_ERF, 16, erf, NULL},       {SCALAR_FLOOR, 0, floor, NULL},
    {SCALAR_CEIL, 0, ceil, NULL},    {SCALAR_ROUND, 0, round, NULL},    {SCALAR_TRUNC, 0, trunc, NULL},
    {SCALAR_SIGN, 0, sign_of, NULL}, {SCALAR_ABS, 0, fabs, NULL},       {SCALAR_MIN, 0, NULL, fmin},
    {SCALAR_MAX, 0, NULL, fmax},     {SCALAR_POW, 16, NULL, pow},       {SCALAR_HYPOT, 4, NULL, hypot},
    {SCALAR_ATAN2, 6, NULL, atan2},
};

static double function_value(const struct random_scalar *e, const double *x, struct pcg32 *rng)
{
    double ulp = e->type == SCALAR_FLOAT ? 0x1p-23 : e->type == SCALAR_HALF ? 0x1p-10 : 0x1p-52;
    for (size_t i = 0; i < sizeof functions / sizeof functions[0]; i++) {
        const struct function *f = &functions[i];
        if (f->op != e->op) continue;
        double y = f->one ? f->one(x[0]) : f->two(x[0], x[1]);
        return f->ulps > 0 ? y * (1 + (pcg32_unit(rng) * 2 - 1) * (f->ulps - 1) * ulp / 2) : y;
    }
    cr_assert_fail("no value of %s", scalar_op_name(e->op));
    return 0;
}

static bool comparison_value(enum scalar_op op, double x, double y)
{
    switch (op) {
    case SCALAR_LT:
        return x < y;
    case SCALAR_LE:
        return x <= y;
    case SCALAR_GT:
        return x > y;
    case SCALAR_GE:
        return x >= y;
    case SCALAR_EQ:
        return x == y;
    default:
        return x != y;
    }
}

static double real_value(const struct random_scalar *e, const double *x, struct pcg32 *rng)
{
    switch (e->op) {
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
    case SCALAR_NEG:
        return -x[0];
    default:
        return function_value(e, x, rng);
    }
}

static double int_of(double x)
{
    if (x != x) return 0;
    return x >= 0x1p31 ? INT32_MAX : x <= -0x1p31 ? INT32_MIN : (double)(int32_t)x;
}

static double op_value(const struct random_scalar *e, const double *x, struct pcg32 *rng)
{
    if (e->op == SCALAR_SELECT) return x[0] != 0 ? x[1] : x[2];
    if (e->op == SCALAR_TO_INT) return int_of(x[0]);
    if (scalar_op_converts(e->op)) return rounded(e->type, x[0]);
    if (scalar_op_compares(e->op)) return comparison_value(e->op, x[0], x[1]);
    if (e->op == SCALAR_AND) return x[0] != 0 && x[1] != 0;
    if (e->op == SCALAR_OR) return x[0] != 0 || x[1] != 0;
    if (e->op == SCALAR_NOT) return x[0] == 0;
    if (e->type == SCALAR_INT) return int_value(e->op, (int64_t)x[0], e->n_args > 1 ? (int64_t)x[1] : 0);
    return rounded(e->type, real_value(e, x, rng));
}

double random_scalar_value(const struct random_scalar *e, const double *inputs, struct pcg32 *rng)
{
    double x[SCALAR_MAX_ARITY];
    if (!e->n_args) return e->input < RANDOM_INPUTS ? inputs[e->input] : rounded(e->type, e->number);
    for (unsigned i = 0; i < e->n_args; i++)
        x[i] = random_scalar_value(e->args[i], inputs, rng);
    return op_value(e, x, rng);
}
