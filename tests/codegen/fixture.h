/* Hand-built backbones and candidates for the tests of code generation.
 *
 * A candidate is a text: tile sizes ("m.0=4 k.0=8"; all others 1) and a loop tree, e.g.
 *     block0 mad.m.0 store.m.0 { loop mad.k.0 { mad } store }
 * with the words loop unroll vector thread0..2 block0..2 global0..2, and threadf blockf globalf for fused
 * dimensions. */
#ifndef THRESH_TESTS_CODEGEN_FIXTURE_H
#define THRESH_TESTS_CODEGEN_FIXTURE_H

#include "core/codegen/codegen.h"
#include "core/base/arena.h"

/* out[m][n] = sum over k of A[m][k] * B[k][n]; both inputs may be staged. Instructions: A.load B.load init
 * mad store, A.cl A.cs B.cl B.cs (copy load, copy store). */
struct backbone *cgt_matmul(struct arena *a, int64_t m, int64_t n, int64_t k);
/* out[i] = alpha * x[i] + y[i], alpha passed by value. Instructions: alpha.load x.load y.load axpy store. */
struct backbone *cgt_axpy(struct arena *a, int64_t n);
/* out[j][i] = A[i][j]. Instructions: A.load store A.cl A.cs. */
struct backbone *cgt_transpose(struct arena *a, int64_t rows, int64_t columns);

struct bb_candidate *cgt_candidate(const struct backbone *bb, struct arena *a, const char *sizes,
                                   const char *tree);

/* Runs a kernel on the first OpenCL device with float buffers given as doubles. False: no device. */
bool cgt_run(const struct backbone *bb, const struct cg_kernel *k, double *const *buffers);
/* Whether that device has streaming accesses. */
bool cgt_streams(void);
/* Platform and driver version of that device, in 128 bytes each. False: no device. */
bool cgt_driver(char platform[128], char driver[128]);

/* OpenCL C for an unknown driver: with all workarounds. */
extern const struct cg_target cgt_target;

#endif
