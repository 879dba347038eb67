/* The estimate of an implementation's time, of counts that are given. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "perfmodel/estimate.h"
#include "perfmodel/estimate_fitted.h"

static double estimate(const double *counts, unsigned units, bool gpu)
{
    double features[ESTIMATE_FEATURES];
    estimate_features(counts, units, gpu, features);
    return exp2(estimate_rough(features)) - 1;
}

/* 264 groups of 256 work-items on 132 units: two on each. */
Test(estimate, of_a_gpu_is_the_root_of_the_sum_of_squares)
{
    double n[CG_COUNT_COUNT] = {[CG_COUNT_GROUPS] = 264, [CG_COUNT_ITEMS] = 256, [CG_COUNT_STEPS] = 100};
    double features[ESTIMATE_FEATURES];
    n[CG_COUNT_LOCAL_CYCLES] = 264 * 150;
    cr_assert_float_eq(estimate(n, 132, true), hypot(2 * 8 * 100 / 4.0, 2 * 150), 1e-6);
    estimate_features(n, 132, true, features);
    cr_assert_float_eq(features[1 + ESTIMATE_ISSUE], log2(1 + 400), 1e-9);
    cr_assert_float_eq(features[1 + ESTIMATE_BANKS], log2(1 + 300), 1e-9);
    cr_assert_float_eq(features[1 + ESTIMATE_RESOURCES + CG_COUNT_ITEMS], log2(1 + 256), 1e-9);
}

/* One group more than there are units takes as long as two on each. */
Test(estimate, knows_the_busiest_unit)
{
    double n[CG_COUNT_COUNT] = {[CG_COUNT_ITEMS] = 64, [CG_COUNT_STEPS] = 1000};
    double by_groups[4];
    for (int i = 0; i < 4; i++) {
        n[CG_COUNT_GROUPS] = (const double[]){1, 132, 133, 264}[i];
        by_groups[i] = estimate(n, 132, true);
    }
    cr_assert_float_eq(by_groups[0], by_groups[1], 1e-6);
    cr_assert_float_eq(by_groups[2], by_groups[3], 1e-6);
    cr_assert_float_eq(by_groups[2], 2 * by_groups[1], 1e-6);
}

/* Two products of 1024 x 1024 x 1024 that took 65 and 195 us on an H100 (matmul1024_h100.pool.gz). */
Test(estimate, of_a_gpu_is_fitted)
{
    double fast[CG_COUNT_COUNT] = {[CG_COUNT_GROUPS] = 128,
                                   [CG_COUNT_ITEMS] = 512,
                                   [CG_COUNT_REGISTERS] = 368,
                                   [CG_COUNT_LOCAL_BYTES] = 49152,
                                   [CG_COUNT_TEXT] = 880,
                                   [CG_COUNT_STEPS] = 25673,
                                   [CG_COUNT_ITERATIONS] = 32,
                                   [CG_COUNT_BARRIERS] = 1,
                                   [CG_COUNT_OPERATIONS] = 1 << 30,
                                   [CG_COUNT_LOADS] = 2129376,
                                   [CG_COUNT_LOAD_SECTORS] = 16905624,
                                   [CG_COUNT_STORES] = 32768,
                                   [CG_COUNT_STORE_SECTORS] = 262144,
                                   [CG_COUNT_LOCAL_ACCESSES] = 16812139,
                                   [CG_COUNT_LOCAL_CYCLES] = 16847135,
                                   [CG_COUNT_TRAFFIC] = 545120524};
    double slow[CG_COUNT_COUNT] = {[CG_COUNT_GROUPS] = 512,
                                   [CG_COUNT_ITEMS] = 512,
                                   [CG_COUNT_REGISTERS] = 16,
                                   [CG_COUNT_LOCAL_BYTES] = 5263,
                                   [CG_COUNT_TEXT] = 24,
                                   [CG_COUNT_STEPS] = 9863,
                                   [CG_COUNT_ITERATIONS] = 1552,
                                   [CG_COUNT_BARRIERS] = 1056,
                                   [CG_COUNT_OPERATIONS] = 1 << 30,
                                   [CG_COUNT_LOADS] = 786451,
                                   [CG_COUNT_LOAD_SECTORS] = 9437674,
                                   [CG_COUNT_STORES] = 32768,
                                   [CG_COUNT_STORE_SECTORS] = 262144,
                                   [CG_COUNT_LOCAL_ACCESSES] = 27520435,
                                   [CG_COUNT_LOCAL_CYCLES] = 42207615,
                                   [CG_COUNT_TRAFFIC] = 306221427};
    double first[ESTIMATE_FEATURES], second[ESTIMATE_FEATURES];
    estimate_features(fast, 132, true, first);
    estimate_features(slow, 132, true, second);
    cr_expect_gt(second[0], first[0] + 0.5);
    /* What fit_estimate.py's estimate() says of these features with the present weights and trees. */
    cr_expect_float_eq(first[0], 8.2370, 1e-3);
    cr_expect_float_eq(second[0], 9.6124, 1e-3);
    double now = second[0];
    for (int i = 0; i < ESTIMATE_FEATURES; i++) { /* as a pool has them */
        char text[32];
        snprintf(text, sizeof text, "%.5g", i == 0 ? 0 : second[i]);
        second[i] = strtod(text, NULL);
    }
    estimate_again(second, 132);
    cr_expect_float_eq(second[0], now, 1e-2);
    second[0] = now;
    double rough = second[0];
    slow[CG_COUNT_TEXT] = 500; /* no resource, but a weight */
    estimate_features(slow, 132, true, second);
    cr_expect_neq(second[0], rough);
    estimate_features(slow, 132, false, second);
    cr_expect_eq(second[0], estimate_rough(second), "of a CPU nothing is fitted");
}

/* Groups of 64 work-items leave latency exposed that groups of 1,024, with as many steps in all, hide. */
Test(estimate, knows_exposed_latency)
{
    double few[CG_COUNT_COUNT] = {[CG_COUNT_GROUPS] = 128, [CG_COUNT_ITEMS] = 64, [CG_COUNT_STEPS] = 1000};
    double many[CG_COUNT_COUNT] = {[CG_COUNT_GROUPS] = 128, [CG_COUNT_ITEMS] = 1024, [CG_COUNT_STEPS] = 62.5};
    double first[ESTIMATE_FEATURES], second[ESTIMATE_FEATURES];
    estimate_features(few, 132, true, first);
    estimate_features(many, 132, true, second);
    cr_expect_float_eq(estimate_rough(first), estimate_rough(second), 1e-9);
    cr_expect_gt(first[0], second[0]);
}

/* of_a_gpu_is_fitted above compares sums of trees; here, that no tree reads beyond the features. */
Test(estimate, trees_compare_features_that_there_are)
{
    for (int t = 0; t < ESTIMATE_TREES; t++)
        for (int i = 0; i < ESTIMATE_DEPTH; i++) {
            cr_assert_geq(estimate_trees[t].feature[i], 0);
            cr_assert_leq(estimate_trees[t].feature[i], ESTIMATE_FEATURES);
        }
}

/* A work-item after the other; iterations and barriers cost. */
Test(estimate, of_a_cpu_is_its_statements)
{
    double n[CG_COUNT_COUNT] = {[CG_COUNT_GROUPS] = 4, [CG_COUNT_ITEMS] = 8, [CG_COUNT_STEPS] = 100};
    cr_assert_float_eq(estimate(n, 2, false), 2 * 8 * 100, 1e-6);
    n[CG_COUNT_ITERATIONS] = 10;
    n[CG_COUNT_BARRIERS] = 3;
    cr_assert_float_eq(estimate(n, 2, false), 2 * 8 * (100 + 4 * 10 + 20 * 3), 1e-6);
    n[CG_COUNT_LOCAL_CYCLES] = 1e9; /* it has no banks */
    cr_assert_float_eq(estimate(n, 2, false), 2 * 8 * (100 + 4 * 10 + 20 * 3), 1e-6);
}

/* What has no loop program is never preferred. */
Test(estimate, without_a_program_is_the_slowest)
{
    double none[ESTIMATE_FEATURES], slow[ESTIMATE_FEATURES], n[CG_COUNT_COUNT];
    for (int i = 0; i < CG_COUNT_COUNT; i++)
        n[i] = 1e6;
    estimate_none(none);
    estimate_features(n, 0, true, slow);
    cr_assert_gt(none[0], slow[0]);
    double as_it_is = none[0];
    estimate_again(none, 132);
    cr_assert_eq(none[0], as_it_is);
}

Test(estimate, effort_grows_with_the_text)
{
    double features[ESTIMATE_FEATURES] = {0};
    double *text = &features[1 + ESTIMATE_RESOURCES + CG_COUNT_TEXT];
    *text = log2(1 + 1000);
    cr_expect_float_eq(exp(estimate_effort(features)), 0.09 + 1.1, 1e-9);
    *text = 0;
    cr_expect_float_eq(exp(estimate_effort(features)), 0.09, 1e-9);
    estimate_none(features);
    cr_expect(isfinite(estimate_effort(features)));
}
