/* What the files that make the instance of gpu.space share. Internal to core/backbone. */
#ifndef THRESH_BACKBONE_INSTANCE_H
#define THRESH_BACKBONE_INSTANCE_H

#include "core/backbone/backbone.h"

struct arena;

struct instance {
    const struct backbone *bb;
    const struct bb_device *device;
    struct space_data *data;
    struct arena *scratch; /* names */
};

static inline uint32_t statement(const struct instance *in, uint32_t dim)
{
    return bb_dim_statement(in->bb, dim);
}

static inline uint32_t dim_logical(const struct backbone *bb, uint32_t dim)
{
    return bb->tiles[bb->dims[dim].tile].logical;
}

/* Adds values with their regions, coordinates and terms, once everything else of the program is there.
 * (instance_staging.c) */
void bb_instance_staging(const struct instance *in);

#endif
