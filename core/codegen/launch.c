/* The launch of a kernel: sizes of its range and its groups, the bytes of local memory, the barriers that its
 * text has, its arguments. The arguments of a kernel that stages B in global memory:
 *
 *     A, B, out      the buffers of the backbone
 *     B_tile         a temporary, a part for each group */
#include "core/codegen/emit.h"

#include <stdlib.h>

#include "core/base/arena.h"

bool cg_is_temporary(const struct cg_region *r)
{
    return r->used && r->space == BB_MEM_GLOBAL;
}

static void add_temporary(struct cg_kernel *k, size_t bytes, bool zero)
{
    k->args[k->n_args++] = (struct cg_arg){.buffer = BB_NONE, .zero = zero, .bytes = bytes};
}

/* What groups that have parts of a reduction share. */
static void describe_group_arguments(const struct cg_program *p, struct cg_kernel *out)
{
    const struct cg_split *s = cg_group_split(p);
    if (!s) return;
    for (int t = 0; t < SCALAR_TYPE_COUNT; t++) {
        int64_t n = cg_group_elements(p, s, (enum scalar_type)t);
        if (n) add_temporary(out, (size_t)n * scalar_type_bytes((enum scalar_type)t), false);
    }
    add_temporary(out, (size_t)cg_group_slots(p, s) * sizeof(uint32_t), true);
}

void cg_describe_launch(const struct cg_program *p, struct cg_kernel *out)
{
    for (unsigned g = 0; g < CG_AXES; g++) {
        out->global[g] = (size_t)(p->groups[g] * p->local_size[g]);
        out->local[g] = p->global_ids ? 0 : (size_t)p->local_size[g];
    }
    out->barriers = p->n_barriers;
    for (uint32_t i = 0; i < p->bb->n_insts; i++)
        if (p->splits[i]) out->barriers += cg_combine_barriers(p, p->splits[i]);
    for (int t = 0; t < SCALAR_TYPE_COUNT; t++)
        out->local_bytes +=
            (size_t)cg_part_elements(p, (enum scalar_type)t) * scalar_type_bytes((enum scalar_type)t);
    if (cg_group_split(p)) out->local_bytes += sizeof(uint32_t);
    for (unsigned i = 0; i < p->bb->n_regions; i++) {
        const struct cg_region *r = &p->regions[i];
        if (r->used && r->space == BB_MEM_LOCAL)
            out->local_bytes += (size_t)r->elements * scalar_type_bytes(p->bb->regions[i].type);
    }
}

void cg_describe_arguments(const struct cg_program *p, struct cg_kernel *out)
{
    const struct backbone *bb = p->bb;
    size_t groups = (size_t)(p->groups[0] * p->groups[1] * p->groups[2]);
    out->args = base_calloc(bb->n_buffers + bb->n_regions + SCALAR_TYPE_COUNT + 1, sizeof *out->args);
    for (unsigned i = 0; i < bb->n_buffers; i++)
        out->args[out->n_args++] = (struct cg_arg){.buffer = i,
                                                   .by_value = bb->buffers[i].by_value,
                                                   .bytes = (size_t)bb->buffers[i].elements *
                                                            scalar_type_bytes(bb->buffers[i].type)};
    for (unsigned i = 0; i < bb->n_regions; i++) {
        size_t bytes = (size_t)p->regions[i].elements * scalar_type_bytes(bb->regions[i].type);
        if (cg_is_temporary(&p->regions[i])) add_temporary(out, groups * bytes, false);
    }
    describe_group_arguments(p, out);
}

void cg_kernel_free(struct cg_kernel *k)
{
    free(k->source);
    free(k->name);
    free(k->options);
    free(k->args);
    *k = (struct cg_kernel){0};
}
