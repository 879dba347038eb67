/* Bounds against the clock: no implementation is faster than its bound, nor than the floor of its loop
 * program. Needs an OpenCL device that has a description. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>

#include "agent/evaluate.h"
#include "core/base/pcg32.h"
#include "core/base/strbuf.h"
#include "core/pipeline/code.h"
#include "mcts/descent.h"
#include "perfmodel/bound.h"
#include "perfmodel/floor.h"

struct measured_case {
    const char *kernel, *sizes;
    unsigned samples;
};

struct measured {
    struct diag *diag;
    char *text;
    struct device device;
    struct problem *problem;
    struct perfmodel *model;
    struct evaluator *evaluator;
};

static void measured_open(struct measured *m, const struct measured_case *c)
{
    struct perfmodel_device description;
    struct strbuf left_out = {0};
    char path[128];
    size_t n;
    m->diag = diag_new();
    snprintf(path, sizeof path, "experiments/kernels/%s.lift", c->kernel);
    m->text = source_read_file(path, 1 << 20, &n, m->diag);
    setenv("THRESH_DEVICES", "perfmodel/devices", 1);
    if (!m->text || !device_select(NULL, &m->device, m->diag) ||
        !perfmodel_device_find(m->device.name, m->device.gpu, &description, &left_out))
        cr_skip_test("no OpenCL device with a description");
    m->problem = problem_new(path, m->text, c->sizes, &m->device.limits, NULL, m->diag);
    cr_assert_not_null(m->problem);
    m->model = perfmodel_new(m->problem->backbone, m->problem->space, &description);
    m->evaluator = evaluator_new(m->problem, &m->device, 1, 1, m->diag);
    cr_assert_not_null(m->evaluator);
}

static void measured_close(struct measured *m)
{
    evaluator_free(m->evaluator);
    perfmodel_free(m->model);
    problem_free(m->problem);
    free(m->text);
    diag_free(m->diag);
}

/* Whether the leaf ran; its time is then compared. */
static bool measured_leaf(struct measured *m, const struct space_state *leaf)
{
    static const struct eval_settings settings = {.batch_ns = 1e6, .verify = false};
    struct pipeline_code c;
    struct strbuf loops = {0};
    struct evaluation e = {0};
    char why[EVAL_MESSAGE] = "";
    if (!pipeline_lower(m->problem, leaf, &c, why, sizeof why)) return false;
    evaluator_run(m->evaluator, &c.kernel, &settings, &e);
    if (e.status == EVAL_OK) {
        double bound = perfmodel_bound(m->model, leaf, NULL);
        cr_assert_gt(bound, 0);
        double floor_ns = perfmodel_floor_ns(c.item_steps, c.items, m->device.compute_units, m->device.gpu);
        pipeline_print_loops(m->problem, leaf, &loops);
        cr_expect_geq(e.median_ns, 0.98 * bound, "%s", loops.text);
        cr_expect_geq(e.median_ns, floor_ns, "%s", loops.text);
        strbuf_free(&loops);
    }
    pipeline_code_clear(&c);
    return e.status == EVAL_OK;
}

static void measured_sample(const struct measured_case *c)
{
    struct measured m;
    struct space_failure why;
    struct mcts_branching branching = {0};
    struct pcg32 rng = pcg32_seed(7, 0);
    measured_open(&m, c);
    struct space_state *st = space_root(m.problem->space, &why);
    unsigned measured = 0;
    for (unsigned i = 0; i < 4 * c->samples && measured < c->samples; i++) {
        space_mark mark = space_snapshot(st);
        if (mcts_descend_random(&branching, st, INFINITY, 0, &rng, NULL).leaf)
            measured += measured_leaf(&m, st);
        space_rollback(st, mark);
    }
    cr_assert_eq(measured, c->samples);
    space_state_free(st);
    measured_close(&m);
}

Test(bound_measured, no_matrix_product_is_faster)
{
    measured_sample(&(struct measured_case){"matmul", "M=32,N=32,K=32", 4});
}

Test(bound_measured, no_axpy_is_faster)
{
    measured_sample(&(struct measured_case){"axpy", "N=65536", 5});
}
