/* What a comparison of searches states: for each pool and policy a *course* for each seed, which tells when
 * the best time improved:
 *
 *     1:5.2 7:1.9 31:1.04      after 1 evaluation 5.2 times the optimum, after 7 1.9 times, after 31 1.04
 *
 * Figures are medians over seeds with intervals by bootstrap: as many courses are drawn again, with
 * repetition, and the middle 95 % of the medians that this gives are the interval (B. Efron, R. Tibshirani,
 * "An Introduction to the Bootstrap", 1993, section 13.3). */
#ifndef THRESH_SEARCH_STATISTICS_H
#define THRESH_SEARCH_STATISTICS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct course_step {
    uint32_t evaluations;
    double ratio; /* best time so far over the optimum, >= 1 */
};
struct course {
    struct course_step *steps; /* ratios do not rise; owned */
    size_t n;
};

/* "1:5.2 7:1.9"; "" is a course without a time. false: malformed, or ratios that rise. */
bool course_parse(const char *text, struct course *out);
void course_free(struct course *c);
/* The ratio after so many evaluations; INFINITY: no time yet. */
double course_ratio(const struct course *c, uint32_t evaluations);
/* Evaluations until the ratio was at most this; `limit` if it never was: within[0] of them. */
double course_within(const struct course *c, double ratio, uint32_t limit);
bool course_reaches(const struct course *c, double ratio, uint32_t limit);

struct estimate {
    double middle, low, high; /* the interval of 95 % */
};
/* Of the median of n >= 1 numbers. INFINITY is allowed. */
struct estimate median_of(const double *x, size_t n);
/* Several lists of numbers: list k has n[k] >= 1 numbers at x[k]. Each is drawn from again by itself. */
struct samples {
    const double *const *x;
    const size_t *n;
    size_t lists;
};
/* Of the geometric mean of their medians. */
struct estimate mean_of_medians(struct samples s);
/* Of the geometric mean of the medians of `now`, over that of `before`. */
struct estimate ratio_of_medians(struct samples now, struct samples before);

#endif
