/* Instructions with their spots as variables. Internal to core/backbone. */
#ifndef THRESH_BACKBONE_SPOTS_FORM_H
#define THRESH_BACKBONE_SPOTS_FORM_H

#include "core/backbone/backbone.h"

struct lowering;

/* What makes a value, then its LOAD or TAKE: [n_makers + 1] instructions whose indices, axes and guards have
 * a logical for each spot, numbered from n_logicals on; the LOAD or TAKE has those of its axes. NULL: an
 * instruction is not what its tree is if spots vary. */
struct bb_inst *spots_form(const struct lowering *l, uint32_t load, const uint32_t *makers,
                           unsigned n_makers);
/* The main logicals, and one for each spot; *n: their number. */
struct bb_logical *spots_logicals(const struct lowering *l, unsigned *n);

#endif
