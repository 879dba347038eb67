/* Uses a header of `thresh export`: picks the matrix product for the sizes of the command line, runs it and
 * compares the result with a loop.
 *
 *     $ thresh tune experiments/kernels/matmul.lift --size M=64,N=64,K=64 --store mm.db
 *     $ thresh export mm.db -o best.h
 *     $ cc -O2 -I. experiments/export/matmul.c -lOpenCL -lm -o matmul
 *     $ ./matmul 64 64 64
 *     matmul of 64 x 64 x 64: right, 35.96 us when it was tuned (naive: 454.21 us)
 *     $ ./matmul 128 64 64
 *     no kernel for these sizes; the nearest that were tuned:
 *         M=64 N=64 K=64 (35.96 us)
 *     ...
 *
 * Exit status: 0 the result is right, 1 it is wrong or OpenCL failed, 3 there is no kernel for these sizes.
 */
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "best.h"

enum { MOST_ARGUMENTS = 16, NO_KERNEL = 3 };

static void check(cl_int error, const char *what)
{
    if (error == CL_SUCCESS) return;
    fprintf(stderr, "%s: OpenCL error %d\n", what, (int)error);
    exit(1);
}

/* The first device, with its name and type. */
static cl_device_id find_device(char name[256], int *gpu)
{
    cl_platform_id platform;
    cl_device_id device;
    cl_device_type type;
    check(clGetPlatformIDs(1, &platform, NULL), "clGetPlatformIDs");
    check(clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL), "clGetDeviceIDs");
    check(clGetDeviceInfo(device, CL_DEVICE_NAME, 256, name, NULL), "clGetDeviceInfo");
    check(clGetDeviceInfo(device, CL_DEVICE_TYPE, sizeof type, &type, NULL), "clGetDeviceInfo");
    *gpu = (type & CL_DEVICE_TYPE_GPU) != 0;
    return device;
}

static cl_kernel build(cl_context context, cl_device_id device, const struct thresh_kernel *k)
{
    cl_int error;
    cl_program program =
        clCreateProgramWithSource(context, k->n_source, (const char **)k->source, NULL, &error);
    check(error, "clCreateProgramWithSource");
    check(clBuildProgram(program, 1, &device, "-cl-std=CL1.2", NULL, NULL), "clBuildProgram");
    cl_kernel kernel = clCreateKernel(program, k->name, &error);
    check(error, "clCreateKernel");
    return kernel;
}

static float *random_floats(size_t n)
{
    float *x = malloc(n * sizeof *x);
    if (!x) exit(1);
    for (size_t i = 0; i < n; i++)
        x[i] = 2.0f * (float)rand() / (float)RAND_MAX - 1.0f;
    return x;
}

/* A buffer for argument `a`: an input holds `input`, counters are 0 before the first launch, the rest has no
 * content. */
static cl_mem make_buffer(cl_context context, const struct thresh_argument *a, void *input)
{
    cl_int error;
    void *zeros = NULL, *content = NULL;
    if (a->use == THRESH_COUNTERS && !(zeros = calloc(1, (size_t)a->bytes))) exit(1);
    if (a->use == THRESH_INPUT) content = input;
    if (a->use == THRESH_COUNTERS) content = zeros;
    cl_mem_flags flags = CL_MEM_READ_WRITE | (content ? CL_MEM_COPY_HOST_PTR : 0);
    cl_mem buffer = clCreateBuffer(context, flags, (size_t)a->bytes, content, &error);
    check(error, "clCreateBuffer");
    free(zeros);
    return buffer;
}

/* Inputs are the arrays in order. Writes the output to `out`. */
static void run(const struct thresh_kernel *k, cl_device_id device, float *const *inputs, float *out)
{
    cl_int error;
    cl_context context = clCreateContext(NULL, 1, &device, NULL, NULL, &error);
    check(error, "clCreateContext");
    cl_command_queue queue = clCreateCommandQueue(context, device, 0, &error);
    check(error, "clCreateCommandQueue");
    cl_kernel kernel = build(context, device, k);
    cl_mem buffers[MOST_ARGUMENTS], output = NULL;
    size_t output_bytes = 0;
    for (unsigned i = 0; i < k->n_arguments && i < MOST_ARGUMENTS; i++) {
        const struct thresh_argument *a = &k->arguments[i];
        buffers[i] = make_buffer(context, a, a->use == THRESH_INPUT ? *inputs++ : NULL);
        check(clSetKernelArg(kernel, i, sizeof buffers[i], &buffers[i]), "clSetKernelArg");
        if (a->use == THRESH_OUTPUT) output = buffers[i];
        if (a->use == THRESH_OUTPUT) output_bytes = (size_t)a->bytes;
    }
    const size_t *local = k->local[0] ? k->local : NULL;
    check(clEnqueueNDRangeKernel(queue, kernel, 3, NULL, k->global, local, 0, NULL, NULL), "the launch");
    check(clEnqueueReadBuffer(queue, output, CL_TRUE, 0, output_bytes, out, 0, NULL, NULL), "the result");
}

/* Whether C is A B, within the rounding errors of a sum of K products. */
static int is_right(const float *a, const float *b, const float *c, long long m, long long n, long long k)
{
    for (long long i = 0; i < m; i++)
        for (long long j = 0; j < n; j++) {
            double sum = 0;
            for (long long l = 0; l < k; l++)
                sum += (double)a[i * k + l] * (double)b[l * n + j];
            if (!(fabs((double)c[i * n + j] - sum) <= 1e-6 * (double)k)) return 0;
        }
    return 1;
}

static int tell_nearest(const struct thresh_tuning *t)
{
    puts(t ? "no kernel for these sizes; the nearest that were tuned:"
           : "matmul was not tuned for this device");
    if (!t) return NO_KERNEL;
    printf("   ");
    for (int i = 0; i < t->n_sizes; i++)
        printf(" %s=%lld", t->sizes[i].name, t->sizes[i].value);
    printf(" (%.2f us)\ndecisions to begin with:\n", t->median_ns / 1000);
    for (int i = 0; i < t->n_decisions; i++)
        printf("    --pin '%s=%s'\n", t->decisions[i].choice, t->decisions[i].value);
    return NO_KERNEL;
}

int main(int argc, char **argv)
{
    char name[256] = "";
    int gpu;
    cl_device_id device = find_device(name, &gpu);
    struct thresh_size sizes[] = {{"M", 64}, {"N", 64}, {"K", 64}};
    for (int i = 1; i < argc && i < 4; i++)
        sizes[i - 1].value = atoll(argv[i]);
    const struct thresh_kernel *k = thresh_pick_kernel("matmul", name, gpu, sizes, 3);
    if (!k) return tell_nearest(thresh_pick_tuning("matmul", name, gpu, sizes, 3));
    long long m = sizes[0].value, n = sizes[1].value, l = sizes[2].value;
    float *a = random_floats((size_t)(m * l)), *b = random_floats((size_t)(l * n)),
          *c = random_floats((size_t)(m * n));
    run(k, device, (float *const[]){a, b}, c);
    int right = is_right(a, b, c, m, n, l);
    printf("matmul of %lld x %lld x %lld: %s, %.2f us when it was tuned (naive: %.2f us)\n", m, n, l,
           right ? "right" : "WRONG", k->tuning->median_ns / 1000, k->tuning->naive_ns / 1000);
    return !right;
}
