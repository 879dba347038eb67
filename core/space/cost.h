/* Where a space costs more than it has to: constraints that the engine propagates in a slower or weaker way
 * than others, because they are larger than what the faster way has room for. */
#ifndef THRESH_SPACE_COST_H
#define THRESH_SPACE_COST_H

#include <stddef.h>

#include "core/space/space.h"

struct arena;

struct space_cost {
    const char *file; /* of the constraint or the trigger */
    unsigned line;
    const char *text;   /* its first words */
    uint32_t instances; /* how many of its instances are propagated so */
    const char *why;    /* which limit is passed, and by what */
    const char *cost;   /* what it costs */
    const char *change; /* what to change in the file */
};

/* Lists them in the order of the file; a constraint may be there for several reasons. The list and its texts
 * belong to the arena. Returns their number. */
size_t space_explain_cost(const struct space *s, struct arena *a, struct space_cost **out);

#endif
