/* The factor against the definition of what it solves, and against itself in other orders. */
#include "mcts/factor.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>

#include "core/base/pcg32.h"

enum { N = 45 };
static const double NOISE = 0.1;

/* Correlations of points on a line, with noise on the diagonal. */
static double correlation(size_t i, size_t j)
{
    return exp(-fabs((double)i - (double)j) / 7) + (i == j ? NOISE : 0);
}

static factor_lanes *new_lanes(void)
{
    factor_lanes *x = aligned_alloc(sizeof(factor_lanes), N * sizeof *x);
    cr_assert_not_null(x);
    return x;
}

static struct factor *factor_of_n(void)
{
    struct factor *f = factor_new(N);
    for (size_t i = 0; i < N; i++) {
        factor_lanes *x = factor_scratch(f);
        for (size_t j = 0; j < i; j++)
            x[j] = (factor_lanes){(float)correlation(i, j)};
        factor_solve(f, 0, x);
        factor_append(f, x, correlation(i, i), NOISE);
    }
    cr_assert_eq(factor_count(f), N);
    return f;
}

static void fill(factor_lanes *x, struct pcg32 *rng)
{
    for (size_t i = 0; i < N; i++)
        for (unsigned k = 0; k < FACTOR_LANES; k++)
            x[i][k] = (float)pcg32_unit(rng);
}

/* With K = L L^T and columns a, b of K, the solved columns are rows of L: their product is K_ab. */
Test(factor, is_that_of_the_correlations)
{
    struct factor *f = factor_of_n();
    factor_lanes *x = new_lanes();
    for (size_t at = 0; at + FACTOR_LANES <= N; at += FACTOR_LANES) {
        for (size_t i = 0; i < N; i++)
            for (unsigned k = 0; k < FACTOR_LANES; k++)
                x[i][k] = (float)correlation(i, at + k);
        factor_solve(f, 0, x);
        for (unsigned a = 0; a < FACTOR_LANES; a++)
            for (unsigned b = 0; b < FACTOR_LANES; b++) {
                double product = 0;
                for (size_t i = 0; i < N; i++)
                    product += (double)x[i][a] * (double)x[i][b];
                cr_expect_float_eq(product, correlation(at + a, at + b), 1e-5, "%zu %u %u", at, a, b);
            }
    }
    free(x);
    factor_free(f);
}

/* In double precision, one element after the other. */
Test(factor, solves_one_vector_alike)
{
    struct factor *f = factor_of_n();
    struct pcg32 rng = pcg32_seed(1, 2);
    factor_lanes *x = new_lanes();
    double y[N];
    fill(x, &rng);
    for (size_t i = 0; i < N; i++) {
        y[i] = (double)x[i][3];
        factor_solve_element(f, i, y);
    }
    factor_solve(f, 0, x);
    for (size_t i = 0; i < N; i++)
        cr_expect_float_eq(y[i], (double)x[i][3], 1e-5);
    free(x);
    factor_free(f);
}

/* Bit by bit: from every element on, and whatever the other lanes hold. */
Test(factor, goes_on_where_it_was)
{
    struct factor *f = factor_of_n();
    struct pcg32 rng = pcg32_seed(3, 4);
    factor_lanes *whole = new_lanes(), *part = new_lanes(), *given = new_lanes();
    fill(given, &rng);
    for (size_t i = 0; i < N; i++)
        whole[i] = given[i];
    factor_solve(f, 0, whole);
    for (size_t first = 0; first <= N; first++) {
        fill(part, &rng);
        for (size_t i = 0; i < N; i++)
            part[i][0] = i < first ? whole[i][5] : given[i][5];
        factor_solve(f, first, part);
        for (size_t i = 0; i < N; i++)
            cr_assert_eq(part[i][0], whole[i][5], "element %zu from %zu on", i, first);
    }
    free(whole);
    free(part);
    free(given);
    factor_free(f);
}

/* A vector that the others explain wholly has the noise as its pivot, not less. */
Test(factor, pivots_are_no_smaller_than_the_noise)
{
    struct factor *f = factor_new(2);
    factor_lanes *x = factor_scratch(f);
    double y[2] = {1, 1};
    factor_append(f, x, 1, NOISE);
    x[0] = (factor_lanes){1.5f};
    factor_append(f, x, 1, NOISE);
    factor_solve_element(f, 0, y);
    factor_solve_element(f, 1, y);
    cr_expect_float_eq(y[1], (1 - 1.5) / sqrt(NOISE), 1e-5);
    factor_free(f);
}
