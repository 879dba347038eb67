/* The OpenCL device that a program apart from thresh measures. */
#ifndef EXPERIMENTS_PEERS_FIND_DEVICE_H
#define EXPERIMENTS_PEERS_FIND_DEVICE_H

#include <CL/cl.h>
#include <string.h>

/* The first device whose name contains a text, of any platform; NULL: there is none. */
static inline cl_device_id find_device(const char *substring)
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
    return NULL;
}

#endif
