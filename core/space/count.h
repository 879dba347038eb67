/* How many solutions a space has below a candidate, without visiting them one by one. */
#ifndef THRESH_SPACE_COUNT_H
#define THRESH_SPACE_COUNT_H

#include "core/space/space.h"

struct space_count {
    long double solutions; /* exact up to 2^64 */
    bool complete;         /* else the limit was reached, and there are at least that many */
    uint64_t nodes;        /* choices branched on */
    uint64_t hits;         /* groups of choices counted before in the same situation */
};

/* Counts below `st`, which is as before afterwards. Stops after `node_limit` nodes; 0: no limit. */
struct space_count space_count(struct space_state *st, uint64_t node_limit);
/* The same with the work of about half a second at most, counted in nodes, so that the answer does not depend
 * on the machine: fewer the more values are open, and more in a small space (count/small.c). */
struct space_count space_count_at_once(struct space_state *st);

struct arena;
/* There are two ways of counting: the fast one (count/small.c) has room for small spaces only. Why the space
 * is not counted by it, in the arena; NULL: it is. */
const char *space_count_why_slow(const struct space *s, struct arena *a);

#endif
