/* Reading, lowering and interpreting the shipped kernels. */
#include "tests/e2e/fixture.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
    f->inputs = base_calloc(bb->n_buffers, sizeof *f->inputs);
    f->references = base_calloc(bb->n_buffers, sizeof *f->references);
    struct pcg32 rng = pcg32_seed(7, 7);
    for (uint32_t b = 0; b < bb->n_buffers; b++) {
        size_t n = (size_t)bb->buffers[b].elements;
        f->buffers[b] = base_calloc(n, sizeof(double));
        if (bb->buffers[b].output) f->references[b] = base_calloc(n, sizeof(double));
        if (bb->buffers[b].output && !bb->buffers[b].updated) continue;
        const struct lift_range *range = &p->program->inputs[bb->buffers[b].input]->range;
        bool whole = range->given && bb->buffers[b].type == SCALAR_INT;
        for (size_t i = 0; i < n; i++)
            f->buffers[b][i] = whole ? lift_range_draw(range, SCALAR_INT, pcg32_unit(&rng))
                                     : (double)pcg32_below(&rng, 4) * 2 - 3;
        f->inputs[b] = base_calloc(n, sizeof(double));
        memcpy(f->inputs[b], f->buffers[b], n * sizeof(double));
    }
    for (uint32_t b = 0; b < bb->n_buffers; b++)
        if (f->references[b])
            lift_interpret(p->program, (const double *const *)f->inputs, b, f->references[b]);
}

void e2e_close(struct e2e_fixture *f)
{
    for (uint32_t b = 0; b < f->problem->backbone->n_buffers; b++) {
        free(f->buffers[b]);
        free(f->inputs[b]);
        free(f->references[b]);
    }
    free(f->buffers);
    free(f->inputs);
    free(f->references);
    problem_free(f->problem);
}

static void run_program(struct e2e_fixture *f, const struct cg_program *program, const char *what)
{
    const struct backbone *bb = f->problem->backbone;
    for (uint32_t b = 0; b < bb->n_buffers; b++)
        for (int64_t i = 0; f->references[b] && i < bb->buffers[b].elements; i++)
            f->buffers[b][i] = f->inputs[b] ? f->inputs[b][i] : -12345;
    struct cg_check check = cg_interpret(program, f->buffers);
    cr_assert_eq(check.fault, CG_OK, "%s: fault %d %s", what, (int)check.fault, check.where);
    for (uint32_t b = 0; b < bb->n_buffers; b++)
        for (int64_t i = 0; f->references[b] && i < bb->buffers[b].elements; i++)
            cr_assert_eq(f->buffers[b][i], f->references[b][i], "%s: %s[%ld] is %g, not %g", what,
                         bb->buffers[b].name, (long)i, f->buffers[b][i], f->references[b][i]);
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
