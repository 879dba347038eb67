/* Results of products in matrices that bundles store in vectors. A work-item has results of 8 columns that
 * are 8 apart; its 7 neighbours, lanes n3 of the bundle, have those between them:
 *
 *     out[n1 * 64 + n3] = c_0_0;          column 0 of a row by lane 0, column 1 by lane 1, ...
 *     out[n1 * 64 + n3 + 8] = c_0_1;      2 bytes each: a row is written 16 bytes at a time
 *     ...
 *     out[n1 * 64 + n3 + 56] = c_0_7;
 *
 * They exchange them, so that lane 0 has columns 0 to 7, lane 1 columns 8 to 15, and a row is written 128
 * bytes at a time:
 *
 *     *(__global uint4 *)&out[n1 * 64 + n3 * 8] = thresh_exchange(n3, c_0_0, c_0_1, ..., c_0_7);
 *
 * Half matmul 4096^3 on an H200: 375 us without, 363 us with it; 357 us without any store. The loop program
 * is as ever. Source: PTX ISA, "shfl.sync"; the exchange in three rounds is that of a matrix transposition
 * between registers and lanes. */
#include "core/codegen/emit.h"

#include "core/backbone/matrix.h"
#include "core/base/arena.h"

enum { LANES = BB_LEFT_LANES, VECTOR = BB_HALF_VECTOR };

/* The lanes around a store, if all work-items of a bundle execute it; NULL: there are none, or not all do. */
static const struct cg_node *find_lanes(const struct cg_node *store)
{
    const struct cg_node *lanes = NULL;
    for (const struct cg_node *n = store; n; n = n->parent) {
        if (n->n_guards && n->kind != BB_BLOCK) return NULL;
        if (n->type != CG_DIM || n->kind != BB_THREAD || n->axis != 0) continue;
        if (n->run_extent % BB_BUNDLE) return NULL;
        if (n->size == LANES && n->inner == BB_RIGHT_LANES) lanes = n;
    }
    return lanes;
}

static bool has_stride(const struct index_expr *x, const struct cg_node *n, int64_t stride)
{
    int affine = 0;
    return index_stride(x, n->id, &affine) == stride && affine;
}

/* Where the vectors of a work-item begin, of registers first to first + 7: lane n has register first + n of
 * all lanes. */
static const struct index_expr *vector_offset(struct arena *a, const struct cg_program *p,
                                              const struct index_expr *x, const struct cg_node *registers,
                                              const struct cg_node *lanes, int64_t first,
                                              const struct index_expr *const *fixed)
{
    const struct index_expr **at = ARENA_ARRAY(a, const struct index_expr *, cg_variables(p));
    for (unsigned v = 0; fixed && v < cg_variables(p); v++)
        at[v] = fixed[v];
    at[registers->id] = index_shift(a, index_var(a, lanes->id, LANES), first);
    at[lanes->id] = index_constant(a, 0);
    return index_substitute(a, x, at, cg_variables(p));
}

static const struct cg_node *exchanging(struct cg_program *p, const struct cg_node *n)
{
    const struct cg_node *store = n->n_children == 1 ? n->children[0] : NULL;
    if (n->type != CG_DIM || n->kind != BB_UNROLL || n->size % LANES || !store || store->type != CG_INST)
        return NULL;
    const struct bb_inst *in = &p->bb->insts[store->statement];
    const struct cg_access *x = &p->access[store->statement];
    if (in->kind != BB_STORE || in->type != SCALAR_HALF || (in->n_nodes && in->nodes[0].part) ||
        x->buffer == BB_NONE || x->n_guards || x->n_clamps || store->guard_local || store->guard_group ||
        store->guard_last || cg_is_from_data(p, x->offset))
        return NULL;
    const struct cg_node *lanes = find_lanes(store);
    if (!lanes || !has_stride(x->offset, lanes, 1) || !has_stride(x->offset, n, LANES)) return NULL;
    return cg_is_multiple(vector_offset(p->arena, p, x->offset, n, lanes, 0, NULL), VECTOR) ? lanes : NULL;
}

const char *cg_find_exchanges(struct cg_program *p)
{
    if (!p->root->has_matrix || !p->target.half_bits || !p->target.dialect->exchange) return NULL;
    for (unsigned i = 0; i < p->n_nodes; i++) {
        p->nodes[i]->exchange = exchanging(p, p->nodes[i]);
        p->has_exchange |= p->nodes[i]->exchange != NULL;
    }
    return NULL;
}

/* The 8 elements of a work-item, as arguments. */
static const char *arguments_text(struct cg_emitter *e, const struct cg_node *n, int64_t first)
{
    const struct cg_operand *value = &e->p->operands[n->children[0]->statement][0];
    struct strbuf b = {0};
    for (int64_t i = 0; i < LANES; i++) {
        cg_fix(e, n, first + i);
        strbuf_printf(&b, "%s%s", i ? ", " : "", cg_operand_scalar(e, value, 0, 0));
    }
    cg_unfix(e, n);
    return cg_keep(e, &b);
}

void cg_emit_exchange(struct cg_emitter *e, const struct cg_node *n)
{
    const struct cg_dialect *d = e->dialect;
    const struct cg_access *x = &e->p->access[n->children[0]->statement];
    for (int64_t i = 0; i < n->size; i += LANES) {
        const struct index_expr *offset =
            vector_offset(e->scratch, e->p, x->offset, n, n->exchange, i, e->fixed);
        const char *pointer = CG_TEXT(e, d->output_pointer, d->global_space, d->half_words,
                                      cg_element_text(e, x, offset)),
                   *vector =
                       CG_TEXT(e, d->exchange, e->names->node[n->exchange->id], arguments_text(e, n, i));
        cg_line(e,
                CG_TEXT(e, "$1;", CG_TEXT(e, x->streaming ? d->stream_store : "*$1 = $2", pointer, vector)));
    }
}
