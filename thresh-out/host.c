/* Builds best.cl and runs it on random data. cc -O2 host.c -lOpenCL -o host && ./host [best.cl] */
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void check(cl_int error, const char *what)
{
    if (error == CL_SUCCESS) return;
    fprintf(stderr, "%s failed: OpenCL error %d\n", what, (int)error);
    exit(1);
}

static void *allocate(size_t bytes)
{
    void *p = calloc(bytes, 1);
    if (p) return p;
    perror("calloc");
    exit(1);
}

static char *read_text(const char *path)
{
    FILE *in = fopen(path, "rb");
    if (!in) {
        perror(path);
        exit(1);
    }
    fseek(in, 0, SEEK_END);
    long n = ftell(in);
    rewind(in);
    char *text = allocate((size_t)n + 1);
    if (fread(text, 1, (size_t)n, in) != (size_t)n) exit(1);
    fclose(in);
    return text;
}

/* The device whose name contains `wanted`, else the first. */
static cl_device_id find_device(const char *wanted)
{
    cl_platform_id platforms[16];
    cl_uint n_platforms = 0;
    cl_device_id first = NULL;
    check(clGetPlatformIDs(16, platforms, &n_platforms), "clGetPlatformIDs");
    for (cl_uint p = 0; p < n_platforms && p < 16; p++) {
        cl_device_id devices[16];
        cl_uint n = 0;
        if (clGetDeviceIDs(platforms[p], CL_DEVICE_TYPE_ALL, 16, devices, &n)) continue;
        for (cl_uint i = 0; i < n && i < 16; i++) {
            char name[256] = "";
            clGetDeviceInfo(devices[i], CL_DEVICE_NAME, sizeof name - 1, name, NULL);
            if (strstr(name, wanted)) return devices[i];
            if (!first) first = devices[i];
        }
    }
    return first;
}

static cl_mem make_buffer(cl_context context, size_t bytes, const void *data)
{
    cl_int error;
    cl_mem_flags flags = CL_MEM_READ_WRITE | (data ? CL_MEM_COPY_HOST_PTR : 0);
    cl_mem buffer = clCreateBuffer(context, flags, bytes, (void *)data, &error);
    check(error, "clCreateBuffer");
    return buffer;
}

static inline double uniform(void)
{
    return 2.0 * rand() / RAND_MAX - 1.0;
}

enum { ROUNDS = 11, LAUNCHES = 5 };

/* Nanoseconds a launch: from the start of the first one to the end of the last one, over their number. */
static double time_round(cl_command_queue queue, cl_kernel kernel, const size_t *global, const size_t *local)
{
    cl_event events[LAUNCHES];
    cl_ulong start, end;
    for (int i = 0; i < LAUNCHES; i++)
        check(clEnqueueNDRangeKernel(queue, kernel, 3, NULL, global, local, 0, NULL, &events[i]), "the launch");
    check(clWaitForEvents(LAUNCHES, events), "the kernel");
    clGetEventProfilingInfo(events[0], CL_PROFILING_COMMAND_START, sizeof start, &start, NULL);
    clGetEventProfilingInfo(events[LAUNCHES - 1], CL_PROFILING_COMMAND_END, sizeof end, &end, NULL);
    for (int i = 0; i < LAUNCHES; i++)
        clReleaseEvent(events[i]);
    return (double)(end - start) / LAUNCHES;
}

static int by_size(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

int main(int argc, char **argv)
{
    const char *path = argc > 1 ? argv[1] : "best.cl";
    cl_int error;
    cl_device_id device = find_device("pthread-skylake-avx512-AMD EPYC");
    cl_context context = clCreateContext(NULL, 1, &device, NULL, NULL, &error);
    check(error, "clCreateContext");
    cl_command_queue queue = clCreateCommandQueue(context, device, CL_QUEUE_PROFILING_ENABLE, &error);
    check(error, "clCreateCommandQueue");
    char *text = read_text(path);
    const char *texts[] = {text};
    cl_program program = clCreateProgramWithSource(context, 1, texts, NULL, &error);
    check(error, "clCreateProgramWithSource");
    if (clBuildProgram(program, 1, &device, "-cl-std=CL1.2", NULL, NULL)) {
        static char log[16384];
        clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_LOG, sizeof log - 1, log, NULL);
        fprintf(stderr, "%s\n", log);
        return 1;
    }
    cl_kernel kernel = clCreateKernel(program, "thresh_kernel", &error);
    check(error, "clCreateKernel");
    /* argument 0: x */
    cl_float *data0 = allocate(16);
    for (size_t i = 0; i < 16 / sizeof *data0; i++) data0[i] = (cl_float)uniform();
    cl_mem buffer0 = make_buffer(context, 16, data0);
    check(clSetKernelArg(kernel, 0, sizeof buffer0, &buffer0), "clSetKernelArg");
    /* argument 1: out */
    cl_mem buffer1 = make_buffer(context, 24, NULL);
    check(clSetKernelArg(kernel, 1, sizeof buffer1, &buffer1), "clSetKernelArg");
    const size_t global[3] = {2, 1, 1};
    const size_t *local = NULL; /* left to the device */
    double ns[ROUNDS];
    time_round(queue, kernel, global, local);
    for (int i = 0; i < ROUNDS; i++) {
        ns[i] = time_round(queue, kernel, global, local);
    }
    qsort(ns, ROUNDS, sizeof ns[0], by_size);
    printf("median of %d rounds of %d launches: %.3f us (fastest %.3f us, slowest %.3f us)\n", ROUNDS,
           LAUNCHES, ns[ROUNDS / 2] / 1000, ns[0] / 1000, ns[ROUNDS - 1] / 1000);
    return 0;
}
