/* How much each choice matters for a time: the correlation of two implementations as
 *
 *     exp(-sum of rate_i * distance_i)       over the choices i that both are compared by
 *
 * with a rate for each choice, fitted to what was measured. The distance of two values is 1 if they are of
 * different kinds; between numbers it grows with their distance in the list of the choice's values, to 2 from
 * the first to the last of them. Where only one implementation has the choice it is as large as it can be:
 *
 *     kind                       LOOP, VECTOR: 1
 *     size of 1, 2, 4, 8, 16     1, 2: 0.5     1, 16: 2     1, -: 2
 *
 * Rates maximize the marginal likelihood of a Gaussian process times a prior, which keeps those that nothing
 * is known of where they were: C. E. Rasmussen, C. K. I. Williams, "Gaussian Processes for Machine Learning",
 * 2006, section 5.4.1 (equation 5.9), with a variance that is the best for the rates. */
#ifndef THRESH_MCTS_SCALES_H
#define THRESH_MCTS_SCALES_H

#include <stddef.h>
#include <stdint.h>

#include "core/space/space.h"

struct archive;
struct mcts_scales;

/* Of n choices of a space; all begin with the same rate. The slots are copied. */
struct mcts_scales *mcts_scales_new(const struct space *s, const uint32_t *slots, uint32_t n, double rate);
void mcts_scales_free(struct mcts_scales *s); /* NULL is allowed */
/* Correlation of two implementations, in (0, 1]; values by choice, MCTS_NO_VALUE where it is not live. */
double mcts_scales_likeness(const struct mcts_scales *s, const uint16_t *a, const uint16_t *b);
/* Fits the rates to n implementations, whose logarithms of times are y above their mean; beginning with the
 * present ones. noise: on the diagonal of the correlations. Takes time in proportion to n^2 (n + choices). */
void mcts_scales_fit(struct mcts_scales *s, const uint16_t *const *values, const double *y, size_t n,
                     double noise);
/* The rate of choice i of those that were given. */
double mcts_scales_rate(const struct mcts_scales *s, uint32_t i);
/* Writes the rates or reads them. */
void mcts_scales_archive(struct mcts_scales *s, struct archive *a);

#endif
