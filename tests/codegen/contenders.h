/* The plain implementations of a program for a device, as a search starts with them. */
#ifndef THRESH_TESTS_CODEGEN_CONTENDERS_H
#define THRESH_TESTS_CODEGEN_CONTENDERS_H

#include "coordinator/contend.h"
#include "mcts/prior.h"

/* A GPU with 48 KiB of local memory and vectors of 2 and 4; a CPU with vectors of up to 16. */
extern const struct bb_device contenders_gpu, contenders_cpu;

struct contenders {
    struct arena *arena; /* also for the test */
    struct diag *diag;
    struct problem *problem;
    struct mcts_prior *prior;
    unsigned n_plain, first, n; /* all plain ones; those with the label in question */
    struct contend_plain plain[BB_MAX_PLAIN];
};

/* Those of a kernel (tests/fixture/kernel.h); the first and the number of those whose label contains a text.
 * Close it with contenders_close(). A failure fails the test. */
struct contenders contenders_open(const char *kernel, const char *sizes, const struct bb_device *device,
                                  const char *label);
/* The same with options of the lowering. */
struct contenders contenders_open_with(const char *kernel, const char *sizes, const struct bb_device *device,
                                       const struct bb_options *options, const char *label);
void contenders_close(struct contenders *c);
/* Buffers with numbers in all of them, and what the program writes to the last one that is an output. */
double **contenders_buffers(const struct contenders *c, uint32_t *output, const double **expected);
/* The leaf of plain implementation i: space_state_free() it. */
struct space_state *contenders_leaf(const struct contenders *c, unsigned i);

/* The loops of plain implementation i as text: free() it. */
char *contenders_loops(const struct contenders *c, unsigned i);
/* The loops of the first with the label in question, whose whole label is given, contain these texts in that
 * order, to NULL. */
void contenders_expect(const struct contenders *c, const char *whole_label, const char *const *texts);
/* The loop program of plain implementation i, in the arena; NULL with a reason. */
struct cg_program *contenders_program(const struct contenders *c, unsigned i, const char **why);
/* The results of plain implementation i are those of the program; they are overwritten. */
void contenders_compare(const struct contenders *c, unsigned i, double *results, const double *expected,
                        uint32_t output);
/* There are n with the label in question, and the results of all of them are those of the program: of their
 * texts on a device, which takes a second or more to build each; of their loop programs. */
void contenders_check(const struct contenders *c, unsigned n);
void contenders_interpret(const struct contenders *c, unsigned n);
/* The same, but results may differ by that share of them, or of 1: sums are in another order. */
void contenders_interpret_within(const struct contenders *c, unsigned n, double relative);

/* bb_tiled(), bb_panels(), bb_divided(), bb_layers(), bb_matrix(), bb_transposed(), bb_strips() or bb_rows().
 */
typedef unsigned (*contenders_finder)(const struct backbone *bb, const struct space *space,
                                      const struct bb_device *device, struct arena *a, struct bb_plain *out);
/* It gives n implementations of the kernel, lowered with these options; NULL: the defaults. */
void contenders_count(contenders_finder find, const char *kernel, const char *sizes,
                      const struct bb_device *device, const struct bb_options *options, unsigned n);

#endif
