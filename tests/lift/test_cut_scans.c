/* Scans that get a name at the top: the program with names computes what the one without does, and each scan
 * is a cut of it, if it can be one. */
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

/* The cuts of the program with names; NULL: nothing is to be named. */
static void expect_named(const char *outputs, const char *cuts)
{
    struct arena *a = arena_new();
    struct lift_program *p = bound(a, outputs), *q = lift_cut_name_scans(p, a);
    const char *names = "";
    cr_assert_eq(q == NULL, cuts == NULL, "%s", outputs);
    const struct lift_cuts found = lift_cut_find(q ? q : p, a);
    for (unsigned i = 0; i < found.n; i++)
        names = arena_printf(a, "%s%s%s", names, i ? " " : "", found.items[i].name);
    if (q) expect_same(a, p, q);
    if (q) cr_expect_str_eq(names, cuts, "%s\n%s", outputs, q->source->text);
    arena_free(a);
}

Test(cut_scans, names)
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

Test(cut_scans, values_that_a_scan_mentions_go_with_it)
{
    expect_named("output map(fun r -> let k = sum(r) in let l = k + 1.0 in reverse(scan(add, l, r)), A)",
                 "t");
    expect_named("let k = sum(x)\noutput map(fun r -> reverse(scan(add, k, r)), A)", "k t");
    expect_named("output reduce(fun m (r, v) -> m + at(1, scan(max, v, r)), 0.0, zip(transpose(A), x))",
                 "t_2");
}

Test(cut_scans, scans_of_scans_and_of_several_outputs)
{
    expect_named("output tail(scan(max, -9.0, reverse(scan(add, 0.0, x))))", "t t_2");
    expect_named("let s = scan(add, 0.0, x)\noutput u = reverse(s)\noutput v = reverse(scan(max, 0.0, s))",
                 "s t");
}

Test(cut_scans, scans_that_stay)
{
    expect_named("output scan(add, 0.0, x)", NULL);
    expect_named("output map(scan(add, 0.0), A)", NULL);
    expect_named("let s = map(scan(add, 0.0), A)\noutput map(reverse, s)", NULL);
    expect_named("output reduce(fun m r -> m + at(1, scan(max, m, r)), 0.0, A)", NULL);
}
