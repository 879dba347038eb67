/* Times one peer's C = A * B in single precision: OpenBLAS on the host, CLBlast on an OpenCL device.
 * Prints the nanoseconds of one call: the median over 5 batches, each the span of back-to-back calls over
 * their count. */
#include <cblas.h>
#include <clblast_c.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { BATCHES = 5 };

static double now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

struct product {
    size_t m, n, k;
    float *a, *b, *c;
    cl_command_queue queue; /* NULL: OpenBLAS */
    cl_mem buffers[3];
};

static void die(const char *text)
{
    fprintf(stderr, "sgemm: %s\n", text);
    exit(1);
}

static float *uniform(size_t n)
{
    float *x = malloc(n * sizeof *x);
    if (!x) die("out of memory");
    for (size_t i = 0; i < n; i++)
        x[i] = (float)rand() / (float)RAND_MAX * 2 - 1;
    return x;
}

static void call(struct product *p)
{
    if (!p->queue) {
        cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, (int)p->m, (int)p->n, (int)p->k, 1, p->a,
                    (int)p->k, p->b, (int)p->n, 0, p->c, (int)p->n);
        return;
    }
    CLBlastStatusCode status = CLBlastSgemm(CLBlastLayoutRowMajor, CLBlastTransposeNo, CLBlastTransposeNo,
                                            p->m, p->n, p->k, 1, p->buffers[0], 0, p->k, p->buffers[1], 0,
                                            p->n, 0, p->buffers[2], 0, p->n, &p->queue, NULL);
    if (status != CLBlastSuccess) die("CLBlast failed");
}

static double batch(struct product *p, int calls)
{
    double start = now_ns();
    for (int i = 0; i < calls; i++)
        call(p);
    if (p->queue) clFinish(p->queue);
    return (now_ns() - start) / calls;
}

static cl_device_id find_device(const char *substring)
{
    cl_platform_id platforms[8];
    cl_uint n_platforms = 0;
    clGetPlatformIDs(8, platforms, &n_platforms);
    for (cl_uint p = 0; p < n_platforms && p < 8; p++) {
        cl_device_id devices[16];
        cl_uint n = 0;
        if (clGetDeviceIDs(platforms[p], CL_DEVICE_TYPE_ALL, 16, devices, &n) != CL_SUCCESS) continue;
        for (cl_uint i = 0; i < n && i < 16; i++) {
            char name[256] = "";
            clGetDeviceInfo(devices[i], CL_DEVICE_NAME, sizeof name, name, NULL);
            if (strstr(name, substring)) return devices[i];
        }
    }
    die("no such OpenCL device");
    return NULL;
}

static void open_device(struct product *p, const char *substring)
{
    cl_int error;
    cl_device_id device = find_device(substring);
    cl_context context = clCreateContext(NULL, 1, &device, NULL, NULL, &error);
    if (error != CL_SUCCESS) die("clCreateContext failed");
    p->queue = clCreateCommandQueue(context, device, 0, &error);
    if (error != CL_SUCCESS) die("clCreateCommandQueue failed");
    size_t bytes[3] = {p->m * p->k * 4, p->k * p->n * 4, p->m * p->n * 4};
    float *host[3] = {p->a, p->b, p->c};
    for (int i = 0; i < 3; i++) {
        p->buffers[i] =
            clCreateBuffer(context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, bytes[i], host[i], &error);
        if (error != CL_SUCCESS) die("clCreateBuffer failed");
    }
}

static int ascending(const void *x, const void *y)
{
    double a = *(const double *)x, b = *(const double *)y;
    return (a > b) - (a < b);
}

int main(int argc, char **argv)
{
    if (argc < 5) die("usage: sgemm openblas|clblast M N K [device substring]");
    struct product p = {
        .m = strtoul(argv[2], NULL, 10), .n = strtoul(argv[3], NULL, 10), .k = strtoul(argv[4], NULL, 10)};
    p.a = uniform(p.m * p.k);
    p.b = uniform(p.k * p.n);
    p.c = uniform(p.m * p.n);
    if (!strcmp(argv[1], "clblast")) open_device(&p, argc > 5 ? argv[5] : "");
    batch(&p, 1);
    double once = batch(&p, 1), times[BATCHES];
    int calls = (int)(1e8 / once) + 3;
    if (calls > 40) calls = 40;
    for (int i = 0; i < BATCHES; i++)
        times[i] = batch(&p, calls);
    qsort(times, BATCHES, sizeof times[0], ascending);
    printf("%.0f\n", times[BATCHES / 2]);
    return 0;
}
