/* The sizes of a kernel in a campaign file, multiplied out:
 *
 *     sizes: {M: [64, 128], K: 256..1024 *2}
 *
 * is M=64,K=256  M=64,K=512  M=64,K=1024  M=128,K=256  ...  The last name varies fastest. A value is a whole
 * number, a list of values, a range "FROM..TO", "FROM..TO +STEP" or "FROM..TO *FACTOR", or a map {from, to,
 * step} or {from, to, factor}. TO belongs to the range if a step reaches it. */
#ifndef THRESH_CAMPAIGN_SIZES_H
#define THRESH_CAMPAIGN_SIZES_H

#include <stdint.h>

#include "coordinator/campaign/yaml.h"

struct arena;

enum {
    CAMPAIGN_MOST_VALUES = 1000, /* of one size in one entry */
    CAMPAIGN_MOST_SIZES = 4096,  /* of one kernel, and searches of a campaign: more is a slip of the pen */
    CAMPAIGN_MOST_NAMES = 32     /* sizes of a program */
};

struct campaign_size {
    const char *text;          /* as --size takes it: "M=64,K=256" */
    struct campaign_node node; /* the entry that it comes from */
};
struct campaign_sizes {
    struct campaign_size *items; /* in the arena */
    size_t n, capacity;
};

/* Adds the sizes of a map, or of a list of maps. false after an error. */
bool campaign_sizes_read(struct campaign_node n, struct arena *a, struct campaign_sizes *out, struct diag *d);
/* Whether two texts have the same values, in any order. */
bool campaign_sizes_equal(const char *a, const char *b);

/* A whole number from 1 to `most`; false after an error that calls it `what`. */
bool campaign_read_count(struct campaign_node n, const char *what, int64_t most, int64_t *out,
                         struct diag *d);

#endif
