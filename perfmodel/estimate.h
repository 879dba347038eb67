/* A rough estimate of an implementation's time before it runs, and what a search learns from beside it: the
 * *features* of a loop program, logarithms to base 2.
 *
 *     counts (core/codegen/counts.h)  ->  cycles of the busiest unit, by resource  ->  rough estimate
 *     128 groups, 25640 steps, ...        issue 103 k, banks 132 k, ...                all of them together
 *
 * Of a CPU that is the estimate. Of a GPU it is corrected by what was fitted to measured times: of pools
 * that had no part in the fit (the same program on another device may have had) it orders products and a
 * convolution within twice the best by rank correlations of 0.36 to 0.64; of a stencil and a product of a
 * matrix and a vector, whose times differ by little, it does not (experiments/search/fit_estimate.py,
 * experiments/results/2026-11-28-estimate.md).
 *
 * It is no bound: it counts what a compiler may leave out, and its rates are those of no device in
 * particular. */
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

/* The estimate (log2 of a time in some unit), the resources, the counts. */
enum { ESTIMATE_FEATURES = 1 + ESTIMATE_RESOURCES + CG_COUNT_COUNT };

/* counts: [CG_COUNT_COUNT], of a launch. compute_units: of the device; 0: not known. features:
 * [ESTIMATE_FEATURES], after the estimate each log2(1 + amount), cycles of the busiest unit for resources. */
void estimate_features(const double *counts, unsigned compute_units, bool gpu, double *features);
/* Replaces features[0] of a GPU, made by an earlier fit, by today's. The others may be rounded to five
 * digits, as in a pool. Features of estimate_none() stay. */
void estimate_again(double *features, unsigned compute_units);
/* log2(1 + cycles) by the features of the resources. */
double estimate_rough(const double *features);
/* The natural logarithm of about the seconds that NVIDIA's compiler takes to build it: 0.09 s, and 1.1 ms for
 * each statement of its text (experiments/results/2026-11-29-builds.md). */
double estimate_effort(const double *features);
/* Of an implementation that has no loop program: as slow as can be. */
void estimate_none(double *features);

#endif
