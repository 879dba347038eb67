/* OpenCL helpers of the child processes. Calling any of these loads the drivers into the calling process. */
#ifndef THRESH_AGENT_OPENCL_H
#define THRESH_AGENT_OPENCL_H

#include <CL/cl.h>
#include <stdbool.h>

/* Device `index` of the stable order (struct device), or NULL. */
cl_device_id opencl_device(unsigned index);
/* "CL_OUT_OF_RESOURCES", ... */
const char *opencl_error_name(cl_int error);
/* Whether CL_DEVICE_EXTENSIONS has the word, such as "cl_khr_fp64". */
bool opencl_has(cl_device_id device, const char *extension);
/* Runs a small kernel of known result: shows that driver, compiler and device work. false: why (n bytes) says
 * which step failed. */
bool opencl_probe(cl_context context, cl_command_queue queue, cl_device_id device, char *why, size_t n);

#endif
