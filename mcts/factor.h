/* The Cholesky factor L of a matrix of correlations K = L L^T that grows by a row with each measurement:
 *
 *     rows   1.02                         x := L^-1 x, for FACTOR_LANES vectors at once,
 *            0.36  0.96                   costs a multiplication for each element of L and each vector
 *            0.78  0.11  0.65
 *
 * It is kept in single precision. Noise on the diagonal of K is to be far larger than its rounding; no pivot
 * falls below the noise. */
#ifndef THRESH_MCTS_FACTOR_H
#define THRESH_MCTS_FACTOR_H

#include <stddef.h>

/* An element of each of FACTOR_LANES vectors; one register of a machine with AVX2. */
enum { FACTOR_LANES = 8 };
typedef float factor_lanes __attribute__((vector_size(FACTOR_LANES * sizeof(float))));

struct factor;

struct factor *factor_new(size_t capacity);
void factor_free(struct factor *f);               /* NULL is allowed */
void factor_clear(struct factor *f);              /* no row is left */
void factor_truncate(struct factor *f, size_t n); /* the first n rows are left, if there are more */
size_t factor_count(const struct factor *f);

/* x := L^-1 x for vectors whose elements before `first` are solved. An element is computed by the same
 * operations whatever `first` is and whatever the other lanes hold. */
void factor_solve(const struct factor *f, size_t first, factor_lanes *x);
/* The same for element i of one vector in double precision; those before it are solved. */
void factor_solve_element(const struct factor *f, size_t i, double *x);
/* Adds the row of a measurement: its correlations with the others solved in lane 0 of x, `own` its own with
 * the noise. There is room. */
void factor_append(struct factor *f, const factor_lanes *x, double own, double noise);
/* [capacity] for vectors to solve; of the factor, for one caller at a time. */
factor_lanes *factor_scratch(struct factor *f);

#endif
