/* Inputs, comparison, and the reference against the Lift interpreter. */
#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

#include "agent/verify.h"
#include "core/base/arena.h"
#include "core/base/diag.h"
#include "core/lift/lift.h"

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
    return verify_task_new(shape, 3, 3, d);
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

Test(agent_verify, sums_of_products_are_exact_on_integers)
{
    struct diag *d = diag_new();
    struct arena *a = arena_new();
    struct source source;
    struct lift_program *p = verify_bind(verify_matmul, "M=8,N=6,K=5", &source, a, d);
    struct verify_task *t = verify_matmul_task(d);
    const unsigned input_of[3] = {0, 1, 0};
    struct verify_tolerance tolerance[VERIFY_SETS];
    cr_assert(verify_interpretable(t, p));
    verify_interpret(t, input_of, p);
    cr_assert(verify_reference(t, input_of, p, 1, tolerance, d));
    cr_assert(tolerance[VERIFY_EXACT].exact && !tolerance[VERIFY_TIMING].exact);
    cr_assert(tolerance[VERIFY_TIMING].absolute > 0 && tolerance[VERIFY_TIMING].absolute < 1e-4);
    ((float *)t->buffers[2].data[VERIFY_EXACT])[47] += 1; /* a corner */
    cr_assert_not(verify_reference(t, input_of, p, 1, tolerance, d));
    cr_assert(strstr(diag_message(d, 0), "output 47"));
    ((float *)t->buffers[2].data[VERIFY_EXACT])[47] = NAN; /* never written */
    cr_assert_not(verify_reference(t, input_of, p, 1, tolerance, d));
    cr_assert(strstr(diag_message(d, 1), "not a number"));
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
    struct verify_task *t = verify_task_new(shape, 2, 3, d);
    const unsigned input_of[2] = {0, 0};
    struct verify_tolerance tolerance[VERIFY_SETS];
    verify_interpret(t, input_of, p);
    cr_assert(verify_reference(t, input_of, p, 1, tolerance, d));
    cr_assert(!tolerance[VERIFY_EXACT].exact && tolerance[VERIFY_EXACT].absolute > 0);
    verify_task_free(t);
    arena_free(a);
    diag_free(d);
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
    struct verify_task *t = verify_task_new(shape, 2, 3, d);
    const unsigned input_of[2] = {0, 0};
    struct verify_tolerance tolerance[VERIFY_SETS];
    verify_interpret(t, input_of, p);
    cr_assert(verify_reference(t, input_of, p, 1, tolerance, d));
    cr_assert(tolerance[VERIFY_EXACT].exact);
    float *got = arena_memdup(a, t->buffers[1].data[VERIFY_TIMING], t->buffers[1].bytes);
    cr_assert_eq(verify_compare(&t->buffers[1], VERIFY_TIMING, got, tolerance[VERIFY_TIMING]), -1);
    got[3] += 0.001f;
    cr_assert_eq(verify_compare(&t->buffers[1], VERIFY_TIMING, got, tolerance[VERIFY_TIMING]), 3);
    verify_task_free(t);
    arena_free(a);
    diag_free(d);
}

Test(agent_verify, compares_bits_or_within_the_tolerance_and_never_nan)
{
    float want[4] = {1, 2, 0, 4}, near[4] = {1, 2.001f, -0.0f, 4}, nan[4] = {1, 2, 0, NAN};
    struct verify_buffer b = {.type = SCALAR_FLOAT, .elements = 4, .bytes = 16, .data = {want, want}};
    struct verify_tolerance exact = {.exact = true}, loose = {.absolute = 0.01};
    cr_assert_eq(verify_compare(&b, VERIFY_EXACT, want, exact), -1);
    cr_assert_eq(verify_compare(&b, VERIFY_EXACT, near, exact), 1);
    cr_assert_eq(verify_compare(&b, VERIFY_TIMING, near, loose), -1);
    cr_assert_eq(verify_compare(&b, VERIFY_TIMING, nan, loose), 3);
    want[3] = NAN;
    cr_assert_eq(verify_compare(&b, VERIFY_TIMING, nan, loose), 3);
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
