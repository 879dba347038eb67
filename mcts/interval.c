/* The interval of the mean of a skewed sample: the hull of two that err on different sides. Values are scaled
 * by the largest one.
 *
 * Samples of tree sizes are near log-normal; their mean rests on the few largest, and mean +- 2 sigma is far
 * too short on the upper side. (1) Bootstrap-t over batch means follows the skew that the sample shows. (2)
 * Hall's transformation removes the skew from the studentised mean (P. Hall, "On the removal of skewness by
 * transformation", J. R. Statist. Soc. B 54, 1992), and its quantile is taken the further out the more skew
 * is left in the mean: what the largest values say of still larger ones is little. Coverage is measured in
 * tests/mcts/test_coverage.c. */
#include <math.h>
#include <stdlib.h>

#include "core/base/arena.h"
#include "core/base/pcg32.h"
#include "core/base/stats.h"
#include "mcts/estimate.h"

enum { BATCHES_MAX = 50, BATCHES_MIN = 10, RESAMPLES = 2000 };

static double largest(const double *logs, size_t n)
{
    double most = -INFINITY;
    for (size_t i = 0; i < n; i++)
        most = fmax(most, logs[i]);
    return most;
}

/* Means of consecutive runs of the scaled samples. */
static size_t batch_means(const double *x, size_t n, double *means)
{
    size_t batches = n < BATCHES_MAX ? n : BATCHES_MAX;
    for (size_t b = 0; b < batches; b++) {
        size_t first = b * n / batches, last = (b + 1) * n / batches;
        means[b] = stats_mean(x + first, last - first);
    }
    return batches;
}

static bool dominated(const double *means, size_t n)
{
    double sum = 0, most = 0;
    for (size_t i = 0; i < n; i++) {
        sum += means[i];
        most = fmax(most, means[i]);
    }
    return n < BATCHES_MIN || most > 0.2 * sum;
}

static double standard_error(const double *x, size_t n)
{
    return sqrt(stats_variance(x, n) / (double)n);
}

/* Studentised means of resamples, those without spread left out. Returns how many. */
static size_t bootstrap(const double *means, size_t n, struct pcg32 *rng, double *t)
{
    double center = stats_mean(means, n), drawn[BATCHES_MAX];
    size_t count = 0;
    for (int r = 0; r < RESAMPLES; r++) {
        for (size_t i = 0; i < n; i++)
            drawn[i] = means[pcg32_below(rng, (uint32_t)n)];
        double error = standard_error(drawn, n);
        if (error > 0) t[count++] = (stats_mean(drawn, n) - center) / error;
    }
    return count;
}

/* An interval in scaled values. */
struct range {
    double low, high;
};

static struct range bootstrap_range(const double *means, size_t n, double mean, uint64_t seed)
{
    struct pcg32 rng = pcg32_seed(seed, 1);
    double *t = base_malloc(RESAMPLES * sizeof t[0]), error = standard_error(means, n);
    size_t count = bootstrap(means, n, &rng, t);
    struct range r = {mean - stats_quantile(t, count, 0.975) * error,
                      mean - stats_quantile(t, count, 0.025) * error};
    free(t);
    return r;
}

/* The mean below which y, a quantile of the normal law, lies on the transformed scale; in standard deviations
 * from the sample's mean. */
static double hall_inverse(double y, double skewness, double n)
{
    if (fabs(skewness) < 1e-6) return y / sqrt(n);
    return 3 / skewness * (cbrt(1 + skewness * (y / sqrt(n) - skewness / (6 * n))) - 1);
}

static struct range hall_range(const double *x, size_t count, double mean)
{
    double n = (double)count, deviation = sqrt(stats_variance(x, count)), skewness = stats_skewness(x, count);
    double quantile = 1.96 + 0.6 * fmax(skewness / sqrt(n), 0);
    return (struct range){mean - deviation * hall_inverse(quantile, skewness, n),
                          mean - deviation * hall_inverse(-quantile, skewness, n)};
}

static double log_of(double x, double scale)
{
    return x > 0 ? log(x) + scale : -INFINITY;
}

struct mcts_interval mcts_interval(const double *logs, size_t n, uint64_t seed)
{
    double scale = largest(logs, n), means[BATCHES_MAX];
    if (scale == -INFINITY) return (struct mcts_interval){-INFINITY, -INFINITY, INFINITY, true};
    double *x = base_malloc(n * sizeof x[0]);
    for (size_t i = 0; i < n; i++)
        x[i] = exp(logs[i] - scale);
    double mean = stats_mean(x, n);
    size_t batches = batch_means(x, n, means);
    struct range r = {mean, mean};
    if (batches < 2) r = (struct range){0, INFINITY};
    if (batches >= 2 && standard_error(means, batches) > 0) {
        struct range b = bootstrap_range(means, batches, mean, seed), h = hall_range(x, n, mean);
        r = (struct range){fmin(b.low, h.low), fmax(b.high, h.high)};
    }
    free(x);
    return (struct mcts_interval){.log_mean = log(mean) + scale,
                                  .log_low = log_of(r.low, scale),
                                  .log_high = log_of(r.high, scale),
                                  .unreliable = dominated(means, batches)};
}
