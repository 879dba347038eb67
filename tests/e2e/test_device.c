/* Random implementations through a real OpenCL device: every distinct kernel builds, runs, and equals the
 * reference; what is not ok may only have been cut for its time. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "agent/evaluate.h"
#include "core/base/diag.h"
#include "core/base/pcg32.h"
#include "core/pipeline/code.h"
#include "mcts/descent.h"
#include "tests/fixture/longer.h"

static struct problem *device_problem(const struct device *dev, const char *kernel, const char *sizes)
{
    struct diag *d = diag_new();
    char path[128];
    snprintf(path, sizeof path, "experiments/kernels/%s.lift", kernel);
    size_t length;
    char *text = source_read_file(path, 1 << 20, &length, d);
    struct problem *p = text ? problem_new(path, text, sizes, &dev->limits, NULL, d) : NULL;
    if (!p) diag_print(d, stderr);
    cr_assert_not_null(p);
    free(text);
    diag_free(d);
    return p;
}

static void run_leaf(const struct problem *p, struct evaluator *ev, const struct space_state *leaf,
                     unsigned *ok)
{
    struct pipeline_code k;
    char why[200] = "";
    cr_assert(pipeline_lower(p, leaf, &k, why, sizeof why), "%s", why);
    struct eval_settings settings = {.cut_factor = 10, .batch_ns = 1e6, .verify = true};
    struct evaluation e;
    evaluator_run(ev, &k.kernel, &settings, &e);
    cr_assert(e.status == EVAL_OK || e.status == EVAL_CUT || e.status == EVAL_TIMEOUT, "%s: %s\n%s",
              eval_status_name(e.status), e.message, k.kernel.source);
    *ok += e.status == EVAL_OK;
    pipeline_code_clear(&k);
}

/* Evaluates random leaves. */
static void check_problem(const struct problem *p, const struct device *dev, unsigned leaves)
{
    struct diag *d = diag_new();
    struct evaluator *ev = evaluator_new(p, dev, 1, 1, d);
    cr_assert_not_null(ev, "%s", diag_count(d) ? diag_message(d, 0) : "");
    struct space_failure failure;
    struct space_state *st = space_root(p->space, &failure);
    cr_assert_not_null(st);
    struct mcts_branching branching = {0};
    struct pcg32 rng = pcg32_seed(5, 1);
    unsigned ok = 0;
    for (unsigned i = 0; i < leaves; i++) {
        space_mark root = space_snapshot(st);
        struct mcts_walk walk = mcts_descend_random(&branching, st, INFINITY, 0, &rng, NULL);
        if (walk.leaf) run_leaf(p, ev, st, &ok);
        space_rollback(st, root);
    }
    cr_assert_gt(ok, leaves / 2, "%u of %u ok", ok, leaves);
    space_state_free(st);
    evaluator_free(ev);
    diag_free(d);
}

static void check_device(const char *kernel, const char *sizes, unsigned leaves)
{
    struct diag *d = diag_new();
    struct device dev;
    cr_assert(device_select("", &dev, d), "%s", diag_count(d) ? diag_message(d, 0) : "");
    struct problem *p = device_problem(&dev, kernel, sizes);
    check_problem(p, &dev, leaves);
    problem_free(p);
    diag_free(d);
}

Test(device, random_matmuls_equal_the_reference)
{
    check_device("matmul", "M=16,N=16,K=16", longer(10, 60));
}

Test(device, random_gemvs_equal_the_reference)
{
    check_device("gemv", "M=32,N=32", longer(6, 40));
}

Test(device, random_transposes_equal_the_reference)
{
    check_device("transpose", "M=32,N=32", longer(6, 40));
}

Test(device, random_axpys_equal_the_reference)
{
    check_device("axpy", "N=256", longer(6, 40));
}

/* Sizes that are rounded up in some implementations. */
Test(device, random_implementations_with_remainders_equal_the_reference)
{
    check_device("matmul", "M=13,N=11,K=7", longer(2, 10));
    check_device("matmul", "M=5,N=29,K=13", longer(2, 10));
    check_device("gemv", "M=13,N=37", longer(2, 10));
    check_device("transpose", "M=13,N=17", longer(2, 10));
    check_device("axpy", "N=127", longer(2, 10));
}

/* Names of a program are not those that its text needs: macros, functions and types of OpenCL C. */
Test(device, names_of_opencl_are_names_like_others)
{
    static const char text[] = "size N\n"
                               "input M_PI: [float]N\ninput get_group_id: [float]N\n"
                               "input image2d_t: [float]N\ninput cl_khr_fp64: [float]N\n"
                               "output map(fun (a, (b, (c, d))) -> a * b + c * d,\n"
                               "           zip(M_PI, zip(get_group_id, zip(image2d_t, cl_khr_fp64))))\n";
    struct diag *d = diag_new();
    struct device dev;
    cr_assert(device_select("", &dev, d), "%s", diag_count(d) ? diag_message(d, 0) : "");
    struct problem *p = problem_new("names.lift", text, "N=64", &dev.limits, NULL, d);
    cr_assert_not_null(p);
    check_problem(p, &dev, 4);
    problem_free(p);
    diag_free(d);
}
