/* Scales: distances, and fits whose likelihood is computed again with dense algebra. */
#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

#include "core/base/pcg32.h"
#include "mcts/policy.h"
#include "mcts/scales.h"
#include "tests/mcts/queens.h"

enum { ROWS = 6, MEASURED = 60 };
static const double NOISE = 0.05, FIRST = 0.7;

/* Values of six numbers each; the time follows from the first two choices. */
struct scales_data {
    struct mcts_queens queens;
    struct mcts_scales *scales;
    uint16_t values[MEASURED][ROWS];
    const uint16_t *rows[MEASURED];
    double y[MEASURED];
};

static void open_data(struct scales_data *d, uint64_t seed)
{
    struct pcg32 rng = pcg32_seed(seed, 0);
    uint32_t slots[ROWS];
    double mean = 0;
    d->queens = mcts_queens_new(ROWS);
    for (uint32_t i = 0; i < ROWS; i++)
        slots[i] = i;
    d->scales = mcts_scales_new(d->queens.space, slots, ROWS, FIRST);
    for (unsigned i = 0; i < MEASURED; i++) {
        d->rows[i] = d->values[i];
        for (unsigned k = 0; k < ROWS; k++)
            d->values[i][k] = (uint16_t)pcg32_below(&rng, ROWS);
        d->y[i] = 0.4 * d->values[i][0] + sin(d->values[i][1]);
        mean += d->y[i] / MEASURED;
    }
    for (unsigned i = 0; i < MEASURED; i++)
        d->y[i] -= mean;
}

static void close_data(struct scales_data *d)
{
    mcts_scales_free(d->scales);
    mcts_queens_free(&d->queens);
}

/* Logarithm of the posterior of the rates: of the likelihood with the variance that is the best for them, and
 * of their prior. By Gaussian elimination. */
static double posterior(const struct scales_data *d)
{
    static double m[MEASURED][MEASURED + 1];
    double log_determinant = 0, square = 0.5, prior = 0;
    for (int i = 0; i < MEASURED; i++) {
        for (int j = 0; j < MEASURED; j++)
            m[i][j] = mcts_scales_likeness(d->scales, d->rows[i], d->rows[j]) + (i == j ? NOISE : 0);
        m[i][MEASURED] = d->y[i];
    }
    for (int k = 0; k < MEASURED; k++) {
        log_determinant += log(m[k][k]);
        square += m[k][MEASURED] * m[k][MEASURED] / m[k][k];
        for (int i = k + 1; i < MEASURED; i++) {
            double factor = m[i][k] / m[k][k];
            for (int j = k; j <= MEASURED; j++)
                m[i][j] -= factor * m[k][j];
        }
    }
    for (uint32_t i = 0; i < ROWS; i++)
        prior += pow(log(mcts_scales_rate(d->scales, i) / FIRST) / 1.5, 2) / 2;
    return -0.5 * ((MEASURED + 1) * log(square) + log_determinant) - prior;
}

Test(mcts_scales, numbers_have_distances)
{
    struct scales_data d;
    open_data(&d, 1);
    uint16_t a[ROWS] = {0, 1, 2, 3, 4, 5}, b[ROWS] = {0, 1, 2, 3, 4, 5};
    cr_assert_eq(mcts_scales_likeness(d.scales, a, b), 1);
    b[2] = 3;
    cr_assert_float_eq(mcts_scales_likeness(d.scales, a, b), exp(-FIRST * 0.4), 1e-6);
    b[0] = 5;
    cr_assert_float_eq(mcts_scales_likeness(d.scales, a, b), exp(-FIRST * 2.4), 1e-6);
    cr_assert_float_eq(mcts_scales_likeness(d.scales, b, a), exp(-FIRST * 2.4), 1e-6);
    b[0] = MCTS_NO_VALUE;
    cr_assert_float_eq(mcts_scales_likeness(d.scales, a, b), exp(-FIRST * 2.4), 1e-6);
    a[0] = MCTS_NO_VALUE;
    cr_assert_float_eq(mcts_scales_likeness(d.scales, a, b), exp(-FIRST * 0.4), 1e-6);
    close_data(&d);
}

/* Choices that matter get larger rates than those that do not. */
Test(mcts_scales, a_fit_finds_what_matters)
{
    for (uint64_t seed = 1; seed <= 5; seed++) {
        struct scales_data d;
        open_data(&d, seed);
        mcts_scales_fit(d.scales, d.rows, d.y, MEASURED, NOISE);
        for (uint32_t matters = 0; matters < 2; matters++)
            for (uint32_t other = 2; other < ROWS; other++)
                cr_assert_gt(mcts_scales_rate(d.scales, matters), 3 * mcts_scales_rate(d.scales, other),
                             "seed %lu: %g, %g", (unsigned long)seed, mcts_scales_rate(d.scales, matters),
                             mcts_scales_rate(d.scales, other));
        close_data(&d);
    }
}

/* Each fit goes on from the last one: the posterior rises, and then stays at its maximum. */
Test(mcts_scales, fits_climb_to_the_maximum)
{
    struct scales_data d;
    open_data(&d, 7);
    double first = posterior(&d), now = first;
    for (int i = 0; i < 10; i++) {
        mcts_scales_fit(d.scales, d.rows, d.y, MEASURED, NOISE);
        cr_assert_gt(posterior(&d), now - 0.5);
        now = posterior(&d);
    }
    cr_assert_gt(now, first + 10);
    mcts_scales_fit(d.scales, d.rows, d.y, MEASURED, NOISE);
    cr_assert_float_eq(posterior(&d), now, 0.5);
    close_data(&d);
}

/* Of a choice that did not differ nothing is learnt. */
Test(mcts_scales, what_does_not_differ_keeps_its_rate)
{
    struct scales_data d;
    open_data(&d, 8);
    for (unsigned i = 0; i < MEASURED; i++)
        d.values[i][3] = 2;
    mcts_scales_fit(d.scales, d.rows, d.y, MEASURED, NOISE);
    cr_assert_eq(mcts_scales_rate(d.scales, 3), FIRST);
    cr_assert_neq(mcts_scales_rate(d.scales, 4), FIRST);
    mcts_scales_fit(d.scales, d.rows, d.y, 1, NOISE);
    close_data(&d);
}
