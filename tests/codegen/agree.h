/* Whether the interpreter, the compiled text and a direct computation agree on a candidate. A disagreement
 * fails the test. Inputs are small integers, so that they agree exactly. */
#ifndef THRESH_TESTS_CODEGEN_AGREE_H
#define THRESH_TESTS_CODEGEN_AGREE_H

#include "tests/codegen/fixture.h"

/* The loop program, for an unknown driver or a target. */
struct cg_program *cgt_built(const struct backbone *bb, const struct bb_candidate *c, struct arena *a);
struct cg_program *cgt_built_with(const struct backbone *bb, const struct bb_candidate *c,
                                  const struct cg_target *target, struct arena *a);
/* Buffers with numbers in all inputs, in the arena. */
double **cgt_inputs(const struct backbone *bb, struct arena *a);
/* Interprets, emits, compiles, runs; the output is the last buffer. */
void cgt_agree(const struct backbone *bb, const struct bb_candidate *c, const double *expected,
               double **buffers, struct arena *a);
void cgt_agree_with(const struct backbone *bb, const struct bb_candidate *c, const struct cg_target *target,
                    const double *expected, double **buffers, struct arena *a);
/* The product of buffers 0 (m x k) and 1 (k x n), in the arena. */
double *cgt_matmul_expected(double **b, int64_t m, int64_t n, int64_t k, struct arena *a);
/* All of it for a candidate of a matrix product (fixture.h). */
void cgt_agree_matmul(int64_t m, int64_t n, int64_t k, const char *sizes, const char *tree);

#endif
