/* Copies of 16 bytes as words. Where half numbers are bits (cg_target.half_bits), a vector of eight of them
 * that is only copied is four words of 32 bits:
 *
 *     A_copy_load = *(const __global uint4 *)&A[...];     instead of ushort8
 *     *(__local uint4 *)&A_tile[...] = A_copy_load;
 *
 * A copy in the background (`transfer` = DIRECT) passes the address from its load to its store, which starts
 * it:
 *
 *     A_copy_load = (const __global uint4 *)&A[...];
 *     thresh_copy((__local uint4 *)&A_tile[...], A_copy_load);
 *
 * So it is with vectors of four floats; through registers they are vectors of the language.
 *
 * NVIDIA's compiler loads vectors of 16-bit numbers in parts: a product of 4096^3 took 896 us with vectors of
 * ushort, and 691 us with words (H200, experiments/results/2026-11-27-matrices.md). */
#include "core/codegen/program.h"

#include "core/backbone/matrix.h"
#include "core/base/arena.h"

bool cg_is_multiple(const struct index_expr *x, int64_t of)
{
    bool multiple = x->constant % of == 0;
    for (unsigned i = 0; i < x->n_terms; i++)
        multiple &= x->terms[i].coefficient % of == 0;
    return multiple;
}

/* Whether vectors along a node begin at multiples of their length. */
static bool is_vectors(struct cg_program *p, const struct cg_access *x, const struct cg_node *vector,
                       int64_t elements)
{
    const struct index_expr **fixed = ARENA_ARRAY(p->arena, const struct index_expr *, cg_variables(p));
    int affine = 0;
    if (index_stride(x->offset, vector->id, &affine) != 1 || !affine) return false;
    fixed[vector->id] = index_constant(p->arena, 0);
    return cg_is_multiple(index_substitute(p->arena, x->offset, fixed, cg_variables(p)), elements);
}

/* Whether an instruction accesses whole aligned vectors along its dimension, with no guard but those of
 * nodes around it; stores may be of some work-items alone. */
static bool is_whole(struct cg_program *p, uint32_t inst, const struct cg_node *vector)
{
    const struct cg_access *x = &p->access[inst];
    const struct cg_node *n = p->inst_node[inst];
    int64_t elements = BB_ROW_BYTES / scalar_type_bytes(p->bb->insts[inst].type);
    return vector && vector->size == elements && x->offset && !x->n_guards && !x->n_clamps && !x->streaming &&
           !n->n_guards && !vector->n_guards && is_vectors(p, x, vector, elements) &&
           (p->bb->insts[inst].kind == BB_COPY_STORE ||
            (!n->guard_local && !n->guard_group && !n->guard_last));
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

static bool in_words(struct cg_program *p, const struct bb_value *v, bool direct)
{
    enum scalar_type type = p->bb->insts[v->copy_load].type;
    bool copied = type == SCALAR_HALF ? p->target.half_bits : direct && type == SCALAR_FLOAT;
    return copied && p->target.dialect->half_words && !bb_is_computed(p->bb, v) &&
           !cg_is_private(p, v->region) && is_whole(p, v->copy_load, p->values[v->copy_load].vector) &&
           is_whole(p, v->copy_store, stored_along(p, v));
}

const char *cg_find_words(struct cg_program *p)
{
    for (uint32_t i = 0; i < p->bb->n_values; i++) {
        const struct bb_value *v = &p->bb->values[i];
        bool direct = p->c->staged[i] && p->c->direct[v->region],
             words = p->c->staged[i] && in_words(p, v, direct);
        if (direct && (!words || !p->target.dialect->direct_copy))
            return "a copy in the background is not of words";
        if (direct && p->c->stages[v->region] < 2) return "a copy in the background does not run ahead";
        if (!words) continue;
        p->values[v->copy_load].words = p->access[v->copy_load].words = p->access[v->copy_store].words = true;
        p->values[v->copy_load].direct = p->access[v->copy_load].direct = p->access[v->copy_store].direct =
            direct;
    }
    return NULL;
}
