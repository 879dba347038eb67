/* The busiest unit has ceil(groups / units) groups. What it does in a cycle, of a GPU: a statement of each of
 * four bundles, an access of one, a row of the banks of local memory, two sectors, 64 bytes from the
 * last-level cache. Resources work at the same time but never perfectly so: the estimate is the root of the
 * sum of squares, between the largest and the sum.
 *
 * That is rough: of a GPU a weighted sum of all features takes its place, corrected by the sum of a hundred
 * small trees, each of which looks at three features. Both were fitted to measured times
 * (experiments/search/fit_estimate.py). *Exposed latency* is a feature of theirs alone: little where a unit
 * holds so many bundles of work-items that some of them can go on while others wait.
 *
 * A unit of a CPU executes the statements of one work-item after the other, an iteration of a loop costs
 * about four more, and a barrier, which ends a loop over the work-items, twenty. */
#include "perfmodel/estimate.h"

#include <math.h>
#include <string.h>

#include "perfmodel/estimate_fitted.h"

static const double BUNDLE = 32, ISSUES = 4, SECTORS = 2, BYTES = 64; /* lanes; a cycle */
static const double ITERATION = 4, BARRIER = 20;                      /* statements */
static const double SLOWEST = 60;                                     /* log2(cycles) */

/* A unit of a GPU, as NVIDIA's of 2022 are: what was fitted goes with these figures, and a device need not
 * have a description. */
static const double UNIT_GROUPS = 32, UNIT_BUNDLES = 64, UNIT_REGISTERS = 65536, UNIT_LOCAL = 233472;
static const double ITEM_REGISTERS = 255, OTHER_REGISTERS = 24; /* of a work-item; beside what it holds */
static const double HIDING = 8;                                 /* so many bundles hide half of the latency */

static const double BUILD = 0.09, BUILD_STATEMENT = 0.0011; /* s */

/* The share of all groups that the busiest unit has. */
static double busiest_share(const double *counts, unsigned compute_units)
{
    double groups = fmax(1, counts[CG_COUNT_GROUPS]), units = compute_units > 0 ? compute_units : 1;
    return ceil(groups / units) / groups;
}

static void cycles_of_gpu(const double *c, double share, unsigned compute_units, double *cycles)
{
    double bundles = ceil(c[CG_COUNT_ITEMS] / BUNDLE) * c[CG_COUNT_GROUPS];
    double accesses = c[CG_COUNT_LOADS] + c[CG_COUNT_STORES] + c[CG_COUNT_LOCAL_ACCESSES];
    double sectors = c[CG_COUNT_LOAD_SECTORS] + c[CG_COUNT_STORE_SECTORS];
    cycles[ESTIMATE_ISSUE] = c[CG_COUNT_STEPS] * bundles / ISSUES * share;
    cycles[ESTIMATE_ACCESSES] = accesses * share;
    cycles[ESTIMATE_BANKS] = c[CG_COUNT_LOCAL_CYCLES] * share;
    cycles[ESTIMATE_SECTORS] = sectors / SECTORS * share;
    cycles[ESTIMATE_TRAFFIC] = c[CG_COUNT_TRAFFIC] / BYTES / (compute_units > 0 ? compute_units : 1);
}

static void cycles_of_cpu(const double *c, double share, double *cycles)
{
    double steps = c[CG_COUNT_STEPS] + ITERATION * c[CG_COUNT_ITERATIONS] + BARRIER * c[CG_COUNT_BARRIERS];
    for (int r = 0; r < ESTIMATE_RESOURCES; r++)
        cycles[r] = 0;
    cycles[ESTIMATE_ISSUE] = steps * c[CG_COUNT_ITEMS] * c[CG_COUNT_GROUPS] * share;
}

double estimate_rough(const double *features)
{
    double squares = 0;
    for (int r = 0; r < ESTIMATE_RESOURCES; r++) {
        double cycles = exp2(features[1 + r]) - 1;
        squares += cycles * cycles;
    }
    return log2(1 + sqrt(squares));
}

double estimate_effort(const double *features)
{
    double statements = exp2(features[1 + ESTIMATE_RESOURCES + CG_COUNT_TEXT]) - 1;
    return log(BUILD + BUILD_STATEMENT * statements);
}

/* Bundles that the busiest unit holds at once, at least one group. */
static double resident_bundles(const double *c, unsigned compute_units)
{
    double registers = 8 * ceil(fmin(ITEM_REGISTERS, c[CG_COUNT_REGISTERS] + OTHER_REGISTERS) / 8);
    double bundles = ceil(fmax(1, c[CG_COUNT_ITEMS]) / BUNDLE);
    double groups = fmin(UNIT_GROUPS, floor(UNIT_BUNDLES / bundles));
    groups = fmin(groups, floor(UNIT_REGISTERS / (registers * bundles * BUNDLE)));
    groups = fmin(groups, floor(UNIT_LOCAL / (c[CG_COUNT_LOCAL_BYTES] + 1024))); /* 1 KiB is the driver's */
    double there_are = ceil(c[CG_COUNT_GROUPS] / (compute_units > 0 ? compute_units : 1));
    return bundles * fmax(1, fmin(groups, there_are));
}

static double of_tree(const struct estimate_tree *t, const double *features)
{
    unsigned leaf = 0;
    for (int i = 0; i < ESTIMATE_DEPTH; i++)
        leaf = 2 * leaf + (features[t->feature[i]] >= t->least[i]);
    return t->add[leaf];
}

/* features[0]: the rough estimate. */
static double fitted(const double *features, double latency)
{
    double all[ESTIMATE_FEATURES + 1], sum = 0;
    memcpy(all, features, ESTIMATE_FEATURES * sizeof all[0]);
    all[ESTIMATE_FEATURES] = latency;
    for (int i = 0; i <= ESTIMATE_FEATURES; i++)
        sum += estimate_weights[i] * all[i];
    for (int i = 0; i < ESTIMATE_TREES; i++)
        sum += of_tree(&estimate_trees[i], all);
    return sum;
}

static void estimate_of_gpu(double *features, const double *counts, unsigned compute_units)
{
    features[0] = estimate_rough(features);
    features[0] = fitted(features, log2(1 + HIDING / resident_bundles(counts, compute_units)));
}

void estimate_features(const double *counts, unsigned compute_units, bool gpu, double *features)
{
    double cycles[ESTIMATE_RESOURCES], share = busiest_share(counts, compute_units);
    if (gpu)
        cycles_of_gpu(counts, share, compute_units, cycles);
    else
        cycles_of_cpu(counts, share, cycles);
    for (int r = 0; r < ESTIMATE_RESOURCES; r++)
        features[1 + r] = log2(1 + cycles[r]);
    for (int i = 0; i < CG_COUNT_COUNT; i++)
        features[1 + ESTIMATE_RESOURCES + i] = log2(1 + counts[i]);
    if (gpu)
        estimate_of_gpu(features, counts, compute_units);
    else
        features[0] = estimate_rough(features);
}

void estimate_again(double *features, unsigned compute_units)
{
    double counts[CG_COUNT_COUNT];
    if (features[1] >= SLOWEST) return;
    for (int i = 0; i < CG_COUNT_COUNT; i++)
        counts[i] = round(exp2(features[1 + ESTIMATE_RESOURCES + i]) - 1);
    estimate_of_gpu(features, counts, compute_units);
}

void estimate_none(double *features)
{
    for (int i = 0; i < ESTIMATE_FEATURES; i++)
        features[i] = SLOWEST;
}
