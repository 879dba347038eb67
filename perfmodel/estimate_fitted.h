/* What was fitted to measured times of a GPU: the weights and the trees of perfmodel/estimate.c. Their values
 * are in a generated file (experiments/search/fit_estimate.py). */
#ifndef THRESH_PERFMODEL_ESTIMATE_FITTED_H
#define THRESH_PERFMODEL_ESTIMATE_FITTED_H

#include "perfmodel/estimate.h"

enum { ESTIMATE_TREES = 100, ESTIMATE_DEPTH = 3 };

/* Compares a feature at each level; the answers, the first one as the highest bit, are the index of what it
 * adds:
 *
 *     {{13, 1, 7}, {9.0, 16.2, 10.0}, {...}}     features 13 and 7 are as large, 1 is not: add[5] */
struct estimate_tree {
    int feature[ESTIMATE_DEPTH]; /* ESTIMATE_FEATURES: exposed latency */
    double least[ESTIMATE_DEPTH];
    double add[1 << ESTIMATE_DEPTH];
};

extern const double estimate_weights[ESTIMATE_FEATURES + 1]; /* the last one: of exposed latency */
extern const struct estimate_tree estimate_trees[ESTIMATE_TREES];

#endif
