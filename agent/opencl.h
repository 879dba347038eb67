/* OpenCL for the child processes. The functions of CL/cl.h may be called as usual; they forward to a library
 * that is loaded with the first call of clGetPlatformIDs() (opencl_library.c). That call, and so
 * opencl_device(), loads the drivers into the calling process. */
#ifndef THRESH_AGENT_OPENCL_H
#define THRESH_AGENT_OPENCL_H

#include <CL/cl.h>
#include <stdbool.h>

/* Loads the OpenCL library into this process, if it is not yet. false: why (n bytes) says what is missing and
 * what to do; clGetPlatformIDs() then finds no platform. Sets POCL_AFFINITY in the environment. */
bool opencl_load(char *why, size_t n);
/* Device `index` of the stable order (struct device), or NULL. */
cl_device_id opencl_device(unsigned index);
/* "CL_OUT_OF_RESOURCES", ... */
const char *opencl_error_name(cl_int error);
/* Whether CL_DEVICE_EXTENSIONS has the word, such as "cl_khr_fp64". */
bool opencl_has(cl_device_id device, const char *extension);
/* Runs a small kernel of known result: shows that driver, compiler and device work. false: why (n bytes) says
 * which step failed. */
bool opencl_probe(cl_context context, cl_command_queue queue, cl_device_id device, char *why, size_t n);

struct device;
/* Whether the device builds a kernel with streaming accesses, as OpenCL's row of the target table writes
 * them, and gives right results. Asks in a child process; false also if that dies or does not answer in a
 * minute. */
bool opencl_probe_streaming(const struct device *device);

#endif
