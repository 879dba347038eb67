/* Scans, and arrays of functions, that get a name at the top: the program with names computes what the one
 * without does, and each of them is a cut of it, if it can be one. */
#include <criterion/criterion.h>
#include <string.h>

#include "core/base/arena.h"
#include "core/base/diag.h"
#include "core/lift/cut.h"

enum { M = 3, N = 5 };

static struct lift_program *bound(struct arena *a, const char *outputs)
{
    static const struct lift_size_value sizes[] = {{"M", M}, {"N", N}};
    const char *text = arena_printf(a, "size M, N\ninput A: [[float]N]M\ninput x: [float]N\n%s\n", outputs);
    struct source *source = ARENA_NEW(a, struct source);
    struct diag *d = diag_new();
    *source = (struct source){"test.lift", text, strlen(text)};
    struct lift_program *p = lift_parse(source, a, d);
    bool ok = p && lift_bind(p, sizes, 2, a, d);
    if (!ok) diag_print(d, stderr);
    cr_assert(ok, "%s", text);
    diag_free(d);
    return p;
}

/* Both programs have the same arrays, and leave the same in them. */
static void expect_same(struct arena *a, const struct lift_program *p, const struct lift_program *q)
{
    double matrix[M * N], vector[N];
    const double *in[] = {matrix, vector};
    for (int i = 0; i < M * N; i++)
        matrix[i] = (i * 7 % 11) - 4;
    for (int i = 0; i < N; i++)
        vector[i] = 2 - i;
    cr_assert_eq(p->n_arrays, q->n_arrays);
    for (unsigned k = 2; k < p->n_arrays; k++) {
        int64_t n = lift_type_scalars(p->arrays[k].type);
        double *want = ARENA_ARRAY(a, double, n), *got = ARENA_ARRAY(a, double, n);
        cr_assert(lift_type_same(p->arrays[k].type, q->arrays[k].type));
        cr_expect_str_eq(p->arrays[k].name, q->arrays[k].name);
        lift_interpret(p, in, k, want);
        lift_interpret(q, in, k, got);
        for (int64_t i = 0; i < n; i++)
            cr_assert_eq(want[i], got[i], "%s\n%s[%d]: %g, not %g", q->source->text, p->arrays[k].name,
                         (int)i, got[i], want[i]);
    }
}

/* The cuts of the program with names, in the arena; NULL: nothing is to be named. */
static void expect_cuts(struct arena *a, const char *outputs, unsigned which, const char *cuts)
{
    struct lift_program *p = bound(a, outputs), *q = lift_cut_name(p, which, a);
    const char *names = "";
    cr_assert_eq(q == NULL, cuts == NULL, "%s", outputs);
    const struct lift_cuts found = lift_cut_find(q ? q : p, a);
    for (unsigned i = 0; i < found.n; i++)
        names = arena_printf(a, "%s%s%s", names, i ? " " : "", found.items[i].name);
    if (q) expect_same(a, p, q);
    if (q) cr_expect_str_eq(names, cuts, "%s\n%s", outputs, q->source->text);
}

static void expect_named(const char *outputs, const char *cuts)
{
    struct arena *a = arena_new();
    expect_cuts(a, outputs, LIFT_CUT_SCANS, cuts);
    arena_free(a);
}

static void expect_lets(const char *outputs, const char *cuts)
{
    struct arena *a = arena_new();
    expect_cuts(a, outputs, LIFT_CUT_LETS, cuts);
    arena_free(a);
}

Test(cut_names, names)
{
    expect_named("output reverse(scan(add, 0.0, x))", "t");
    expect_named("output map(fun r -> reverse(scan(add, 0.0, r)), A)", "t");
    expect_named("output map(fun r -> let s = scan(add, 0.0, r) in map(fun i -> at(i + 1, s) - at(i, s), "
                 "iota(N - 1)), A)",
                 "s");
    expect_named("output map(fun r -> reduce(fun m v -> max(m, v + at(2, scan(add, v, r))), 0.0, x), A)",
                 "t");
    expect_named("output let t = head(x) in map(fun v -> v + t, tail(scan(add, 0.0, x)))", "t_2");
}

Test(cut_names, values_that_a_scan_mentions_go_with_it)
{
    expect_named("output map(fun r -> let k = sum(r) in let l = k + 1.0 in reverse(scan(add, l, r)), A)",
                 "t");
    expect_named("let k = sum(x)\noutput map(fun r -> reverse(scan(add, k, r)), A)", "k t");
    expect_named("output reduce(fun m (r, v) -> m + at(1, scan(max, v, r)), 0.0, zip(transpose(A), x))",
                 "t_2");
}

Test(cut_names, scans_of_scans_and_of_several_outputs)
{
    expect_named("output tail(scan(max, -9.0, reverse(scan(add, 0.0, x))))", "t t_2");
    expect_named("let s = scan(add, 0.0, x)\noutput u = reverse(s)\noutput v = reverse(scan(max, 0.0, s))",
                 "s t");
    expect_named("output u = join(split(1, x))\noutput v = scan(add, 0.0, x)", "t");
}

Test(cut_names, scans_that_stay)
{
    expect_named("output scan(add, 0.0, x)", NULL);
    expect_named("output map(scan(add, 0.0), A)", NULL);
    expect_named("let s = map(scan(add, 0.0), A)\noutput map(reverse, s)", NULL);
    expect_named("output reduce(fun m r -> m + at(1, scan(max, m, r)), 0.0, A)", NULL);
}

Test(cut_names, arrays_of_the_rows_of_a_map)
{
    expect_lets("output map(fun r -> let s = map(fun q -> dot(q, r), A) in map(fun v -> v + sum(s), r), A)",
                "s");
    expect_lets("output map(fun r -> map(fun v -> let t = map(fun y -> y * v, x) in sum(t) + dot(t, t), r), "
                "A)",
                "t");
    expect_lets("let k = map(fun r -> sum(r), A)\n"
                "output map(fun r -> let t = map(fun q -> dot(q, r), A) in dot(t, k), A)",
                "k t");
    expect_lets("output u = map(fun r -> let t = map(exp, r) in sum(t) + reduce(max, 0.0, t), A)\n"
                "output v = map(sum, A)",
                "t");
}

/* The values that an array mentions go with it; what is left of its row is read no more. */
Test(cut_names, arrays_of_arrays)
{
    struct arena *a = arena_new();
    const char *text = "output map(fun r -> let s = map(fun q -> dot(q, r), A) in "
                       "let m = reduce(max, -99.0, s) in let w = map(fun v -> v - m, s) in "
                       "map(fun c -> dot(w, c), transpose(A)), A)";
    expect_cuts(a, text, LIFT_CUT_LETS, "s w");
    const struct lift_program *named = lift_cut_name(bound(a, text), LIFT_CUT_LETS, a);
    const char *w = strstr(named->source->text, "let w = "), *output = strstr(w, ") in map(");
    cr_assert(w && output, "%s", named->source->text);
    cr_expect(!strstr(w, ", A)") && !strstr(w, "zip(s"), "%s", w);
    cr_expect(strstr(output, ", w)") && !strstr(output, "max"), "%s", output);
    arena_free(a);
}

/* An array that is computed is no part of what is moved. */
Test(cut_names, an_array_of_the_map_gets_a_name)
{
    expect_lets("output map(fun r -> let s = map(exp, r) in map(fun v -> v + sum(s) + sum(r), s), "
                "map(fun q -> map(fun c -> dot(q, c), A), A))",
                "t s");
}

/* Of a tuple each part reads only the components that it needs. */
Test(cut_names, components_that_are_not_read)
{
    struct arena *a = arena_new();
    const char *text = "output map(fun (r, q, u) -> let s = map(fun v -> v * sum(q), r) in "
                       "map(fun v -> dot(s, s) + v, u), zip(A, A, map(reverse, A)))";
    expect_cuts(a, text, LIFT_CUT_LETS, "s");
    const char *named = lift_cut_name(bound(a, text), LIFT_CUT_LETS, a)->source->text;
    cr_expect(strstr(named, "zip(A, A)) in map("), "%s", named);
    cr_expect(strstr(named, "A), s))"), "%s", named);
    cr_expect(!strstr(named, "zip(zip("), "%s", named);
    expect_cuts(a,
                "output map(fun t -> let s = map(fun v -> v + sum(get(1, t)), get(0, t)) in "
                "map(fun v -> v * dot(s, get(0, t)), get(1, t)), zip(A, A))",
                LIFT_CUT_LETS, "s");
    arena_free(a);
}

Test(cut_names, values_that_stay)
{
    expect_lets("output map(fun r -> let s = sum(r) in map(fun v -> v / s, r), A)", NULL); /* a number */
    expect_lets("output map(fun r -> let t = tail(r) in sum(t) + dot(t, t), A)", NULL);    /* a view */
    expect_lets("output map(fun r -> let t = map(exp, x) in sum(t) + dot(t, r), A)",
                NULL); /* a cut as it is */
    expect_lets("let t = map(fun r -> map(exp, r), A)\noutput map(fun c -> dot(c, c), t)", NULL);
    expect_lets("output reduce(fun m r -> let t = map(exp, r) in m + sum(t) * dot(t, t), 0.0, A)", NULL);
    expect_lets("output map(fun r -> map(exp, r), A)", NULL);
}
