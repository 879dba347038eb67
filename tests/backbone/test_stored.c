/* Which computed values may be staged, by the programs that have them. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "core/backbone/backbone.h"
#include "core/base/arena.h"
#include "core/base/diag.h"
#include "core/base/strbuf.h"
#include "core/lift/lift.h"

/* The names of the values that are computed: "t t_2". */
static char *computed_values(const struct backbone *bb)
{
    struct strbuf out = {0};
    const char *separator = "";
    strbuf_add(&out, "");
    for (uint32_t v = 0; v < bb->n_values; v++)
        if (bb_is_computed(bb, &bb->values[v])) {
            strbuf_printf(&out, "%s%s", separator, bb->values[v].name);
            separator = " ";
        }
    return strbuf_take(&out);
}

#define INPUTS                                                                                               \
    "size M, N, K\ninput A: [[float]K]M\ninput B: [[float]N]K\ninput C: [[float]K]N\ninput x: [float]K\n"

/* Checks the computed values of a program that ends like this. */
static void expect_values(const char *end, const char *want)
{
    struct arena *a = arena_new();
    struct diag *d = diag_new();
    const char *text = arena_printf(a, INPUTS "%s\n", end);
    const struct source source = {"test.lift", text, strlen(text)};
    struct lift_program *p = lift_parse_bound(&source, "M=8,N=6,K=12", a, d);
    struct backbone *bb = p ? bb_lower(p, NULL, a, d) : NULL;
    cr_assert(bb, "%s: %s", end, diag_count(d) ? diag_message(d, 0) : "no error text");
    char *got = computed_values(bb);
    cr_expect_str_eq(got, want, "%s: %s", end, got);
    free(got);
    diag_free(d);
    arena_free(a);
}

#define MATMUL "fun matmul(a, b) = map(fun r -> map(fun c -> dot(r, c), transpose(b)), a)\n"

Test(backbone_stored, what_a_let_names)
{
    expect_values(MATMUL "let s = matmul(A, B)\noutput matmul(s, C)", "s");
    expect_values("let e = map(exp, x)\noutput map(fun r -> dot(r, e), A)", "e");
    expect_values(MATMUL "output matmul(A, matmul(B, C))", "b"); /* an argument that all rows read */
}

Test(backbone_stored, arrays_without_a_name)
{
    expect_values(MATMUL "output matmul(matmul(A, B), C)", "t");
    expect_values("output map(fun r -> dot(r, map(exp, x)), A)", "t");
    expect_values("output map(fun r -> map(fun c -> dot(map(exp, r), c), C), A)", "t");
    expect_values("fun f(a) = (map(exp, a), map(sin, a))\n"
                  "output map(fun r -> let (p, q) = f(x) in dot(r, p) + dot(r, q), A)",
                  "t t_2");
}

/* Of the steps of a step the inner ones are taken. */
Test(backbone_stored, steps_of_iterate)
{
    const char *blur = "fun blur(a) = map(fun w -> sum(w), slide(3, 1, pad(1, 1, clamp, a)))\n";
    struct arena *a = arena_new();
    expect_values(arena_printf(a, "%soutput iterate(1, blur, x)", blur), "");
    expect_values(arena_printf(a, "%soutput iterate(2, blur, x)", blur), "t");
    expect_values(arena_printf(a, "%soutput iterate(3, blur, x)", blur), "t");
    expect_values("fun box(a) = map2(fun w -> sum(join(w)), slide2(3, 1, pad2(1, 1, clamp, a)))\n"
                  "output iterate(2, box, A)",
                  "t");
    arena_free(a);
}

/* What stands at several places of windows is shared, too. */
Test(backbone_stored, steps_at_places_of_windows)
{
    expect_values(
        "fun f(a) = map(fun w -> sum([exp(at(0, w)), at(1, w)]), slide(2, 1, pad(0, 1, clamp, a)))\n"
        "output iterate(2, f, x)",
        "t t_2");
    expect_values("fun f(a) = map(fun w -> at(0, w) * 2.0 + at(2, w), slide(3, 1, pad(1, 1, mirror, a)))\n"
                  "output iterate(2, f, x)",
                  "t t_2");
}

/* A name is for the array that has it; one without a name is called otherwise. */
Test(backbone_stored, names_stay)
{
    expect_values("let t = map(exp, x)\noutput map(fun r -> dot(r, map(sin, x)) + dot(r, t), A)", "t_2 t");
    expect_values(MATMUL "let t = matmul(matmul(A, B), C)\noutput matmul(t, B)", "t");
    expect_values("let u = transpose(map(fun c -> map(fun r -> dot(c, r), A), C))\n"
                  "output map(fun r -> map(fun y -> dot(r, map(fun (b, i) -> b, zip(y, indices(y)))), B), u)",
                  "u");
}

Test(backbone_stored, nothing_that_is_read_once_or_cheap)
{
    expect_values(MATMUL "output matmul(A, B)", "");
    expect_values("output map(fun r -> map(fun c -> dot(r, c), C), map2(fun y -> y * 2.0, A))", "");
    expect_values("output map(sqrt, map(exp, x))", "");
    expect_values("output map(fun r -> let m = reduce(max, 0.0, r) in sum(map(fun y -> exp(y - m), r)), A)",
                  "");
    expect_values("fun f(a) = map(fun w -> exp(at(0, w)), slide(2, 1, pad(0, 1, clamp, a)))\n"
                  "output iterate(2, f, x)",
                  "");
    expect_values("output map2(fun w -> sum(map(exp, join(w))), slide2(3, 1, A))", "");
}
