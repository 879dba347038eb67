/* Bootstrap-t over batch means. Samples of tree sizes are near log-normal: an interval mean +- 2 sigma is far
 * too short on the upper side; the studentised bootstrap follows the skew. Values are scaled by the largest
 * one. */
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
static size_t batch_means(const double *logs, size_t n, double scale, double *means)
{
    size_t batches = n < BATCHES_MAX ? n : BATCHES_MAX;
    for (size_t b = 0; b < batches; b++) {
        size_t first = b * n / batches, last = (b + 1) * n / batches;
        double sum = 0;
        for (size_t i = first; i < last; i++)
            sum += exp(logs[i] - scale);
        means[b] = sum / (double)(last - first);
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

struct mcts_interval mcts_interval(const double *logs, size_t n, uint64_t seed)
{
    double scale = largest(logs, n), means[BATCHES_MAX], sum = 0;
    if (scale == -INFINITY) return (struct mcts_interval){-INFINITY, -INFINITY, INFINITY, true};
    for (size_t i = 0; i < n; i++)
        sum += exp(logs[i] - scale);
    double mean = sum / (double)n;
    size_t batches = batch_means(logs, n, scale, means);
    struct mcts_interval result = {.log_mean = log(mean) + scale, .unreliable = dominated(means, batches)};
    result.log_low = result.log_high = result.log_mean;
    if (batches < 2) return (struct mcts_interval){result.log_mean, -INFINITY, INFINITY, true};
    double error = standard_error(means, batches);
    if (error <= 0) return result;
    struct pcg32 rng = pcg32_seed(seed, 1);
    double *t = base_malloc(RESAMPLES * sizeof t[0]);
    size_t count = bootstrap(means, batches, &rng, t);
    double low = mean - stats_quantile(t, count, 0.975) * error;
    double high = mean - stats_quantile(t, count, 0.025) * error;
    free(t);
    result.log_low = low > 0 ? log(low) + scale : -INFINITY;
    result.log_high = log(fmax(high, mean)) + scale;
    return result;
}
