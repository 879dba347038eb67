/* Products in matrices of half numbers and of TF32: what both tests check, test_matrix.c and test_tf32.c. No
 * device here multiplies matrices: what the instructions do is written down a second time, after the PTX ISA
 * ("Warp-level matrix instructions": ldmatrix, mma.m16n8k16, mma.m16n8k8). */
#ifndef THRESH_TESTS_CODEGEN_MATRICES_H
#define THRESH_TESTS_CODEGEN_MATRICES_H

#include "core/codegen/program.h"
#include "tests/codegen/contenders.h"
#include "tests/fixture/kernel.h"

extern const struct bb_device matrix_device; /* multiplies matrices */
/* With TF32 allowed. Options below are NULL for the defaults. */
struct bb_options matrix_tf32(void);

/* The plain implementations in matrices of a kernel, and one of them as a loop program; NULL: the code
 * generator refuses it, with the reason. */
struct contenders matrix_open(const char *kernel, const char *sizes, const struct bb_options *options);
struct cg_program *matrix_build(struct contenders *c, unsigned i, const char **why);
/* That of a loop program that has one. */
const struct cg_matrix *matrix_find(const struct cg_program *p);

/* A program has n plain implementations in matrices on a device. */
void matrix_count(const char *kernel, const char *sizes, const struct bb_options *options,
                  const struct bb_device *device, unsigned n);
/* The loop programs of the first of them, and of the smallest, compute what the program says. */
void matrix_interpret(const char *kernel, const char *sizes, const struct bb_options *options);
/* In a text, each product of the first iteration is that of the loop program, and its elements are loaded
 * from different banks. */
void matrix_check_text(const char *kernel, unsigned shape, const struct bb_options *options);
/* What is lowered of random implementations with pins, to NULL: leaves; no bundle is beyond an extent in
 * part.
 */
unsigned matrix_descend(const struct kernel_case *kernel, const struct bb_options *options,
                        const char *const *pins, unsigned descents, unsigned *leaves);
#define MATRIX_PINS(...) ((const char *const[]){__VA_ARGS__, NULL})
/* The text of a plain implementation contains these, to NULL, in that order. */
void matrix_expect(const char *kernel, const struct bb_options *options, unsigned shape,
                   const char *const *texts);

#endif
