/* host.c, the example program of a result. It needs an OpenCL library and nothing from thresh:
 *
 *     cc -O2 host.c -lOpenCL -o host && ./host
 *
 * Its fixed parts are the texts below; between them best_host_program() prints the names, sizes and arguments
 * of the kernel. */
#include <math.h>
#include <string.h>

#include "agent/verify.h"
#include "coordinator/best.h"
#include "coordinator/host_state.h"
#include "core/base/panic.h"
#include "core/base/strbuf.h"
#include "core/codegen/codegen.h"

const char host_head[] =
    "#define CL_TARGET_OPENCL_VERSION 120\n"
    "#include <CL/cl.h>\n"
    "#include <stdio.h>\n"
    "#include <stdlib.h>\n"
    "#include <string.h>\n"
    "\n"
    "static void check(cl_int error, const char *what)\n"
    "{\n"
    "    if (error == CL_SUCCESS) return;\n"
    "    fprintf(stderr, \"%s failed: OpenCL error %d\\n\", what, (int)error);\n"
    "    exit(1);\n"
    "}\n"
    "\n"
    "static void *allocate(size_t bytes)\n"
    "{\n"
    "    void *p = calloc(bytes, 1);\n"
    "    if (p) return p;\n"
    "    perror(\"calloc\");\n"
    "    exit(1);\n"
    "}\n"
    "\n"
    "static char *read_text(const char *path)\n"
    "{\n"
    "    FILE *in = fopen(path, \"rb\");\n"
    "    if (!in) {\n"
    "        perror(path);\n"
    "        exit(1);\n"
    "    }\n"
    "    fseek(in, 0, SEEK_END);\n"
    "    long n = ftell(in);\n"
    "    rewind(in);\n"
    "    char *text = allocate((size_t)n + 1);\n"
    "    if (fread(text, 1, (size_t)n, in) != (size_t)n) exit(1);\n"
    "    fclose(in);\n"
    "    return text;\n"
    "}\n"
    "\n"
    "/* The device whose name contains `wanted`, else the first. */\n"
    "static cl_device_id find_device(const char *wanted)\n"
    "{\n"
    "    cl_platform_id platforms[16];\n"
    "    cl_uint n_platforms = 0;\n"
    "    cl_device_id first = NULL;\n"
    "    check(clGetPlatformIDs(16, platforms, &n_platforms), \"clGetPlatformIDs\");\n"
    "    for (cl_uint p = 0; p < n_platforms && p < 16; p++) {\n"
    "        cl_device_id devices[16];\n"
    "        cl_uint n = 0;\n"
    "        if (clGetDeviceIDs(platforms[p], CL_DEVICE_TYPE_ALL, 16, devices, &n)) continue;\n"
    "        for (cl_uint i = 0; i < n && i < 16; i++) {\n"
    "            char name[256] = \"\";\n"
    "            clGetDeviceInfo(devices[i], CL_DEVICE_NAME, sizeof name - 1, name, NULL);\n"
    "            if (strstr(name, wanted)) return devices[i];\n"
    "            if (!first) first = devices[i];\n"
    "        }\n"
    "    }\n"
    "    return first;\n"
    "}\n"
    "\n"
    "static cl_mem make_buffer(cl_context context, size_t bytes, const void *data)\n"
    "{\n"
    "    cl_int error;\n"
    "    cl_mem_flags flags = CL_MEM_READ_WRITE | (data ? CL_MEM_COPY_HOST_PTR : 0);\n"
    "    cl_mem buffer = clCreateBuffer(context, flags, bytes, (void *)data, &error);\n"
    "    check(error, \"clCreateBuffer\");\n"
    "    return buffer;\n"
    "}\n"
    "\n"
    "static inline double uniform(void)\n"
    "{\n"
    "    return 2.0 * rand() / RAND_MAX - 1.0;\n"
    "}\n"
    "\n";

/* Measured like the times that thresh quotes: the median over rounds; a round is the span of several launches
 * back to back, divided by their number. */
static const char timing[] =
    "enum { ROUNDS = 11, LAUNCHES = 5 };\n"
    "\n"
    "/* Nanoseconds a launch: from the start of the first one to the end of the last one, over their number. "
    "*/\n"
    "static double time_round(cl_command_queue queue, cl_kernel kernel, const size_t *global, const size_t "
    "*local)\n"
    "{\n"
    "    cl_event events[LAUNCHES];\n"
    "    cl_ulong start, end;\n"
    "    for (int i = 0; i < LAUNCHES; i++)\n"
    "        check(clEnqueueNDRangeKernel(queue, kernel, 3, NULL, global, local, 0, NULL, &events[i]), \"the "
    "launch\");\n"
    "    check(clWaitForEvents(LAUNCHES, events), \"the kernel\");\n"
    "    clGetEventProfilingInfo(events[0], CL_PROFILING_COMMAND_START, sizeof start, &start, NULL);\n"
    "    clGetEventProfilingInfo(events[LAUNCHES - 1], CL_PROFILING_COMMAND_END, sizeof end, &end, NULL);\n"
    "    for (int i = 0; i < LAUNCHES; i++)\n"
    "        clReleaseEvent(events[i]);\n"
    "    return (double)(end - start) / LAUNCHES;\n"
    "}\n"
    "\n";

const char host_sorting[] = "static int by_size(const void *a, const void *b)\n"
                            "{\n"
                            "    const double x = *(const double *)a, y = *(const double *)b;\n"
                            "    return (x > y) - (x < y);\n"
                            "}\n"
                            "\n";

const char host_build[] =
    "    char *text = read_text(path);\n"
    "    const char *texts[] = {text};\n"
    "    cl_program program = clCreateProgramWithSource(context, 1, texts, NULL, &error);\n"
    "    check(error, \"clCreateProgramWithSource\");\n"
    "    if (clBuildProgram(program, 1, &device, \"-cl-std=CL1.2\", NULL, NULL)) {\n"
    "        static char log[16384];\n"
    "        clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_LOG, sizeof log - 1, log, NULL);\n"
    "        fprintf(stderr, \"%s\\n\", log);\n"
    "        return 1;\n"
    "    }\n";

static const char launch[] = "    double ns[ROUNDS];\n"
                             "    time_round(queue, kernel, global, local);\n"
                             "    for (int i = 0; i < ROUNDS; i++) {\n";
static const char round_end[] = "        ns[i] = time_round(queue, kernel, global, local);\n"
                                "    }\n";

const char host_result[] =
    "    qsort(ns, ROUNDS, sizeof ns[0], by_size);\n"
    "    printf(\"median of %d rounds of %d launches: %.3f us (fastest %.3f us, slowest %.3f us)\\n\", "
    "ROUNDS,\n"
    "           LAUNCHES, ns[ROUNDS / 2] / 1000, ns[0] / 1000, ns[ROUNDS - 1] / 1000);\n"
    "    return 0;\n}\n";

struct host_type {
    const char *c_type, *random; /* the element and an expression for a random one */
};

enum { HALVES = 8 };

/* An expression for a random element in the range that the program states. C has no conversion to half: the
 * expression picks one of a few constants. */
static void emit_drawn(const struct lift_range *r, enum scalar_type type, const char *c_type,
                       struct strbuf *out)
{
    if (type == SCALAR_INT) {
        double first = lift_range_draw(r, type, 0), last = lift_range_draw(r, type, 1);
        strbuf_printf(out, "(cl_int)(%.0f + rand() %% %.0f)", first, fmin(last - first + 1, INT16_MAX));
    } else if (type == SCALAR_HALF) {
        strbuf_add(out, "((const cl_half[]){");
        for (int i = 0; i < HALVES; i++) {
            uint16_t half;
            verify_put(type, &half, 0, lift_range_draw(r, type, (i + 0.5) / HALVES));
            strbuf_printf(out, "%s0x%04x", i ? ", " : "", half);
        }
        strbuf_printf(out, "})[rand() %% %d]", HALVES);
    } else {
        strbuf_printf(out, "(%s)(%.17g + (%.17g) * (uniform() + 1))", c_type, r->low,
                      r->high / 2 - r->low / 2);
    }
}

static struct host_type host_type(enum scalar_type type)
{
    switch (type) {
    case SCALAR_FLOAT:
        return (struct host_type){"cl_float", "(cl_float)uniform()"};
    case SCALAR_DOUBLE:
        return (struct host_type){"cl_double", "uniform()"};
    case SCALAR_HALF:
        return (struct host_type){"cl_half", "(cl_half)(0x3800 + rand() % 1024)"};
    case SCALAR_INT:
        return (struct host_type){"cl_int", "(cl_int)(rand() % 7 - 3)"};
    case SCALAR_BOOL:
        return (struct host_type){"cl_uchar", "(cl_uchar)(rand() % 2)"};
    case SCALAR_TYPE_COUNT:
        break;
    }
    PANIC("unknown scalar type %d", (int)type);
}

/* A random element of an input, as an expression. */
static void emit_random(const struct lift_range *r, enum scalar_type type, struct strbuf *out)
{
    struct host_type t = host_type(type);
    if (r->given)
        emit_drawn(r, type, t.c_type, out);
    else
        strbuf_add(out, t.random);
}

void host_emit_content(const struct lift_program *p, unsigned array, size_t bytes, unsigned i,
                       struct strbuf *out)
{
    const struct lift_array *of = &p->arrays[array];
    enum scalar_type type = SCALAR_FLOAT;
    lift_type_bottom(of->type, &type);
    const char *c_type = host_type(type).c_type;
    if (of->type->kind == LIFT_SCALAR)
        strbuf_printf(out, "    const %s value%u = ", c_type, i);
    else
        strbuf_printf(out,
                      "    %s *data%u = allocate(%zu);\n"
                      "    for (size_t i = 0; i < %zu / sizeof *data%u; i++) data%u[i] = ",
                      c_type, i, bytes, bytes, i, i);
    emit_random(&p->inputs[of->input]->range, type, out);
    strbuf_add(out, ";\n");
}

/* Before each round: what the kernel updates in place gets its first values again. */
static void emit_restore(const struct best *b, const struct cg_kernel *k, struct strbuf *out)
{
    for (unsigned i = 0; i < k->n_args; i++) {
        const struct cg_arg *arg = &k->args[i];
        if (arg->buffer == BB_NONE || !b->problem->backbone->buffers[arg->buffer].updated) continue;
        strbuf_printf(out,
                      "        check(clEnqueueWriteBuffer(queue, buffer%u, CL_TRUE, 0, %zu, data%u, 0, NULL, "
                      "NULL), \"clEnqueueWriteBuffer\");\n",
                      i, arg->bytes, i);
    }
}

/* Creates argument i and sets it: inputs are random, counters 0, other buffers uninitialised. */
static void emit_argument(const struct best *b, const struct cg_kernel *k, unsigned i, struct strbuf *out)
{
    const struct cg_arg *arg = &k->args[i];
    const struct bb_buffer *buffer =
        arg->buffer == BB_NONE ? NULL : &b->problem->backbone->buffers[arg->buffer];
    const char *kind = arg->by_value ? "value" : "buffer";
    strbuf_printf(out, "    /* argument %u: %s */\n", i, buffer ? buffer->name : "temporary memory");
    bool content = buffer && buffer->input != LIFT_NONE;
    if (content) host_emit_content(b->problem->program, arg->buffer, arg->bytes, i, out);
    if (content && !arg->by_value)
        strbuf_printf(out, "    cl_mem buffer%u = make_buffer(context, %zu, data%u);\n", i, arg->bytes, i);
    else if (arg->zero)
        strbuf_printf(out, "    cl_mem buffer%u = make_buffer(context, %zu, allocate(%zu)); /* zeros */\n", i,
                      arg->bytes, arg->bytes);
    else if (!arg->by_value)
        strbuf_printf(out, "    cl_mem buffer%u = make_buffer(context, %zu, NULL);\n", i, arg->bytes);
    strbuf_printf(out, "    check(clSetKernelArg(kernel, %u, sizeof %s%u, &%s%u), \"clSetKernelArg\");\n", i,
                  kind, i, kind, i);
}

static void emit_string(const char *text, struct strbuf *out)
{
    strbuf_add(out, "\"");
    for (; *text; text++) {
        if (*text == '"' || *text == '\\') strbuf_add(out, "\\");
        strbuf_addn(out, text, 1);
    }
    strbuf_add(out, "\"");
}

static void emit_range(const struct cg_kernel *k, struct strbuf *out)
{
    strbuf_printf(out, "    const size_t global[3] = {%zu, %zu, %zu};\n", k->global[0], k->global[1],
                  k->global[2]);
    if (k->local[0] == 0)
        strbuf_add(out, "    const size_t *local = NULL; /* left to the device */\n");
    else
        strbuf_printf(out, "    const size_t local[3] = {%zu, %zu, %zu};\n", k->local[0], k->local[1],
                      k->local[2]);
}

void host_emit_comment(const struct device *device, const char *kernel_file, const char *does,
                       struct strbuf *out)
{
    strbuf_printf(out, "/* Builds %s and %s on random data. cc -O2 host.c -lOpenCL -o host && ./host [%s]",
                  kernel_file, does, kernel_file);
    if (!device->gpu)
        strbuf_add(out, "\n * With POCL_AFFINITY=1 each thread of PoCL keeps a core; thresh measures so if "
                        "it may use all cores.");
    strbuf_add(out, " */\n");
}

void host_emit_start(const char *device, const char *kernel_file, struct strbuf *out)
{
    strbuf_printf(out,
                  "int main(int argc, char **argv)\n{\n    const char *path = argc > 1 ? argv[1] : \"%s\";\n",
                  kernel_file);
    strbuf_add(out, "    cl_int error;\n    cl_device_id device = find_device(");
    emit_string(device, out);
    strbuf_add(out, ");\n"
                    "    cl_context context = clCreateContext(NULL, 1, &device, NULL, NULL, &error);\n"
                    "    check(error, \"clCreateContext\");\n"
                    "    cl_command_queue queue = clCreateCommandQueue(context, device, "
                    "CL_QUEUE_PROFILING_ENABLE, &error);\n"
                    "    check(error, \"clCreateCommandQueue\");\n");
}

void best_host_program(const struct best *b, const struct cg_kernel *k, const char *kernel_file,
                       struct strbuf *out)
{
    host_emit_comment(b->device, kernel_file, "runs it", out);
    strbuf_add(out, host_head);
    strbuf_add(out, timing);
    strbuf_add(out, host_sorting);
    host_emit_start(b->device->name, kernel_file, out);
    strbuf_add(out, host_build);
    strbuf_printf(out,
                  "    cl_kernel kernel = clCreateKernel(program, \"%s\", &error);\n    check(error, "
                  "\"clCreateKernel\");\n",
                  k->name);
    for (unsigned i = 0; i < k->n_args; i++)
        emit_argument(b, k, i, out);
    emit_range(k, out);
    strbuf_add(out, launch);
    emit_restore(b, k, out);
    strbuf_add(out, round_end);
    strbuf_add(out, host_result);
}
