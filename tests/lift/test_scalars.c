/* Scalar expressions: random ones over all operations and types against an evaluation of their own, and the
 * corners of integers, conditions and conversions one by one. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/arena.h"
#include "core/lift/lift.h"
#include "tests/lift/random_scalar.h"
#include "tests/fixture/longer.h"

static struct lift_program *scalar_program(const char *text, struct arena *a)
{
    struct diag *d = diag_new();
    struct source *source = ARENA_NEW(a, struct source);
    *source = (struct source){"test.lift", text, strlen(text)};
    struct lift_program *p = lift_parse(source, a, d);
    const struct lift_size_value n = {"N", 1};
    bool ok = p && lift_bind(p, &n, p->n_sizes, a, d);
    cr_assert(ok, "%s\n%s", diag_message(d, 0), text);
    diag_free(d);
    return p;
}

/* ---- random expressions ---- */

static void expect_fixed_point(const struct lift_program *p, struct arena *a)
{
    struct strbuf once = {0}, twice = {0};
    lift_print(p, &once);
    lift_print(scalar_program(once.text, a), &twice);
    cr_expect_str_eq(once.text, twice.text);
    strbuf_free(&once);
    strbuf_free(&twice);
}

/* Whether the value that a device may have is one that the interpreter's bound allows. Where the bound is as
 * large as the value, an analysis of first order says nothing, unless it is due to a jump. */
static bool is_covered(enum scalar_type type, struct lift_value_bound v, double y)
{
    double u = ldexp(1, -(int)scalar_type_precision(type)), smallest = scalar_type_smallest(type);
    if (v.exact && type == SCALAR_INT) return y == v.value;
    if (!isfinite(v.s) || v.overflows || y == v.value) return true;
    if (isnan(v.value)) return isnan(y);
    double error = (v.n + 1) * (u * v.s + smallest);
    return fabs(y - v.value) <= error || (!v.jumps && error > fabs(v.value) / 2);
}

static void check_random(uint64_t seed)
{
    struct arena *a = arena_new();
    struct pcg32 rng = pcg32_seed(seed, 3);
    static const enum scalar_type types[] = {SCALAR_FLOAT, SCALAR_DOUBLE, SCALAR_HALF, SCALAR_INT};
    const struct random_scalar *e =
        random_scalar_new(a, &rng, types[seed % 4], 1 + pcg32_below(&rng, 4), true);
    struct strbuf expression = {0}, text = {0};
    random_scalar_print(e, &rng, &expression);
    random_scalar_program(expression.text, true, &text);
    const struct lift_program *p = scalar_program(text.text, a);
    expect_fixed_point(p, a);
    for (int round = 0; round < 20; round++) {
        double x[RANDOM_INPUTS];
        const double *in[RANDOM_INPUTS];
        for (int i = 0; i < RANDOM_INPUTS; i++) {
            x[i] = random_scalar_draw(&rng, random_input_types[i]);
            in[i] = &x[i];
        }
        struct lift_value_bound v = lift_interpret_element(p, in, p->n_inputs, 0);
        double y = random_scalar_value(e, x, &rng);
        cr_expect(is_covered(e->type, v, y),
                  "seed %llu: %s = %.17g, not %.17g (n %g s %g exact %d jumps %d)\n"
                  "a %.17g b %.17g c %.17g d %.17g h %.17g i %.17g j %.17g",
                  (unsigned long long)seed, expression.text, y, v.value, v.n, v.s, v.exact, v.jumps, x[0],
                  x[1], x[2], x[3], x[4], x[5], x[6]);
    }
    strbuf_free(&expression);
    strbuf_free(&text);
    arena_free(a);
}

Test(lift_scalars, random_expressions)
{
    const char *seed = getenv("THRESH_SEED");
    uint64_t n = longer(1500, 100000);
    if (seed)
        check_random(strtoull(seed, NULL, 10));
    else
        for (uint64_t i = 0; i < n; i++)
            check_random(i);
}

/* ---- corners ---- */

/* The value of an expression without inputs, or over k = 7, x = 0.75, z = 0. */
static struct lift_value_bound corner(const char *expression)
{
    struct arena *a = arena_new();
    const double k = 7, x = 0.75, z = 0, *in[] = {&k, &x, &z};
    const char *text =
        arena_printf(a, "input k: int\ninput x: float\ninput z: float\noutput %s\n", expression);
    const struct lift_program *p = scalar_program(text, a);
    struct lift_value_bound v = lift_interpret_element(p, in, p->n_inputs, 0);
    arena_free(a);
    return v;
}

static const struct corner_case {
    const char *expression;
    double value;
} corner_cases[] = {
    {"k + 2147483647", -2147483642},
    {"k * 1000000000 - 2147483647", 557549057},
    {"-k / 2", -3},
    {"-k % 2", -1},
    {"k % -2", 1},
    {"k / 0", 0},
    {"k % 0", 7},
    {"(k - 2147483647 - 8) / -1", -2147483648.0},
    {"(k - 2147483647 - 8) % -1", 0},
    {"abs(k - 2147483647 - 8)", -2147483648.0},
    {"-(k - 2147483647 - 8)", -2147483648.0},
    {"shl(k, 33)", 14},
    {"shl(k, 31)", -2147483648.0},
    {"shr(-k, 1)", -4},
    {"bitand(k, -2)", 6},
    {"bitor(k, 8)", 15},
    {"bitxor(k, -1)", -8},
    {"min(k, 3) + max(k, 30)", 33},
    {"int(x)", 0},
    {"int(-2.9 * x / x)", -2},
    {"int(1e20 * x)", 2147483647},
    {"int(-1e20 * x)", -2147483648.0},
    {"int(z / z)", 0},
    {"float(k) / 2", 3.5},
    {"double(0.1)", 0.1},
    {"float(half(x))", 0.75},
    {"if x < 1 && !(x <= 0.5) || k == 8 then 1 else 0", 1},
    {"if x == 0.75 then k else 0", 7},
    {"if x != 0.75 || false then 1 else 2", 2},
    {"if k > 7 then 1 else if k >= 7 then 2 else 3", 2},
    {"select(and(true, not(false)), x, 2)", 0.75},
    {"if x > z then x else log(-x)", 0.75},
    {"if 1 + 2 * 3 == 7 then 1 else 0", 1},
    {"(fun (a, b) -> a + b)(if x < 1 then (x, 2) else (1, x))", 2.75},
    {"let (a, b) = (x, k) in a * float(b)", 5.25},
    {"let (a, (b, c)) = (1, (x, 3)) in a + b * c", 3.25},
};

Test(lift_scalars, corners_of_operations)
{
    for (size_t i = 0; i < sizeof corner_cases / sizeof corner_cases[0]; i++) {
        const struct corner_case *c = &corner_cases[i];
        struct lift_value_bound v = corner(c->expression);
        cr_expect_eq(v.value, c->value, "%s is %.17g", c->expression, v.value);
        cr_expect_not(v.jumps, "%s", c->expression);
    }
}

/* ---- bounds of what jumps ---- */

Test(lift_scalars, a_branch_that_is_not_taken_has_no_part_in_the_bound)
{
    cr_expect_eq(corner("if x > 0.5 then x else 1e30 * x").s, 0.75);
    cr_expect(isfinite(corner("if x > 0.5 then x else log(-x)").s));
    cr_expect_not(corner("if x > 0.5 then x else x * 1e38 * 1e38").overflows);
}

/* How far off a device may be. */
static double off(struct lift_value_bound v)
{
    return (v.n + 1) * 0x1p-24 * v.s;
}

Test(lift_scalars, a_comparison_within_its_rounding_error_may_go_either_way)
{
    struct lift_value_bound near = corner("if x / 3 * 3 < x then 1 else 5"),
                            exact = corner("if x < 0.75 then 1 else 5"),
                            apart = corner("if x / 3 * 3 < 0.751 then 1 else 5"),
                            same = corner("if x / 3 * 3 < x then 5 else 5");
    cr_expect(near.jumps && off(near) >= 4, "%g", off(near));
    cr_expect(!exact.jumps && off(exact) < 1e-6);
    cr_expect(!apart.jumps && off(apart) < 1e-6);
    cr_expect(!same.jumps);
    cr_expect(corner("floor(x / 0.25)").jumps);
    cr_expect_not(corner("floor(x / 0.26)").jumps);
    cr_expect(corner("int(x / 0.25)").jumps);
    cr_expect(off(corner("float(int(x / 0.25))")) >= 1);
    cr_expect_not(corner("if x / 3 * 3 < x && z > 0 then 1 else 5").jumps, "one operand decides");
}

static double read_scalar(const void *ctx, unsigned array, int64_t i)
{
    return ((const double *)ctx)[array] + (double)i;
}

/* A product of x and y whose factors a device may round to TF32. */
static struct lift_value_bound rounded_product(double x, double y, const char *expression)
{
    struct arena *a = arena_new();
    const double in[] = {x, y};
    const char *text = arena_printf(a, "input x: float\ninput y: float\noutput %s\n", expression);
    const struct lift_program *p = scalar_program(text, a);
    struct lift_reader reader = {.read = read_scalar, .ctx = in, .rounds_factors = true};
    struct lift_value_bound v = lift_interpret_element_of(p, reader, p->n_inputs, 0);
    arena_free(a);
    return v;
}

/* Rounding a number to 11 bits takes at most 2^-11 of it away. */
Test(lift_scalars, factors_of_tf32)
{
    float x = 1 + 0x1p-11f, y = 3 - 0x1.8p-10f, third = 1 / 3.0f;
    struct lift_value_bound v = rounded_product(x, y, "x * y");
    cr_expect_geq(off(v), 0x1p-11 * 2 * (double)x * (double)y);
    cr_expect_lt(off(v), 0x1.1p-10 * (double)x * (double)y);
    cr_expect_lt(off(rounded_product(third, third, "x + y")), 1e-6, "no product");
    cr_expect_lt(off(rounded_product(third, 5, "x * 0.3 - y")), 2e-6, "a literal is not rounded, nor is x");
    cr_expect_lt(off(rounded_product(third, 5, "x * y")), 0x1.1p-11 * 5 / 3, "5 has 11 bits");
    v = rounded_product(2047, 3, "fma(x, y, 1)");
    cr_expect(v.exact && v.exact_ops && v.value == 6142, "%g", v.value);
    v = rounded_product(2049, 3, "fma(x, y, 1)");
    cr_expect(!v.exact && !v.exact_ops && off(v) >= 3, "%g", off(v));
    cr_expect(rounded_product(0x1.ffffp127, 0.25, "x * y").overflows);
}

Test(lift_scalars, whole_numbers_compare_exactly)
{
    struct lift_value_bound v = corner("if float(k) * 3 - 21 == z then 1 else 5");
    cr_expect(v.value == 1 && !v.jumps && v.exact_ops && v.fits);
    cr_expect_not(corner("float(k * 3000000)").fits);
}

/* The error of a conversion is in units of the new type. */
Test(lift_scalars, bounds_are_converted)
{
    cr_expect_geq(corner("float(half(x * 0.3))").s * corner("float(half(x * 0.3))").n, 0.2 * 0x1p13);
    cr_expect_lt(off(corner("float(double(x) / 3)")), 1e-6);
    cr_expect_eq(corner("float(k)").n, 0);
}
