/* Random implementations of every shipped kernel, at small sizes, through the interpreter of the loop
 * program: results equal the Lift interpreter's bit for bit (inputs are small odd integers), no race, no
 * access out of bounds, no divergent barrier, no uninitialized read. The seed is printed with a failure. */
#include "tests/e2e/fixture.h"

#include <criterion/criterion.h>
#include <stdio.h>

#include "core/base/diag.h"
#include "core/base/pcg32.h"

static void check_random(const struct kernel_case *c, unsigned descents)
{
    struct e2e_fixture f;
    e2e_open(&f, e2e_problem(c, &kernel_device, NULL));
    struct space_state *st = kernel_root(f.problem->space);
    space_mark root = space_snapshot(st);
    struct pcg32 rng = pcg32_seed(1, 1);
    unsigned leaves = 0;
    for (unsigned i = 0; i < descents; i++) {
        char what[64];
        snprintf(what, sizeof what, "%s, seed 1, descent %u", c->kernel, i);
        if (kernel_descend(st, &rng)) {
            e2e_check(&f, st, what, NULL);
            leaves++;
        }
        space_rollback(st, root);
    }
    cr_assert(leaves > 0, "%s: no descent of %u reached a leaf", c->kernel, descents);
    space_state_free(st);
    e2e_close(&f);
}

static void check_naive(const struct kernel_case *c)
{
    struct e2e_fixture f;
    e2e_open(&f, e2e_problem(c, &kernel_device, NULL));
    struct diag *d = diag_new();
    struct space_state *leaf = problem_naive(f.problem, d);
    if (!leaf) diag_print(d, stderr);
    cr_assert_not_null(leaf, "%s has no naive implementation", c->kernel);
    e2e_check(&f, leaf, c->kernel, NULL);
    space_state_free(leaf);
    diag_free(d);
    e2e_close(&f);
}

static const struct kernel_case CASES[] = {
    {"axpy", "N=64"},
    {"matmul", "M=8,N=8,K=8"},
    {"matmul_strided", "M=4,N=4,K=8"},
    {"gemv", "M=8,N=16"},
    {"gesummv", "M=4,N=8"},
    {"batched_matmul", "P=2,M=4,N=4,K=4"},
    {"transpose", "M=8,N=8"},
    {"dot", "N=64"},
    {"sum", "M=8,N=8"},
    {"stencil_3point", "N=16"},
    {"stencil_5point", "H=4,W=4"},
    {"stencil_9point", "H=4,W=4"},
    {"stencil_7point", "D=2,H=2,W=4"},
    {"stencil_27point", "D=2,H=2,W=4"},
    {"stencil_two_steps", "N=16"},
    {"convolution", "B=1,O=2,C=4,H=2,W=4"},
    {"convolution_strided", "O=2,C=2,H=4,W=8"},
    {"convolution_depthwise", "C=2,H=4,W=4"},
    {"transpose3_201", "I=2,J=4,K=4"},
    {"transpose3_210", "I=2,J=4,K=4"},
    {"gemm", "M=8,N=8,K=4"},
    {"saxpy", "N=64"},
    {"complex_mul", "N=32"},
    {"complex_mul_interleaved", "N=32"},
    {"mean_variance", "M=8,N=8"},
    {"leaky_relu", "N=64"},
    {"int_dot", "M=4,N=8"},
    {"half_gemv", "M=4,N=8"},
    {"argmax", "M=4,N=8"},
    {"kmeans", "N=4,K=4,D=2"},
    {"gather_rows", "N=4,M=8,D=4"},
    {"sparse_gemv", "M=4,N=8,K=4"},
    {"deinterleave", "M=2,N=8"},
    {"scan", "M=4,N=8"},
    {"atax", "M=4,N=4"},
    {"matmul_chain", "M=2,N=2,K=4,L=2"},
};

/* Fewer of the programs with more instructions or dimensions. */
enum { DESCENTS = 150, FEWER = 40 };

#define KERNEL_TEST(i, name)                                                                                 \
    Test(kernels, random_implementations_of_##name)                                                          \
    {                                                                                                        \
        check_random(&CASES[i], (i) < 9 ? DESCENTS : FEWER);                                                 \
    }                                                                                                        \
    Test(kernels, naive_implementation_of_##name)                                                            \
    {                                                                                                        \
        check_naive(&CASES[i]);                                                                              \
    }

KERNEL_TEST(0, axpy)
KERNEL_TEST(1, matmul)
KERNEL_TEST(2, matmul_strided)
KERNEL_TEST(3, gemv)
KERNEL_TEST(4, gesummv)
KERNEL_TEST(5, batched_matmul)
KERNEL_TEST(6, transpose)
KERNEL_TEST(7, dot)
KERNEL_TEST(8, sum)
KERNEL_TEST(9, stencil_3point)
KERNEL_TEST(10, stencil_5point)
KERNEL_TEST(11, stencil_9point)
KERNEL_TEST(12, stencil_7point)
KERNEL_TEST(13, stencil_27point)
KERNEL_TEST(14, stencil_two_steps)
KERNEL_TEST(15, convolution)
KERNEL_TEST(16, convolution_strided)
KERNEL_TEST(17, convolution_depthwise)
KERNEL_TEST(18, transpose3_201)
KERNEL_TEST(19, transpose3_210)
KERNEL_TEST(20, gemm)
KERNEL_TEST(21, saxpy)
KERNEL_TEST(22, complex_mul)
KERNEL_TEST(23, complex_mul_interleaved)
KERNEL_TEST(24, mean_variance)
KERNEL_TEST(25, leaky_relu)
KERNEL_TEST(26, int_dot)
KERNEL_TEST(27, half_gemv)
KERNEL_TEST(28, argmax)
KERNEL_TEST(29, kmeans)
KERNEL_TEST(30, gather_rows)
KERNEL_TEST(31, sparse_gemv)
KERNEL_TEST(32, deinterleave)
KERNEL_TEST(33, scan)
KERNEL_TEST(34, atax)
KERNEL_TEST(35, matmul_chain)
