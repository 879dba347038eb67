/* Patterns that choose elements by their index: each element of the result, the normalized text, and that it
 * is parsed back to the same program. */
#include <criterion/criterion.h>
#include <string.h>

#include "core/base/arena.h"
#include "core/base/strbuf.h"
#include "core/lift/lift.h"

#define HEADER "size N\ninput x: [float]N\n" /* N = 5: 1 2 3 4 5 */

enum { MOST_ELEMENTS = 16 };

struct window_case {
    const char *output;
    unsigned n;
    double elements[MOST_ELEMENTS];
};

static const struct window_case window_cases[] = {
    {"pad(2, 1, clamp, x)", 8, {1, 1, 1, 2, 3, 4, 5, 5}},
    {"pad(2, 2, mirror, x)", 9, {2, 1, 1, 2, 3, 4, 5, 5, 4}},
    {"pad(2, 2, wrap, x)", 9, {4, 5, 1, 2, 3, 4, 5, 1, 2}},
    {"pad(7, 0, wrap, x)", 12, {4, 5, 1, 2, 3, 4, 5, 1, 2, 3, 4, 5}},
    {"pad(0, 0, clamp, x)", 5, {1, 2, 3, 4, 5}},
    {"padConstant(1, 2, 9.0, x)", 8, {9, 1, 2, 3, 4, 5, 9, 9}},
    {"join(padConstant2(1, 0, 7.0, split(5, x)))", 12, {7, 7, 7, 7, 7, 7, 7, 1, 2, 3, 4, 5}},
    {"join(slide(3, 1, x))", 9, {1, 2, 3, 2, 3, 4, 3, 4, 5}},
    {"join(slide(2, 2, x))", 4, {1, 2, 3, 4}},
    {"map(sum, slide(3, 2, x))", 2, {6, 12}},
    {"map(fun w -> dot(w, [1.0, 10.0, 100.0]), slide(3, 1, x))", 3, {321, 432, 543}},
    {"reverse(x)", 5, {5, 4, 3, 2, 1}},
    {"concat(x, [7.0], reverse(x))", 11, {1, 2, 3, 4, 5, 7, 5, 4, 3, 2, 1}},
    {"at(N - 1, x)", 1, {5}},
    {"[at(0, x), 2.5, at(4, x)]", 3, {1, 2.5, 5}},
    {"generate(3, fun i -> at(i + 2, x))", 3, {3, 4, 5}},
    {"gather(fun i -> N - 1 - i, x)", 5, {5, 4, 3, 2, 1}},
    {"stride(2, concat(x, [6.0]))", 6, {1, 3, 5, 2, 4, 6}},
    {"iota(4)", 4, {0, 1, 2, 3}},
    {"map(fun i -> 2 * i - 1, reverse(indices(x)))", 5, {7, 5, 3, 1, -1}},
    {"iterate(3, map(fun v -> v + v), x)", 5, {8, 16, 24, 32, 40}},
    {"iterate(2, fun a -> map(sum, slide(2, 1, a)), x)", 3, {8, 12, 16}},
    {"scan(add, 0.0, x)", 5, {1, 3, 6, 10, 15}},
    {"reverse(scan(fun s v -> 2.0 * s + v, 1.0, reverse(x)))", 5, {161, 80, 39, 18, 7}},
    {"map(fun (s, n) -> s / n, scan(fun ((s, n), v) -> (s + v, n + 1.0), (0.0, 0.0), x))",
     5,
     {1, 1.5, 2, 2.5, 3}},
    {"scatter(fun i -> (i + 2) % 5, x)", 5, {4, 5, 1, 2, 3}},
    {"scatter(fun i -> let j = i * 2 in if j < N then j else j - N, x)", 5, {1, 4, 2, 5, 3}},
    {"join(scatter(fun i -> 3 - i, split(2, concat(scatter(fun i -> N - 1 - i, x), [6.0, 7.0, 8.0]))))",
     8,
     {7, 8, 1, 6, 3, 2, 5, 4}},
    {"[argmax(x), argmin(x), argmax(map(fun v -> (v - 2.5) * (v - 2.5), x)), argmin(map(fun v -> (v - 2.5) * "
     "(v - 2.5), x))]",
     4,
     {4, 0, 4, 1}},
    {"[argmax(map(fun v -> int(v) / 2, x)), argmin(map(fun v -> int(v) / 2, x)), argmax([lowest, lowest, "
     "lowest])]",
     3,
     {3, 0, 0}},
    {"map(fun v -> at((int(v) % N + N) % N, x), x)", 5, {2, 3, 4, 5, 1}},
    {"map(fun v -> at(max(0, min(int(v), 2)), [7.0, 8.0, 9.0]), x)", 5, {8, 9, 9, 9, 9}},
    {"[at(argmax(x), x), at(at(1, ([1, 0, 1] : [int]3)), reverse(x))]", 2, {5, 5}},
    {"map(fun i -> at(i * i % 5, x), iota(4))", 4, {1, 2, 5, 5}},
    {"[reduce(max, lowest, x), reduce(min, highest, x)]", 2, {5, 1}},
    {"map(fun r -> sum(join(r)), join(slide2(2, 1, [x, x, reverse(x)])))",
     8,
     {6, 10, 14, 18, 12, 12, 12, 12}},
};

static struct lift_program *window_program(const char *text, struct arena *a)
{
    static const struct lift_size_value n = {"N", 5};
    struct diag *d = diag_new();
    struct source *source = ARENA_NEW(a, struct source);
    *source = (struct source){"test.lift", text, strlen(text)};
    struct lift_program *p = lift_parse(source, a, d);
    bool ok = p && lift_bind(p, &n, 1, a, d);
    cr_assert(ok, "%s\n%s", diag_message(d, 0), text);
    diag_free(d);
    return p;
}

static void expect_elements(const struct window_case *c, const struct lift_program *p)
{
    static const double x[] = {1, 2, 3, 4, 5};
    const double *const in[] = {x};
    double out[MOST_ELEMENTS];
    cr_assert_eq(lift_type_scalars(p->output->type), c->n, "%s", c->output);
    lift_interpret(p, in, p->n_inputs, out);
    for (unsigned i = 0; i < c->n; i++)
        cr_expect_eq(out[i], c->elements[i], "%s: element %u is %g", c->output, i, out[i]);
}

Test(lift_windows, elements)
{
    for (size_t i = 0; i < sizeof window_cases / sizeof *window_cases; i++) {
        struct arena *a = arena_new();
        struct strbuf text = {0}, again = {0};
        struct lift_program *p =
            window_program(arena_printf(a, HEADER "output %s\n", window_cases[i].output), a);
        expect_elements(&window_cases[i], p);
        lift_print(p, &text);
        struct lift_program *printed = window_program(text.text, a);
        expect_elements(&window_cases[i], printed);
        lift_print(printed, &again);
        cr_expect_str_eq(text.text, again.text);
        strbuf_free(&text);
        strbuf_free(&again);
        arena_free(a);
    }
}

static void expect_type(const char *output, const char *type)
{
    struct arena *a = arena_new();
    struct strbuf text = {0};
    lift_print_type(window_program(arena_printf(a, HEADER "output %s\n", output), a)->output->type, &text);
    cr_expect_str_eq(text.text, type);
    strbuf_free(&text);
    arena_free(a);
}

Test(lift_windows, types)
{
    expect_type("slide(3, 1, x)", "[[float]3]N - 2");
    expect_type("slide(2, 2, x)", "[[float]2](N - 3) / 2 + 1");
    expect_type("pad(1, 2, clamp, x)", "[float]N + 3");
    expect_type("slide(3, 1, pad(1, 1, clamp, x))", "[[float]3]N");
    expect_type("concat(x, x)", "[float]N + N");
    expect_type("[1, 2, 3]", "[float]3");
    expect_type("([1, 2] : [int]2)", "[int]2");
    expect_type("indices(x)", "[int]N");
}
