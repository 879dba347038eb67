/* Programs that a runner keeps from one round to the next: each contender comes up to eleven times, and PoCL
 * preprocesses a text before it looks whether it has built it already. Kernels are made anew each time.
 * What they take counts as growth of the runner (agent/retire.h). */
#ifndef THRESH_AGENT_RUNNER_PROGRAMS_H
#define THRESH_AGENT_RUNNER_PROGRAMS_H

#include "agent/limits.h"
#include "agent/opencl.h"

/* Zero at the start. */
struct runner_programs {
    struct runner_built {
        cl_program program;
        char *options, *source;
    } built[AGENT_PROGRAMS];
    unsigned next; /* of `built`, the one that is replaced */
};

/* The program that was built of this text with these options, borrowed; NULL: it is not kept. */
cl_program runner_programs_find(const struct runner_programs *p, const char *options, const char *source);
/* Takes a built program, in place of the oldest. */
void runner_programs_keep(struct runner_programs *p, cl_program program, const char *options,
                          const char *source);

#endif
