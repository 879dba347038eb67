/* Does this device work at all? */
#include "agent/opencl.h"

bool opencl_probe(cl_context context, cl_command_queue queue, cl_device_id device)
{
    const char *source =
        "__kernel void probe(__global int *o) { o[get_global_id(0)] = (int)get_global_id(0) * 3; }";
    enum { N = 64 };
    int got[N];
    size_t global = N;
    cl_int error = CL_SUCCESS;
    cl_program program = clCreateProgramWithSource(context, 1, &source, NULL, NULL);
    cl_mem out = clCreateBuffer(context, CL_MEM_READ_WRITE, sizeof got, NULL, NULL);
    error |= clBuildProgram(program, 1, &device, "", NULL, NULL);
    cl_kernel kernel = clCreateKernel(program, "probe", NULL);
    error |= clSetKernelArg(kernel, 0, sizeof out, &out);
    error |= clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &global, NULL, 0, NULL, NULL);
    error |= clEnqueueReadBuffer(queue, out, CL_TRUE, 0, sizeof got, got, 0, NULL, NULL);
    if (kernel) clReleaseKernel(kernel);
    if (program) clReleaseProgram(program);
    if (out) clReleaseMemObject(out);
    return !error && got[1] == 3 && got[N - 1] == 3 * (N - 1);
}
