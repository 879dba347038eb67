/* The kernels of a sequence as one launch: one OpenCL text with a kernel for each part, and the steps as a
 * list of kernels (cg_kernel.next) whose arguments are buffers of the whole.
 *
 *     thresh_kernel(A, x, out)             thresh_kernel_1(A, x, temporary)
 *     thresh_kernel(A, y, out)      ->     thresh_kernel_2(A, temporary, out) */
#ifndef THRESH_SEQUENCE_CHAIN_H
#define THRESH_SEQUENCE_CHAIN_H

#include "core/codegen/codegen.h"
#include "core/lift/cut.h"

struct sequence_chain {
    unsigned n;                /* steps */
    struct cg_kernel *kernels; /* [n] linked; the first is what an evaluator takes */
};

/* parts: the kernel of each part, copied. Free with sequence_chain_clear(). */
void sequence_chain_make(const struct lift_sequence *s, const struct cg_kernel *const *parts,
                         struct sequence_chain *out);
void sequence_chain_clear(struct sequence_chain *c);

#endif
