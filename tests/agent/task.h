/* Tasks without a program, for tests that bring their own kernels. */
#ifndef THRESH_TESTS_AGENT_TASK_H
#define THRESH_TESTS_AGENT_TASK_H

#include "agent/verify.h"

/* A task of n buffers with an exact and a timing set, whose inputs are drawn from the seed. */
struct verify_task *task_make(const struct verify_buffer *shape, unsigned n, uint64_t seed, struct diag *d);

#endif
