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
    const struct bb_inst *step;
    unsigned part;         /* of it that is combined, the first of those that are combined together */
    int64_t together;      /* registers that the arrays have room for */
    int64_t items, stride; /* of the group; between work-items with neighbouring parts */
    const char *id;        /* place among the parts of work-items; NULL: they have none */
    int64_t first, n;      /* the registers that are combined together */
};

/* Texts of those scalars of a register that are combined together, by their part. */
struct cg_scalars {
    const char *part[BB_MAX_PARTS];
};

/* Whether a part is one of those that are combined together. */
bool cg_combines(const struct combining *c, unsigned part);
/* A register of the accumulator. */
const char *cg_combined_register(const struct combining *c, unsigned part, int64_t reg);
struct cg_scalars cg_combined_registers(const struct combining *c, int64_t reg);
/* The lines by which a partial result takes another one in, where a condition holds (NULL: always). */
void cg_take_in(const struct combining *c, const char *where, const struct cg_scalars *own,
                const struct cg_scalars *other);
/* `if` around what the first `below` parts of work-items execute; braces if these are all work-items. */
void cg_open_parts(const struct combining *c, int64_t below);
void cg_close_parts(const struct combining *c);

/* ---- groups.c ---- */

/* Combines the parts of groups: only the last group goes on. */
void cg_emit_meeting(struct combining *c);

#endif
