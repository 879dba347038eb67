/* Does this device work at all? Builds and runs a kernel of known result, step by step, so that the first
 * step that fails is named. */
#include "agent/opencl.h"

#include <stdio.h>

enum { N = 64 };

struct probe {
    cl_program program;
    cl_kernel kernel;
    cl_mem out;
};

static cl_int build(struct probe *p, cl_context context, cl_device_id device)
{
    static const char *const source =
        "__kernel void probe(__global int *o) { o[get_global_id(0)] = (int)get_global_id(0) * 3; }";
    cl_int error;
    const char *text = source;
    p->program = clCreateProgramWithSource(context, 1, &text, NULL, &error);
    if (!error) error = clBuildProgram(p->program, 1, &device, "", NULL, NULL);
    if (!error) p->kernel = clCreateKernel(p->program, "probe", &error);
    return error;
}

static cl_int run(struct probe *p, cl_context context, cl_command_queue queue, cl_int got[N])
{
    size_t global = N;
    cl_int error;
    p->out = clCreateBuffer(context, CL_MEM_READ_WRITE, N * sizeof *got, NULL, &error);
    if (!error) error = clSetKernelArg(p->kernel, 0, sizeof p->out, &p->out);
    if (!error) error = clEnqueueNDRangeKernel(queue, p->kernel, 1, NULL, &global, NULL, 0, NULL, NULL);
    if (!error) error = clEnqueueReadBuffer(queue, p->out, CL_TRUE, 0, N * sizeof *got, got, 0, NULL, NULL);
    return error;
}

static bool is_right(const cl_int got[N])
{
    for (int i = 0; i < N; i++)
        if (got[i] != 3 * i) return false;
    return true;
}

bool opencl_probe(cl_context context, cl_command_queue queue, cl_device_id device, char *why, size_t n)
{
    struct probe p = {0};
    cl_int got[N] = {0}, built = build(&p, context, device), ran = built ? 0 : run(&p, context, queue, got);
    bool ok = !built && !ran && is_right(got);
    if (built)
        snprintf(why, n, "the test kernel cannot be built: %s", opencl_error_name(built));
    else if (ran)
        snprintf(why, n, "the test kernel cannot be run: %s", opencl_error_name(ran));
    else if (!ok)
        snprintf(why, n, "the test kernel gives wrong results");
    if (p.kernel) clReleaseKernel(p.kernel);
    if (p.program) clReleaseProgram(p.program);
    if (p.out) clReleaseMemObject(p.out);
    return ok;
}
