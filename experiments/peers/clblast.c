/* CLBlast as it is installed, not tuned for the device. */
#include <clblast_c.h>

#include "find_device.h"
#include "peer.h"

static cl_command_queue queue;
static cl_mem buffers[3];

void peer_open(const struct peer_work *p, const char *device)
{
    cl_int error;
    cl_device_id id = find_device(device);
    if (!id) peer_die("no such OpenCL device");
    cl_context context = clCreateContext(NULL, 1, &id, NULL, NULL, &error);
    if (error != CL_SUCCESS) peer_die("clCreateContext failed");
    queue = clCreateCommandQueue(context, id, 0, &error);
    if (error != CL_SUCCESS) peer_die("clCreateCommandQueue failed");
    for (int i = 0; i < 3; i++) {
        buffers[i] = clCreateBuffer(context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR,
                                    p->elements[i] * sizeof(float), p->arrays[i], &error);
        if (error != CL_SUCCESS) peer_die("clCreateBuffer failed");
    }
}

static CLBlastStatusCode multiply(const struct peer_work *p)
{
    return CLBlastSgemm(CLBlastLayoutRowMajor, CLBlastTransposeNo, CLBlastTransposeNo, p->m, p->n, p->k, 1,
                        buffers[0], 0, p->k, buffers[1], 0, p->n, 0, buffers[2], 0, p->n, &queue, NULL);
}

static CLBlastStatusCode convolve(const struct peer_work *p)
{
    return CLBlastSconvgemm(CLBlastKernelModeCrossCorrelation, p->k, p->n, p->n, 3, 3, 1, 1, 1, 1, 1, 1, p->m,
                            1, buffers[0], 0, buffers[1], 0, buffers[2], 0, &queue, NULL);
}

void peer_call(const struct peer_work *p)
{
    if ((p->convolution ? convolve(p) : multiply(p)) != CLBlastSuccess) peer_die("CLBlast failed");
}

void peer_finish(void)
{
    clFinish(queue);
}
