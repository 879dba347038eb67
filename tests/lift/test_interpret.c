/* What the interpreter remembers: each result once, the same bit for bit as computed again. */
#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

#include "core/base/arena.h"
#include "core/lift/lift.h"
#include "core/lift/remember.h"

enum { N = 40, M = 30, D = 8, OUT = 4 /* the array of the output */ };

static struct lift_program *bound(const char *body, struct arena *a)
{
    static const struct lift_size_value sizes[] = {{"N", N}, {"M", M}, {"D", D}};
    const char *text = arena_printf(
        a,
        "size N, M, D\ninput Q: [[float]D]N\ninput K: [[float]D]M\ninput x: [(float, float)]N\noutput %s\n",
        body);
    struct diag *d = diag_new();
    struct source *source = ARENA_NEW(a, struct source);
    *source = (struct source){"test.lift", text, strlen(text)};
    struct lift_program *p = lift_parse(source, a, d);
    cr_assert(p && lift_bind(p, sizes, 3, a, d), "%s\n%s", diag_message(d, 0), text);
    diag_free(d);
    return p;
}

/* Inputs whose sums round. */
static const double *const *inputs(struct arena *a)
{
    static const int64_t lengths[] = {N * D, M * D, N, N};
    const double **in = ARENA_ARRAY(a, const double *, 5);
    for (int k = 0; k < 4; k++) {
        double *x = ARENA_ARRAY(a, double, lengths[k]);
        for (int64_t i = 0; i < lengths[k]; i++)
            x[i] = (double)(float)(((double)(i * (k + 7) % 997) - 500) / 3);
        in[k] = x;
    }
    return in;
}

/* Operations that the whole output takes, and those of its elements one by one. Their values are the same. */
static double work_of(const char *body, double *apart)
{
    struct arena *a = arena_new();
    struct lift_program *p = bound(body, a);
    const double *const *in = inputs(a);
    int64_t n = lift_type_scalars(p->arrays[OUT].type);
    double *out = ARENA_ARRAY(a, double, n), work = 0;
    lift_interpret(p, in, OUT, out);
    for (int64_t i = 0; i < n; i++) {
        struct lift_value_bound v = lift_interpret_element(p, in, OUT, i);
        cr_assert(memcmp(&v.value, &out[i], sizeof v.value) == 0, "%s: %.17g, %.17g", body, v.value, out[i]);
        work += v.work;
    }
    if (apart) *apart = work;
    work = lift_interpret_work(p, in, OUT, INFINITY);
    arena_free(a);
    return work;
}

Test(lift_interpret, elements_of_a_named_array_are_computed_once)
{
    double apart,
        named = work_of("let e = map(fun q -> exp(sum(q)), Q) in map(fun k -> sum(map(fun v -> v * k, e)), "
                        "join(K))",
                        &apart);
    cr_expect_eq(named, N * (D + 1) + M * D * N * 2.0, "%g", named);
    cr_expect_eq(apart, M * D * (N * (D + 1) + N * 2.0), "%g", apart);
    named = work_of("map(fun e -> map(fun v -> v / sum(e), e), map(fun q -> map(exp, q), Q))", NULL);
    cr_expect_eq(named, N * D * 3.0, "%g", named);
    named = work_of("let e = zip(map(exp, join(Q)), map(sqrt, join(Q))) in "
                    "map(fun (k, j) -> reduce(fun (s, (a, b)) -> s + a, k, e), zip(join(K), iota(240)))",
                    NULL);
    cr_expect_eq(named, N * D * 2.0 + M * D * N * D, "%g", named);
}

Test(lift_interpret, a_product_is_computed_once_for_all_columns)
{
    const char *attention =
        "map(fun q -> map(fun column -> sum(map(fun (k, v) -> dot(q, k) * v, zip(K, column))), "
        "transpose(K)), Q)";
    cr_expect_eq(work_of(attention, NULL), N * (M * D * 2.0 + D * M * 2.0));
}

/* The interpretation of a view of a computed array asks for its elements again, and so for the sums in them.
 */
Test(lift_interpret, reductions_of_revisited_elements_are_computed_once)
{
    cr_expect_eq(work_of("transpose(map(fun q -> let s = sum(q) in map(fun x -> x / s, q), Q))", NULL),
                 N * D * 2.0);
    cr_expect_eq(work_of("map(sum, slide(3, 1, map(sum, Q)))", NULL), N * D + (N - 2) * 3.0);
    cr_expect_leq(work_of("map(fun q -> argmin(map(fun k -> dot(q, k), K)), Q)", NULL),
                  N * M * (D * 2.0 + 8));
}

Test(lift_interpret, results_of_other_values_are_others)
{
    work_of("map(fun i -> sum(map(fun v -> v * float(i), join(Q))), iota(N))", NULL);
    work_of("map(fun i -> map(fun w -> sum(w) * sum(w), slide(3, 1, reverse(head(Q)))), iota(3))", NULL);
    work_of("map(fun c -> map(fun k -> dot(at(c, transpose(Q)), concat(k, k, head(K), k, k)), K), "
            "iota(D))",
            NULL);
    work_of("map(fun (a, b) -> reduce(fun s v -> s * a + v * b, a - b, join(K)), x)", NULL);
    work_of("map(fun (i, q) -> map(fun p -> sum(p) - float(i), map(tail, [q, reverse(q), padConstant(1, 1, "
            "3.0, tail("
            "tail(q)))])), zip(iota(N), Q))",
            NULL);
}

/* As halves the first two are one number, and its place is 0; in double it is 1. */
Test(lift_interpret, an_element_at_an_index_that_may_be_another_has_no_bound)
{
    static const char *const indices[] = {
        "argmax(map(half, map(fun v -> 1.0 + v / 8192.0, iota(2) |> map(float))))",
        "argmax(map(fun v -> 1.0 + v, iota(2) |> map(float)))"};
    static const char *const outputs[] = {"at(%s, join(Q))", "sum(at(%s, Q))",
                                          "head(get(1, at(%s, zip(Q, Q))))"};
    for (int k = 0; k < 6; k++) {
        struct arena *a = arena_new();
        const char *at = strstr(outputs[k / 2], "%s");
        struct lift_program *p = bound(
            arena_printf(a, "%.*s%s%s", (int)(at - outputs[k / 2]), outputs[k / 2], indices[k % 2], at + 2),
            a);
        struct lift_value_bound v = lift_interpret_element(p, inputs(a), OUT, 0);
        cr_expect_eq(v.jumps, k % 2 == 0, "%d", k);
        cr_expect_eq(isfinite(v.s) != 0, k % 2 == 1, "%d", k);
        arena_free(a);
    }
}

Test(lift_interpret, scans_go_on_from_the_element_before)
{
    cr_expect_eq(work_of("scan(add, 0.0, join(Q))", NULL), N * D);
    cr_expect_eq(work_of("reverse(scan(add, 0.0, map(exp, join(Q))))", NULL), 2 * N * D);
    cr_expect_eq(work_of("map(fun q -> map(fun (s, v) -> s * v, zip(scan(max, -100.0, q), q)), Q)", NULL),
                 2 * N * D);
    work_of("map(fun (s, t) -> s - t, scan(fun ((s, t), (a, b)) -> (s * 0.5 + a, t - b), (0.0, 1.0), x))",
            NULL);
}

/* An element of the accumulator takes no more than its own steps where the function reads it alone; a tuple's
 * other leaves join it; else the whole accumulator is computed once. */
Test(lift_interpret, reductions_to_arrays)
{
#define ZEROS "generate(D, fun i -> 0.0)"
    double apart;
    cr_expect_eq(work_of("reduce(fun acc q -> map(add, zip(acc, q)), " ZEROS ", Q)", &apart), N * D);
    cr_expect_eq(apart, N * D);
    cr_expect_eq(work_of("let s = reduce(fun acc q -> map(add, zip(acc, q)), " ZEROS ", Q) in\n"
                         "map(fun k -> map(sub, zip(k, s)), K)",
                         NULL),
                 N * D + M * D);
    cr_expect_eq(work_of("reduce(fun acc q -> map(add, zip(reverse(acc), q)), " ZEROS ", Q)", NULL),
                 N * D + 1);
    work_of("let (s, n) = reduce(fun ((s, n), q) -> (map(fun (a, v) -> a + v * n, zip(s, q)), n + 1.0),\n"
            "(" ZEROS ", 0.0), Q) in map(fun a -> a / n, s)",
            NULL);
    work_of("reduce(fun acc q -> map(fun (r, v) -> map(fun (s, w) -> s + v * w, zip(r, q)), zip(acc, q)),\n"
            "generate(D, fun i -> " ZEROS "), Q)",
            NULL);
    work_of("scan(fun acc q -> map(fun (a, v) -> 0.5 * a + v, zip(acc, q)), " ZEROS ", Q)", NULL);
#undef ZEROS
}

Test(lift_interpret, work_of_an_output_is_extrapolated)
{
    struct arena *a = arena_new();
    struct lift_program *p = bound("map(fun q -> map(fun k -> dot(q, k), K), Q)", a);
    const double *const *in = inputs(a);
    double all = N * M * D * 2.0;
    cr_expect_eq(lift_interpret_work(p, in, OUT, 100), all);
    cr_expect_eq(lift_interpret_element(p, in, OUT, 7).work, 2 * D);
    arena_free(a);
}

Test(lift_interpret, memory_is_bounded_and_gives_what_it_got)
{
    struct remembered *m = remember_new();
    struct lift_value_bound v = {0}, got;
    const struct remember_key start = {.low = 1, .high = 2};
    int64_t n = 3 * REMEMBER_MOST, found = 0;
    for (int64_t i = 0; i < n; i++) {
        v.value = (double)i;
        remember_store(m, remember_mix(start, (uint64_t)i), &v);
        cr_assert(remember_recall(m, remember_mix(start, (uint64_t)i), &got) && got.value == v.value);
    }
    for (int64_t i = 0; i < n; i++) {
        if (!remember_recall(m, remember_mix(start, (uint64_t)i), &got)) continue;
        cr_assert_eq(got.value, (double)i);
        found++;
    }
    cr_expect(found > REMEMBER_MOST / 2 && found <= REMEMBER_MOST, "%lld", (long long)found);
    cr_expect_not(remember_recall(m, remember_mix(start, (uint64_t)n), &got));
    remember_free(m);
}
