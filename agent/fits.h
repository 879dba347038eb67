/* Whether a device can run a problem at all: it has the types of the arrays, and memory for all of them as a
 * runner holds them (inputs once for each set of inputs, outputs between guard zones). */
#ifndef THRESH_AGENT_FITS_H
#define THRESH_AGENT_FITS_H

#include "agent/device.h"
#include "core/pipeline/problem.h"

/* false after adding an error located at the array. */
bool fits_device(const struct problem *p, const struct device *dev, struct diag *d);

#endif
