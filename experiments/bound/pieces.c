/* How long a matrix takes to read in pieces of its rows, as the copies of a staged tile do: every work-group
 * reads one piece of each of its rows, then the next piece. Nothing else is done: no local memory, no
 * barrier.
 *
 *     cc -std=c11 -O2 -o pieces experiments/bound/pieces.c -lOpenCL
 *     ./pieces [part of a device's name] [MiB]
 *
 * Prints the least time of ten launches in us, for pieces of 32 to 512 bytes and rows of 1 to 1,024 pieces.
 */
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../peers/find_device.h"

enum { VECTOR = 16, GROUP = 256, ROWS = 2, LAUNCHES = 10, MOST_PIECE = 512, MOST_ROW = 65536 };

/* A work-item reads a vector of a piece of each of two rows, the second half a matrix away, and waits for
 * both before it goes on: of consecutive pieces only one is read at a time. */
static const char source[] =
    "kernel void pieces(global const float4 *in, global float *out, uint width, uint n) {\n"
    "    ulong row = get_global_id(0) / width, pitch = (ulong)width * n;\n"
    "    ulong at = row * pitch + get_global_id(0) % width;\n"
    "    ulong other = get_global_size(0) / width * pitch;\n"
    "    float4 sum = 0;\n"
    "    #pragma unroll 1\n"
    "    for (uint i = 0; i < n; i++, at += width) sum += in[at] + in[at + other];\n"
    "    if (sum.x + sum.y + sum.z + sum.w == 1.2345678f) out[0] = sum.x;\n"
    "}\n";

struct bench {
    cl_context context;
    cl_command_queue queue;
    cl_kernel kernel;
    cl_mem in, out;
    size_t bytes;
};

static void check(cl_int error, const char *what)
{
    if (!error) return;
    fprintf(stderr, "pieces: %s: error %d\n", what, (int)error);
    exit(1);
}

static cl_device_id choose_device(const char *name)
{
    char found[256] = "";
    cl_device_id device = find_device(name);
    if (!device) check(CL_DEVICE_NOT_FOUND, name);
    clGetDeviceInfo(device, CL_DEVICE_NAME, sizeof found, found, NULL);
    printf("# %s\n", found);
    return device;
}

static void fill(struct bench *b)
{
    enum { CHUNK = 1 << 20 };
    float *zeros = calloc(CHUNK, 1);
    if (!zeros) check(CL_OUT_OF_HOST_MEMORY, "zeros");
    for (size_t at = 0; at < b->bytes; at += CHUNK)
        check(clEnqueueWriteBuffer(b->queue, b->in, CL_TRUE, at, CHUNK, zeros, 0, NULL, NULL), "the input");
    free(zeros);
}

static void start(struct bench *b, cl_device_id device)
{
    const char *text = source;
    cl_int error;
    b->context = clCreateContext(NULL, 1, &device, NULL, NULL, &error);
    check(error, "context");
    b->queue = clCreateCommandQueue(b->context, device, CL_QUEUE_PROFILING_ENABLE, &error);
    check(error, "queue");
    cl_program program = clCreateProgramWithSource(b->context, 1, &text, NULL, &error);
    check(error, "program");
    check(clBuildProgram(program, 1, &device, "-cl-std=CL1.2", NULL, NULL), "build");
    b->kernel = clCreateKernel(program, "pieces", &error);
    check(error, "kernel");
    clReleaseProgram(program);
    b->in = clCreateBuffer(b->context, CL_MEM_READ_ONLY, b->bytes, NULL, &error);
    check(error, "the input");
    b->out = clCreateBuffer(b->context, CL_MEM_READ_WRITE, VECTOR, NULL, &error);
    check(error, "the output");
    fill(b);
}

static double launch(const struct bench *b, size_t items)
{
    const size_t group = GROUP;
    cl_ulong begin = 0, end = 0;
    cl_event event;
    check(clEnqueueNDRangeKernel(b->queue, b->kernel, 1, NULL, &items, &group, 0, NULL, &event), "launch");
    check(clWaitForEvents(1, &event), "launch");
    clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_START, sizeof begin, &begin, NULL);
    clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_END, sizeof end, &end, NULL);
    clReleaseEvent(event);
    return (double)(end - begin) * 1e-3;
}

/* us for pieces of so many bytes, so many of which make a row. */
static double read_pieces(const struct bench *b, size_t piece, size_t pieces)
{
    cl_uint width = (cl_uint)(piece / VECTOR), n = (cl_uint)pieces;
    size_t items = b->bytes / (ROWS * VECTOR * pieces);
    check(clSetKernelArg(b->kernel, 0, sizeof b->in, &b->in), "argument");
    check(clSetKernelArg(b->kernel, 1, sizeof b->out, &b->out), "argument");
    check(clSetKernelArg(b->kernel, 2, sizeof width, &width), "argument");
    check(clSetKernelArg(b->kernel, 3, sizeof n, &n), "argument");
    double least = launch(b, items);
    for (int i = 1; i < LAUNCHES; i++) {
        double us = launch(b, items);
        least = us < least ? us : least;
    }
    return least;
}

int main(int argc, char **argv)
{
    struct bench b = {.bytes = (size_t)1024 << 20};
    if (argc > 2) b.bytes = (size_t)strtoul(argv[2], NULL, 10) << 20;
    if (b.bytes < ROWS * VECTOR * GROUP * 1024 || (b.bytes & (b.bytes - 1))) check(CL_INVALID_VALUE, "MiB");
    start(&b, choose_device(argc > 1 ? argv[1] : ""));
    printf("# us to read %zu MiB: bytes of a piece, pieces of a row (bytes of it): time\n", b.bytes >> 20);
    for (size_t piece = 32; piece <= MOST_PIECE; piece *= 2)
        for (size_t pieces = 1; pieces <= 1024 && piece * pieces <= MOST_ROW; pieces *= 2)
            printf("%4zu %5zu %6zu %8.1f\n", piece, pieces, piece * pieces, read_pieces(&b, piece, pieces));
    return 0;
}
