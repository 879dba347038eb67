/* From an implementation to the text of a kernel. cg_build() makes a loop program of the decisions, cg_emit()
 * writes it in the dialect of a target and says how to launch it, cg_interpret() runs it on the host. The
 * naive sum of two vectors of 64 elements, as a loop program and as OpenCL C:
 *
 *     global0 64: store.i.0       __kernel void thresh_kernel(__global const float *restrict x,
 *       x.load [x]                                            __global const float *restrict y,
 *       y.load [y]                                            __global float *restrict out)
 *       add                       {
 *       store [out]                   const int i0 = (int)((uint)get_global_id(0));
 *                                     const float x_load = x[i0];
 *                                     const float y_load = y[i0];
 *                                     const float add = (x_load + y_load);
 *                                     out[i0] = add;
 *                                 }
 *
 * Nothing here knows of a search or of a device that is open. */
#ifndef THRESH_CODEGEN_CODEGEN_H
#define THRESH_CODEGEN_CODEGEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/backbone/backbone.h"
#include "core/codegen/target.h"

struct cg_program; /* the loop program */

/* One kernel argument, in order: the backbone's buffers, then temporaries in global memory, at last the
 * counters of groups. */
struct cg_arg {
    uint32_t buffer; /* index of the backbone's buffer, or BB_NONE: a temporary; in a sequence of the whole's
                        buffer, and beyond these one of its temporaries (core/lift/cut.h) */
    bool by_value;   /* a scalar, no array in memory */
    bool zero;       /* a temporary that is 0 before the first launch; each launch leaves it so */
    size_t bytes;
};

struct cg_kernel {
    char *source;               /* in the dialect of the target; malloc'd */
    size_t unrolled;            /* about the bytes of the text without loops that the compiler unrolls */
    char *name;                 /* kernel function; malloc'd */
    char *options;              /* of the compiler: the text is a user's; malloc'd. NULL: it was generated */
    size_t global[3], local[3]; /* NDRange; local[0] == 0: left to the device */
    unsigned n_args;
    struct cg_arg *args; /* malloc'd */
    size_t local_bytes;
    unsigned barriers; /* barrier statements in the text */
    const struct cg_kernel
        *next; /* of a sequence: runs after this one, from the same text; borrowed. NULL: none */
};

/* Builds the loop program. NULL with a static reason in *why if the candidate cannot be implemented (a
 * decision that the space should have excluded: callers count it as an error). The program lives in the arena
 * and keeps bb and c; the target is copied. */
struct cg_program *cg_build(const struct backbone *bb, const struct bb_candidate *c,
                            const struct cg_target *target, struct arena *a, const char **why);
/* The loop tree as text, one line a node: for `explain` and for tests. */
void cg_print_tree(const struct cg_program *p, struct strbuf *out);
/* The text and its launch: the same for the same program and target. Free with cg_kernel_free(). */
void cg_emit(const struct cg_program *p, struct cg_kernel *out);
void cg_kernel_free(struct cg_kernel *k);

/* ---- the interpreter of the loop program ---- */

enum cg_fault { CG_OK, CG_WRONG_BOUNDS, CG_RACE, CG_DIVERGENT_BARRIER, CG_UNINITIALIZED };

struct cg_check {
    enum cg_fault fault;
    char where[160]; /* instruction, region, element */
};

/* Runs the loop program on the host, work-items of a group in lock step between barriers. buffers[i]: the
 * backbone's buffer i as doubles; outputs are written. Stops at the first fault. */
struct cg_check cg_interpret(const struct cg_program *p, double *const *buffers);
/* The same for a program that may be wrong: continues after faults and returns the first. A read outside an
 * array gives 0, a read of an element that was never written gives what the memory holds; a write outside is
 * skipped. Outputs that are not written keep their values. */
struct cg_check cg_interpret_through(const struct cg_program *p, double *const *buffers);
/* Work items times statements executed by cg_interpret, roughly: to skip what would take too long. */
double cg_interpret_cost(const struct cg_program *p);
/* Iterations of the longest path of one work-item, and the number of work-items that store a result (what the
 * others compute is not used, so that compilers remove it). For a quick lower estimate of the time. */
void cg_cost(const struct cg_program *p, double *item_steps, double *items);

#endif
