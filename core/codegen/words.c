/* Copies of half numbers as words. Where half numbers are bits (cg_target.half_bits), a vector of eight of
 * them that is only copied is four words of 32 bits:
 *
 *     A_copy_load = *(const __global uint4 *)&A[...];     instead of ushort8
 *     *(__local uint4 *)&A_tile[...] = A_copy_load;
 *
 * NVIDIA's compiler loads vectors of 16-bit numbers in parts: a product of 4096^3 took 896 us with vectors of
 * ushort, and 691 us with words (H200, experiments/results/2026-11-27-matrices.md). */
#include "core/codegen/program.h"

#include "core/base/arena.h"

enum { TOGETHER = 8 };

bool cg_has_rows(struct cg_program *p, const struct cg_access *x, const struct cg_node *along, int64_t row)
{
    const struct index_expr **fixed = ARENA_ARRAY(p->arena, const struct index_expr *, cg_variables(p));
    fixed[along->id] = index_constant(p->arena, 0);
    const struct index_expr *start = index_substitute(p->arena, x->offset, fixed, cg_variables(p));
    bool rows = start->constant % row == 0;
    for (unsigned i = 0; i < start->n_terms; i++)
        rows &= start->terms[i].coefficient % row == 0;
    return rows;
}

/* Whether an instruction accesses whole aligned vectors along its dimension, with no guard but those of
 * nodes around it. */
static bool is_whole(struct cg_program *p, uint32_t inst, const struct cg_node *vector)
{
    const struct cg_access *x = &p->access[inst];
    const struct cg_node *n = p->inst_node[inst];
    int affine = 0;
    return vector && vector->size == TOGETHER && x->offset && !x->n_guards && !x->n_clamps && !x->streaming &&
           !n->n_guards && !n->guard_local && !n->guard_group && !n->guard_last && !vector->n_guards &&
           index_stride(x->offset, vector->id, &affine) == 1 && affine && cg_has_rows(p, x, vector, TOGETHER);
}

/* The dimension along which a copy's store has the lanes of the vector that its load has made; NULL: it
 * stores other lanes. */
static const struct cg_node *stored_along(const struct cg_program *p, const struct bb_value *v)
{
    const struct cg_operand *x = &p->operands[v->copy_store][0];
    for (unsigned a = 0; a < x->value->n_axes; a++)
        if (x->value->axes[a] == x->value->vector && x->digits[a]->kind == BB_VECTOR) return x->digits[a];
    return NULL;
}

const char *cg_find_words(struct cg_program *p)
{
    if (!p->target.half_bits || !p->target.dialect->half_words) return NULL;
    for (uint32_t i = 0; i < p->bb->n_values; i++) {
        const struct bb_value *v = &p->bb->values[i];
        if (!p->c->staged[i] || p->bb->insts[v->copy_load].type != SCALAR_HALF) continue;
        if (!is_whole(p, v->copy_load, p->values[v->copy_load].vector) ||
            !is_whole(p, v->copy_store, stored_along(p, v)))
            continue;
        p->values[v->copy_load].words = true;
        p->access[v->copy_load].words = true;
        p->access[v->copy_store].words = true;
    }
    return NULL;
}
