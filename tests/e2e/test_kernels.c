/* Random implementations of every shipped kernel, at small sizes, through the interpreter of the loop
 * program: results equal the Lift interpreter's bit for bit (inputs are small odd integers), no race, no
 * access out of bounds, no divergent barrier, no uninitialized read. The seed is printed with a failure. */
#include "tests/e2e/fixture.h"

#include <criterion/criterion.h>
#include <stdio.h>

#include "core/base/diag.h"
#include "core/base/pcg32.h"

static const struct bb_device DEVICE = {
    .max_work_group = 64,
    .max_work_item = {64, 64, 64},
    .local_bytes = 4096,
    .max_unroll = 64,
    .max_private = 128,
    .n_vector_widths = 2,
    .vector_widths = {2, 4},
};

/* Takes a random valid value at each open choice. false: a dead end. */
static bool descend(struct space_state *st, struct pcg32 *rng)
{
    uint32_t values[4096], slot;
    while ((slot = space_next_choice(st, NULL, 0)) != UINT32_MAX) {
        uint32_t n = space_values(st, slot, values);
        bool done = false;
        while (n > 0 && !done) {
            uint32_t i = pcg32_below(rng, n);
            space_mark mark = space_snapshot(st);
            struct space_failure why;
            done = space_apply(st, (struct space_action){slot, values[i]}, &why);
            if (!done) {
                space_rollback(st, mark);
                values[i] = values[--n];
            }
        }
        if (!done) return false;
    }
    return true;
}

static void check_random(const struct e2e_case *c, unsigned descents)
{
    struct e2e_fixture f;
    e2e_open(&f, e2e_problem(c, &DEVICE, NULL));
    struct space_state *st = e2e_root(f.problem);
    space_mark root = space_snapshot(st);
    struct pcg32 rng = pcg32_seed(1, 1);
    unsigned leaves = 0;
    for (unsigned i = 0; i < descents; i++) {
        char what[64];
        snprintf(what, sizeof what, "%s, seed 1, descent %u", c->kernel, i);
        if (descend(st, &rng)) {
            e2e_check(&f, st, what, NULL);
            leaves++;
        }
        space_rollback(st, root);
    }
    cr_assert(leaves > 0, "%s: no descent of %u reached a leaf", c->kernel, descents);
    space_state_free(st);
    e2e_close(&f);
}

static void check_naive(const struct e2e_case *c)
{
    struct e2e_fixture f;
    e2e_open(&f, e2e_problem(c, &DEVICE, NULL));
    struct diag *d = diag_new();
    struct space_state *leaf = problem_naive(f.problem, d);
    if (!leaf) diag_print(d, stderr);
    cr_assert_not_null(leaf, "%s has no naive implementation", c->kernel);
    e2e_check(&f, leaf, c->kernel, NULL);
    space_state_free(leaf);
    diag_free(d);
    e2e_close(&f);
}

static const struct e2e_case CASES[] = {
    {"axpy", "N=64"},         {"matmul", "M=8,N=8,K=8"}, {"matmul_strided", "M=4,N=4,K=8"},
    {"gemv", "M=8,N=16"},     {"gesummv", "M=4,N=8"},    {"batched_matmul", "P=2,M=4,N=4,K=4"},
    {"transpose", "M=8,N=8"},
};

#define KERNEL_TEST(i, name)                                                                                 \
    Test(kernels, random_implementations_of_##name)                                                          \
    {                                                                                                        \
        check_random(&CASES[i], 150);                                                                        \
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
