#include "tests/codegen/contenders.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "agent/device.h"
#include "coordinator/guidance.h"
#include "core/base/arena.h"
#include "core/base/diag.h"
#include "core/codegen/codegen.h"
#include "core/lift/interpret.h"
#include "core/pipeline/code.h"
#include "tests/codegen/fixture.h"
#include "tests/fixture/kernel.h"

const struct bb_device contenders_gpu = {.gpu = true,
                                         .max_work_group = 1024,
                                         .max_work_item = {1024, 1024, 64},
                                         .local_bytes = 49152,
                                         .n_vector_widths = 2,
                                         .vector_widths = {2, 4}};

const struct bb_device contenders_cpu = {.max_work_group = 4096,
                                         .max_work_item = {4096, 4096, 4096},
                                         .local_bytes = 524288,
                                         .n_vector_widths = 4,
                                         .vector_widths = {2, 4, 8, 16}};

struct contenders contenders_open(const char *kernel, const char *sizes, const struct bb_device *device,
                                  const char *label)
{
    return contenders_open_with(kernel, sizes, device, NULL, label);
}

struct contenders contenders_open_with(const char *kernel, const char *sizes, const struct bb_device *device,
                                       const struct bb_options *options, const char *label)
{
    size_t length;
    struct contenders c = {.arena = arena_new(), .diag = diag_new()};
    char *text = kernel_read(kernel, &length);
    c.problem = problem_new(kernel, text, sizes, device, options, c.diag);
    cr_assert_not_null(c.problem, "%s", kernel);
    const struct device whole = {
        .gpu = device->gpu, .compute_units = device->gpu ? 132 : 2, .limits = *device};
    c.prior = guidance_prior(c.problem, &whole, c.diag);
    cr_assert_not_null(c.prior);
    c.n_plain = contend_plain(c.problem, NULL, 0, c.prior, 0, c.plain);
    while (c.first < c.n_plain && !strstr(c.plain[c.first].label, label))
        c.first++;
    while (c.first + c.n < c.n_plain && strstr(c.plain[c.first + c.n].label, label))
        c.n++;
    free(text);
    return c;
}

void contenders_close(struct contenders *c)
{
    for (unsigned i = 0; i < c->n_plain; i++)
        contend_plain_clear(&c->plain[i]);
    mcts_prior_free(c->prior);
    problem_free(c->problem);
    diag_free(c->diag);
    arena_free(c->arena);
}

struct space_state *contenders_leaf(const struct contenders *c, unsigned i)
{
    const char *why = "";
    struct space_state *leaf = problem_replay(c->problem, c->plain[i].actions, c->plain[i].n_actions, &why);
    cr_assert(leaf, "%s: %s", c->plain[i].label, why);
    return leaf;
}

double **contenders_buffers(const struct contenders *c, uint32_t *output, const double **expected)
{
    const struct backbone *bb = c->problem->backbone;
    double **buffers = ARENA_ARRAY(c->arena, double *, bb->n_buffers);
    *output = 0;
    for (uint32_t b = 0; b < bb->n_buffers; b++) {
        buffers[b] = ARENA_ARRAY(c->arena, double, bb->buffers[b].elements);
        for (int64_t j = 0; j < bb->buffers[b].elements; j++)
            buffers[b][j] = (double)((j * 7 + b * 3) % 11) - 5;
        if (bb->buffers[b].output) *output = b;
    }
    double *results = ARENA_ARRAY(c->arena, double, bb->buffers[*output].elements);
    lift_interpret(bb->program, (const double *const *)buffers, *output, results);
    *expected = results;
    return buffers;
}

char *contenders_loops(const struct contenders *c, unsigned i)
{
    struct strbuf loops = {0};
    struct space_state *leaf = contenders_leaf(c, i);
    cr_assert(pipeline_print_loops(c->problem, leaf, &loops));
    space_state_free(leaf);
    return strbuf_take(&loops);
}

void contenders_expect(const struct contenders *c, const char *whole_label, const char *const *texts)
{
    cr_assert_str_eq(c->plain[c->first].label, whole_label);
    char *loops = contenders_loops(c, c->first);
    for (const char *at = loops; *texts; texts++) {
        at = strstr(at, *texts);
        cr_assert(at, "%s is not there: %s", *texts, loops);
    }
    free(loops);
}

struct cg_program *contenders_program(const struct contenders *c, unsigned i, const char **why)
{
    const struct backbone *bb = c->problem->backbone;
    const struct cg_target target = cg_target_of(&c->problem->limits);
    struct bb_candidate *candidate = bb_candidate_new(bb, c->arena);
    struct space_state *leaf = contenders_leaf(c, i);
    cr_assert(bb_decode(bb, leaf, candidate, why), "%s: %s", c->plain[i].label, *why);
    space_state_free(leaf);
    return cg_build(bb, candidate, &target, c->arena, why);
}

static void compare_within(const struct contenders *c, unsigned i, double *results, const double *expected,
                           uint32_t output, double relative)
{
    for (int64_t j = 0; j < c->problem->backbone->buffers[output].elements; j++) {
        cr_assert(fabs(results[j] - expected[j]) <= relative * fmax(1, fabs(expected[j])),
                  "%s: element %lld is %g, not %g", c->plain[i].label, (long long)j, results[j], expected[j]);
        results[j] = -12345;
    }
}

void contenders_compare(const struct contenders *c, unsigned i, double *results, const double *expected,
                        uint32_t output)
{
    compare_within(c, i, results, expected, output, 0);
}

static bool run_text(const struct contenders *c, unsigned i, double **buffers)
{
    char why[256];
    struct pipeline_code code;
    struct space_state *leaf = contenders_leaf(c, i);
    cr_assert(pipeline_lower(c->problem, leaf, &code, why, sizeof why), "%s", why);
    bool ran = cgt_run(c->problem->backbone, &code.kernel, buffers);
    pipeline_code_clear(&code);
    space_state_free(leaf);
    return ran;
}

static bool run_loops(const struct contenders *c, unsigned i, double **buffers)
{
    const char *why = "";
    struct cg_program *p = contenders_program(c, i, &why);
    cr_assert(p, "%s: %s", c->plain[i].label, why);
    struct cg_check check = cg_interpret(p, buffers);
    cr_assert_eq(check.fault, CG_OK, "%s: %s", c->plain[i].label, check.where);
    return true;
}

static void check(const struct contenders *c, unsigned n, double relative,
                  bool (*run)(const struct contenders *c, unsigned i, double **buffers))
{
    uint32_t output;
    const double *expected;
    double **buffers = contenders_buffers(c, &output, &expected);
    cr_assert_eq(c->n, n, "%u", c->n);
    for (unsigned i = c->first; i < c->first + c->n; i++)
        if (run(c, i, buffers)) compare_within(c, i, buffers[output], expected, output, relative);
}

void contenders_check(const struct contenders *c, unsigned n)
{
    check(c, n, 0, run_text);
}

void contenders_interpret(const struct contenders *c, unsigned n)
{
    contenders_interpret_within(c, n, 0);
}

void contenders_interpret_within(const struct contenders *c, unsigned n, double relative)
{
    check(c, n, relative, run_loops);
}

void contenders_count(contenders_finder find, const char *kernel, const char *sizes,
                      const struct bb_device *device, const struct bb_options *options, unsigned n)
{
    const struct kernel_case c = {kernel, sizes};
    struct kernel_fixture f;
    struct bb_plain out[BB_MAX_PLAIN];
    kernel_open(&f, &c, device, options);
    unsigned found = find(f.bb, f.space, device, f.arena, out);
    cr_expect_eq(found, n, "%s %s: %u", kernel, sizes, found);
    kernel_close(&f);
}
