/* The language piece by piece: what a text normalizes to, and what it computes. */
#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

#include "core/base/arena.h"
#include "core/base/strbuf.h"
#include "core/lift/lift.h"
#include "core/lift/size.h"

#define HEADER "size M, N\ninput A: [[float]N]M\ninput x: [float]N\n"

static struct lift_program *bound_program(const char *text, const struct lift_size_value *values, unsigned n,
                                          struct arena *a)
{
    struct diag *d = diag_new();
    struct source *source = ARENA_NEW(a, struct source);
    *source = (struct source){"test.lift", text, strlen(text)};
    struct lift_program *p = lift_parse(source, a, d);
    bool ok = p && lift_bind(p, values, n, a, d);
    cr_assert(ok, "%s\n%s", diag_message(d, 0), text);
    diag_free(d);
    return p;
}

/* A program over HEADER with M = 4, N = 8. */
static struct lift_program *matrix_program(const char *body, struct arena *a)
{
    static const struct lift_size_value values[] = {{"M", 4}, {"N", 8}};
    return bound_program(arena_printf(a, HEADER "%s", body), values, 2, a);
}

static void expect_output(const char *body, const char *normalized)
{
    struct arena *a = arena_new();
    struct strbuf text = {0};
    lift_print(matrix_program(body, a), &text);
    cr_expect_str_eq(text.text + strlen(HEADER "output "), arena_printf(a, "%s\n", normalized));
    strbuf_free(&text);
    arena_free(a);
}

/* A[i][j] = 10 i + j, x[j] = j + 1: the result has n elements and they sum to `sum`. */
static void expect_sum(const char *body, int64_t n, double sum)
{
    struct arena *a = arena_new();
    struct lift_program *p = matrix_program(body, a);
    double matrix[32], vector[8], out[64];
    for (int i = 0; i < 32; i++)
        matrix[i] = i / 8 * 10 + i % 8;
    for (int j = 0; j < 8; j++)
        vector[j] = j + 1;
    const double *in[] = {matrix, vector};
    cr_assert_eq(lift_type_scalars(p->output->type), n, "%s", body);
    lift_interpret(p, in, p->n_inputs, out);
    for (int64_t i = 0; i < n; i++)
        sum -= out[i];
    cr_expect_float_eq(sum, 0, 1e-9, "%s: off by %g", body, sum);
    arena_free(a);
}

Test(lift_language, functions_become_lambdas)
{
    expect_output("output map(sqrt, x)", "map(fun x_2 -> sqrt(x_2), x)");
    expect_output("output map(mult(2), x)", "map(fun x_2 -> mult(2.0, x_2), x)");
    expect_output("output map(mult, zip(x, x))", "map(fun x_2 -> mult(get(0, x_2), get(1, x_2)), zip(x, x))");
    expect_output("output map(reduce(add, 0.0), A)",
                  "map(fun x_2 -> reduce(fun x_3 x_4 -> add(x_3, x_4), 0.0, x_2), A)");
    expect_output("output map(get(1), zip(x, x))", "map(fun x_2 -> get(1, x_2), zip(x, x))");
    expect_output("output map(fun (a, b) -> a - b, zip(x, x))",
                  "map(fun t -> sub(get(0, t), get(1, t)), zip(x, x))");
}

Test(lift_language, calls_in_every_form)
{
    expect_output("output join(split(2)(x))", "join(split(2, x))");
    expect_output("output x |> split(N / 2) |> transpose |> join", "join(transpose(split(N / 2, x)))");
    expect_output("output split(N + (2 - 6), x) |> join", "join(split(N + -4, x))");
    expect_output("output (fun a b -> a + b)(1, 2)", "add(1.0, 2.0)");
    expect_output("output map2(neg, A)", "map(fun x_2 -> map(fun x_3 -> neg(x_3), x_2), A)");
}

Test(lift_language, infix_binds_as_in_c)
{
    expect_output("output 1 - 2 * -3 / (4 + N) - 5", "sub(sub(1.0, div(mult(2.0, -3.0), add(4.0, N))), 5.0)");
    expect_output("output 0.1 + 1e30 + 1.5f", "add(add(0.1, 1e+30), 1.5)");
}

Test(lift_language, arguments_used_twice_are_named)
{
    expect_output("fun sq(v) = v * v\noutput sq(head(x))", "let v = head(x) in mult(v, v)");
    expect_output("fun twice(v) = 2 * v\noutput twice(head(x))", "mult(2.0, head(x))");
    expect_output("fun f(c, v) = map(fun e -> c * e, v)\noutput f(head(x), x)",
                  "let c = head(x) in map(fun e -> mult(c, e), x)");
}

/* p uses its argument once, what p hands it on to uses it twice. */
Test(lift_language, arguments_handed_on_are_named)
{
    expect_output("fun sq(v) = v * v\nfun p(v) = sq(v)\noutput p(head(x))", "let v = head(x) in mult(v, v)");
    expect_output("fun sq(v) = v * v\nfun p(v) = sq(v)\noutput map(p, x)", "map(fun v -> mult(v, v), x)");
    expect_output("fun sq(v) = v * v\nfun p(v) = sq(v)\noutput p(2)", "mult(2.0, 2.0)");
}

Test(lift_language, sizes_are_computed_from_parameters)
{
    expect_output("fun chunks(k, a) = map(fun r -> split(2 * k, r), a)\noutput chunks(2, A)",
                  "map(fun r -> split(4, r), A)");
    expect_sum("fun block(k, a) = untile(tile(k, 2 * k, a))\noutput block(N / 4, A)", 32, 18.5 * 32);
}

static void expect_bound_program(const char *text, const struct lift_size_value *values, unsigned n)
{
    struct arena *a = arena_new();
    bound_program(text, values, n, a);
    arena_free(a);
}

Test(lift_language, sizes_may_be_called_as_macros_and_their_parameters_are)
{
    static const struct lift_size_value parameters[] = {{"m", 4}, {"n", 8}, {"a", 2}};
    expect_bound_program("size m, n, a\ninput A: [[float]n]m\noutput untile(tile(2, a, A))\n", parameters, 3);
    static const struct lift_size_value macros[] = {{"tile", 4}, {"sum", 8}};
    expect_bound_program(
        "size sum, tile\ninput x: [float]sum\noutput map(dot(x), split(sum, join(split(tile, x))))\n", macros,
        2);
    expect_bound_program("size sum, tile\ninput x: [float]sum\noutput map(fun v -> v / tile, x)\n", macros,
                         2);
}

Test(lift_language, names_never_capture)
{
    expect_output(
        "fun f(c) = map(fun r -> map(fun e -> e * c, x), A)\noutput map(fun e -> head(head(f(e))), x)",
        "map(fun e -> head(head(map(fun r -> map(fun e_2 -> mult(e_2, e), x), A))), x)");
}

Test(lift_language, typed_functions_are_checked_and_inlined)
{
    expect_output("fun f(v: float, w: float): float = { v * w }\noutput map(f, zip(x, x))",
                  "map(fun t -> mult(get(0, t), get(1, t)), zip(x, x))");
}

Test(lift_language, views_move_every_element)
{
    expect_sum("output A", 32, 15 * 32 + 3.5 * 32);
    expect_sum("output transpose(A)", 32, 15 * 32 + 3.5 * 32);
    expect_sum("output join(A)", 32, 15 * 32 + 3.5 * 32);
    expect_sum("output tail(tail(x))", 6, 33);
    expect_sum("output head(tail(A))", 8, 108);
    expect_sum("output head(transpose(A))", 4, 60);
    expect_sum("output head(tail(split(2, x)))", 2, 7);
    expect_sum("output map(fun r -> join(split(2, r)), A)", 32, 15 * 32 + 3.5 * 32);
    expect_sum("output get(1, unzip(zip(tail(x), map(neg, tail(x)))))", 7, -35);
}

Test(lift_language, untile_undoes_tile)
{
    expect_sum(
        "output map(fun (r, s) -> map(fun (a, b) -> abs(a - b), zip(r, s)), zip(untile(tile(2, 4, A)), A))",
        32, 0);
    expect_sum("output head(head(tile(2, 4, A)))", 8, 2 * (0 + 1 + 2 + 3) + 40);
}

Test(lift_language, reductions)
{
    expect_sum("output reduce(max, -1000, x)", 1, 8);
    expect_sum("output dot(x, x)", 1, 204);
    expect_sum("output get(1, reduce(fun (a, b) (v, w) -> (a + v, b + w), (0, 0), zip(x, map(neg, x))))", 1,
               -36);
    expect_sum("let n = sqrt(dot(x, x))\noutput sum(map(fun v -> v * v, map(fun v -> v / n, x)))", 1, 1);
    expect_sum("output sum(x) / N", 1, 4.5);
}

/* More steps than the interpreter keeps at a time. */
Test(lift_language, long_reduction)
{
    struct arena *a = arena_new();
    const struct lift_size_value n = {"N", 5000};
    struct lift_program *p =
        bound_program("size N\ninput x: [double]N\noutput reduce(fun s v -> fma(v, v, s), 0, x)", &n, 1, a);
    double *x = ARENA_ARRAY(a, double, n.value), out;
    for (int i = 0; i < n.value; i++)
        x[i] = i;
    const double *in[] = {x};
    lift_interpret(p, in, p->n_inputs, &out);
    cr_assert_eq(out, 4999.0 * 5000 * 9999 / 6);
    arena_free(a);
}

/* The accumulator, a tuple in a tuple, outlives what the steps leave behind. */
Test(lift_language, long_reduction_to_a_tuple)
{
    struct arena *a = arena_new();
    const struct lift_size_value n = {"N", 5000};
    struct lift_program *p =
        bound_program("size N\ninput x: [double]N\noutput let t = reduce(fun ((s, (m, c)), v) -> (s + v, "
                      "(max(m, v), c + 1)), "
                      "(0, (0, 0)), x) in get(0, t) + get(0, get(1, t)) - get(1, get(1, t))",
                      &n, 1, a);
    double *x = ARENA_ARRAY(a, double, n.value), out;
    for (int i = 0; i < n.value; i++)
        x[i] = i;
    const double *in[] = {x};
    lift_interpret(p, in, p->n_inputs, &out);
    cr_assert_eq(out, 4999.0 * 5000 / 2 + 4999 - 5000);
    arena_free(a);
}

/* |y - value| <= (n + 1) u s for the same operations in single precision. */
static void expect_bound(const char *expression, float rounded)
{
    struct arena *a = arena_new();
    struct lift_program *p =
        bound_program(arena_printf(a, "input a: float\ninput b: float\noutput %s", expression), NULL, 0, a);
    const double left = 0.1f, right = 3.7f;
    const double *in[] = {&left, &right};
    struct lift_value_bound r = lift_interpret_element(p, in, p->n_inputs, 0);
    cr_expect_leq(fabs((double)rounded - r.value), (r.n + 1) * 0x1p-24 * r.s, "%s", expression);
    cr_expect_geq(r.s, fabs(r.value) * (1 - 1e-12), "%s", expression);
    arena_free(a);
}

Test(lift_language, bounds_hold_in_single_precision)
{
    volatile float a = 0.1f, b = 3.7f;
    volatile float sum = a + b, product = a * b, quotient = a / b, difference = a - b;
    expect_bound("a + b", sum);
    expect_bound("(a + b) * (a - b)", sum * difference);
    expect_bound("(a + b) / (a * b)", sum / product);
    expect_bound("sqrt(a / b)", sqrtf(quotient));
    expect_bound("exp((a + b) * (a + b))", expf(sum * sum));
    expect_bound("log(a * b)", logf(product));
    expect_bound("rsqrt(a * b)", 1 / sqrtf(product));
    expect_bound("sin(a + b)", sinf(sum));
    expect_bound("max(-(a + b), abs(a - b))", fabsf(difference));
}

/* s of output 0 of an expression over x = {-3, 1, 2}. */
static double bound_of(const char *expression)
{
    struct arena *a = arena_new();
    const double x[] = {-3, 1, 2}, *in[] = {x};
    struct lift_program *p =
        bound_program(arena_printf(a, "input x: [float]3\noutput %s", expression), NULL, 0, a);
    struct lift_value_bound r = lift_interpret_element(p, in, p->n_inputs, 0);
    arena_free(a);
    return r.s;
}

Test(lift_language, constants_that_no_maximum_selects_have_no_bound)
{
    cr_expect_eq(bound_of("reduce(max, -1e30, x)"), 3);
    cr_expect_eq(bound_of("reduce(min, 1e30, x)"), 3);
    cr_expect_eq(bound_of("reduce(max, neg(1e30) * 2, map(fun v -> v * v, x))"), 9);
    cr_expect_eq(bound_of("map(fun v -> max(-1e30, v), x)"), 3);
    cr_expect_eq(bound_of("map(fun v -> max(0, v), x)"), 3);
    cr_expect_eq(bound_of("map(fun v -> max(v, 100), x)"), 100);
    cr_expect_eq(bound_of("map(fun v -> max(v, -5), x)"), 5);
    cr_expect_geq(bound_of("map(fun v -> max(1e30 * v, v), x)"), 1e30);
}

Test(lift_language, only_some_operations_are_exact)
{
    struct arena *a = arena_new();
    const double one = 1, *in[] = {&one};
    cr_expect(lift_interpret_element(bound_program("input a: float\noutput max(a * a - 2, 0)", NULL, 0, a),
                                     in, 1, 0)
                  .exact_ops);
    cr_expect_not(
        lift_interpret_element(bound_program("input a: float\noutput 1 + a / 3", NULL, 0, a), in, 1, 0)
            .exact_ops);
    arena_free(a);
}

Test(lift_language, literals_take_the_type_around_them)
{
    struct arena *a = arena_new();
    struct lift_program *p =
        bound_program("input a: [double]4\noutput reduce(fun s v -> s + (1 + 2) * v, 0, a)", NULL, 0, a);
    cr_expect_eq(p->output->type->scalar, SCALAR_DOUBLE);
    p = bound_program("input a: int\noutput (1 + 2) * a", NULL, 0, a);
    cr_expect_eq(p->output->type->scalar, SCALAR_INT);
    arena_free(a);
}

/* The text of a bound program. */
static char *printed_program(const char *text, const struct lift_size_value *values, unsigned n,
                             struct arena *a)
{
    struct diag *d = diag_new();
    struct strbuf out = {0};
    struct lift_program *p = bound_program(text, values, n, a);
    cr_assert(lift_bind(p, values, n, a, d), "bound again: %s", diag_message(d, 0));
    lift_print(p, &out);
    char *copy = arena_strdup(a, out.text);
    strbuf_free(&out);
    diag_free(d);
    return copy;
}

Test(lift_language, types_of_literals_are_printed)
{
    static const char *const outputs[][2] = {
        {"let c = (2 : int) in map(fun v -> v * c, x)", "let c = (2.0 : int) in map(fun v -> mult(v, c), x)"},
        {"map(fun v -> v + ((1 + 2 : int) : int), x)", "map(fun v -> add(v, (add(1.0, 2.0) : int)), x)"},
        {"let t = ((1, 2) : (int, int)) in map(fun v -> v + get(0, t), x)",
         "let t = ((1.0, 2.0) : (int, int)) in map(fun v -> add(v, get(0, t)), x)"},
        {"map(fun v -> (v + 1 : int), x)", "map(fun v -> add(v, 1.0), x)"},
    };
    static const struct lift_size_value n = {"N", 4};
    for (size_t i = 0; i < sizeof outputs / sizeof outputs[0]; i++) {
        struct arena *a = arena_new();
        const char *head = "size N\ninput x: [int]N\noutput ";
        char *once = printed_program(arena_printf(a, "%s%s\n", head, outputs[i][0]), &n, 1, a);
        cr_expect_str_eq(once, arena_printf(a, "%s%s\n", head, outputs[i][1]));
        cr_expect_str_eq(printed_program(once, &n, 1, a), once);
        arena_free(a);
    }
}

Test(lift_language, ranges_of_inputs_are_kept)
{
    struct arena *a = arena_new();
    static const struct lift_size_value n = {"N", 4};
    const char *text = "size N\ninput x: [float]N in -0.5..2\ninput y: [float]N in .1 .. 1e3\n"
                       "input k: [int]N in 1..3\ninput z: [float]N\noutput map(mult, zip(x, y))\n";
    char *once = printed_program(text, &n, 1, a);
    cr_expect_str_eq(once, "size N\ninput x: [float]N in -0.5..2.0\ninput y: [float]N in 0.1..1e+03\n"
                           "input k: [int]N in 1.0..3.0\ninput z: [float]N\n"
                           "output map(fun x_2 -> mult(get(0, x_2), get(1, x_2)), zip(x, y))\n");
    cr_expect_str_eq(printed_program(once, &n, 1, a), once);
    const struct lift_program *p = bound_program(text, &n, 1, a);
    const struct lift_range *r = &p->inputs[0]->range, *whole = &p->inputs[2]->range;
    cr_expect(r->given && r->low == -0.5 && r->high == 2 && !p->inputs[3]->range.given);
    cr_expect_eq(lift_range_draw(r, SCALAR_FLOAT, 0.5), 0.75);
    cr_expect_eq(lift_range_draw(whole, SCALAR_INT, 0), 1);
    cr_expect_eq(lift_range_draw(whole, SCALAR_INT, 0.99), 3);
    arena_free(a);
}

Test(lift_language, ranges_are_part_of_the_fingerprint)
{
    struct arena *a = arena_new();
    static const char *const inputs[] = {"input x: float", "input x: float in 0..1",
                                         "input x: float in 0..2"};
    uint64_t prints[3];
    for (int i = 0; i < 3; i++)
        prints[i] = lift_fingerprint(bound_program(arena_printf(a, "%s\noutput x\n", inputs[i]), NULL, 0, a));
    cr_expect(prints[0] != prints[1] && prints[1] != prints[2] && prints[0] != prints[2]);
    arena_free(a);
}

Test(lift_language, bind_again_with_other_sizes)
{
    struct arena *a = arena_new();
    struct diag *d = diag_new();
    struct lift_program *p = matrix_program("output join(A)", a);
    const struct lift_size_value values[] = {{"N", 3}, {"M", 2}};
    cr_assert(lift_bind(p, values, 2, a, d));
    cr_expect_eq(p->output->type->extent, 6);
    cr_expect_str_eq(p->inputs[0]->name, "A");
    diag_free(d);
    arena_free(a);
}

Test(lift_language, sizes_fold_and_print)
{
    struct arena *a = arena_new();
    struct strbuf text = {0};
    const struct lift_size *n = lift_size_param(a, 0, "N"), *two = lift_size_const(a, 2);
    const struct lift_size *half = lift_size_op(a, LIFT_SIZE_DIV, n, two);
    cr_expect_eq(lift_size_op(a, LIFT_SIZE_MUL, half, two), n);
    const struct lift_size *less =
        lift_size_op(a, LIFT_SIZE_SUB, half, lift_size_op(a, LIFT_SIZE_SUB, n, two));
    lift_size_print(lift_size_op(a, LIFT_SIZE_MUL, two, less), &text);
    cr_expect_str_eq(text.text, "2 * (N / 2 - (N - 2))");
    struct lift_size_param param = {.name = "N", .value = 7};
    int64_t value;
    cr_expect_eq(lift_size_value(half, &param, &value), LIFT_SIZE_INEXACT);
    cr_expect_eq(lift_size_value(lift_size_op(a, LIFT_SIZE_DIV, n, lift_size_const(a, 0)), &param, &value),
                 LIFT_SIZE_BY_ZERO);
    strbuf_free(&text);
    arena_free(a);
}

Test(lift_language, scalar_table)
{
    const double args[] = {4, 2, 3};
    cr_expect_eq(scalar_op_find("fma", 3), SCALAR_FMA);
    cr_expect_eq(scalar_op_find("fm", 2), SCALAR_OP_COUNT);
    cr_expect_eq(scalar_op_apply(SCALAR_FMA, SCALAR_FLOAT, args), 11);
    cr_expect_eq(scalar_op_apply(SCALAR_RSQRT, SCALAR_FLOAT, args), 0.5);
    cr_expect_eq(scalar_type_bytes(SCALAR_HALF), 2);
    cr_expect_eq(scalar_type_precision(SCALAR_DOUBLE), 53);
    for (int op = 0; op < SCALAR_OP_COUNT; op++) {
        const char *name = scalar_op_name((enum scalar_op)op);
        cr_expect_eq(scalar_op_find(name, (unsigned)strlen(name)), (enum scalar_op)op);
    }
}
