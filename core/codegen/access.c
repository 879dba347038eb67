/* The text of accesses to memory. A load of four lanes n in OpenCL C, by the index of the access:
 *
 *     x[4 * i + n]       *(const __global float4 *)&x[4 * i]             stride 1, aligned
 *     x[5 * i + n]       vload4(0, &x[5 * i])                            stride 1
 *     x[8 * n + i]       (float4)(x[i], x[8 + i], x[16 + i], x[24 + i])  another stride
 *     x[i]               (float4)(x[i])                                  stride 0: the same in each lane
 *
 * What a work-item has for itself is read and written lane by lane: then its elements are registers.
 *
 * An access is aligned if the constant and all coefficients but the lane's are multiples of the width.
 *
 * Where lanes may be beyond the extent of what was rounded up (remainder.c), of 10 elements in vectors of 4:
 *
 *     if (n0 * 4 + 3 < 10) x_load = vload4(0, &x[n0 * 4]);
 *     else x_load = (float4)(x[n0 * 4], x[min(n0 * 4 + 1, 9)], ...); */
#include "core/codegen/emit.h"

#include "core/base/arena.h"

const struct index_expr *cg_here(struct cg_emitter *e, const struct index_expr *x)
{
    return index_substitute(e->scratch, x, e->fixed, e->p->n_nodes);
}

/* Whether a guard is known to hold at this point of the unrolled code; with a lane fixed, in that lane. */
static bool is_proven(void *emitter, const struct cg_guard *g)
{
    struct cg_emitter *e = emitter;
    return index_most(cg_here(e, g->rest)) <= g->sure || index_most(cg_here(e, g->of)) < g->below;
}

bool cg_is_from_data(const struct cg_program *p, const struct index_expr *x)
{
    bool from = false;
    for (uint32_t v = p->first_datum; v < cg_variables(p); v++)
        from |= index_mentions(x, v);
    return from;
}

static void fix_lane(struct cg_emitter *e, int64_t lane)
{
    e->fixed[e->lane->id] = index_constant(e->scratch, lane);
}

static const struct index_expr *at_lane(struct cg_emitter *e, const struct index_expr *x, int64_t lane)
{
    const struct index_expr *kept = e->fixed[e->lane->id];
    fix_lane(e, lane);
    x = cg_here(e, x);
    e->fixed[e->lane->id] = kept;
    return x;
}

static enum scalar_type memory_type(const struct cg_emitter *e, const struct cg_access *x)
{
    const struct backbone *bb = e->p->bb;
    return x->buffer != BB_NONE ? bb->buffers[x->buffer].type : bb->regions[x->region].type;
}

const char *cg_index_text(struct cg_emitter *e, const struct index_expr *x)
{
    struct strbuf b = {0};
    index_print(x, index_fits_int(x) ? e->names->node : e->names->wide, &b);
    return cg_keep(e, &b);
}

const char *cg_guard_text(struct cg_emitter *e, const struct cg_guard *g)
{
    return CG_TEXT(e, "$1 < $2", cg_index_text(e, cg_here(e, g->of)), cg_number(e, g->below));
}

const char *cg_element_text(struct cg_emitter *e, const struct cg_access *x, const struct index_expr *offset)
{
    const char *array = x->buffer != BB_NONE ? e->names->buffer[x->buffer] : e->names->region[x->region];
    if (x->buffer != BB_NONE && e->p->bb->buffers[x->buffer].by_value) return array;
    const char *pointer = cg_pointer_text(e, x, array, offset);
    return CG_TEXT(e, "$1[$2]", pointer ? pointer : array,
                   pointer ? cg_number(e, offset->constant) : cg_index_text(e, offset));
}

/* Whether the vector at this offset is read or written through a pointer. */
static bool is_aligned(const struct cg_emitter *e, const struct index_expr *offset)
{
    int64_t width = e->lane->size;
    bool aligned = e->dialect->input_pointer && offset->constant % width == 0;
    for (unsigned i = 0; i < offset->n_terms; i++)
        aligned &= offset->terms[i].coefficient % width == 0;
    return aligned;
}

/* A pointer to the vector that begins with the element. */
static const char *pointer_text(struct cg_emitter *e, const struct cg_access *x, const char *format,
                                const char *element)
{
    bool local = x->region != BB_NONE && e->p->regions[x->region].space == BB_MEM_LOCAL;
    const char *space = local ? e->dialect->local_space : e->dialect->global_space;
    const char *type = x->words ? e->dialect->half_words : cg_type_text(e, memory_type(e, x), e->lane->size);
    return CG_TEXT(e, format, space, type, element);
}

/* Whether the lanes of an access are neighbours in memory. */
static bool has_neighbours(const struct cg_emitter *e, const struct cg_access *x)
{
    int affine = 0;
    int64_t stride = index_stride(x->offset, e->lane->id, &affine);
    return affine && stride == 1 && !cg_is_private(e->p, x->region);
}

static const char *read_element(struct cg_emitter *e, const struct cg_access *x,
                                const struct index_expr *offset)
{
    const char *element = cg_element_text(e, x, offset);
    return x->streaming ? CG_TEXT(e, e->dialect->stream_load, CG_TEXT(e, "&$1", element)) : element;
}

/* ---- guards ---- */

static bool is_within(void *context, const struct cg_guard *in_range)
{
    (void)context;
    (void)in_range;
    return true;
}

/* "n0 * 4 + 3 < 10 && k0 < 5" of the guards that are not proven here; NULL if all are. */
static const char *guards_text(struct cg_emitter *e, const struct cg_node *n)
{
    const char *text = NULL;
    for (unsigned i = 0; i < n->n_guards; i++) {
        if (is_proven(e, &n->guards[i])) continue;
        const char *more = cg_guard_text(e, &n->guards[i]);
        text = text ? CG_TEXT(e, "$1 && $2", text, more) : more;
    }
    return text;
}

const char *cg_whole_text(struct cg_emitter *e, const struct cg_node *n)
{
    const struct cg_access *x = &e->p->access[n->statement];
    fix_lane(e, e->lane->size - 1);
    const char *text = guards_text(e, n);
    for (unsigned i = 0; i < x->n_clamps; i++) {
        const struct cg_guard *g = &x->clamps[i].in_range;
        if (is_proven(e, g)) continue;
        const char *more = cg_guard_text(e, g);
        text = text ? CG_TEXT(e, "$1 && $2", text, more) : more;
    }
    cg_unfix(e, e->lane);
    return text;
}

/* "get_local_id(0) == 0 && get_group_id(1) == 0"; NULL if no axis is left out, nor other groups. */
static const char *ids_text(struct cg_emitter *e, const struct cg_node *n)
{
    const char *text = n->guard_last ? "thresh_last" : NULL;
    for (unsigned i = 0; i < 2 * CG_AXES; i++) {
        unsigned axis = i / 2;
        enum bb_dim_kind kind = i % 2 ? cg_group_kind(e->p) : BB_THREAD;
        unsigned guards = i % 2 ? n->guard_group : n->guard_local;
        if (!(guards >> axis & 1u)) continue;
        const char *more = CG_TEXT(e, "$1 == 0", cg_id_text(e, kind, axis));
        text = text ? CG_TEXT(e, "$1 && $2", text, more) : more;
    }
    return text;
}

void cg_emit_guard(struct cg_emitter *e, const struct cg_node *n)
{
    const char *ids = ids_text(e, n), *range = guards_text(e, n);
    if (ids || range)
        strbuf_printf(e->out, "if (%s%s%s) ", ids ? ids : "", ids && range ? " && " : "", range ? range : "");
}

const char *cg_choice_text(struct cg_emitter *e, const struct index_guard *guards, unsigned n,
                           const char *yes, const char *no)
{
    guards = guard_substitute(e->scratch, guards, &n, e->fixed, e->p->n_nodes);
    enum guard_verdict verdict = guard_prove(guards, n);
    if (verdict != GUARD_OPEN) return verdict == GUARD_TRUE ? yes : no;
    struct strbuf b = {0};
    guard_print(guards, n, e->names->node, e->names->wide, &b);
    return arena_printf(e->scratch, "(%s ? %s : %s)", cg_keep(e, &b), yes, no);
}

/* ---- loads ---- */

/* Whether a guard of an access fails at this point of the unrolled code: no text reads memory. */
static bool reads_nothing(struct cg_emitter *e, const struct cg_access *x)
{
    unsigned n = x->n_guards;
    const struct index_guard *guards = guard_substitute(e->scratch, x->guards, &n, e->fixed, e->p->n_nodes);
    return x->n_guards && guard_prove(guards, n) == GUARD_FALSE;
}

/* One element; where a guard of the access or of the instruction fails, its default or 0. */
static const char *load_element(struct cg_emitter *e, const struct cg_node *n)
{
    const struct cg_access x = cg_clamped(e->p, e->scratch, n->statement, is_proven, e);
    enum scalar_type type = memory_type(e, &x);
    const struct index_expr *lane = e->lane ? e->fixed[e->lane->id] : NULL;
    cg_name_data(e, n->statement, lane ? lane->constant : -1);
    const char *text = reads_nothing(e, &x) ? NULL : read_element(e, &x, cg_here(e, x.offset));
    const char *guards = guards_text(e, n);
    if (x.n_guards)
        text = cg_choice_text(e, x.guards, x.n_guards, text, cg_constant_text(e, type, x.otherwise, false));
    return guards ? CG_TEXT(e, "$1 ? $2 : $3", guards, text, cg_constant_text(e, type, 0, false)) : text;
}

const char *cg_load_lanes(struct cg_emitter *e, const struct cg_node *n)
{
    const char *parts[CG_MAX_WIDTH];
    for (int64_t i = 0; i < e->lane->size; i++) {
        fix_lane(e, i);
        parts[i] = load_element(e, n);
    }
    cg_unfix(e, e->lane);
    return cg_pack(e, memory_type(e, &e->p->access[n->statement]), parts);
}

static const char *neighbours_text(struct cg_emitter *e, const struct cg_access *x)
{
    const struct cg_dialect *d = e->dialect;
    const struct index_expr *first = at_lane(e, x->offset, 0);
    const char *element = cg_element_text(e, x, first);
    if (!is_aligned(e, first)) return CG_TEXT(e, d->load_vector, cg_number(e, e->lane->size), element);
    const char *pointer = pointer_text(e, x, d->input_pointer, element);
    if (x->direct) return pointer;
    return CG_TEXT(e, x->streaming ? d->stream_load : "*$1", pointer);
}

const char *cg_load_vector(struct cg_emitter *e, const struct cg_node *n)
{
    const struct cg_access x = cg_clamped(e->p, e->scratch, n->statement, is_within, NULL);
    if (!has_neighbours(e, &x) || guard_mentions(x.guards, x.n_guards, e->lane->id)) return NULL;
    cg_name_data(e, n->statement, -1);
    const char *text = reads_nothing(e, &x) ? NULL : neighbours_text(e, &x);
    if (!x.n_guards) return text;
    const char *otherwise = cg_constant_text(e, memory_type(e, &x), x.otherwise, true);
    return cg_choice_text(e, x.guards, x.n_guards, text, otherwise);
}

/* Lanes one by one where a vector would be executed by some work-items only and reach beyond an extent. */
static const char *load_all(struct cg_emitter *e, const struct cg_node *n, bool vector)
{
    if (!vector) return load_element(e, n);
    bool border = (n->guard_local || n->guard_group) && cg_whole_text(e, n);
    const char *text = border ? NULL : cg_load_vector(e, n);
    return text ? text : cg_load_lanes(e, n);
}

const char *cg_load_text(struct cg_emitter *e, const struct cg_node *n, bool vector)
{
    const char *text = load_all(e, n, vector), *ids = ids_text(e, n);
    const char *zero = cg_constant_text(e, memory_type(e, &e->p->access[n->statement]), 0, vector);
    return ids ? CG_TEXT(e, "$1 ? $2 : $3", ids, text, zero) : text; /* the others do not use it */
}

/* ---- stores ---- */

static void write_element(struct cg_emitter *e, const struct cg_access *x, const struct index_expr *offset,
                          const char *value)
{
    const char *element = cg_element_text(e, x, offset);
    if (x->streaming)
        cg_fill(e->out, e->dialect->stream_store, (const char *const[]){CG_TEXT(e, "&$1", element), value});
    else
        cg_fill(e->out, "$1 = $2", (const char *const[]){element, value});
    strbuf_add(e->out, ";\n");
}

static void emit_store(struct cg_emitter *e, const struct cg_access *x, const char *value, bool vector)
{
    if (!vector) {
        write_element(e, x, cg_here(e, x->offset), value);
        return;
    }
    const struct cg_dialect *d = e->dialect;
    const struct index_expr *first = at_lane(e, x->offset, 0);
    const char *element = cg_element_text(e, x, first);
    if (is_aligned(e, first)) {
        const char *const parts[] = {pointer_text(e, x, d->output_pointer, element), value};
        cg_fill(e->out, x->direct ? d->direct_copy : x->streaming ? d->stream_store : "*$1 = $2", parts);
    } else {
        const char *const parts[] = {cg_number(e, e->lane->size), value, element};
        cg_fill(e->out, d->store_vector, parts);
    }
    strbuf_add(e->out, ";\n");
}

/* Which scalar of its operand a store writes. */
static unsigned stored_part(const struct cg_emitter *e, const struct cg_node *n)
{
    const struct bb_inst *store = &e->p->bb->insts[n->statement];
    return store->n_nodes ? store->nodes[0].part : 0;
}

/* Whether what a store would write here is beyond an extent for sure. */
static bool is_beyond(struct cg_emitter *e, const struct cg_node *n)
{
    bool beyond = false;
    for (unsigned i = 0; i < n->n_guards; i++)
        beyond |= index_least(cg_here(e, n->guards[i].of)) >= n->guards[i].below;
    return beyond;
}

bool cg_is_left_out(struct cg_emitter *e, const struct cg_node *n, bool vector)
{
    if (vector) fix_lane(e, 0);
    bool out = is_beyond(e, n);
    if (vector) cg_unfix(e, e->lane);
    return out;
}

/* A store lane by lane: its lanes are no neighbours, or some may be beyond an extent. Then each is guarded.
 */
static void emit_lanes(struct cg_emitter *e, const struct cg_node *n, bool guard)
{
    const struct cg_access *x = &e->p->access[n->statement];
    const struct cg_operand *value = &e->p->operands[n->statement][0];
    for (int64_t i = 0; i < e->lane->size; i++) {
        fix_lane(e, i);
        if (is_beyond(e, n)) break;
        if (i) strbuf_indent(e->out, e->indent);
        if (guard) cg_emit_guard(e, n);
        write_element(e, x, cg_here(e, x->offset), cg_operand_scalar(e, value, stored_part(e, n), i));
    }
    cg_unfix(e, e->lane);
}

static void emit_scatter(struct cg_emitter *e, const struct cg_node *n)
{
    bool braces = n->guard_local || n->guard_group || n->guard_last;
    if (cg_whole_text(e, n)) {
        emit_lanes(e, n, true);
        return;
    }
    cg_emit_guard(e, n);
    if (braces) strbuf_add(e->out, "{ ");
    emit_lanes(e, n, false);
    if (braces) strbuf_indent(e->out, e->indent), strbuf_add(e->out, "}\n");
}

/* Lanes are stored one by one in the last vector only. */
static void emit_border_store(struct cg_emitter *e, const struct cg_node *n)
{
    const struct cg_access *x = &e->p->access[n->statement];
    fix_lane(e, e->lane->size - 1);
    cg_emit_guard(e, n);
    cg_unfix(e, e->lane);
    emit_store(e, x, cg_expression_texts(e, n->statement, true)[0], true);
    strbuf_indent(e->out, e->indent++);
    strbuf_add(e->out, "else {\n");
    strbuf_indent(e->out, e->indent);
    emit_lanes(e, n, true);
    strbuf_indent(e->out, --e->indent);
    strbuf_add(e->out, "}\n");
}

void cg_emit_memory_write(struct cg_emitter *e, const struct cg_node *n, bool vector)
{
    const struct cg_access *x = &e->p->access[n->statement];
    if (vector && !has_neighbours(e, x)) {
        emit_scatter(e, n);
    } else if (vector && cg_whole_text(e, n)) {
        emit_border_store(e, n);
    } else {
        cg_emit_guard(e, n);
        emit_store(e, x, cg_expression_texts(e, n->statement, vector)[0], vector);
    }
}
