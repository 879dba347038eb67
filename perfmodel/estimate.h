/* A rough estimate of an implementation's time before it runs, and what a search learns from beside it: the
 * *features* of a loop program, logarithms to base 2.
 *
 *     counts (core/codegen/counts.h)  ->  cycles of the busiest unit, by resource  ->  estimate
 *     128 groups, 25640 steps, ...        issue 103 k, banks 132 k, ...                all of them together
 *
 * It orders implementations (rank correlations with times of three programs on an H100: 0.77 to 0.87) and is
 * no bound: it counts what a compiler may leave out, and its rates are those of no device in particular. */
#ifndef THRESH_PERFMODEL_ESTIMATE_H
#define THRESH_PERFMODEL_ESTIMATE_H

#include <stdbool.h>

#include "core/codegen/counts.h"

/* What a unit does at the same time as the rest. */
enum estimate_resource {
    ESTIMATE_ISSUE,    /* statements of bundles of work-items; of a CPU, of work-items */
    ESTIMATE_ACCESSES, /* accesses to memory by bundles */
    ESTIMATE_BANKS,    /* of local memory */
    ESTIMATE_SECTORS,  /* of global memory, through the first-level cache */
    ESTIMATE_TRAFFIC,  /* from the last-level cache */
    ESTIMATE_RESOURCES
};

/* The estimate, the resources, the counts. */
enum { ESTIMATE_FEATURES = 1 + ESTIMATE_RESOURCES + CG_COUNT_COUNT };

/* counts: [CG_COUNT_COUNT], of a launch. compute_units: of the device; 0: not known. features:
 * [ESTIMATE_FEATURES], each log2(1 + amount), cycles of the busiest unit for the first ones. */
void estimate_features(const double *counts, unsigned compute_units, bool gpu, double *features);
/* Of an implementation that has no loop program: as slow as can be. */
void estimate_none(double *features);

#endif
