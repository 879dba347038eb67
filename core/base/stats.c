/* Order statistics by sorting a copy; moments by their definitions. */
#include "core/base/stats.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/arena.h"
#include "core/base/panic.h"

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

void stats_sort(double *x, size_t n)
{
    qsort(x, n, sizeof x[0], ascending);
}

double stats_quantile(const double *x, size_t n, double q)
{
    CHECK(n > 0 && q >= 0 && q <= 1);
    double *sorted = base_malloc(n * sizeof x[0]);
    memcpy(sorted, x, n * sizeof x[0]);
    stats_sort(sorted, n);
    double place = q * (double)(n - 1);
    size_t low = (size_t)place;
    double rest = place - (double)low;
    double value = low + 1 < n ? sorted[low] * (1 - rest) + sorted[low + 1] * rest : sorted[low];
    free(sorted);
    return value;
}

double stats_median(const double *x, size_t n)
{
    return stats_quantile(x, n, 0.5);
}

double stats_mean(const double *x, size_t n)
{
    CHECK(n > 0);
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += x[i];
    return sum / (double)n;
}

double stats_variance(const double *x, size_t n)
{
    if (n < 2) return 0;
    double mean = stats_mean(x, n), sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += (x[i] - mean) * (x[i] - mean);
    return sum / (double)(n - 1);
}

double stats_skewness(const double *x, size_t n)
{
    double deviation = sqrt(stats_variance(x, n)), sum = 0;
    if (!(deviation > 0)) return 0;
    double mean = stats_mean(x, n);
    for (size_t i = 0; i < n; i++)
        sum += pow((x[i] - mean) / deviation, 3);
    return sum / (double)n;
}

void stats_share(double k, double n, double *low, double *high)
{
    const double z = 1.959963984540054; /* 97.5 % quantile of the normal distribution */
    double share = k / n, weight = 1 + z * z / n;
    double mid = (share + z * z / (2 * n)) / weight;
    double half = z / weight * sqrt(share * (1 - share) / n + z * z / (4 * n * n));
    *low = k > 0 ? mid - half : 0;
    *high = k < n ? mid + half : 1;
}
