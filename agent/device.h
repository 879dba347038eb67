/* OpenCL devices by stable name and order: GPUs first, then by platform and name; never in the loader's
 * order. */
#ifndef THRESH_AGENT_DEVICE_H
#define THRESH_AGENT_DEVICE_H

#include <stdbool.h>
#include <stdint.h>

#include "core/backbone/backbone.h"

struct diag;

enum { DEVICE_NAME = 128, DEVICE_IDENTITY = 40 };

struct device {
    char name[DEVICE_NAME], platform[DEVICE_NAME], driver[DEVICE_NAME];
    char version[DEVICE_NAME]; /* of OpenCL, and who implements it: "OpenCL 3.0 CUDA" */
    bool gpu;
    unsigned compute_units;
    int64_t max_alloc_bytes, global_bytes;
    int64_t cache_bytes; /* last-level cache; 0: unknown, as of GPUs, whose drivers tell of others, of agents
                            elsewhere and of described devices */
    bool no_double;      /* it is known to have no such numbers */
    struct bb_device limits;
    char identity[DEVICE_IDENTITY]; /* of a GPU on its machine, whoever looks: UUID or PCI place; "": unknown
                                     */
    unsigned index;                 /* place in the stable order: how a runner finds it again */
};

/* All devices, in the stable order; queried in a child process, so that the caller never loads a driver.
 * Returns their number, at most n; 0 after adding an error when there is no platform. */
unsigned device_list(struct device *out, unsigned n, struct diag *d);
/* Selects by substring of the name, "gpu", "cpu" or a number; NULL or "" takes the first. What the target
 * table does not know of a driver of this version is asked of the device, in a child process. false after
 * adding an error. */
bool device_select(const char *selector, struct device *out, struct diag *d);

/* Whether a selector fits a device; NULL or "" fits every one. */
bool device_matches(const struct device *dev, const char *selector);
/* The widths of vectors that candidates use on a device, which no driver tells: 2 and 4 on a GPU, up to 16 on
 * others. For limits whose `gpu` is set. */
void device_set_widths(struct bb_device *limits);

#endif
