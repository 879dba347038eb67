/* Sequences measured as a whole: all kernels in one queue, the temporaries as buffers, verified against the
 * whole program and timed like the contenders of final rounds, with what is between the kernels. Only the
 * process that has the device does this; agents of other processes measure single kernels. */
#ifndef THRESH_SEQUENCE_WHOLE_H
#define THRESH_SEQUENCE_WHOLE_H

#include "agent/evaluate.h"
#include "coordinator/figure.h"
#include "coordinator/limits.h"
#include "core/lift/lift.h"

/* What is compared: one kernel, or the first of a sequence. */
struct sequence_contender {
    const char *label;
    const struct cg_kernel *kernel; /* NULL: it is not known, and stays out */
    double about_ns;                /* what a launch takes, roughly */
    struct figure figure;           /* of the rounds */
    double times[LIMIT_ROUNDS];     /* ns; NAN: not measured */
    unsigned rounds;
};

/* An evaluator of the whole program, whose reference is made by `naive` and checked by the interpreter.
 * Borrows the program and the data of the inputs. NULL after an error. */
struct evaluator *sequence_whole_open(const struct lift_program *p, const struct cg_kernel *naive,
                                      const struct device *dev, const struct eval_inputs *inputs,
                                      struct diag *d);
/* Verifies a contender and sets about_ns. false after an error, which names it. */
bool sequence_whole_verify(struct evaluator *ev, struct sequence_contender *c, struct diag *d);
/* Measures them in rounds of random order: LIMIT_ROUNDS, or fewer, at least three, if they take longer than
 * LIMIT_ROUNDS_S. */
void sequence_whole_rounds(struct evaluator *ev, struct sequence_contender *contenders, unsigned n,
                           uint64_t seed);

#endif
