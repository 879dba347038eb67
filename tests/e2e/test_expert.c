/* Kernels that experts write are points of the GPU space: their decisions, stored as pins by name, leave one
 * loop tree at the size that they are meant for; at a small size the same decisions compute what the Lift
 * interpreter does, in the interpreter of the loop program and on an OpenCL device.
 *
 * expert/NAME.pins: `kernel`, `sizes` and `small` name the kernel and the two sizes, # starts a remark, every
 * other line is a pin. expert/NAME.tree: the loop tree. Pins leave at most sizes that follow from the others
 * open: the first value that is left completes them. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/pipeline/problem.h"
#include "core/base/arena.h"
#include "core/base/diag.h"
#include "core/base/pcg32.h"
#include "core/base/strbuf.h"
#include "tests/codegen/fixture.h"

static const struct bb_device expert_device = {
    .max_work_group = 1024,
    .max_work_item = {1024, 1024, 64},
    .local_bytes = 49152,
    .n_vector_widths = 4,
    .vector_widths = {2, 4, 8, 16},
    .gpu = true,
};

struct expert {
    struct arena *arena;
    struct diag *diag;
    const char *name, *kernel, *sizes, *small;
    const char *pins[128];
    unsigned n_pins;
    struct problem *problem;
    struct cg_program *program;
};

static char *expert_file(struct expert *x, const char *format, const char *name)
{
    char path[128];
    size_t length;
    snprintf(path, sizeof path, "%s%s", strcmp(format, "lift") ? "tests/e2e/expert/" : "experiments/kernels/",
             name);
    snprintf(path + strlen(path), sizeof path - strlen(path), ".%s", format);
    char *text = source_read_file(path, 1 << 20, &length, x->diag);
    cr_assert_not_null(text, "cannot read %s", path);
    char *kept = arena_strndup(x->arena, text, length);
    free(text);
    return kept;
}

static void expert_line(struct expert *x, char *line)
{
    line[strcspn(line, "#")] = 0;
    char *value = strchr(line, ' ');
    if (!strncmp(line, "kernel ", 7))
        x->kernel = value + 1;
    else if (!strncmp(line, "sizes ", 6))
        x->sizes = value + 1;
    else if (!strncmp(line, "small ", 6))
        x->small = value + 1;
    else if (*line) {
        cr_assert_lt(x->n_pins, sizeof x->pins / sizeof x->pins[0]);
        x->pins[x->n_pins++] = line;
    }
}

static void expert_open(struct expert *x, const char *name)
{
    *x = (struct expert){.arena = arena_new(), .diag = diag_new(), .name = name};
    char *rest = NULL;
    for (char *line = strtok_r(expert_file(x, "pins", name), "\n", &rest); line;
         line = strtok_r(NULL, "\n", &rest))
        expert_line(x, line);
    cr_assert(x->kernel && x->sizes && x->small, "%s: an incomplete head", name);
}

static void expert_close(struct expert *x)
{
    problem_free(x->problem);
    diag_free(x->diag);
    arena_free(x->arena);
}

/* The leaf that the pins leave. */
static struct space_state *expert_leaf(struct expert *x)
{
    struct space_failure why = {0};
    struct space_state *st = space_pinned_root(x->problem->space, x->pins, x->n_pins, x->diag);
    diag_print(x->diag, stderr);
    cr_assert_not_null(st, "%s", x->name);
    uint32_t slot;
    while ((slot = space_next_choice(st, NULL, 0)) != UINT32_MAX) {
        struct space_action first = {slot, space_first_value(st, slot)};
        char choice[128];
        space_slot_name(x->problem->space, slot, choice, sizeof choice);
        cr_assert_eq(choice[0], 's', "%s: %s is open", x->name, choice);
        cr_assert(space_apply(st, first, &why), "%s: %s: %s", x->name, choice, why.text);
    }
    return st;
}

static void expert_build(struct expert *x, const char *sizes)
{
    problem_free(x->problem);
    x->problem =
        problem_new(x->kernel, expert_file(x, "lift", x->kernel), sizes, &expert_device, NULL, x->diag);
    if (!x->problem) diag_print(x->diag, stderr);
    cr_assert_not_null(x->problem);
    struct space_state *leaf = expert_leaf(x);
    struct bb_candidate *c = bb_candidate_new(x->problem->backbone, x->arena);
    const struct cg_target target = cg_target_of(&x->problem->limits);
    const char *why = "";
    cr_assert(bb_decode(x->problem->backbone, leaf, c, &why), "%s: %s", x->name, why);
    x->program = cg_build(x->problem->backbone, c, &target, x->arena, &why);
    cr_assert_not_null(x->program, "%s: %s", x->name, why);
    space_state_free(leaf);
}

static void expert_check_tree(struct expert *x)
{
    struct strbuf tree = {0};
    cg_print_tree(x->program, &tree);
    cr_assert_str_eq(tree.text, expert_file(x, "tree", x->name), "%s", x->name);
    strbuf_free(&tree);
}

/* Buffers with small odd integers, and the output that the Lift interpreter gives. */
static double **expert_buffers(struct expert *x, double **expected, uint32_t *output)
{
    const struct backbone *bb = x->problem->backbone;
    double **buffers = ARENA_ARRAY(x->arena, double *, bb->n_buffers);
    struct pcg32 rng = pcg32_seed(5, 5);
    for (uint32_t b = 0; b < bb->n_buffers; b++) {
        buffers[b] = ARENA_ARRAY(x->arena, double, bb->buffers[b].elements);
        for (int64_t i = 0; i < bb->buffers[b].elements; i++)
            buffers[b][i] = (double)pcg32_below(&rng, 4) * 2 - 3;
        if (bb->buffers[b].output) *output = b;
    }
    *expected = ARENA_ARRAY(x->arena, double, bb->buffers[*output].elements);
    lift_interpret(x->problem->program, (const double *const *)buffers, *output, *expected);
    return buffers;
}

static void expert_compare(const struct expert *x, const double *got, const double *expected, int64_t n,
                           const char *where)
{
    for (int64_t i = 0; i < n; i++)
        cr_assert_eq(got[i], expected[i], "%s %s: element %lld is %g, not %g", x->name, where, (long long)i,
                     got[i], expected[i]);
}

static void expert_check_result(struct expert *x)
{
    uint32_t output = 0;
    double *expected, **buffers = expert_buffers(x, &expected, &output);
    const struct backbone *bb = x->problem->backbone;
    struct cg_check check = cg_interpret(x->program, buffers);
    cr_assert_eq(check.fault, CG_OK, "%s: %s", x->name, check.where);
    expert_compare(x, buffers[output], expected, bb->buffers[output].elements, "interpreted");
    struct cg_kernel k;
    cg_emit(x->program, &k);
    for (int64_t i = 0; i < bb->buffers[output].elements; i++)
        buffers[output][i] = -12345;
    if (cgt_run(bb, &k, buffers))
        expert_compare(x, buffers[output], expected, bb->buffers[output].elements, "on the device");
    cg_kernel_free(&k);
}

static void expert_check(const char *name)
{
    struct expert x;
    expert_open(&x, name);
    expert_build(&x, x.sizes);
    expert_check_tree(&x);
    expert_build(&x, x.small);
    expert_check_result(&x);
    expert_close(&x);
}

Test(expert, matrix_product_for_a_gpu)
{
    expert_check("sgemm_gpu");
}

Test(expert, matrix_product_for_a_cpu)
{
    expert_check("sgemm_cpu");
}

Test(expert, rows_in_parts)
{
    expert_check("gemv_gpu");
}

Test(expert, scaled_sum_with_vectors)
{
    expert_check("axpy_gpu");
}

Test(expert, transposition_through_a_tile)
{
    expert_check("transpose_gpu");
}

Test(expert, runs_of_groups_and_of_work_items)
{
    expert_check("runs");
}
