/* From an implementation to OpenCL C: loop tree, memory, barriers, control flow, vectors, text (design page
 * `lift`, "From implementation to OpenCL C"). Sees no search and no device handle. */
#ifndef THRESH_CODEGEN_CODEGEN_H
#define THRESH_CODEGEN_CODEGEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/backbone/backbone.h"

struct cg_program; /* the loop program */

struct cg_options {
    bool no_simplify;            /* keep index expressions as built */
    bool no_barrier_elimination; /* a barrier at every legal point around local memory */
    bool no_control_flow_simplification;
    bool aligned_vectors; /* vector pointers where aligned (default on for callers; else vload/vstore) */
};

/* One kernel argument, in order: the backbone's buffers, then temporaries in global memory. */
struct cg_arg {
    uint32_t buffer; /* index of the backbone's buffer, or BB_NONE: a temporary */
    size_t bytes;
};

struct cg_kernel {
    char *source;               /* OpenCL C 1.2, 0-terminated, deterministic; malloc'd */
    char *name;                 /* kernel function; malloc'd */
    size_t global[3], local[3]; /* NDRange; local[0] == 0: left to the device */
    unsigned n_args;
    struct cg_arg *args; /* malloc'd */
    size_t local_bytes;
    unsigned barriers; /* barrier statements in the text */
};

/* Builds the loop program. NULL with a static reason in *why if the candidate cannot be implemented (a
 * decision that the space should have excluded: callers count it as an error). */
struct cg_program *cg_build(const struct backbone *bb, const struct bb_candidate *c,
                            const struct cg_options *o, struct arena *a, const char **why);
/* The loop tree as text, one line a node: for `explain` and for tests. */
void cg_print_tree(const struct cg_program *p, struct strbuf *out);
/* The OpenCL text and its launch. Free with cg_kernel_free(). */
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
/* The same for a program that may be wrong; goes on after faults and gives the first. A read outside an array
 * gives 0, one of what was not written what the memory holds; a write outside is left out. Outputs that are
 * not written keep their values. */
struct cg_check cg_interpret_through(const struct cg_program *p, double *const *buffers);
/* Work items times statements executed by cg_interpret, roughly: to skip what would take too long. */
double cg_interpret_cost(const struct cg_program *p);
/* Iterations of the longest path of one work-item, and the number of work-items that store a result
 * (compilers leave out what the others would do for nothing): the hopeless-candidate estimate. */
void cg_cost(const struct cg_program *p, double *item_steps, double *items);

#endif
