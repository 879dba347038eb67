/* Small kernels of known result, built and run step by step. They show whether a device works at all, and
 * whether its compiler has what some compilers have:
 *
 *     __kernel void probe(__global int *o) { int i = (int)get_global_id(0); o[i] = i;
 *         __builtin_nontemporal_store(__builtin_nontemporal_load(&o[i]) * 3, &o[i]); }
 *
 * Which drivers need not be asked is in the target table (core/codegen/target.h). */
#include <poll.h>
#include <stdio.h>

#include "agent/child.h"
#include "agent/device.h"
#include "agent/limits.h"
#include "agent/opencl.h"
#include "core/base/strbuf.h"
#include "core/codegen/target.h"

enum { N = 64 };

struct probe {
    cl_context context;
    cl_command_queue queue;
    cl_device_id device;
    cl_program program;
    cl_kernel kernel;
    cl_mem out;
    cl_int got[N];
};

/* o[i] should become 3 * i. */
static cl_int build(struct probe *p, const char *body)
{
    struct strbuf text = {0};
    cl_int error;
    strbuf_printf(&text, "__kernel void probe(__global int *o) { %s; }", body);
    const char *source = text.text;
    p->program = clCreateProgramWithSource(p->context, 1, &source, NULL, &error);
    if (!error) error = clBuildProgram(p->program, 1, &p->device, "", NULL, NULL);
    if (!error) p->kernel = clCreateKernel(p->program, "probe", &error);
    strbuf_free(&text);
    return error;
}

static cl_int run(struct probe *p)
{
    size_t global = N;
    cl_int error;
    p->out = clCreateBuffer(p->context, CL_MEM_READ_WRITE, sizeof p->got, NULL, &error);
    if (!error) error = clSetKernelArg(p->kernel, 0, sizeof p->out, &p->out);
    if (!error) error = clEnqueueNDRangeKernel(p->queue, p->kernel, 1, NULL, &global, NULL, 0, NULL, NULL);
    if (!error)
        error = clEnqueueReadBuffer(p->queue, p->out, CL_TRUE, 0, sizeof p->got, p->got, 0, NULL, NULL);
    return error;
}

static bool is_right(const struct probe *p)
{
    for (int i = 0; i < N; i++)
        if (p->got[i] != 3 * i) return false;
    return true;
}

static void release(struct probe *p)
{
    if (p->kernel) clReleaseKernel(p->kernel);
    if (p->program) clReleaseProgram(p->program);
    if (p->out) clReleaseMemObject(p->out);
}

bool opencl_probe(cl_context context, cl_command_queue queue, cl_device_id device, char *why, size_t n)
{
    struct probe p = {.context = context, .queue = queue, .device = device};
    cl_int built = build(&p, "o[get_global_id(0)] = (int)get_global_id(0) * 3"), ran = built ? 0 : run(&p);
    bool ok = !built && !ran && is_right(&p);
    if (built)
        snprintf(why, n, "the test kernel cannot be built: %s", opencl_error_name(built));
    else if (ran)
        snprintf(why, n, "the test kernel cannot be run: %s", opencl_error_name(ran));
    else if (!ok)
        snprintf(why, n, "the test kernel gives wrong results");
    release(&p);
    return ok;
}

/* ---- features ---- */

static bool streams(struct probe *p)
{
    struct strbuf load = {0}, body = {0};
    cg_fill(&load, cg_opencl.stream_load, (const char *const[]){"&o[i]"});
    strbuf_add(&body, "int i = (int)get_global_id(0); o[i] = i; ");
    strbuf_add(&load, " * 3");
    cg_fill(&body, cg_opencl.stream_store, (const char *const[]){"&o[i]", load.text});
    bool ok = !build(p, body.text) && !run(p) && is_right(p);
    strbuf_free(&load);
    strbuf_free(&body);
    release(p);
    return ok;
}

/* The child: the byte that it writes is the answer. */
static void ask(int fd, void *ctx)
{
    const struct device *device = ctx;
    struct probe p = {.device = opencl_device(device->index)};
    cl_int error = p.device ? 0 : CL_DEVICE_NOT_FOUND;
    if (!error) p.context = clCreateContext(NULL, 1, &p.device, NULL, NULL, &error);
    if (!error) p.queue = clCreateCommandQueue(p.context, p.device, 0, &error);
    unsigned char answer = !error && streams(&p);
    child_write(fd, &answer, sizeof answer);
}

bool opencl_probe_streaming(const struct device *device)
{
    struct device copy = *device;
    unsigned char answer = 0;
    int fd;
    pid_t pid = child_fork(&fd, ask, &copy);
    if (pid <= 0) return false;
    struct pollfd p = {.fd = fd, .events = POLLIN};
    bool answered = poll(&p, 1, AGENT_PROBE_MS) == 1 && child_read(fd, &answer, sizeof answer);
    child_kill(pid, fd);
    return answered && answer;
}
