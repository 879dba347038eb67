/* What the texts that combine parts share: those of work-items (combine.c) and of groups (groups.c). Private
 * to core/codegen. */
#ifndef THRESH_CODEGEN_COMBINE_H
#define THRESH_CODEGEN_COMBINE_H

#include "core/codegen/emit.h"

/* A split reduction whose parts are being combined. */
struct combining {
    struct cg_emitter *e;
    const struct cg_split *split;
    struct cg_operand own; /* the accumulator */
    enum scalar_type type; /* of the part of it that is combined */
    unsigned part;
    int64_t items, stride; /* of the group; between work-items with neighbouring parts */
    const char *id;        /* place among the parts of work-items; NULL: they have none */
    int64_t first, n;      /* the registers that are combined together */
};

/* A register of the accumulator. */
const char *cg_combined_register(const struct combining *c, int64_t reg);
/* Two partial results combined. */
const char *cg_combined(const struct combining *c, const char *x, const char *y);
/* `if` around what the first `below` parts of work-items execute; braces if these are all work-items. */
void cg_open_parts(const struct combining *c, int64_t below);
void cg_close_parts(const struct combining *c);

/* ---- groups.c ---- */

/* Combines the parts of groups: only the last group goes on. */
void cg_emit_meeting(struct combining *c);

#endif
