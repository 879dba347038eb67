/* Kernels that the user wrote: baselines. Nothing is known of their text, so that more is checked. */
#ifndef THRESH_AGENT_RUNNER_FOREIGN_H
#define THRESH_AGENT_RUNNER_FOREIGN_H

#include "agent/runner_state.h"

/* Whether a built kernel has the arguments of the task: an array of the right type for each buffer. Says what
 * differs. */
bool runner_check_arguments(struct job *j);
/* Whether the inputs of a set are still as they were. */
bool runner_check_inputs(struct job *j, unsigned set);

#endif
