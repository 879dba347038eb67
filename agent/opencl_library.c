/* The OpenCL library, loaded when a process first asks for platforms.
 *
 * thresh is not linked with OpenCL, so that all that needs no device works without it. Instead each function
 * of OpenCL that thresh calls is defined here and calls the library's own:
 *
 *     clGetDeviceInfo(...) of device.c  ->  the forwarder here  ->  dlsym(libOpenCL.so.1, "clGetDeviceInfo")
 *
 * Every object of OpenCL comes from clGetPlatformIDs(), so it is enough that this one loads the library. The
 * forwarders are hidden symbols: the binary exports its functions to plug-ins, and exported ones of these
 * names would replace those of the drivers.
 *
 * The library is the file that THRESH_OPENCL names; else what is in the process already (LD_PRELOAD, as
 * Oclgrind uses it); else libOpenCL.so.1.
 *
 * PoCL gets POCL_AFFINITY=1 unless the user has set it: its thread i stays on core i, and two kernels were a
 * tenth faster (experiments/results/2026-11-28-strips.md). Where the process may not use all cores, as under
 * taskset, core i is the wrong one, and the variable is not set.
 *
 * The table of pointers is mutable and has file scope, since the functions of OpenCL have no argument of ours
 * that could carry it. It is written once, by the only thread of a child process, before any other call. */
#include "agent/opencl.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/attr.h"
#include "core/base/cores.h"

enum { NO_PLATFORM = -1001 }; /* CL_PLATFORM_NOT_FOUND_KHR: what loaders say without drivers */

/* X(result, name, parameters, arguments). To call one more function of OpenCL, add its line. */
/* clang-format off */
#define WAITS cl_uint n_waits, const cl_event *waits, cl_event *event
#define FUNCTIONS(X) \
    X(cl_int, clGetPlatformIDs, (cl_uint n, cl_platform_id *out, cl_uint *count), (n, out, count)) \
    X(cl_int, clGetPlatformInfo, (cl_platform_id p, cl_platform_info what, size_t n, void *out, size_t *count), \
      (p, what, n, out, count)) \
    X(cl_int, clGetDeviceIDs, \
      (cl_platform_id p, cl_device_type type, cl_uint n, cl_device_id *out, cl_uint *count), \
      (p, type, n, out, count)) \
    X(cl_int, clGetDeviceInfo, (cl_device_id d, cl_device_info what, size_t n, void *out, size_t *count), \
      (d, what, n, out, count)) \
    X(cl_context, clCreateContext, \
      (const cl_context_properties *properties, cl_uint n, const cl_device_id *devices, \
       void (CL_CALLBACK *notify)(const char *, const void *, size_t, void *), void *context, cl_int *error), \
      (properties, n, devices, notify, context, error)) \
    X(cl_int, clReleaseContext, (cl_context c), (c)) \
    X(cl_command_queue, clCreateCommandQueue, \
      (cl_context c, cl_device_id d, cl_command_queue_properties properties, cl_int *error), \
      (c, d, properties, error)) \
    X(cl_int, clReleaseCommandQueue, (cl_command_queue q), (q)) \
    X(cl_mem, clCreateBuffer, (cl_context c, cl_mem_flags flags, size_t bytes, void *data, cl_int *error), \
      (c, flags, bytes, data, error)) \
    X(cl_mem, clCreateSubBuffer, \
      (cl_mem whole, cl_mem_flags flags, cl_buffer_create_type type, const void *part, cl_int *error), \
      (whole, flags, type, part, error)) \
    X(cl_int, clReleaseMemObject, (cl_mem m), (m)) \
    X(cl_program, clCreateProgramWithSource, \
      (cl_context c, cl_uint n, const char **texts, const size_t *bytes, cl_int *error), \
      (c, n, texts, bytes, error)) \
    X(cl_int, clReleaseProgram, (cl_program p), (p)) \
    X(cl_int, clBuildProgram, \
      (cl_program p, cl_uint n, const cl_device_id *devices, const char *options, \
       void (CL_CALLBACK *notify)(cl_program, void *), void *context), \
      (p, n, devices, options, notify, context)) \
    X(cl_int, clGetProgramBuildInfo, \
      (cl_program p, cl_device_id d, cl_program_build_info what, size_t n, void *out, size_t *count), \
      (p, d, what, n, out, count)) \
    X(cl_kernel, clCreateKernel, (cl_program p, const char *name, cl_int *error), (p, name, error)) \
    X(cl_int, clReleaseKernel, (cl_kernel k), (k)) \
    X(cl_int, clSetKernelArg, (cl_kernel k, cl_uint i, size_t bytes, const void *value), (k, i, bytes, value)) \
    X(cl_int, clGetKernelInfo, (cl_kernel k, cl_kernel_info what, size_t n, void *out, size_t *count), \
      (k, what, n, out, count)) \
    X(cl_int, clGetKernelArgInfo, \
      (cl_kernel k, cl_uint i, cl_kernel_arg_info what, size_t n, void *out, size_t *count), \
      (k, i, what, n, out, count)) \
    X(cl_int, clGetKernelWorkGroupInfo, \
      (cl_kernel k, cl_device_id d, cl_kernel_work_group_info what, size_t n, void *out, size_t *count), \
      (k, d, what, n, out, count)) \
    X(cl_int, clEnqueueReadBuffer, \
      (cl_command_queue q, cl_mem m, cl_bool blocking, size_t from, size_t bytes, void *to, WAITS), \
      (q, m, blocking, from, bytes, to, n_waits, waits, event)) \
    X(cl_int, clEnqueueWriteBuffer, \
      (cl_command_queue q, cl_mem m, cl_bool blocking, size_t to, size_t bytes, const void *from, WAITS), \
      (q, m, blocking, to, bytes, from, n_waits, waits, event)) \
    X(cl_int, clEnqueueCopyBuffer, \
      (cl_command_queue q, cl_mem a, cl_mem b, size_t from, size_t to, size_t bytes, WAITS), \
      (q, a, b, from, to, bytes, n_waits, waits, event)) \
    X(cl_int, clEnqueueFillBuffer, \
      (cl_command_queue q, cl_mem m, const void *unit, size_t unit_bytes, size_t from, size_t bytes, WAITS), \
      (q, m, unit, unit_bytes, from, bytes, n_waits, waits, event)) \
    X(void *, clEnqueueMapBuffer, \
      (cl_command_queue q, cl_mem m, cl_bool blocking, cl_map_flags flags, size_t from, size_t bytes, WAITS, \
       cl_int *error), \
      (q, m, blocking, flags, from, bytes, n_waits, waits, event, error)) \
    X(cl_int, clEnqueueNDRangeKernel, \
      (cl_command_queue q, cl_kernel k, cl_uint n, const size_t *from, const size_t *global, \
       const size_t *local, WAITS), \
      (q, k, n, from, global, local, n_waits, waits, event)) \
    X(cl_int, clWaitForEvents, (cl_uint n, const cl_event *events), (n, events)) \
    X(cl_int, clGetEventInfo, (cl_event e, cl_event_info what, size_t n, void *out, size_t *count), \
      (e, what, n, out, count)) \
    X(cl_int, clGetEventProfilingInfo, (cl_event e, cl_profiling_info what, size_t n, void *out, size_t *count), \
      (e, what, n, out, count)) \
    X(cl_int, clReleaseEvent, (cl_event e), (e)) \
    X(cl_int, clFlush, (cl_command_queue q), (q)) \
    X(cl_int, clFinish, (cl_command_queue q), (q))
/* clang-format on */

struct functions {
#define POINTER(result, name, parameters, arguments) result(*name) parameters;
    FUNCTIONS(POINTER)
#undef POINTER
};

/* clGetPlatformIDs() until the library is loaded. */
static cl_int load_first(cl_uint n, cl_platform_id *out, cl_uint *count);

static struct functions functions = {.clGetPlatformIDs = load_first};

#define FORWARDER(result, name, parameters, arguments)                                                       \
    BASE_HIDDEN result name parameters                                                                       \
    {                                                                                                        \
        return functions.name arguments;                                                                     \
    }
FUNCTIONS(FORWARDER)
#undef FORWARDER

/* ---- loading ---- */

static void *open_library(char *why, size_t n)
{
    const char *named = getenv("THRESH_OPENCL");
    bool given = named && *named;
    void *present = given ? NULL : dlopen(NULL, RTLD_NOW);
    if (present && dlsym(present, "clGetPlatformIDs")) return present;
    void *library = dlopen(given ? named : "libOpenCL.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!library)
        snprintf(
            why, n,
            given ? "the OpenCL library that THRESH_OPENCL names cannot be loaded: %s; unset the variable, "
                    "or set it to the file of an OpenCL library"
                  : "the OpenCL library cannot be loaded: %s; install it and a driver (on Debian: apt-get "
                    "install ocl-icd-libopencl1 pocl-opencl-icd), or set THRESH_OPENCL to its file",
            dlerror());
    return library;
}

/* Finds a function; a pointer to one has the bytes of a pointer to an object. */
static bool find(void *library, const char *name, void *pointer, char *why, size_t n)
{
    void *symbol = dlsym(library, name);
    if (symbol)
        memcpy(pointer, &symbol, sizeof symbol);
    else
        snprintf(why, n, "the OpenCL library has no function %s: version 1.2 of OpenCL is needed", name);
    return symbol != NULL;
}

bool opencl_load(char *why, size_t n)
{
    struct functions found;
    if (functions.clGetPlatformIDs != load_first) return true;
    if (cores_all_available()) setenv("POCL_AFFINITY", "1", 0);
    void *library = open_library(why, n);
    bool ok = library != NULL;
#define FIND(result, name, parameters, arguments) ok = ok && find(library, #name, &found.name, why, n);
    FUNCTIONS(FIND)
#undef FIND
    if (ok) functions = found;
    return ok;
}

static cl_int load_first(cl_uint n, cl_platform_id *out, cl_uint *count)
{
    char ignored[1];
    return opencl_load(ignored, sizeof ignored) ? functions.clGetPlatformIDs(n, out, count) : NO_PLATFORM;
}
