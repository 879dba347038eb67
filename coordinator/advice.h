/* What limits a program whatever the search finds: a reduction that runs in one work-item, fewer results than
 * compute units, arrays that no cache holds, divisions in the indices. Said before a search, so that nobody
 * waits for a kernel that cannot become fast:
 *
 *     4 results occupy at most 4 of the 8 compute units of cpu; output partial results, ...
 *
 * Each line has a cause and a next step. Most programs get none. */
#ifndef THRESH_COORDINATOR_ADVICE_H
#define THRESH_COORDINATOR_ADVICE_H

#include "agent/device.h"
#include "core/pipeline/problem.h"

struct arena;

enum { ADVICE_MOST = 8 };

struct advice {
    unsigned n;
    const char *lines[ADVICE_MOST]; /* in the arena, one sentence each, without an end of line */
};

/* The advice on a problem. dev: the device, of which what is 0 is unknown; NULL: any. */
struct advice advice_of(const struct problem *p, const struct device *dev, struct arena *a);
/* Why TF32, which the user allows, changes nothing on the device of that name; NULL: it does, or is not
 * allowed. In the arena. */
const char *advice_on_tf32(const struct problem *p, const char *device, struct arena *a);

#endif
