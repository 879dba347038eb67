/* Order statistics and moments of small samples. None changes its input unless it says so. */
#ifndef THRESH_BASE_STATS_H
#define THRESH_BASE_STATS_H

#include <stddef.h>

double stats_median(const double *x, size_t n); /* n >= 1 */
/* Linear between order statistics; q in [0, 1], n >= 1. */
double stats_quantile(const double *x, size_t n, double q);
double stats_mean(const double *x, size_t n);     /* n >= 1 */
double stats_variance(const double *x, size_t n); /* unbiased (n - 1); 0 if n < 2 */
double stats_skewness(const double *x, size_t n); /* third standardised moment; 0 without spread */
/* 95 % interval of the share of something that k of n independent draws had, n >= 1 (E. B. Wilson, "Probable
 * inference, the law of succession, and statistical inference", 1927). */
void stats_share(double k, double n, double *low, double *high);
void stats_sort(double *x, size_t n); /* ascending, in place */

#endif
