/* What may be staged: values, their regions, and the coordinates of these. A group of a stencil of 3 x 3 that
 * computes 8 x 32 points at y, x with windows over dy, dx:
 *
 *     value A      load A.load[y dy x dx], copy_load and copy_store [A.copy.y A.copy.x], region A.tile
 *     A.tile       coordinates y + dy, of 10 elements, and x + dx, of 34 */
#ifndef THRESH_BACKBONE_REGION_H
#define THRESH_BACKBONE_REGION_H

#include <stdbool.h>
#include <stdint.h>

#include "core/lift/scalar.h"

/* A LOAD or TAKE that may be staged, with the copy that would do it. */
struct bb_value {
    const char *name;               /* "A" */
    uint32_t load;                  /* the LOAD or TAKE */
    uint32_t copy_load, copy_store; /* first and last instruction of the copy */
    uint32_t region;
    uint32_t owner;      /* the value whose copy fills the region: itself, or that of another load */
    uint32_t first_term; /* of its own logicals, in the order of the owner's */
    const int64_t *at;   /* what it adds to each coordinate: one of several readers of windows; or NULL */
    unsigned n_direct;   /* of a TAKE: instructions that make it where it is read, and nothing else */
    const uint32_t *direct;
};

/* What a value adds to coordinate j of its region. */
static inline int64_t bb_value_at(const struct bb_value *v, unsigned j)
{
    return v->at ? v->at[j] : 0;
}

/* A logical of a staged load in a coordinate of its region. */
struct bb_term {
    uint32_t logical;
    int64_t coefficient; /* > 0; 1 of a coordinate that is one logical */
};

static inline bool bb_has_term(const struct bb_term *terms, unsigned n, uint32_t logical)
{
    unsigned i = 0;
    while (i < n && terms[i].logical != logical)
        i++;
    return i < n;
}

/* A coordinate of a region: one logical of the load, or a window. Of readers that add constants to it
 * (spots.h) these differ by `spread` at most. */
struct bb_region_dim {
    uint32_t first_term;
    unsigned n_terms;
    int64_t spread; /* elements */
};

/* Whether the elements of neighbouring tiles overlap. */
static inline bool bb_overlaps(const struct bb_region_dim *c)
{
    return c->n_terms > 1 || c->spread > 0;
}

/* Temporary memory for a staged value. */
struct bb_region {
    const char *name; /* "A.tile" */
    uint32_t value;
    enum scalar_type type;
    unsigned n_dims;
    uint32_t first_region_dim; /* coordinate j is region dimension first + j, that of copy.logicals[j] */
    bool several;              /* several values read it */
};

/* Whether one work-item may read an element several times: then registers of it may hold the region. dims:
 * those of all regions. */
static inline bool bb_is_repeated(const struct bb_region *r, const struct bb_region_dim *dims)
{
    bool windows = false;
    for (unsigned c = r->first_region_dim; c < r->first_region_dim + r->n_dims; c++)
        windows = windows || dims[c].n_terms > 1;
    return windows || r->several;
}

#endif
