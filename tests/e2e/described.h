/* A description of this machine's first device, for tests that need lower bounds: devices of unknown name
 * have none, and then every bound is 0. */
#ifndef THRESH_TESTS_E2E_DESCRIBED_H
#define THRESH_TESTS_E2E_DESCRIBED_H

#include "perfmodel/device.h"

/* Sets the name, the platform, the kind and the limits of work-groups of *p to those of the first device and
 * writes it to `path`. */
void described_write(struct perfmodel_device *p, const char *path);
/* The same with one figure, which counts as measured, and nothing else. */
void described_write_one(const char *path, enum perfmodel_figure figure, double value);

#endif
