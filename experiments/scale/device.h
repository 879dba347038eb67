/* The device that simulated agents say they have. It is made up, so that neither OpenCL nor a device is
 * needed, and the same on every machine. */
#ifndef THRESH_SCALE_DEVICE_H
#define THRESH_SCALE_DEVICE_H

#include "agent/device.h"
#include "core/pipeline/problem.h"

static inline struct device scale_device(void)
{
    return (struct device){.name = "simulated",
                           .driver = "1",
                           .version = "OpenCL 3.0",
                           .compute_units = 16,
                           .max_alloc_bytes = INT64_C(1) << 32,
                           .global_bytes = INT64_C(1) << 34,
                           .limits = problem_any_device};
}

#endif
