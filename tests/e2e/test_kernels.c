/* Random implementations of every shipped kernel, at small sizes, through the interpreter of the loop
 * program: results equal the Lift interpreter's bit for bit (inputs are small odd integers), no race, no
 * access out of bounds, no divergent barrier, no uninitialized read. The seed is printed with a failure. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>

#include "agent/problem.h"
#include "core/base/arena.h"
#include "core/base/diag.h"
#include "core/base/pcg32.h"

struct case_ {
    const char *kernel, *sizes;
};

static const struct bb_device DEVICE = {
    .max_work_group = 64,
    .max_work_item = {64, 64, 64},
    .local_bytes = 4096,
    .max_unroll = 64,
    .max_private = 128,
    .n_vector_widths = 2,
    .vector_widths = {2, 4},
};

static struct problem *open_problem(const struct case_ *c)
{
    struct diag *d = diag_new();
    char path[128];
    snprintf(path, sizeof path, "experiments/kernels/%s.lift", c->kernel);
    size_t length;
    char *text = source_read_file(path, 1 << 20, &length, d);
    struct problem *p = text ? problem_new(path, text, c->sizes, &DEVICE, NULL, d) : NULL;
    if (!p) diag_print(d, stderr);
    cr_assert_not_null(p, "%s does not open", path);
    free(text);
    diag_free(d);
    return p;
}

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

struct fixture {
    struct problem *problem;
    double **buffers;      /* backbone buffers */
    const double **inputs; /* program inputs */
    double *reference;
    uint32_t output;
};

static void fixture_open(struct fixture *f, const struct case_ *c)
{
    f->problem = open_problem(c);
    const struct backbone *bb = f->problem->backbone;
    f->buffers = base_calloc(bb->n_buffers, sizeof *f->buffers);
    f->inputs = base_calloc(f->problem->program->n_inputs, sizeof *f->inputs);
    struct pcg32 rng = pcg32_seed(7, 7);
    for (uint32_t b = 0; b < bb->n_buffers; b++) {
        f->buffers[b] = base_calloc((size_t)bb->buffers[b].elements, sizeof(double));
        if (bb->buffers[b].output) {
            f->output = b;
            continue;
        }
        for (int64_t i = 0; i < bb->buffers[b].elements; i++)
            f->buffers[b][i] = (double)pcg32_below(&rng, 4) * 2 - 3;
        f->inputs[bb->buffers[b].input] = f->buffers[b];
    }
    f->reference = base_calloc((size_t)bb->buffers[f->output].elements, sizeof(double));
    lift_interpret(f->problem->program, f->inputs, f->reference);
}

static void fixture_close(struct fixture *f)
{
    for (uint32_t b = 0; b < f->problem->backbone->n_buffers; b++)
        free(f->buffers[b]);
    free(f->buffers);
    free(f->inputs);
    free(f->reference);
    problem_free(f->problem);
}

static void check_leaf(struct fixture *f, const struct space_state *leaf, const char *kernel,
                       unsigned descent)
{
    const struct backbone *bb = f->problem->backbone;
    struct arena *a = arena_new();
    struct bb_candidate *c = bb_candidate_new(bb, a);
    const char *why = "";
    cr_assert(bb_decode(bb, leaf, c, &why), "%s, descent %u: %s", kernel, descent, why);
    static const struct cg_options options = {.aligned_vectors = true};
    struct cg_program *program = cg_build(bb, c, &options, a, &why);
    cr_assert_not_null(program, "%s, descent %u: %s", kernel, descent, why);
    int64_t n = bb->buffers[f->output].elements;
    for (int64_t i = 0; i < n; i++)
        f->buffers[f->output][i] = -12345;
    struct cg_check check = cg_interpret(program, f->buffers);
    cr_assert_eq(check.fault, CG_OK, "%s, descent %u: fault %d %s", kernel, descent, (int)check.fault,
                 check.where);
    for (int64_t i = 0; i < n; i++)
        cr_assert_eq(f->buffers[f->output][i], f->reference[i], "%s, descent %u: element %ld is %g, not %g",
                     kernel, descent, (long)i, f->buffers[f->output][i], f->reference[i]);
    arena_free(a);
}

static void check_random(const struct case_ *c, unsigned descents)
{
    struct fixture f = {0};
    fixture_open(&f, c);
    struct space_failure why = {0};
    struct space_state *st = space_root(f.problem->space, &why);
    cr_assert_not_null(st, "%s: empty space, %s:%u", c->kernel, why.file, why.line);
    space_mark root = space_snapshot(st);
    struct pcg32 rng = pcg32_seed(1, 1);
    unsigned leaves = 0;
    for (unsigned i = 0; i < descents; i++) {
        if (descend(st, &rng)) {
            check_leaf(&f, st, c->kernel, i);
            leaves++;
        }
        space_rollback(st, root);
    }
    cr_assert(leaves > 0, "%s: no descent of %u reached a leaf", c->kernel, descents);
    space_state_free(st);
    fixture_close(&f);
}

static void check_naive(const struct case_ *c)
{
    struct fixture f = {0};
    fixture_open(&f, c);
    struct diag *d = diag_new();
    struct space_state *leaf = problem_naive(f.problem, d);
    if (!leaf) diag_print(d, stderr);
    cr_assert_not_null(leaf, "%s has no naive implementation", c->kernel);
    check_leaf(&f, leaf, c->kernel, 0);
    space_state_free(leaf);
    diag_free(d);
    fixture_close(&f);
}

static const struct case_ CASES[] = {
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
