/* Implementations that an evaluator verifies. Runners end out of order; a result is taken when all before it
 * have been, so that reports are in the order of submission:
 *
 *     submitted   7  8  9 10 11 12
 *     landed         8     10 11         7 is a slow build: nothing is taken until it lands
 *
 * Meanwhile others are submitted. */
#ifndef THRESH_COORDINATOR_FLIGHTS_H
#define THRESH_COORDINATOR_FLIGHTS_H

#include <stdbool.h>

#include "agent/evaluate.h"
#include "core/space/space.h"

/* That were not taken: runners that verify ten a second have work for 50 s, as long as the slowest builds
 * take. */
enum { FLIGHTS_MOST = 512 };

struct flight {
    struct space_state *leaf;
    bool landed; /* there is a result */
    struct evaluation result;
};

struct flights;

struct flights *flights_new(struct evaluator *ev); /* borrows it; no other jobs may be submitted to it */
void flights_free(struct flights *f);              /* NULL is allowed */

/* How many were submitted and not yet taken; how many of them have not landed. */
unsigned flights_count(const struct flights *f);
unsigned flights_in_air(const struct flights *f);
/* Fewer than FLIGHTS_MOST are there. Copies leaf and kernel. */
void flights_submit(struct flights *f, const struct space_state *leaf, const struct cg_kernel *kernel,
                    const struct eval_settings *settings);
/* Hears of those that have landed; waits up to timeout_ms for one. */
void flights_hear(struct flights *f, int timeout_ms);
/* Takes the oldest, whose leaf is the caller's then. false: there is none, or it has not landed. */
bool flights_take(struct flights *f, struct flight *out);
/* The same, landed or not. */
bool flights_pop(struct flights *f, struct flight *out);

#endif
