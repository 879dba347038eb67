/* The user's own kernel, which a search is compared with:
 *
 *     --baseline mm.cl:matmul,global=N,M,local=16,16,option=-DTILE=16
 *
 * Its arguments are the program's inputs and then its output, in order; sizes are macros, as if compiled with
 * -DM=512. Global and local sizes are arithmetic over sizes as in C: + - * / % ( ), where / rounds down. It
 * is built, verified and timed by the agent in the process of the search: no OpenCL text is sent to others.
 */
#ifndef THRESH_COORDINATOR_BASELINE_H
#define THRESH_COORDINATOR_BASELINE_H

#include <stdbool.h>

#include "core/codegen/codegen.h"

struct backbone;
struct diag;
struct lift_program;

struct baseline {
    char *label;             /* "baseline mm.cl:matmul,global=N,M": the option without folders */
    struct cg_kernel kernel; /* its arguments are set by baseline_bind() */
};

/* Reads an option and the file that it names. The sizes are those of the bound program. false after an error:
 * the option is malformed, the file cannot be read, a size is not positive or does not divide. */
bool baseline_read(const char *option, const struct lift_program *p, struct baseline *out, struct diag *d);
/* Sets the arguments: the buffers of the program in their order. */
void baseline_bind(struct baseline *b, const struct backbone *bb);
void baseline_clear(struct baseline *b);

#endif
