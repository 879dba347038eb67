/* Inputs, comparison, and the reference against the Lift interpreter. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "agent/verify_interpret.h"
#include "agent/verify_known.h"
#include "core/base/arena.h"
#include "core/base/diag.h"
#include "core/base/strbuf.h"
#include "core/lift/lift.h"
#include "tests/agent/task.h"

static const char verify_matmul[] =
    "size M, N, K\ninput A: [[float]K]M\ninput B: [[float]N]K\n"
    "output map(fun row -> map(fun col -> reduce(add, 0.0, map(mult, zip(row, col))), transpose(B)), A)\n";
static const char verify_roots[] = "size N\ninput x: [float]N\noutput map(fun a -> exp(a), x)\n";

static struct lift_program *verify_bind(const char *text, const char *sizes, struct source *source,
                                        struct arena *a, struct diag *d)
{
    *source = (struct source){.path = "test.lift", .text = text, .length = strlen(text)};
    struct lift_size_value *values;
    int n = lift_parse_sizes(sizes, &values, a, d);
    struct lift_program *p = lift_parse(source, a, d);
    bool ok = p && lift_bind(p, values, (unsigned)n, a, d);
    if (!ok) diag_print(d, stderr);
    cr_assert(ok);
    return p;
}

static struct verify_task *verify_matmul_task(struct diag *d)
{
    struct verify_buffer shape[3] = {{.type = SCALAR_FLOAT, .elements = 8 * 5},
                                     {.type = SCALAR_FLOAT, .elements = 5 * 6},
                                     {.type = SCALAR_FLOAT, .elements = 8 * 6, .output = true}};
    return task_make(shape, 3, 3, d);
}

Test(agent_verify, inputs_are_odd_integers_and_unit_uniform)
{
    struct diag *d = diag_new();
    struct verify_task *t = verify_matmul_task(d), *again = verify_matmul_task(d);
    for (int i = 0; i < 40; i++) {
        double exact = verify_get(SCALAR_FLOAT, t->buffers[0].data[VERIFY_EXACT], i);
        cr_assert(fabs(exact) == 1 || fabs(exact) == 3);
        cr_assert(fabs(verify_get(SCALAR_FLOAT, t->buffers[0].data[VERIFY_TIMING], i)) <= 1);
    }
    cr_assert_arr_eq(t->buffers[0].data[VERIFY_TIMING], again->buffers[0].data[VERIFY_TIMING], 160);
    verify_task_free(t);
    verify_task_free(again);
    diag_free(d);
}

/* Of few outputs each is looked at: the tolerance is that of the one with the largest terms. */
Test(agent_verify, few_outputs_are_sampled_whole)
{
    struct diag *d = diag_new();
    struct source source;
    struct arena *a = arena_new();
    struct verify_task *t = verify_matmul_task(d);
    t->program = verify_bind(verify_matmul, "M=8,N=6,K=5", &source, a, d);
    struct verify_sample *sample = verify_sample_new(t, 2, 5, 11);
    bool seen[8 * 6] = {false};
    for (unsigned i = 0; i < sample->n; i++)
        seen[sample->flat[i]] = true;
    for (int i = 0; i < 8 * 6; i++)
        cr_expect(seen[i], "output %d", i);
    free(sample);
    t->program = NULL;
    verify_task_free(t);
    arena_free(a);
    diag_free(d);
}

Test(agent_verify, inputs_of_truth_values_are_true_and_false)
{
    struct diag *d = diag_new();
    const struct verify_buffer shape = {.type = SCALAR_BOOL, .elements = 64};
    struct verify_task *t = task_make(&shape, 1, 3, d);
    for (int set = 0; set < VERIFY_EXTREME; set++) {
        int truths = 0;
        for (int i = 0; i < 64; i++)
            truths += verify_get(SCALAR_BOOL, t->buffers[0].data[set], i) != 0;
        cr_expect(truths > 0 && truths < 64, "%d in set %d", truths, set);
    }
    verify_task_free(t);
    diag_free(d);
}

/* A sum of sums of 300 x 300 numbers: chains of 600 steps, 90,000 operations. */
Test(agent_verify, samples_are_chosen_by_work)
{
    struct diag *d = diag_new();
    struct arena *a = arena_new();
    struct source source;
    struct lift_program *p =
        verify_bind("size M, N, K\ninput A: [[float]K]M\ninput B: [[float]N]K\n"
                    "output map(fun row -> map(fun col -> sum(map(fun i -> sum(map(fun j -> "
                    "head(row) + float(i + j), iota(300))), iota(300))), transpose(B)), A)\n",
                    "M=8,N=6,K=5", &source, a, d);
    struct verify_task *t = verify_matmul_task(d);
    t->program = p;
    double work = verify_work(t, 2);
    cr_expect(work >= 3 * 300 * 300 && work <= 6 * 300 * 300, "%g", work);
    cr_expect_lt(verify_sample_size(work), 50);
    verify_task_free(t);
    arena_free(a);
    diag_free(d);
}

/* Operations of the interpreter for inputs and a checked reference, as a multiple of those for one output of
 * one set. The sum is the only output. */
static double verify_multiple(const char *type)
{
    enum { N = 1 << 17 };
    struct diag *d = diag_new();
    struct arena *a = arena_new();
    struct source source;
    struct strbuf text = {0};
    struct verify_tolerance tolerance[VERIFY_MOST_SETS];
    strbuf_printf(&text, "size N\ninput x: [%s]N\ninput y: [%s]N\noutput dot(x, y)\n", type, type);
    struct lift_program *p = verify_bind(text.text, "N=131072", &source, a, d);
    struct verify_task *t = verify_task_of_program(p, false, NULL, 1, d);
    cr_assert_not_null(t);
    verify_interpret(t);
    cr_assert(verify_reference(t, 1, tolerance, d));
    double work = verify_known_work(t->known);
    verify_task_free(t);
    strbuf_free(&text);
    arena_free(a);
    diag_free(d);
    return work / (2.0 * N);
}

/* Once on each set; and with the largest inputs, to see whether sums are exact. Those of halves are neither
 * of odd numbers, which the exact set shows, nor of 1 and -1. */
Test(agent_verify, long_outputs_are_interpreted_once)
{
    double floats = verify_multiple("float"), halves = verify_multiple("half");
    cr_expect(floats > 2.9 && floats < 3.1, "%g", floats);
    cr_expect(halves > 2.9 && halves < 3.1, "%g", halves);
}

/* Enough elements for several threads, some of them twice. */
Test(agent_verify, elements_are_the_same_on_several_threads)
{
    enum { N = 128, MANY = 2000 };
    struct diag *d = diag_new();
    struct arena *a = arena_new();
    struct source source;
    struct lift_program *p = verify_bind(verify_matmul, "M=128,N=128,K=128", &source, a, d);
    struct verify_task *t = verify_task_of_program(p, false, NULL, 1, d);
    cr_assert_not_null(t);
    struct verify_inputs in = verify_inputs_of(t, VERIFY_TIMING);
    static struct lift_value_bound v[MANY];
    static int64_t at[MANY];
    double before = verify_known_work(t->known), work = verify_work(t, 2);
    for (int i = 0; i < MANY; i++)
        at[i] = (int64_t)i * 37 % (N * N / 16);
    verify_elements(&in, 2, work, at, MANY, v);
    cr_expect_geq(verify_known_work(t->known) - before, MANY * (work - 1));
    for (int i = 0; i < MANY; i += 7) {
        struct lift_value_bound alone = verify_element(&in, 2, at[i]);
        cr_assert(alone.value == v[i].value && alone.s == v[i].s && alone.n == v[i].n, "%d", i);
    }
    verify_inputs_free(&in);
    verify_task_free(t);
    arena_free(a);
    diag_free(d);
}

Test(agent_verify, sums_of_products_are_exact_on_integers)
{
    struct diag *d = diag_new();
    struct arena *a = arena_new();
    struct source source;
    struct lift_program *p = verify_bind(verify_matmul, "M=8,N=6,K=5", &source, a, d);
    struct verify_task *t = verify_matmul_task(d);
    t->program = p;
    struct verify_tolerance tolerance[VERIFY_MOST_SETS];
    cr_assert(verify_interpretable(t));
    verify_interpret(t);
    cr_assert(verify_reference(t, 1, tolerance, d));
    cr_assert(tolerance[VERIFY_EXACT].exact && !tolerance[VERIFY_TIMING].exact);
    cr_assert(tolerance[VERIFY_TIMING].absolute > 0 && tolerance[VERIFY_TIMING].absolute < 1e-4);
    ((float *)t->buffers[2].data[VERIFY_EXACT])[47] += 1; /* a corner */
    cr_assert_not(verify_reference(t, 1, tolerance, d));
    cr_assert(strstr(diag_message(d, 0), "output 47"));
    ((float *)t->buffers[2].data[VERIFY_EXACT])[47] = NAN; /* never written */
    cr_assert_not(verify_reference(t, 1, tolerance, d));
    cr_assert(strstr(diag_message(d, 1), "output 47 is nan from the naive kernel"), "%s", diag_message(d, 1));
    verify_task_free(t);
    arena_free(a);
    diag_free(d);
}

Test(agent_verify, built_in_functions_have_a_tolerance)
{
    struct diag *d = diag_new();
    struct arena *a = arena_new();
    struct source source;
    struct lift_program *p = verify_bind(verify_roots, "N=7", &source, a, d);
    struct verify_buffer shape[2] = {{.type = SCALAR_FLOAT, .elements = 7},
                                     {.type = SCALAR_FLOAT, .elements = 7, .output = true}};
    struct verify_task *t = task_make(shape, 2, 3, d);
    t->program = p;
    struct verify_tolerance tolerance[VERIFY_MOST_SETS];
    verify_interpret(t);
    cr_assert(verify_reference(t, 1, tolerance, d));
    cr_assert(!tolerance[VERIFY_EXACT].exact && tolerance[VERIFY_EXACT].absolute > 0);
    verify_task_free(t);
    arena_free(a);
    diag_free(d);
}

/* A float of which 11 significant bits are left. */
static double verify_tf32(double x)
{
    int exponent;
    double digits = frexp(x, &exponent);
    return ldexp(round(ldexp(digits, 11)), exponent - 11);
}

/* Products of the timing set with factors of TF32, of the exact set without one of its terms. */
static void verify_check_tf32(bool allowed)
{
    enum { K = 8, N = 8 };
    static const char text[] = "size N, K\ninput A: [[float]K]N\ninput B: [[float]K]N\n"
                               "output map(fun r -> map(fun c -> sum(map(mult, zip(r, c))), B), A)\n";
    struct diag *d = diag_new();
    struct arena *a = arena_new();
    struct source source;
    struct verify_tolerance tolerance[VERIFY_MOST_SETS];
    struct lift_program *p = verify_bind(text, "N=8,K=8", &source, a, d);
    struct verify_task *t = verify_task_of_program(p, allowed, NULL, 1, d);
    cr_assert_not_null(t);
    verify_interpret(t);
    cr_assert(verify_reference(t, 1, tolerance, d));
    float got[N * N];
    for (int set = VERIFY_EXACT; set <= VERIFY_TIMING; set++) {
        for (int64_t i = 0; i < N * N; i++) {
            double sum = 0;
            for (int64_t k = 0; k < K; k++)
                sum += verify_tf32(verify_get(SCALAR_FLOAT, t->buffers[0].data[set], i / N * K + k)) *
                       verify_tf32(verify_get(SCALAR_FLOAT, t->buffers[1].data[set], i % N * K + k));
            got[i] = (float)sum;
        }
        bool right = verify_compare(&t->buffers[2], (unsigned)set, got, tolerance[set]) < 0;
        cr_expect_eq(right, set == VERIFY_EXACT || allowed, "set %d", set);
        got[5] += 1;
        cr_expect_geq(verify_compare(&t->buffers[2], (unsigned)set, got, tolerance[set]), 0, "set %d", set);
    }
    cr_expect(tolerance[VERIFY_EXACT].exact);
    verify_task_free(t);
    arena_free(a);
    diag_free(d);
}

Test(agent_verify, factors_of_tf32_are_right_where_they_are_allowed)
{
    verify_check_tf32(false);
    verify_check_tf32(true);
}

/* The constant that the maximum starts from is no scale of its error. */
Test(agent_verify, maxima_have_a_tolerance_of_their_own)
{
    static const char text[] =
        "size M, N\ninput A: [[float]N]M\noutput map(fun r -> reduce(max, -1e30, r), A)\n";
    struct diag *d = diag_new();
    struct arena *a = arena_new();
    struct source source;
    struct lift_program *p = verify_bind(text, "M=8,N=5", &source, a, d);
    struct verify_buffer shape[2] = {{.type = SCALAR_FLOAT, .elements = 8 * 5},
                                     {.type = SCALAR_FLOAT, .elements = 8, .output = true}};
    struct verify_task *t = task_make(shape, 2, 3, d);
    t->program = p;
    struct verify_tolerance tolerance[VERIFY_MOST_SETS];
    verify_interpret(t);
    cr_assert(verify_reference(t, 1, tolerance, d));
    cr_assert(tolerance[VERIFY_EXACT].exact);
    float *got = arena_memdup(a, t->buffers[1].data[VERIFY_TIMING], t->buffers[1].bytes);
    cr_assert_eq(verify_compare(&t->buffers[1], VERIFY_TIMING, got, tolerance[VERIFY_TIMING]), -1);
    got[3] += 0.001f;
    cr_assert_eq(verify_compare(&t->buffers[1], VERIFY_TIMING, got, tolerance[VERIFY_TIMING]), 3);
    verify_task_free(t);
    arena_free(a);
    diag_free(d);
}

/* A program of inputs x and y of 64 floats whose reference is the interpreter's. */
struct verify_case {
    struct diag *d;
    struct arena *a;
    struct source source;
    struct lift_program *p;
    struct verify_task *t;
    struct verify_tolerance tolerance[VERIFY_MOST_SETS];
};

static bool verify_case_check(struct verify_case *c)
{
    return verify_reference(c->t, 1, c->tolerance, c->d);
}

static struct verify_case verify_case_open(const char *fun)
{
    const struct verify_buffer shape[3] = {{.type = SCALAR_FLOAT, .elements = 64},
                                           {.type = SCALAR_FLOAT, .elements = 64},
                                           {.type = SCALAR_FLOAT, .elements = 64, .output = true}};
    struct verify_case c = {.d = diag_new(), .a = arena_new()};
    const char *text = arena_printf(
        c.a, "size N\ninput x: [float]N\ninput y: [float]N\noutput map(fun (u, v) -> %s, zip(x, y))\n", fun);
    c.p = verify_bind(text, "N=64", &c.source, c.a, c.d);
    c.t = task_make(shape, 3, 3, c.d);
    c.t->program = c.p;
    verify_interpret(c.t);
    return c;
}

static void verify_case_close(struct verify_case *c)
{
    verify_task_free(c->t);
    arena_free(c->a);
    diag_free(c->d);
}

/* The first output that is finite, or that is not. */
static int64_t verify_case_find(const float *y, bool finite)
{
    int64_t i = 0;
    while (i < 64 && (isfinite(y[i]) != 0) != finite)
        i++;
    cr_assert_lt(i, 64);
    return i;
}

/* Infinities and NaNs are results like others: they must be where the reference has them, and nowhere else.
 */
Test(agent_verify, infinities_and_nans_are_compared)
{
    static const char *const funs[] = {"sqrt(u) + v", "1.0 / (u - v)", "log(u * v)", "rsqrt(u - v)"};
    static const float others[] = {1, NAN, INFINITY, -INFINITY};
    for (size_t f = 0; f < sizeof funs / sizeof funs[0]; f++) {
        struct verify_case c = verify_case_open(funs[f]);
        cr_assert(verify_case_check(&c), "%s: %s", funs[f], diag_failed(c.d) ? diag_message(c.d, 0) : "");
        struct verify_tolerance t = c.tolerance[VERIFY_EXACT];
        cr_assert(!t.exact && t.absolute > 0 && t.absolute < 1e-3, "%s: %g", funs[f], t.absolute);
        const float *want = c.t->buffers[2].data[VERIFY_EXACT];
        float got[64];
        memcpy(got, want, sizeof got);
        cr_assert_eq(verify_compare(&c.t->buffers[2], VERIFY_EXACT, got, t), -1);
        int64_t at = verify_case_find(want, false), finite = verify_case_find(want, true);
        for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
            bool same = isnan(others[i]) ? isnan(want[at]) : others[i] == want[at];
            got[at] = others[i];
            int64_t found = verify_compare(&c.t->buffers[2], VERIFY_EXACT, got, t);
            cr_expect_eq(found, same ? -1 : at, "%s: %g", funs[f], (double)others[i]);
        }
        got[at] = want[at];
        got[finite] = NAN;
        cr_expect_eq(verify_compare(&c.t->buffers[2], VERIFY_EXACT, got, t), finite, "%s", funs[f]);
        verify_case_close(&c);
    }
}

/* A reference that is infinite or no number is asked of the interpreter, wherever it is. */
Test(agent_verify, wrong_infinities_and_nans_of_a_reference_are_found)
{
    struct verify_case c = verify_case_open("1.0 / (u - v)");
    float *y = c.t->buffers[2].data[VERIFY_EXACT];
    int64_t infinite = verify_case_find(y, false), finite = verify_case_find(y, true);
    const struct {
        int64_t at;
        float value;
    } wrong[] = {{infinite, NAN}, {infinite, -INFINITY}, {finite, NAN}, {finite, INFINITY}};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        float kept = y[wrong[i].at];
        cr_assert(verify_case_check(&c));
        y[wrong[i].at] = wrong[i].value;
        cr_assert_not(verify_case_check(&c), "%zu", i);
        cr_expect(strstr(diag_message(c.d, i), "the reference is wrong"), "%s", diag_message(c.d, i));
        y[wrong[i].at] = kept;
    }
    verify_case_close(&c);
}

/* An intermediate result without bounds leaves those of the others as they are. */
Test(agent_verify, errors_without_bounds_widen_no_tolerance)
{
    struct verify_case c = verify_case_open("min(1.0 / (u - v), 5.0)");
    cr_assert(verify_case_check(&c));
    cr_assert_lt(c.tolerance[VERIFY_EXACT].absolute, 1e-3);
    verify_case_close(&c);
}

Test(agent_verify, compares_bits_or_within_the_tolerance)
{
    float want[4] = {1, 2, 0, 4}, near[4] = {1, 2.001f, -0.0f, 4}, nan[4] = {1, 2, 0, NAN};
    struct verify_buffer b = {.type = SCALAR_FLOAT, .elements = 4, .bytes = 16, .data = {want, want}};
    struct verify_tolerance exact = {.exact = true}, loose = {.absolute = 0.01};
    cr_assert_eq(verify_compare(&b, VERIFY_EXACT, want, exact), -1);
    cr_assert_eq(verify_compare(&b, VERIFY_EXACT, near, exact), 1);
    cr_assert_eq(verify_compare(&b, VERIFY_TIMING, near, loose), -1);
    cr_assert_eq(verify_compare(&b, VERIFY_TIMING, nan, loose), 3);
    want[3] = NAN;
    cr_assert_eq(verify_compare(&b, VERIFY_TIMING, nan, loose), -1);
    cr_assert_eq(verify_compare(&b, VERIFY_TIMING, near, loose), 3);
    int32_t ints[2] = {5, 6}, others[2] = {5, 7};
    struct verify_buffer i = {.type = SCALAR_INT, .elements = 2, .bytes = 8, .data = {ints, ints}};
    cr_assert_eq(verify_compare(&i, VERIFY_TIMING, others, (struct verify_tolerance){.absolute = 10}), 1);
}

Test(agent_verify, half_floats_round_trip)
{
    for (unsigned bits = 0; bits < 0x10000; bits++) {
        uint16_t h = (uint16_t)bits, back;
        double value = verify_get(SCALAR_HALF, &h, 0);
        if (isnan(value)) continue;
        verify_put(SCALAR_HALF, &back, 0, value);
        cr_assert_eq(back, h, "%04x became %04x", h, back);
    }
    uint16_t h;
    verify_put(SCALAR_HALF, &h, 0, 1 + 3.0 / 4096); /* rounds to 1 + 1/1024 */
    cr_assert_eq(verify_get(SCALAR_HALF, &h, 0), 1 + 1.0 / 1024);
}

/* The bytes of a fill are no result, and other NaNs are. */
Test(agent_verify, fills_are_told_from_results)
{
    static const enum scalar_type types[] = {SCALAR_FLOAT, SCALAR_DOUBLE, SCALAR_HALF};
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
        double element, other;
        unsigned char fill[VERIFY_FILL];
        verify_fill(types[i], 0, fill);
        memcpy(&element, fill, sizeof element);
        verify_put(types[i], &other, 0, NAN);
        cr_expect(verify_unwritten(types[i], &element, 0) && !verify_unwritten(types[i], &other, 0));
        cr_expect(isnan(verify_get(types[i], &element, 0)));
        struct verify_buffer b = {
            .type = types[i], .elements = 1, .bytes = scalar_type_bytes(types[i]), .data = {&other}};
        cr_expect_eq(verify_compare(&b, VERIFY_EXACT, &other, (struct verify_tolerance){.absolute = 1}), -1);
        cr_expect_eq(verify_compare(&b, VERIFY_EXACT, &element, (struct verify_tolerance){.absolute = 1}), 0);
    }
    unsigned char even[VERIFY_FILL], odd[VERIFY_FILL];
    verify_fill(SCALAR_INT, 0, even);
    verify_fill(SCALAR_INT, 1, odd);
    cr_expect(memcmp(even, odd, sizeof even), "an integer may be one of them, not both");
}

/* Each output counts once: where it is infinite, or smaller than its tolerance in all sets. */
Test(agent_verify, outputs_in_doubt_are_counted)
{
    float exact[5] = {1, INFINITY, 0, 1e-4f, 2}, timing[5] = {NAN, 1, 0, 1e-3f, 0};
    struct verify_buffer out = {
        .type = SCALAR_FLOAT, .elements = 5, .bytes = sizeof exact, .output = true, .data = {exact, timing}};
    const struct verify_task t = {.n_buffers = 1, .n_sets = 2, .buffers = &out};
    const struct verify_tolerance loose[VERIFY_MOST_SETS] = {{.absolute = 0.01}, {.absolute = 0.01}},
                                  tight[VERIFY_MOST_SETS] = {{.exact = true}, {.absolute = 0.01}};
    struct verify_doubt x = verify_doubt(&t, loose), y = verify_doubt(&t, tight);
    cr_expect(x.outputs == 5 && x.not_finite == 1 && x.loose == 2, "%ld", (long)x.loose);
    cr_expect(y.not_finite == 1 && y.loose == 0);
    cr_expect(verify_doubtful(&x) && !verify_doubtful(&(struct verify_doubt){200, 2, 2}));
}

static bool verify_in(const struct verify_buffer *b, unsigned set, double low, double high)
{
    for (int64_t i = 0; i < b->elements; i++) {
        double x = verify_get(b->type, b->data[set], i);
        if (x < low || x > high) return false;
    }
    return true;
}

Test(agent_verify, stated_ranges_are_kept)
{
    struct diag *d = diag_new();
    const struct verify_buffer shape[2] = {
        {.type = SCALAR_FLOAT, .elements = 500, .range = {.given = true, .low = 0.5, .high = 2.5}},
        {.type = SCALAR_INT, .elements = 500, .range = {.given = true, .low = 10, .high = 12}}};
    struct verify_task *t = task_make(shape, 2, 3, d);
    cr_expect(t->whole);
    for (unsigned set = 0; set < t->n_sets; set++)
        cr_expect(verify_in(&t->buffers[0], set, 0.5, 2.5) && verify_in(&t->buffers[1], set, 10, 12), "%u",
                  set);
    verify_task_free(t);
    diag_free(d);
}
