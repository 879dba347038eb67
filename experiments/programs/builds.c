/* builds TIMES FILE.cl...: what a driver takes to build kernels, on the first GPU or, without one, the first
 * device.
 *
 *     cc -O2 -std=gnu11 experiments/programs/builds.c -o builds -lOpenCL
 *     CUDA_CACHE_DISABLE=1 ./builds 4 a/best.cl b/best.cl
 *     a/best.cl: 120982 bytes, 0.638 s from the text, 0.109 s from the binary
 *
 * The binary is what clGetProgramInfo gives: PTX on an NVIDIA GPU. So the difference is what the compiler
 * takes before PTX. Texts are built in turn, TIMES times each, and the shortest time counts. A comment with a
 * number is added to each, so that no cache of the driver has it. */
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MOST_TEXTS = 256, MOST_PLATFORMS = 8, MORE_BYTES = 64 /* for the number */ };

struct built {
    const char *path;
    char *text;
    double text_s, binary_s; /* the least */
};

static void check(cl_int error, const char *what)
{
    if (!error) return;
    fprintf(stderr, "builds: %s failed: error %d\n", what, (int)error);
    exit(1);
}

static double now_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void *allocate(size_t bytes)
{
    void *p = calloc(1, bytes);
    if (!p) check(CL_OUT_OF_HOST_MEMORY, "calloc");
    return p;
}

static char *read_text(const char *path)
{
    FILE *f = fopen(path, "rb");
    if (!f || fseek(f, 0, SEEK_END)) {
        perror(path);
        exit(2);
    }
    size_t bytes = (size_t)ftell(f);
    char *text = allocate(bytes + 1);
    rewind(f);
    if (fread(text, 1, bytes, f) != bytes) {
        perror(path);
        exit(2);
    }
    fclose(f);
    return text;
}

static cl_device_id find_device(void)
{
    static const cl_device_type types[] = {CL_DEVICE_TYPE_GPU, CL_DEVICE_TYPE_ALL};
    cl_platform_id platforms[MOST_PLATFORMS];
    cl_device_id device;
    cl_uint n = 0;
    check(clGetPlatformIDs(MOST_PLATFORMS, platforms, &n), "clGetPlatformIDs");
    for (size_t t = 0; t < sizeof types / sizeof types[0]; t++)
        for (cl_uint i = 0; i < n && i < MOST_PLATFORMS; i++)
            if (!clGetDeviceIDs(platforms[i], types[t], 1, &device, NULL)) return device;
    fprintf(stderr, "builds: no OpenCL device\n");
    exit(1);
}

static double build_s(cl_program program, cl_device_id device, const char *options)
{
    double start = now_s();
    check(clBuildProgram(program, 1, &device, options, NULL, NULL), "clBuildProgram");
    return now_s() - start;
}

static void keep_least(double *least, double s)
{
    if (*least == 0 || s < *least) *least = s;
}

static void build_binary(struct built *b, cl_context context, cl_device_id device, cl_program from,
                         unsigned number)
{
    size_t bytes = 0;
    cl_int error, status;
    check(clGetProgramInfo(from, CL_PROGRAM_BINARY_SIZES, sizeof bytes, &bytes, NULL), "clGetProgramInfo");
    unsigned char *binary = allocate(bytes + MORE_BYTES);
    check(clGetProgramInfo(from, CL_PROGRAM_BINARIES, sizeof binary, &binary, NULL), "clGetProgramInfo");
    if (!memcmp(binary, "//", 2)) { /* PTX: a text */
        bytes = strlen((char *)binary);
        bytes += (size_t)sprintf((char *)binary + bytes, "\n// %u\n", number) + 1;
    }
    const unsigned char *binaries = binary;
    cl_program program = clCreateProgramWithBinary(context, 1, &device, &bytes, &binaries, &status, &error);
    check(error ? error : status, "clCreateProgramWithBinary");
    keep_least(&b->binary_s, build_s(program, device, ""));
    clReleaseProgram(program);
    free(binary);
}

static void build(struct built *b, cl_context context, cl_device_id device, unsigned number)
{
    char comment[MORE_BYTES];
    const char *const texts[] = {comment, b->text};
    cl_int error;
    snprintf(comment, sizeof comment, "/* %u %.9f */\n", number, now_s());
    cl_program program = clCreateProgramWithSource(context, 2, (const char **)texts, NULL, &error);
    check(error, "clCreateProgramWithSource");
    keep_least(&b->text_s, build_s(program, device, "-cl-std=CL1.2"));
    build_binary(b, context, device, program, number);
    clReleaseProgram(program);
}

int main(int argc, char **argv)
{
    static struct built built[MOST_TEXTS];
    int times = argc > 1 ? atoi(argv[1]) : 0, n = argc - 2;
    if (times < 1 || n < 1 || n > MOST_TEXTS) {
        fprintf(stderr, "usage: builds TIMES FILE.cl...\n");
        return 2;
    }
    for (int i = 0; i < n; i++)
        built[i] = (struct built){.path = argv[2 + i], .text = read_text(argv[2 + i])};
    cl_device_id device = find_device();
    cl_int error;
    cl_context context = clCreateContext(NULL, 1, &device, NULL, NULL, &error);
    check(error, "clCreateContext");
    for (int t = 0; t < times; t++)
        for (int i = 0; i < n; i++)
            build(&built[i], context, device, (unsigned)(t * n + i));
    for (int i = 0; i < n; i++) {
        printf("%s: %zu bytes, %.3f s from the text, %.3f s from the binary\n", built[i].path,
               strlen(built[i].text), built[i].text_s, built[i].binary_s);
        free(built[i].text);
    }
    clReleaseContext(context);
    return 0;
}
