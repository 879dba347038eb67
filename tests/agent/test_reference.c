/* evaluator_new() from a Lift program: the naive kernel fills the reference, the interpreter agrees, and the
 * naive kernel passes its own evaluation. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "agent/download.h"
#include "agent/evaluate.h"
#include "core/base/diag.h"
#include "core/pipeline/code.h"
#include "core/space/space.h"

static const char reference_matmul[] =
    "size M, N, K\ninput A: [[float]K]M\ninput B: [[float]N]K\n"
    "output map(fun row -> map(fun col -> reduce(add, 0.0, map(mult, zip(row, col))), transpose(B)), A)\n";

/* A program with its evaluator and its naive kernel. */
struct reference_bench {
    struct diag *d;
    struct problem *p;
    struct evaluator *ev;
    struct pipeline_code naive;
};

static void reference_open(struct reference_bench *b, const char *program, const char *sizes)
{
    struct device dev;
    struct bb_options options = {.parallel_levels = 2, .reduction_levels = 2, .no_staging = true};
    char why[160] = "";
    b->d = diag_new();
    cr_assert(device_select("cpu", &dev, b->d));
    b->p = problem_new("m.lift", program, sizes, &dev.limits, &options, b->d);
    b->ev = b->p ? evaluator_new(b->p, &dev, 1, 11, b->d) : NULL;
    if (!b->ev) diag_print(b->d, stderr);
    cr_assert_not_null(b->ev);
    struct space_state *st = problem_naive(b->p, b->d);
    cr_assert(st && pipeline_lower(b->p, st, &b->naive, why, sizeof why), "%s", why);
    space_state_free(st);
}

static void reference_close(struct reference_bench *b)
{
    pipeline_code_clear(&b->naive);
    evaluator_free(b->ev);
    problem_free(b->p);
    diag_free(b->d);
}

static void reference_expect(struct reference_bench *b, const struct cg_kernel *k, enum eval_status status,
                             const char *message)
{
    struct evaluation e;
    evaluator_run(b->ev, k, &(struct eval_settings){.verify = true, .untimed = true}, &e);
    cr_expect_eq(e.status, status, "%s: %s", eval_status_name(e.status), e.message);
    cr_expect(strstr(e.message, message), "%s", e.message);
}

/* The naive kernel of a program passes its own evaluation. */
static void reference_check(const char *program, const char *sizes)
{
    struct reference_bench b;
    reference_open(&b, program, sizes);
    reference_expect(&b, &b.naive.kernel, EVAL_OK, "");
    reference_close(&b);
}

/* A kernel with the arguments of the naive one that stores nothing. */
static void reference_expect_unwritten(struct reference_bench *b)
{
    static char idle[] = "__kernel void thresh_kernel(__global const float *x, __global float *y) {}\n";
    struct cg_kernel k = b->naive.kernel;
    k.source = idle;
    reference_expect(b, &k, EVAL_WRONG_RESULT, "output 0 is not written (exact inputs)");
}

Test(agent_reference, the_naive_kernel_matches_the_interpreter)
{
    reference_check(reference_matmul, "M=16,N=8,K=12");
}

/* Roots of negative numbers, and differences of 0 to divide by. */
Test(agent_reference, results_may_be_infinite_or_no_number)
{
    reference_check("size N\ninput x: [float]N\noutput map(fun v -> sqrt(v), x)\n", "N=256");
    reference_check("size N\ninput x: [float]N\ninput y: [float]N\n"
                    "output map(fun (u, v) -> 1.0 / (u - v), zip(x, y))\n",
                    "N=256");
}

/* The logarithms of negative numbers are the same NaN from everybody, but somebody must have stored it. */
Test(agent_reference, a_kernel_that_stores_nothing_is_wrong_whatever_the_reference_is)
{
    struct reference_bench b;
    reference_open(&b, "size N\ninput x: [float]N in -2..-1\noutput map(fun v -> log(v), x)\n", "N=64");
    struct verify_doubt doubt = evaluator_doubt(b.ev);
    cr_expect(doubt.outputs == 64 && doubt.not_finite == 64 && doubt.loose == 0);
    cr_expect(verify_doubtful(&doubt));
    reference_expect(&b, &b.naive.kernel, EVAL_OK, "");
    reference_expect_unwritten(&b);
    reference_close(&b);
}

/* Inputs without a range are drawn from where the results are numbers: positive ones, then near 1. */
Test(agent_reference, inputs_are_drawn_where_results_are_finite)
{
    static const char *const programs[] = {
        "size M, N\ninput A: [[float]N]M\noutput map(fun r -> exp(reduce(add, 0.0, map(log, r)) / N), A)\n",
        "size M, N\ninput A: [[float]N]M\noutput map(fun r -> map(fun v -> log(v * 4.0 - 1.0), r), A)\n"};
    for (int i = 0; i < 2; i++) {
        struct reference_bench b;
        reference_open(&b, programs[i], "M=16,N=32");
        struct verify_doubt doubt = evaluator_doubt(b.ev);
        cr_expect(doubt.outputs > 0 && doubt.not_finite == 0 && !verify_doubtful(&doubt), "%d: %ld, %ld", i,
                  (long)doubt.not_finite, (long)doubt.loose);
        if (i == 0) reference_expect_unwritten(&b);
        reference_close(&b);
    }
}

/* Beside a best time of 1 ns it is verified on the exact and the timing inputs alone; a thorough job runs
 * all. */
static void reference_expect_far(struct reference_bench *b, const struct cg_kernel *k)
{
    struct evaluation e;
    struct eval_settings s = {.verify = true, .best_ns = 1, .limit_ns = 1e9};
    evaluator_run(b->ev, k, &s, &e);
    cr_expect(e.status == EVAL_OK && e.n_samples == 3, "%d: %s", (int)e.status, e.message);
    s.thorough = true;
    evaluator_run(b->ev, k, &s, &e);
    cr_expect_eq(e.status, EVAL_WRONG_RESULT, "%s", e.message);
}

/* The maximum of 1,000 elements without one of its ends, or without one in the middle. */
Test(agent_reference, a_maximum_that_loses_an_element_is_wrong)
{
    static const char *const loops[] = {"i = 0; i < 999", "i = 1; i < 1000"};
    struct reference_bench b;
    reference_open(&b, "size N\ninput x: [float]N\noutput reduce(max, -1e30, x)\n", "N=1000");
    reference_expect(&b, &b.naive.kernel, EVAL_OK, "");
    for (int i = 0; i < 2; i++) {
        char text[256];
        snprintf(text, sizeof text,
                 "__kernel void thresh_kernel(__global const float *x, __global float *y)\n"
                 "{ float m = -1e30f; for (int %s; ++i) m = fmax(m, x[i]); y[0] = m; }\n",
                 loops[i]);
        struct cg_kernel k = b.naive.kernel;
        k.source = text;
        reference_expect(&b, &k, EVAL_WRONG_RESULT, "(extreme inputs)");
        reference_expect_far(&b, &k);
    }
    reference_close(&b);
}

/* As floats these are zero or subnormal, and the interpreter calculates with doubles. */
Test(agent_reference, results_may_underflow)
{
    reference_check("size N\ninput x: [float]N in -200..-80\noutput map(fun v -> exp(v), x)\n", "N=256");
    reference_check("size M, N\ninput A: [[float]N]M in -200..200\n"
                    "output map(fun r -> map(fun v -> exp(v - reduce(max, -1e30, r)), r), A)\n",
                    "M=8,N=16");
    reference_check("size N\ninput x: [float]N\noutput reduce(mult, 1.0, x)\n", "N=256");
}

/* In some extreme sets nothing is positive, and everything is divided by 0. The other sets verify it. */
Test(agent_reference, outputs_that_are_finite_in_the_ordinary_sets_are_not_in_doubt)
{
    struct reference_bench b;
    reference_open(&b,
                   "size M, N\ninput A: [[float]N]M\noutput map(fun r -> map(fun v -> "
                   "max(v, 0.0) / reduce(add, 0.0, map(fun w -> max(w, 0.0), r)), r), A)\n",
                   "M=16,N=32");
    struct verify_doubt doubt = evaluator_doubt(b.ev);
    cr_expect(doubt.not_finite == 0 && !verify_doubtful(&doubt), "%ld, %ld", (long)doubt.not_finite,
              (long)doubt.loose);
    reference_expect(&b, &b.naive.kernel, EVAL_OK, "");
    reference_close(&b);
}

/* Sums of ninth powers of {-3, -1, 1, 3} are not exact as floats; those of 1 and -1 are, and show each
 * element that is lost. */
Test(agent_reference, sums_that_would_be_too_large_are_of_ones)
{
    struct reference_bench b;
    reference_open(&b,
                   "size N\ninput x: [float]N\n"
                   "output reduce(add, 0.0, map(fun v -> v * v * v * v * v * v * v * v * v, x))\n",
                   "N=4096");
    struct verify_doubt doubt = evaluator_doubt(b.ev);
    cr_expect_eq(doubt.loose, 0);
    reference_expect(&b, &b.naive.kernel, EVAL_OK, "");
    static char text[] = "__kernel void thresh_kernel(__global const float *x, __global float *y)\n"
                         "{ float s = 0; for (int i = 0; i < 4095; ++i) s += pown(x[i], 9); y[0] = s; }\n";
    struct cg_kernel k = b.naive.kernel;
    k.source = text;
    reference_expect(&b, &k, EVAL_WRONG_RESULT, "(exact inputs)");
    reference_close(&b);
}

/* Most outputs are smaller than the tolerance of the largest ones; they are verified all the same. */
Test(agent_reference, small_outputs_are_verified)
{
    static char text[] = "__kernel void thresh_kernel(__global const float *x, __global float *y)\n"
                         "{ for (int r = 0; r < 2; ++r) {\n"
                         "  float s = 0; for (int i = 0; i < 192; ++i) s += exp(x[192 * r + i]);\n"
                         "  for (int i = 0; i < 192; ++i) { float v = exp(x[192 * r + i]) / s;\n"
                         "    y[192 * r + i] = FACTOR; } } }\n";
    static const char *const factors[] = {"v", "v < 1e-5f ? 2 * v : v", "v < 1e-5f ? 0 : v"};
    struct reference_bench b;
    reference_open(&b,
                   "size M, N\ninput X: [[float]N]M in -10..10\noutput map(fun row -> "
                   "let s = reduce(add, 0.0, map(exp, row)) in map(fun x -> exp(x) / s, row), X)\n",
                   "M=2,N=192");
    struct verify_doubt doubt = evaluator_doubt(b.ev);
    cr_expect(doubt.outputs == 384 && doubt.loose == 0, "%ld", (long)doubt.loose);
    reference_expect(&b, &b.naive.kernel, EVAL_OK, "");
    for (int i = 0; i < 3; i++) {
        char define[sizeof text + 64];
        struct cg_kernel k = b.naive.kernel;
        snprintf(define, sizeof define, "#define FACTOR %s\n%s", factors[i], text);
        k.source = define;
        for (int axis = 0; axis < 3; axis++)
            k.global[axis] = k.local[axis] = 1;
        reference_expect(&b, &k, i ? EVAL_WRONG_RESULT : EVAL_OK, i ? "inputs)" : "");
    }
    reference_close(&b);
}

/* Outputs come from the device in parts, of which two take turns. */
Test(agent_reference, a_wrong_output_is_found_at_the_ends_of_parts)
{
    enum { PART = DOWNLOAD_PART / 4, LAST = 2 * PART + 63 };
    static const int at[] = {0, PART - 1, PART, 2 * PART - 1, 2 * PART, LAST};
    struct reference_bench b;
    char sizes[32], text[300], wrong[40];
    snprintf(sizes, sizeof sizes, "N=%d", LAST + 1);
    reference_open(&b, "size N\ninput x: [float]N\noutput map(fun v -> 0.1 * v, x)\n", sizes);
    reference_expect(&b, &b.naive.kernel, EVAL_OK, "");
    for (size_t i = 0; i < sizeof at / sizeof *at; i++) {
        struct cg_kernel k = b.naive.kernel;
        snprintf(text, sizeof text,
                 "__kernel void thresh_kernel(__global const float *x, __global float *y)\n"
                 "{ int i = get_global_id(0); y[i] = 0.1f * x[i] + (i == %d ? 0.5f : 0); }\n",
                 at[i]);
        snprintf(wrong, sizeof wrong, "output %d is ", at[i]);
        k.source = text;
        for (int axis = 0; axis < 3; axis++)
            k.global[axis] = k.local[axis] = 1;
        k.global[0] = LAST + 1;
        k.local[0] = 64;
        reference_expect(&b, &k, EVAL_WRONG_RESULT, wrong);
    }
    reference_close(&b);
}

/* The interpreter calculates with doubles, the device with floats: exp(100) is infinite there. */
Test(agent_reference, intermediate_results_that_overflow_are_told)
{
    struct reference_bench b;
    reference_open(&b, "size N\ninput x: [float]N in 0..100\noutput log(reduce(add, 0.0, map(exp, x)))\n",
                   "N=64");
    struct verify_doubt doubt = evaluator_doubt(b.ev);
    cr_expect(doubt.not_finite == 1 && verify_doubtful(&doubt));
    reference_expect(&b, &b.naive.kernel, EVAL_OK, "");
    reference_close(&b);
    struct diag *d = diag_new();
    struct device dev;
    cr_assert(device_select("cpu", &dev, d));
    struct problem *p = problem_new("m.lift",
                                    "size N\ninput x: [float]N in 90..95\n"
                                    "output map(fun v -> 1e38 / (1.0 + exp(v)), x)\n",
                                    "N=64", &dev.limits, NULL, d);
    cr_assert_not_null(p);
    cr_expect_null(evaluator_new(p, &dev, 1, 11, d));
    cr_expect(strstr(diag_message(d, 0), "is larger than the largest float, 3.4e+38; restrict the range"),
              "%s", diag_message(d, 0));
    problem_free(p);
    diag_free(d);
}

/* An evaluator needs room for an array in each set of inputs, and for an output between its guard zones. */
Test(agent_reference, arrays_that_the_device_has_no_room_for_are_refused)
{
    struct diag *d = diag_new();
    struct device dev;
    cr_assert(device_select("cpu", &dev, d));
    dev.global_bytes = 20 * 4096;
    struct problem *p = problem_new("m.lift", "size N\ninput x: [float]N\noutput map(fun v -> 2.0 * v, x)\n",
                                    "N=4096", &dev.limits, NULL, d);
    cr_assert_not_null(p);
    cr_expect_null(evaluator_new(p, &dev, 1, 11, d));
    cr_assert_eq(diag_count(d), 1);
    cr_expect_eq(strncmp(diag_message(d, 0), "m.lift:3:", 9), 0, "%s", diag_message(d, 0));
    cr_expect(strstr(diag_message(d, 0), "in a runner, but"), "%s", diag_message(d, 0));
    problem_free(p);
    diag_free(d);
}
