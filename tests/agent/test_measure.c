/* Batches of launches on a real device. */
#include <criterion/criterion.h>
#include <math.h>

#include "agent/device.h"
#include "agent/limits.h"
#include "agent/measure.h"
#include "core/base/diag.h"
#include "core/base/stats.h"

enum { MEASURE_LAUNCHES = 20 };

static const char *measure_source = "kernel void count(global int *out) { atomic_inc(out); }";

struct measure_fixture {
    cl_context context;
    cl_device_id id;
    cl_program program;
    cl_mem counter;
    struct measure_launch launch;
};

/* ctx: counts signs of life; or NULL. */
static void measure_alive(void *ctx)
{
    int *signs = ctx;
    if (signs) ++*signs;
}

static void measure_open(struct measure_fixture *f)
{
    struct diag *d = diag_new();
    struct device dev;
    cl_int error, zero = 0;
    cr_assert(device_select("", &dev, d));
    f->id = opencl_device(dev.index);
    f->context = clCreateContext(NULL, 1, &f->id, NULL, NULL, &error);
    cr_assert_eq(error, CL_SUCCESS);
    f->program = clCreateProgramWithSource(f->context, 1, &measure_source, NULL, &error);
    cr_assert_eq(clBuildProgram(f->program, 1, &f->id, "-cl-std=CL1.2", NULL, NULL), CL_SUCCESS);
    f->counter =
        clCreateBuffer(f->context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, sizeof zero, &zero, &error);
    f->launch = (struct measure_launch){.global = {1, 1, 1}, .local = {1, 1, 1}, .alive = measure_alive};
    f->launch.queue = clCreateCommandQueue(f->context, f->id, CL_QUEUE_PROFILING_ENABLE, &error);
    f->launch.kernel = clCreateKernel(f->program, "count", &error);
    cr_assert_eq(clSetKernelArg(f->launch.kernel, 0, sizeof f->counter, &f->counter), CL_SUCCESS);
    diag_free(d);
}

static void measure_close(struct measure_fixture *f)
{
    clReleaseKernel(f->launch.kernel);
    clReleaseMemObject(f->counter);
    clReleaseProgram(f->program);
    clReleaseCommandQueue(f->launch.queue);
    clReleaseContext(f->context);
}

static int measure_count(struct measure_fixture *f)
{
    cl_int n = -1;
    cr_assert_eq(clEnqueueReadBuffer(f->launch.queue, f->counter, CL_TRUE, 0, sizeof n, &n, 0, NULL, NULL),
                 CL_SUCCESS);
    return n;
}

/* A batch of 30 ms, of launches of 10 us to 50 ms; the best is unknown, or far, not quite near and near. */
Test(measure, far_from_the_best_a_batch_is_short)
{
    static const struct {
        double launch_ns, best_ns;
        unsigned n;
    } cases[] = {{10e3, 0, 40},    {1e6, 0, 30},     {10e6, 0, 5},    {50e6, 0, 2},
                 {10e3, 8e3, 40},  {1e6, 0.9e6, 30}, {50e6, 40e6, 5}, {10e3, 4e3, 5},
                 {10e3, 1.3e3, 5}, {10e3, 1.2e3, 3}, {50e6, 20e6, 2}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        cr_expect_eq(measure_batch_size(cases[i].launch_ns, 30e6, cases[i].best_ns), cases[i].n,
                     "case %zu: %u", i, measure_batch_size(cases[i].launch_ns, 30e6, cases[i].best_ns));
}

/* Each launch has its own time, of whole nanoseconds, and the span covers all of them. */
Test(measure, a_batch_runs_each_launch_once)
{
    struct measure_fixture f;
    double samples[MEASURE_LAUNCHES], sum = 0;
    measure_open(&f);
    struct measure_result r = measure_batch(&f.launch, MEASURE_LAUNCHES, 1e9, samples);
    cr_assert_eq(r.end, MEASURE_DONE);
    for (int i = 0; i < MEASURE_LAUNCHES; i++) {
        cr_assert_gt(samples[i], 0);
        cr_assert_eq(samples[i], floor(samples[i]));
        sum += samples[i];
    }
    cr_assert_geq(MEASURE_LAUNCHES * r.ns, 0.999 * sum);
    cr_assert_eq(measure_count(&f), MEASURE_LAUNCHES);
    measure_close(&f);
}

/* A hold that is over before the host is done is doubled, and the part of the batch behind it taken again. */
Test(measure, a_hold_grows_until_it_holds)
{
    struct measure_fixture f;
    struct measure_hold hold;
    double samples[MEASURE_LAUNCHES];
    measure_open(&f);
    measure_hold_open(&hold, f.context, f.id);
    cr_assert_not_null(hold.kernel);
    hold.rounds = 1;
    f.launch.hold = &hold;
    struct measure_result r = measure_batch(&f.launch, MEASURE_LAUNCHES, 1e9, samples);
    cr_assert_eq(r.end, MEASURE_DONE);
    int more = measure_count(&f) - MEASURE_LAUNCHES, doublings = 0;
    while (1 << doublings < hold.rounds)
        doublings++;
    cr_assert_eq(hold.rounds, 1 << doublings);
    cr_assert(more >= doublings && more <= 8 * doublings, "%d launches more after %d doublings", more,
              doublings);
    measure_hold_close(&hold);
    measure_close(&f);
}

/* What holds the device is no launch of the batch: it is in no sample and not in the span. */
Test(measure, a_batch_behind_a_hold_is_the_same_batch)
{
    enum { LONG_HOLD = 1 << 23 };
    struct measure_fixture f;
    struct measure_hold hold;
    double samples[MEASURE_LAUNCHES], rounds_ns = LONG_HOLD * 0.5;
    measure_open(&f);
    measure_hold_open(&hold, f.context, f.id);
    hold.rounds = LONG_HOLD;
    f.launch.hold = &hold;
    struct measure_result r = measure_batch(&f.launch, MEASURE_LAUNCHES, 1e9, samples);
    cr_assert_eq(r.end, MEASURE_DONE);
    cr_assert_eq(hold.rounds, LONG_HOLD);
    cr_assert_eq(measure_count(&f), MEASURE_LAUNCHES);
    cr_assert_lt(stats_median(samples, MEASURE_LAUNCHES), rounds_ns);
    cr_assert_lt(r.ns * MEASURE_LAUNCHES, rounds_ns);
    measure_hold_close(&hold);
    measure_close(&f);
}

/* A batch without a hold's kernel is one without a hold. */
Test(measure, a_hold_that_does_not_build_is_none)
{
    struct measure_fixture f;
    struct measure_hold hold = {.rounds = 1};
    double samples[MEASURE_LAUNCHES];
    measure_open(&f);
    f.launch.hold = &hold;
    cr_assert_eq(measure_batch(&f.launch, MEASURE_LAUNCHES, 1e9, samples).end, MEASURE_DONE);
    cr_assert_eq(measure_count(&f), MEASURE_LAUNCHES);
    cr_assert_eq(hold.rounds, 1);
    measure_close(&f);
}

/* Who sleeps until the launches should be over gives signs of life meanwhile, and sees an earlier end. */
Test(measure, a_batch_ends_before_it_is_expected_to)
{
    struct measure_fixture f;
    double samples[MEASURE_LAUNCHES], ns = 0;
    int signs = 0;
    measure_open(&f);
    f.launch.expected_ns = 1e12;
    cr_assert_eq(measure_batch(&f.launch, MEASURE_LAUNCHES, 1e9, samples).end, MEASURE_DONE);
    cr_assert_eq(measure_count(&f), MEASURE_LAUNCHES);
    f.launch.global[0] = f.launch.local[0] = 256;
    for (f.launch.expected_ns = 0; ns < 4e6 * AGENT_ALIVE_MS; f.launch.global[0] *= 2) {
        struct measure_result once = measure_once(&f.launch, f.launch.global, 60e9);
        cr_assert_eq(once.end, MEASURE_DONE);
        ns = once.ns;
    }
    f.launch.expected_ns = 1e12;
    f.launch.ctx = &signs;
    cr_assert_eq(measure_batch(&f.launch, 1, 60e9, samples).end, MEASURE_DONE);
    cr_expect_geq(signs, 2);
    measure_close(&f);
}
