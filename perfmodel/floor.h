/* A floor on the running time of one implementation: the steps that its longest work-item must issue, at the
 * device's fastest issue, times the waves of work-items that the compute units need. A bound, not an
 * estimate: every rate is taken at its best. */
#ifndef THRESH_PERFMODEL_FLOOR_H
#define THRESH_PERFMODEL_FLOOR_H

#include <stdbool.h>

/* item_steps: statements issued by one work-item, vectors counted once (cg_cost). items: work-items of the
 * launch that store a result. compute_units: of the device. gpu: its units hold up to 2048 work-items at once
 * and issue for 128 of them a cycle; a CPU unit runs one work-item at a time but its compiler may merge 16 of
 * them into one vector. Returns nanoseconds. */
double perfmodel_floor_ns(double item_steps, double items, unsigned compute_units, bool gpu);

#endif
