/* A shipped kernel at small sizes with inputs of small odd integers, so that every order of summation gives
 * the same bits, and the Lift interpreter's result. */
#ifndef THRESH_TESTS_E2E_FIXTURE_H
#define THRESH_TESTS_E2E_FIXTURE_H

#include "core/codegen/codegen.h"
#include "core/pipeline/problem.h"
#include "tests/fixture/kernel.h"

struct e2e_fixture {
    struct problem *problem;
    double **buffers;    /* of the backbone */
    double **inputs;     /* [n_buffers] what they hold before the kernel; NULL: an output alone */
    double **references; /* [n_buffers] of the outputs; NULL: an input alone */
};

/* Reads and lowers the kernel; any failure fails the test. options may be NULL. */
struct problem *e2e_problem(const struct kernel_case *c, const struct bb_device *limits,
                            const struct bb_options *options);
/* Takes ownership of the problem. */
void e2e_open(struct e2e_fixture *f, struct problem *p);
void e2e_close(struct e2e_fixture *f);
/* Lowers the leaf and runs it through the interpreter of the loop program: no race, no access out of bounds,
 * no divergent barrier, no uninitialized read, and the result is the reference's, bit for bit. `what` is
 * printed with a failure. If `kernel` is not NULL it gets the OpenCL text; free it with cg_kernel_free(). */
void e2e_check(struct e2e_fixture *f, const struct space_state *leaf, const char *what,
               struct cg_kernel *kernel);

#endif
