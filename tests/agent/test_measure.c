/* Batches of launches on a real device. */
#include <criterion/criterion.h>
#include <math.h>

#include "agent/device.h"
#include "agent/measure.h"
#include "core/base/diag.h"

enum { MEASURE_LAUNCHES = 20 };

static const char *measure_source = "kernel void count(global int *out) { atomic_inc(out); }";

struct measure_fixture {
    cl_context context;
    cl_device_id id;
    cl_program program;
    cl_mem counter;
    struct measure_launch launch;
};

static void measure_alive(void *ctx)
{
    (void)ctx;
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
