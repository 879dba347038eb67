/* CLBlast as it is installed, not tuned for the device. */
#include <clblast_c.h>
#include <string.h>

#include "peer.h"

static cl_command_queue queue;
static cl_mem buffers[3];

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
    peer_die("no such OpenCL device");
    return NULL;
}

void peer_open(const struct peer_product *p, const char *device)
{
    cl_int error;
    cl_device_id id = find_device(device);
    cl_context context = clCreateContext(NULL, 1, &id, NULL, NULL, &error);
    if (error != CL_SUCCESS) peer_die("clCreateContext failed");
    queue = clCreateCommandQueue(context, id, 0, &error);
    if (error != CL_SUCCESS) peer_die("clCreateCommandQueue failed");
    size_t bytes[3] = {p->m * p->k * sizeof(float), p->k * p->n * sizeof(float), p->m * p->n * sizeof(float)};
    float *host[3] = {p->a, p->b, p->c};
    for (int i = 0; i < 3; i++) {
        buffers[i] =
            clCreateBuffer(context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, bytes[i], host[i], &error);
        if (error != CL_SUCCESS) peer_die("clCreateBuffer failed");
    }
}

void peer_call(const struct peer_product *p)
{
    CLBlastStatusCode status =
        CLBlastSgemm(CLBlastLayoutRowMajor, CLBlastTransposeNo, CLBlastTransposeNo, p->m, p->n, p->k, 1,
                     buffers[0], 0, p->k, buffers[1], 0, p->n, 0, buffers[2], 0, p->n, &queue, NULL);
    if (status != CLBlastSuccess) peer_die("CLBlast failed");
}

void peer_finish(void)
{
    clFinish(queue);
}
