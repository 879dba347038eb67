/* All scalar operations on a real device: implementations of two programs that mix them, of integers
 * bit for bit, and of the programs of experiments/kernels that need them. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/evaluate.h"
#include "core/base/diag.h"
#include "core/base/pcg32.h"
#include "core/pipeline/code.h"
#include "tests/e2e/fixture.h"

static const char integers[] =
    "size N\n"
    "input i: [int]N in -2147483647..2147483647\n"
    "input j: [int]N in -2147483647..2147483647\n"
    "input k: [int]N in -3..3\n"
    "fun mix(x, y) = bitxor(x * 31, y)\n"
    "fun all(i, j, k) =\n"
    "    i + j |> mix(i - j) |> mix(i * j) |> mix(i / k) |> mix(i % k) |> mix(i / (j / 65536))\n"
    "      |> mix(i % (j / 65536)) |> mix(min(i, j)) |> mix(max(i, j)) |> mix(-i) |> mix(abs(j))\n"
    "      |> mix(bitand(i, j)) |> mix(bitor(i, j)) |> mix(shl(i, k)) |> mix(shr(i, j))\n"
    "      |> mix(if i < j || k == 0 && i >= k then i else j) |> mix(if !(i <= j) then 1 else k)\n"
    "      |> mix(int(float(i))) |> mix(int(1.5 * float(k))) |> mix((-2147483647 - 1 + i % 2) / k)\n"
    "output map(all, zip(i, j, k))\n";

static const char reals[] =
    "size N\n"
    "input x: [float]N in 0.01..0.99\n"
    "input y: [float]N in -3..3\n"
    "input k: [int]N in 0..30\n"
    "fun f(x, y, k) =\n"
    "  if k == 0 then exp(y) else if k == 1 then exp2(y) else if k == 2 then log(x) else\n"
    "  if k == 3 then log2(x) else if k == 4 then log10(x) else if k == 5 then pow(x, y) else\n"
    "  if k == 6 then hypot(x, y) else if k == 7 then sin(y) else if k == 8 then cos(y) else\n"
    "  if k == 9 then tan(x) else if k == 10 then asin(x) else if k == 11 then acos(x) else\n"
    "  if k == 12 then atan(y) else if k == 13 then atan2(y, x) else if k == 14 then sinh(y) else\n"
    "  if k == 15 then cosh(y) else if k == 16 then tanh(y) else if k == 17 then erf(y) else\n"
    "  if k == 18 then sqrt(x) else if k == 19 then rsqrt(x) else if k == 20 then floor(y) else\n"
    "  if k == 21 then ceil(y) else if k == 22 then round(y) else if k == 23 then trunc(y) else\n"
    "  if k == 24 then sign(y) else if k == 25 then float(double(x) * double(y)) else\n"
    "  if k == 26 then float(int(y)) else if k == 27 then atan2(y, -x) else if k == 28 then fma(x, y, x) "
    "else\n"
    "  if k == 29 then (if double(x) < double(y) then 1.0 else 2.0) else min(x, y) / max(x, abs(y))\n"
    "output map(f, zip(x, y, k))\n";

/* On a device without cl_khr_fp16 they are bits in memory, and the arithmetic is in float. */
static const char halves[] =
    "size N\n"
    "input x: [half]N in 0.25..4\n"
    "input y: [half]N in -3..3\n"
    "input k: [int]N in 0..19\n"
    "fun f(x, y, k) =\n"
    "  if k == 0 then x + y else if k == 1 then x - y else if k == 2 then x * y else if k == 3 then y / x "
    "else\n"
    "  if k == 4 then fma(x, y, y) else if k == 5 then min(x, y) else if k == 6 then max(x, y) else\n"
    "  if k == 7 then -x else if k == 8 then abs(y) else if k == 9 then (if x < y then y else x + y) else\n"
    "  if k == 10 then half(float(x) * 1.5) else if k == 11 then half(double(y)) else if k == 12 then "
    "half(k) else\n"
    "  if k == 13 then half(int(y)) else if k == 14 then sqrt(x) else if k == 15 then floor(y) else\n"
    "  if k == 16 then round(y) else if k == 17 then sign(y) else if k == 18 then exp(y) else half(0.5) * x\n"
    "output map(f, zip(x, y, k))\n";

/* The naive kernel, whose results the interpreter checks, and a random implementation. */
static void scalars_check(const char *name, const char *text, const char *sizes)
{
    struct bb_options options = {.parallel_levels = 2, .reduction_levels = 2, .no_staging = true};
    struct diag *d = diag_new();
    struct device dev;
    struct pcg32 rng = pcg32_seed(1, 1);
    cr_assert(device_select("cpu", &dev, d));
    struct problem *p = problem_new(name, text, sizes, &dev.limits, &options, d);
    struct evaluator *ev = p ? evaluator_new(p, &dev, 1, 11, d) : NULL;
    if (!ev) diag_print(d, stderr);
    cr_assert_not_null(ev, "%s", name);
    struct space_state *st = kernel_root(p->space);
    space_mark root = space_snapshot(st);
    for (int done = 0; done < 1; space_rollback(st, root)) {
        struct pipeline_code code = {0};
        struct evaluation e;
        char why[160] = "";
        if (!kernel_descend(st, &rng)) continue;
        cr_assert(pipeline_lower(p, st, &code, why, sizeof why), "%s: %s", name, why);
        evaluator_run(ev, &code.kernel, &(struct eval_settings){.verify = true, .untimed = true}, &e);
        cr_expect_eq(e.status, EVAL_OK, "%s: %s\n%s", name, e.message, code.kernel.source);
        pipeline_code_clear(&code);
        done++;
    }
    space_state_free(st);
    evaluator_free(ev);
    problem_free(p);
    diag_free(d);
}

static void scalars_check_kernel(const char *kernel, const char *sizes)
{
    size_t length;
    char *text = kernel_read(kernel, &length);
    scalars_check(kernel, text, sizes);
    free(text);
}

Test(scalars_run, integers, .timeout = 120)
{
    scalars_check("integers", integers, "N=8");
}

Test(scalars_run, reals, .timeout = 120)
{
    scalars_check("reals", reals, "N=61");
}

Test(scalars_run, halves, .timeout = 120)
{
    scalars_check("halves", halves, "N=64");
    scalars_check_kernel("half_gemv", "M=16,N=32");
    scalars_check_kernel("half_matmul", "M=8,N=16,K=8");
}

Test(scalars_run, kernels, .timeout = 120)
{
    scalars_check_kernel("black_scholes", "N=8");
}

/* The text for a device that has arithmetic on them. */
Test(scalars_run, halves_are_summed_in_floats)
{
    struct e2e_fixture f;
    e2e_open(&f, e2e_problem(&(struct kernel_case){"half_gemv", "M=4,N=8"}, &kernel_device, NULL));
    struct diag *d = diag_new();
    struct cg_kernel kernel;
    struct space_state *leaf = problem_naive(f.problem, d);
    cr_assert_not_null(leaf);
    e2e_check(&f, leaf, "half_gemv", &kernel);
    cr_expect(strstr(kernel.source, "__global const half *restrict A") &&
                  strstr(kernel.source, "fma(convert_float(A_load), convert_float(x_load), "),
              "%s", kernel.source);
    cg_kernel_free(&kernel);
    space_state_free(leaf);
    diag_free(d);
    e2e_close(&f);
}
