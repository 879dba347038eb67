/* host.c of a sequence: it makes the arrays of the whole program and the temporaries, and launches the
 * kernels one after the other.
 *
 *     cl_mem buffer3 = make_buffer(context, 4096, NULL);    a temporary
 *     struct step steps[2] = {{0}};
 *     steps[0].kernel = clCreateKernel(...);                its arguments are buffers of all steps */
#include <string.h>

#include "agent/device.h"
#include "coordinator/best.h"
#include "coordinator/host_state.h"
#include "core/base/strbuf.h"

static const char timing[] =
    "enum { ROUNDS = 11, LAUNCHES = 5 };\n"
    "\n"
    "/* A kernel of the sequence; local[0] 0: the size of a group is left to the device. */\n"
    "struct step {\n"
    "    cl_kernel kernel;\n"
    "    size_t global[3], local[3];\n"
    "};\n"
    "\n"
    "/* All kernels, one after the other. first, last: events of the first and of the last one. */\n"
    "static void launch(cl_command_queue queue, const struct step *steps, int n, cl_event *first, cl_event "
    "*last)\n"
    "{\n"
    "    for (int i = 0; i < n; i++) {\n"
    "        const struct step *s = &steps[i];\n"
    "        cl_event event;\n"
    "        check(clEnqueueNDRangeKernel(queue, s->kernel, 3, NULL, s->global, s->local[0] ? s->local : "
    "NULL, 0, "
    "NULL, &event), \"the launch\");\n"
    "        if (i == 0) check(clRetainEvent(*first = event), \"clRetainEvent\");\n"
    "        if (i == n - 1) check(clRetainEvent(*last = event), \"clRetainEvent\");\n"
    "        clReleaseEvent(event);\n"
    "    }\n"
    "}\n"
    "\n"
    "/* Nanoseconds a launch of the sequence: from the start of the first one to the end of the last one, "
    "over "
    "their number. */\n"
    "static double time_round(cl_command_queue queue, const struct step *steps, int n)\n"
    "{\n"
    "    cl_event first[LAUNCHES], last[LAUNCHES];\n"
    "    cl_ulong start, end;\n"
    "    for (int i = 0; i < LAUNCHES; i++)\n"
    "        launch(queue, steps, n, &first[i], &last[i]);\n"
    "    check(clWaitForEvents(1, &last[LAUNCHES - 1]), \"the kernels\");\n"
    "    clGetEventProfilingInfo(first[0], CL_PROFILING_COMMAND_START, sizeof start, &start, NULL);\n"
    "    clGetEventProfilingInfo(last[LAUNCHES - 1], CL_PROFILING_COMMAND_END, sizeof end, &end, NULL);\n"
    "    for (int i = 0; i < LAUNCHES; i++) {\n"
    "        clReleaseEvent(first[i]);\n"
    "        clReleaseEvent(last[i]);\n"
    "    }\n"
    "    return (double)(end - start) / LAUNCHES;\n"
    "}\n"
    "\n";

/* Whether an earlier kernel, or an earlier argument of this one, has the buffer. */
static bool is_made(const struct cg_kernel *first, const struct cg_kernel *k, unsigned arg)
{
    for (const struct cg_kernel *s = first; s; s = s->next)
        for (unsigned i = 0; i < s->n_args; i++) {
            if (s == k && i == arg) return false;
            if (s->args[i].buffer == k->args[arg].buffer) return true;
        }
    return false;
}

/* Makes the buffer of an argument that no earlier one has; temporaries and outputs are uninitialised. */
static void emit_buffer(const struct lift_program *p, const struct cg_arg *arg, struct strbuf *out)
{
    unsigned b = arg->buffer;
    bool of_program = b < p->n_arrays, content = of_program && p->arrays[b].input != LIFT_NONE;
    strbuf_printf(out, "    /* %s */\n", of_program ? p->arrays[b].name : "a temporary");
    if (content) host_emit_content(p, b, arg->bytes, b, out);
    if (arg->by_value) return;
    strbuf_printf(out, "    cl_mem buffer%u = make_buffer(context, %zu, ", b, arg->bytes);
    if (content)
        strbuf_printf(out, "data%u);\n", b);
    else
        strbuf_add(out, "NULL);\n");
}

static void emit_buffers(const struct lift_program *p, const struct cg_kernel *first, struct strbuf *out)
{
    for (const struct cg_kernel *k = first; k; k = k->next)
        for (unsigned i = 0; i < k->n_args; i++)
            if (k->args[i].buffer != BB_NONE && !is_made(first, k, i)) emit_buffer(p, &k->args[i], out);
}

/* Memory of a kernel's own; counters are 0. */
static void emit_own(const struct cg_arg *arg, unsigned number, unsigned i, struct strbuf *out)
{
    strbuf_printf(out, "    cl_mem own%u_%u = make_buffer(context, %zu, ", number, i, arg->bytes);
    if (arg->zero)
        strbuf_printf(out, "allocate(%zu)); /* zeros */\n", arg->bytes);
    else
        strbuf_add(out, "NULL);\n");
    strbuf_printf(out,
                  "    check(clSetKernelArg(steps[%u].kernel, %u, sizeof(cl_mem), &own%u_%u), "
                  "\"clSetKernelArg\");\n",
                  number, i, number, i);
}

/* Argument i of step `number`; memory of a kernel's own is made where it is set. */
static void emit_argument(const struct cg_arg *arg, unsigned number, unsigned i, struct strbuf *out)
{
    const char *kind = arg->by_value ? "value" : "buffer";
    if (arg->buffer == BB_NONE)
        emit_own(arg, number, i, out);
    else
        strbuf_printf(out,
                      "    check(clSetKernelArg(steps[%u].kernel, %u, sizeof %s%u, &%s%u), "
                      "\"clSetKernelArg\");\n",
                      number, i, kind, arg->buffer, kind, arg->buffer);
}

static void emit_step(const struct cg_kernel *k, unsigned number, struct strbuf *out)
{
    strbuf_printf(
        out,
        "    steps[%u] = (struct step){clCreateKernel(program, \"%s\", &error), {%zu, %zu, %zu}, {%zu, "
        "%zu, %zu}};\n"
        "    check(error, \"clCreateKernel\");\n",
        number, k->name, k->global[0], k->global[1], k->global[2], k->local[0], k->local[1], k->local[2]);
    for (unsigned i = 0; i < k->n_args; i++)
        emit_argument(&k->args[i], number, i, out);
}

/* Before each round: what the kernels update in place gets its first values again. */
static void emit_restores(const struct lift_program *p, const struct cg_kernel *first, struct strbuf *out)
{
    for (const struct cg_kernel *k = first; k; k = k->next)
        for (unsigned i = 0; i < k->n_args; i++) {
            const struct cg_arg *arg = &k->args[i];
            bool updated = arg->buffer < p->n_arrays && p->arrays[arg->buffer].input != LIFT_NONE &&
                           p->arrays[arg->buffer].output != LIFT_NONE;
            if (updated && !is_made(first, k, i))
                strbuf_printf(
                    out,
                    "        check(clEnqueueWriteBuffer(queue, buffer%u, CL_TRUE, 0, %zu, data%u, 0, "
                    "NULL, NULL), \"clEnqueueWriteBuffer\");\n",
                    arg->buffer, arg->bytes, arg->buffer);
        }
}

void best_host_sequence(const struct lift_program *p, const struct device *device,
                        const struct cg_kernel *first, const char *kernel_file, struct strbuf *out)
{
    unsigned n = 0;
    for (const struct cg_kernel *k = first; k; k = k->next)
        n++;
    host_emit_comment(device, kernel_file, "runs its kernels", out);
    strbuf_add(out, host_head);
    strbuf_add(out, timing);
    strbuf_add(out, host_sorting);
    host_emit_start(device->name, kernel_file, out);
    strbuf_add(out, host_build);
    emit_buffers(p, first, out);
    strbuf_printf(out, "    static struct step steps[%u];\n", n);
    n = 0;
    for (const struct cg_kernel *k = first; k; k = k->next)
        emit_step(k, n++, out);
    strbuf_printf(out,
                  "    double ns[ROUNDS];\n"
                  "    time_round(queue, steps, %u);\n"
                  "    for (int i = 0; i < ROUNDS; i++) {\n",
                  n);
    emit_restores(p, first, out);
    strbuf_printf(out, "        ns[i] = time_round(queue, steps, %u);\n    }\n", n);
    strbuf_add(out, host_result);
}
