/* Runs a generated kernel on the first OpenCL device. A process has one context, which stays: PoCL reads its
 * library of functions anew for the first kernel of each context, which takes longer than to compile most of
 * the kernels here. */
#include <CL/cl.h>
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "tests/codegen/fixture.h"

static bool first_device(cl_device_id *d)
{
    cl_platform_id platforms[8];
    cl_uint n = 0;
    if (clGetPlatformIDs(8, platforms, &n) != CL_SUCCESS) return false;
    for (cl_uint i = 0; i < n; i++)
        if (clGetDeviceIDs(platforms[i], CL_DEVICE_TYPE_ALL, 1, d, NULL) == CL_SUCCESS) return true;
    return false;
}

bool cgt_driver(char platform[128], char driver[128])
{
    cl_device_id d;
    cl_platform_id of;
    if (!first_device(&d)) return false;
    memset(platform, 0, 128);
    memset(driver, 0, 128);
    clGetDeviceInfo(d, CL_DEVICE_PLATFORM, sizeof of, &of, NULL);
    clGetDeviceInfo(d, CL_DRIVER_VERSION, 127, driver, NULL);
    return clGetPlatformInfo(of, CL_PLATFORM_NAME, 127, platform, NULL) == CL_SUCCESS;
}

bool cgt_streams(void)
{
    char platform[128], driver[128];
    return cgt_driver(platform, driver) && cg_streams(platform, driver) == CG_YES;
}

struct opened {
    cl_device_id device;
    cl_context context; /* NULL: no device */
    cl_command_queue queue;
};

static const struct opened *opened(void)
{
    static struct opened o;
    if (!o.context && first_device(&o.device)) {
        o.context = clCreateContext(NULL, 1, &o.device, NULL, NULL, NULL);
        o.queue = clCreateCommandQueue(o.context, o.device, 0, NULL);
    }
    return &o;
}

static cl_kernel compile(cl_context ctx, cl_device_id d, const struct cg_kernel *k)
{
    const char *text = k->source;
    cl_program prog = clCreateProgramWithSource(ctx, 1, &text, NULL, NULL);
    if (clBuildProgram(prog, 1, &d, "", NULL, NULL) != CL_SUCCESS) {
        char log[4000] = "";
        clGetProgramBuildInfo(prog, d, CL_PROGRAM_BUILD_LOG, sizeof log - 1, log, NULL);
        cr_assert_fail("%s\n%s", log, k->source);
    }
    cl_kernel kernel = clCreateKernel(prog, k->name, NULL);
    clReleaseProgram(prog);
    return kernel;
}

static cl_mem upload(cl_context ctx, const struct cg_arg *arg, const double *from)
{
    size_t n = arg->bytes / sizeof(float);
    float *data = base_calloc(n, sizeof *data);
    for (size_t i = 0; from && i < n; i++)
        data[i] = (float)from[i];
    cl_mem mem = clCreateBuffer(ctx, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, arg->bytes, data, NULL);
    free(data);
    return mem;
}

static void download(cl_command_queue q, cl_mem mem, const struct cg_arg *arg, double *to)
{
    size_t n = arg->bytes / sizeof(float);
    float *data = base_calloc(n, sizeof *data);
    cr_assert_eq(clEnqueueReadBuffer(q, mem, CL_TRUE, 0, arg->bytes, data, 0, NULL, NULL), CL_SUCCESS);
    for (size_t i = 0; i < n; i++)
        to[i] = data[i];
    free(data);
}

bool cgt_run(const struct backbone *bb, const struct cg_kernel *k, double *const *buffers)
{
    const struct opened *o = opened();
    if (!o->context) return false;
    cl_kernel kernel = compile(o->context, o->device, k);
    cl_mem mems[16] = {NULL};
    for (unsigned i = 0; i < k->n_args; i++) {
        if (k->args[i].by_value) {
            float value = (float)buffers[k->args[i].buffer][0];
            cr_assert_eq(clSetKernelArg(kernel, i, sizeof value, &value), CL_SUCCESS);
            continue;
        }
        mems[i] =
            upload(o->context, &k->args[i], k->args[i].buffer == BB_NONE ? NULL : buffers[k->args[i].buffer]);
        cr_assert_eq(clSetKernelArg(kernel, i, sizeof mems[i], &mems[i]), CL_SUCCESS);
    }
    cr_assert_eq(clEnqueueNDRangeKernel(o->queue, kernel, 3, NULL, k->global, k->local[0] ? k->local : NULL,
                                        0, NULL, NULL),
                 CL_SUCCESS);
    for (unsigned i = 0; i < k->n_args; i++) {
        uint32_t b = k->args[i].buffer;
        if (b != BB_NONE && bb->buffers[b].output) download(o->queue, mems[i], &k->args[i], buffers[b]);
        if (mems[i]) clReleaseMemObject(mems[i]);
    }
    clReleaseKernel(kernel);
    return true;
}
