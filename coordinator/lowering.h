/* Lowers candidates on a thread of its own, while the search draws the next ones.
 *
 *     lowering_ask(l, leaf 7)
 *     ...                           the tree draws candidate 8
 *     lowering_take(l, leaf 7)      what is to be known of its text; waits if the thread is not done
 *
 * One candidate is asked for at a time. What is taken does not depend on whether it was asked for before. */
#ifndef THRESH_COORDINATOR_LOWERING_H
#define THRESH_COORDINATOR_LOWERING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct problem;
struct space_state;

struct lowered {
    bool ok;           /* else: why */
    uint64_t hash;     /* of the OpenCL text */
    size_t bytes;      /* its length, loops that the compiler unrolls written out */
    double item_steps; /* as in pipeline_code */
    double items;
    char why[512];
};

struct lowering;

/* The problem is borrowed. The thread starts when something is asked for. */
struct lowering *lowering_new(const struct problem *p);
void lowering_free(struct lowering *l); /* waits for the thread; NULL is allowed */
/* Borrows the leaf until lowering_take() or lowering_free(). Ignored while another one was not taken. */
void lowering_ask(struct lowering *l, const struct space_state *leaf);
/* Lowers the leaf here if it was not asked for. */
void lowering_take(struct lowering *l, const struct space_state *leaf, struct lowered *out);

#endif
