/* Devices that are not on this machine, as their descriptions have them: what stored decisions mean depends
 * on the limits of the device that they were made for. */
#ifndef THRESH_COORDINATOR_DESCRIBED_H
#define THRESH_COORDINATOR_DESCRIBED_H

#include "agent/device.h"
#include "perfmodel/device.h"

/* A device as its description has it; it has no memory. false: a limit is unknown. */
bool described_take(const struct perfmodel_device *p, struct device *out);
/* The device of that name: on this machine, else as described. false after an error, which says why it is not
 * on this machine. */
bool described_find(const char *name, struct device *out, struct diag *d);

#endif
