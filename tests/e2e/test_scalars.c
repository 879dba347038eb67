/* All scalar operations on a real device: random implementations of two programs that mix them, of integers
 * bit for bit, and of the programs of experiments/kernels that need them. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/e2e/fixture.h"
#include "tests/e2e/run.h"

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

/* So few random implementations that a second is enough where nothing else runs. */
static void scalars_verify(const char *path, const char *sizes, const char *pin)
{
    struct e2e_run r = E2E_RUN(&cli_verify, path, "--size", sizes, "--pin", pin, "--samples", "1", "--time",
                               "1s", "--seed", "3", "--quiet");
    cr_expect_eq(r.status, CLI_OK, "%s: %s%s", path, r.out, r.err);
    e2e_run_free(&r);
}

static void scalars_text(const char *text, const char *pin)
{
    char folder[32], path[64];
    e2e_folder(folder);
    snprintf(path, sizeof path, "%s/program.lift", folder);
    FILE *file = fopen(path, "w");
    cr_assert(file && fputs(text, file) >= 0 && fclose(file) == 0);
    scalars_verify(path, "N=64", pin);
    unlink(path);
    rmdir(folder);
}

Test(scalars_run, integers, .timeout = 120)
{
    scalars_text(integers, "dim_kind(compute.n.3)=VECTOR");
}

Test(scalars_run, reals, .timeout = 120)
{
    scalars_text(reals, "dim_kind(compute.n.3)=LOOP|VECTOR");
}

Test(scalars_run, kernels, .timeout = 120)
{
    scalars_verify("experiments/kernels/black_scholes.lift", "N=16",
                   "dim_kind(*)=LOOP|UNROLL|VECTOR|THREAD|BLOCK|GLOBAL");
    scalars_verify("experiments/kernels/int_dot.lift", "M=4,N=8",
                   "dim_kind(*)=LOOP|UNROLL|VECTOR|THREAD|BLOCK|GLOBAL");
}

/* A device without half refuses the arrays; the interpreter and the text have them. */
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
                  strstr(kernel.source, "fma(convert_float(A_load), convert_float(x_load), init)"),
              "%s", kernel.source);
    cg_kernel_free(&kernel);
    space_state_free(leaf);
    diag_free(d);
    e2e_close(&f);
}
