/* What measured implementations tell about each choice: how the logarithm of the time depends on its value.
 *
 * For each choice the evaluations are grouped by its value. The choice's share of variance (eta squared) is
 *
 *     sum over values of n_v (mean_v - mean)^2  /  sum over evaluations of (log t - overall mean)^2
 *
 * with the mean of the evaluations that have the choice; those that do not have it count below the line only.
 * Shares of different choices overlap, since choices depend on each other: they do not add up to 1. A choice
 * of k values that has no effect at all still shows a share of (k - 1) / (n - 1) on average. Choices that
 * group the evaluations in the same way cannot be told apart, and are given as one. */
#ifndef THRESH_COORDINATOR_INSIGHT_H
#define THRESH_COORDINATOR_INSIGHT_H

#include <stddef.h>
#include <stdint.h>

/* The value of a choice that an implementation does not have. */
#define INSIGHT_ABSENT UINT16_MAX

enum { INSIGHT_FEW = 5 }; /* values with fewer evaluations tell little */

struct insight; /* evaluations, with their values of all choices */

struct insight *insight_new(void);
void insight_free(struct insight *s); /* NULL is allowed */
/* Adds an evaluation: its time in ns (positive), and its value of choices 0 .. n - 1; it has none of the
 * others. */
void insight_add(struct insight *s, double ns, const uint16_t *values, uint32_t n);

struct insight_value {
    uint16_t value;
    size_t count;       /* evaluations */
    double mean_log_ns; /* mean of the natural logarithm of the time in ns */
};

struct insight_effect {
    uint32_t choice; /* the first of those that group the evaluations alike */
    uint32_t *same;  /* the others, ascending */
    uint32_t n_same;
    size_t count;  /* evaluations that have the choice */
    double share;  /* of the variance of log-times, 0 to 1 */
    double chance; /* the share of as many values without an effect, on average */
    unsigned n_values;
    struct insight_value *values; /* fastest first */
};

struct insight_report {
    size_t evaluations;
    double mean_log_ns, variance; /* of the logarithms; the unbiased one */
    double least_ns, most_ns;
    uint32_t n_effects;
    struct insight_effect *effects; /* of the choices that have two values or more; largest share first */
};

void insight_report(const struct insight *s, struct insight_report *out);
void insight_report_clear(struct insight_report *r);

#endif
