/* Promises: the expected improvement on the best time, for several implementations at once (guess.h). */
#include <math.h>
#include <stdlib.h>

#include "core/base/panic.h"
#include "mcts/guess_state.h"

/* The logarithm of E[max(z + deviate, 0)] for a standard normal deviate. Far in the tail an asymptotic series
 * takes over, where the sum would round to 0. */
static double log_gain(double z)
{
    const double pi = 3.14159265358979323846;
    if (z < -6) return -z * z / 2 - log(2 * pi) / 2 - log(z * z + 3);
    return log(z * erfc(-z / sqrt(2)) / 2 + exp(-z * z / 2) / sqrt(2 * pi));
}

/* The least chance that a measurement is not stopped. */
static const double FINISHES = 0.02;

/* Of 1 to FACTOR_LANES implementations; x: [rows of the factor], on return their L^-1 k. What is awaited has
 * no part in the expected time and the chance of a stop: it is taken to have what is expected of it. */
static void promise_lanes(const struct mcts_guess *g, const struct mcts_traits *const *t, unsigned n,
                          factor_lanes *x, double *promises)
{
    double expected[FACTOR_LANES] = {0}, explained[FACTOR_LANES] = {0}, stopped[FACTOR_LANES] = {0};
    size_t rows = factor_count(g->factor);
    for (size_t i = 0; i < rows; i++) {
        x[i] = (factor_lanes){0};
        for (unsigned k = 0; k < n; k++)
            x[i][k] = (float)guess_likeness(g, t[k], i);
    }
    factor_solve(g->factor, 0, x);
    for (size_t i = 0; i < rows; i++)
        for (unsigned k = 0; k < FACTOR_LANES; k++) {
            double element = (double)x[i][k];
            explained[k] += element * element;
            if (i >= g->count) continue;
            expected[k] += element * g->whitened.rest[i];
            stopped[k] += element * g->whitened.stopping[i];
        }
    for (unsigned k = 0; k < n; k++) {
        double deviation = sqrt(g->variance * fmax(1 + guess_noise(g) - explained[k], guess_noise(g)));
        double gain = g->best - guess_mean(g, t[k]->bound, guess_estimate(t[k])) - expected[k];
        double finishes = fmin(fmax(1 - g->share - stopped[k], FINISHES), 1);
        promises[k] = log(deviation) + log_gain(gain / deviation) + log(finishes);
    }
}

/* Keeps what was solved for the most promising of 1 to FACTOR_LANES implementations: it is likely to be
 * learnt. */
static void keep_best(const struct mcts_guess *g, const struct mcts_traits *const *t, unsigned n,
                      const factor_lanes *x, const double *promises)
{
    unsigned best = 0;
    for (unsigned k = 1; k < n; k++)
        if (promises[k] > promises[best]) best = k;
    recents_keep(g->recents, t[best]->features, x, best, g->count);
}

void mcts_guess_promises(const struct mcts_guess *g, const struct mcts_traits *const *t, unsigned n,
                         double *promises)
{
    CHECK(g->solved || g->count == 0);
    factor_lanes *x = aligned_alloc(sizeof(factor_lanes), (factor_count(g->factor) + 1) * sizeof x[0]);
    CHECK(x);
    for (unsigned i = 0; g->count > 0 && i < n; i += FACTOR_LANES) {
        unsigned lanes = n - i < FACTOR_LANES ? n - i : FACTOR_LANES;
        promise_lanes(g, t + i, lanes, x, promises + i);
        keep_best(g, t + i, lanes, x, promises + i);
    }
    for (unsigned i = 0; g->count == 0 && i < n; i++)
        promises[i] = -(t[i]->n_features > 0 ? guess_estimate(t[i]) : t[i]->bound);
    free(x);
}
