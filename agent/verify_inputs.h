/* Drawing the inputs of a task: verify_inputs.c has the exact and the timing set, verify_extremes.c the
 * extreme sets. Private to agent/verify*.c. */
#ifndef THRESH_AGENT_VERIFY_INPUTS_H
#define THRESH_AGENT_VERIFY_INPUTS_H

#include "agent/verify.h"

/* Where inputs without a stated range are drawn from. The first domain is taken in which the reference is
 * finite. */
enum verify_domain {
    VERIFY_SIGNED,   /* odd integers in {-3, -1, 1, 3}; [-1, 1] */
    VERIFY_POSITIVE, /* {1, 3}; [1/1024, 1] */
    VERIFY_NEAR_ONE, /* [0.5, 1.5] for both; integers 1 and 2 */
    VERIFY_DOMAINS
};

/* The range that an input is drawn from: its own, or that of the domain. */
struct lift_range verify_range(const struct verify_buffer *b, enum verify_domain domain);
/* Fills the inputs of the exact and the timing set; t->units says from which numbers. Sets t->whole. */
void verify_draw(struct verify_task *t, enum verify_domain domain, uint64_t seed);
/* Fills the inputs of the extreme sets. bb: the program of the task. */
void verify_draw_extremes(struct verify_task *t, const struct backbone *bb, enum verify_domain domain,
                          uint64_t seed);

#endif
