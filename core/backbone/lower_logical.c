/* The logicals of a program while it is lowered: their names, and which an instruction owns. An array of 8
 * rows of N has the logicals i0 and n; of what join() made of it, the index is N * i0 + n. */
#include <ctype.h>
#include <string.h>

#include "core/backbone/lower.h"
#include "core/backbone/view.h"
#include "core/base/arena.h"
#include "core/base/diag.h"
#include "core/lift/size.h"

static bool logical_named(const struct lowering *l, const char *name)
{
    for (size_t i = 0; i < l->n_logicals; i++)
        if (!strcmp(l->logicals[i].name, name)) return true;
    return false;
}

/* The size parameter in lower case if the extent is plainly one, otherwise i0, i1, ... */
static const char *logical_name(struct lowering *l, const struct lift_size *size)
{
    char *stem = NULL;
    if (size && size->kind == LIFT_SIZE_PARAM) {
        stem = arena_strdup(l->arena, size->name);
        for (char *c = stem; *c; c++)
            *c = (char)tolower((unsigned char)*c);
    }
    const char *name = stem ? stem : "i0";
    for (unsigned n = stem ? 2 : 1; logical_named(l, name); n++)
        name = arena_printf(l->arena, stem ? "%s_%u" : "%s%u", stem ? stem : "i", n);
    return name;
}

/* A new logical for an array's elements; an extent of 1 needs none and gives index 0. */
static const struct index_expr *add_logical(struct lowering *l, const struct lift_type *array, bool reduction)
{
    if (array->extent == 1) return index_constant(l->arena, 0);
    l->logicals = arena_grow(l->arena, l->logicals, &l->cap_logicals, l->n_logicals + 1, sizeof *l->logicals);
    const char *name = logical_name(l, array->size);
    l->logicals[l->n_logicals] = (struct bb_logical){.name = name,
                                                     .extent = array->extent,
                                                     .reduction = reduction,
                                                     .of = BB_NONE,
                                                     .region = BB_NONE,
                                                     .size = array->size};
    return index_var(l->arena, (uint32_t)l->n_logicals++, array->extent);
}

const struct index_expr *lower_add_index(struct lowering *l, const struct view *v,
                                         const struct lift_type *array, bool reduction)
{
    const struct view *join = view_joined(v);
    if (!join) return add_logical(l, array, reduction);
    const struct index_expr *outer = lower_add_index(l, join->of, join->type, reduction);
    const struct view *part = view_get(l->viewer, join->of, outer);
    const struct index_expr *inner = lower_add_index(l, part, join->type->element, reduction);
    return index_add(l->arena, index_scale(l->arena, outer, join->length), inner);
}

void lower_own_logical(struct lowering *l, struct bb_inst *inst, uint32_t logical, struct source_pos at)
{
    if (bb_owns(inst, logical)) return;
    if (inst->n_logicals == BB_MAX_LOGICALS)
        lower_unsupported(l, at, "more than 8 dimensions around one operation; join some of them");
    else
        inst->logicals[inst->n_logicals++] = logical;
}
