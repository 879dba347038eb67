/* What may be staged: plans of the copies, which say how many objects they add, and the copies. Internal to
 * core/backbone. */
#ifndef THRESH_BACKBONE_COPIES_H
#define THRESH_BACKBONE_COPIES_H

#include "core/backbone/backbone.h"

struct arena;
struct copy_plan;
struct lowering;

/* Plans a copy for each load with a dimension and each TAKE that can be copied. Sets the numbers of bb:
 * instructions, logicals, values, regions, coordinates and terms. In the arena of the lowering. */
const struct copy_plan *bb_plan_copies(const struct lowering *l, const struct bb_options *o,
                                       struct backbone *bb);
/* Fills in what was planned; bb has the main logicals and instructions. */
void bb_add_values(struct backbone *bb, struct arena *a, const struct lowering *l,
                   const struct copy_plan *plans);

#endif
