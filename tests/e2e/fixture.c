/* Reading, lowering and interpreting the shipped kernels. */
#include "tests/e2e/fixture.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/base/arena.h"
#include "core/base/diag.h"
#include "core/base/pcg32.h"

struct problem *e2e_problem(const struct kernel_case *c, const struct bb_device *limits,
                            const struct bb_options *options)
{
    struct diag *d = diag_new();
    size_t length;
    char path[64], *text = kernel_read(c->kernel, &length);
    struct bb_options all = kernel_options(limits, options);
    snprintf(path, sizeof path, "%s.lift", c->kernel);
    struct problem *p = problem_new(path, text, c->sizes, limits, &all, d);
    diag_print(d, stderr);
    cr_assert_not_null(p, "%s does not open", path);
    free(text);
    diag_free(d);
    return p;
}

void e2e_open(struct e2e_fixture *f, struct problem *p)
{
    const struct backbone *bb = p->backbone;
    *f = (struct e2e_fixture){.problem = p};
    f->buffers = base_calloc(bb->n_buffers, sizeof *f->buffers);
    f->inputs = base_calloc(p->program->n_inputs, sizeof *f->inputs);
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
    lift_interpret(p->program, f->inputs, f->reference);
}

void e2e_close(struct e2e_fixture *f)
{
    for (uint32_t b = 0; b < f->problem->backbone->n_buffers; b++)
        free(f->buffers[b]);
    free(f->buffers);
    free(f->inputs);
    free(f->reference);
    problem_free(f->problem);
}

static void run_program(struct e2e_fixture *f, const struct cg_program *program, const char *what)
{
    int64_t n = f->problem->backbone->buffers[f->output].elements;
    for (int64_t i = 0; i < n; i++)
        f->buffers[f->output][i] = -12345;
    struct cg_check check = cg_interpret(program, f->buffers);
    cr_assert_eq(check.fault, CG_OK, "%s: fault %d %s", what, (int)check.fault, check.where);
    for (int64_t i = 0; i < n; i++)
        cr_assert_eq(f->buffers[f->output][i], f->reference[i], "%s: element %ld is %g, not %g", what,
                     (long)i, f->buffers[f->output][i], f->reference[i]);
}

void e2e_check(struct e2e_fixture *f, const struct space_state *leaf, const char *what,
               struct cg_kernel *kernel)
{
    const struct cg_target target = cg_target_of(&f->problem->limits);
    const struct backbone *bb = f->problem->backbone;
    struct arena *a = arena_new();
    struct bb_candidate *c = bb_candidate_new(bb, a);
    const char *why = "";
    cr_assert(bb_decode(bb, leaf, c, &why), "%s: %s", what, why);
    struct cg_program *program = cg_build(bb, c, &target, a, &why);
    cr_assert_not_null(program, "%s: %s", what, why);
    run_program(f, program, what);
    if (kernel) cg_emit(program, kernel);
    arena_free(a);
}
