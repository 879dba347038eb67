/* The text of one instruction: registers, memory accesses, arithmetic; scalar or over the lanes of a VECTOR
 * dimension. A load of four lanes n in OpenCL C, by the index of the access:
 *
 *     x[4 * i + n]       *(const __global float4 *)&x[4 * i]             stride 1, aligned
 *     x[5 * i + n]       vload4(0, &x[5 * i])                            stride 1
 *     x[8 * n + i]       (float4)(x[i], x[8 + i], x[16 + i], x[24 + i])  another stride
 *     x[i]               (float4)(x[i])                                  stride 0: the same in each lane
 *
 * An access is aligned if the constant and all coefficients but the lane's are multiples of the width. Values
 * that are made by lanes and read one by one, or the other way round, are unpacked and packed alike.
 *
 * Over 500 lines: loads, arithmetic and stores share how lanes, guards and registers are written. */
#include "core/codegen/emit.h"

#include <math.h>
#include <string.h>

#include "core/base/arena.h"

static int64_t width_of(const struct cg_value *v)
{
    return v->vector ? v->vector->size : 1;
}

/* The text of the buffer, in the scratch arena; frees the buffer. */
static const char *keep(struct cg_emitter *e, struct strbuf *b)
{
    const char *text = arena_strndup(e->scratch, b->text ? b->text : "", b->length);
    strbuf_free(b);
    return text;
}

const char *cg_text(struct cg_emitter *e, const char *format, const char *const *args)
{
    struct strbuf b = {0};
    cg_fill(&b, format, args);
    return keep(e, &b);
}

const char *cg_number(struct cg_emitter *e, int64_t n)
{
    return arena_printf(e->scratch, "%lld", (long long)n);
}

/* "float", "float4" (width > 1). */
static const char *type_text(struct cg_emitter *e, enum scalar_type type, int64_t width)
{
    const char *scalar = e->dialect->types[type].name;
    return width <= 1 ? scalar : CG_TEXT(e, e->dialect->vector_type, scalar, cg_number(e, width));
}

const char *cg_id_text(const struct cg_emitter *e, enum bb_dim_kind kind, unsigned axis)
{
    const struct cg_dialect *d = e->dialect;
    return (kind == BB_THREAD ? d->local_id : kind == BB_BLOCK ? d->group_id : d->global_id)[axis];
}

enum bb_dim_kind cg_group_kind(const struct cg_program *p)
{
    return p->global_ids ? BB_GLOBAL : BB_BLOCK;
}

void cg_fix(struct cg_emitter *e, const struct cg_node *n, int64_t i)
{
    e->digit[n->id] = i;
    e->fixed[n->id] = index_constant(e->scratch, i);
}

void cg_unfix(struct cg_emitter *e, const struct cg_node *n)
{
    e->fixed[n->id] = NULL;
}

/* ---- registers ---- */

static const char *component_text(struct cg_emitter *e, const char *vector, int64_t lane)
{
    return CG_TEXT(e, "$1.$2", vector, e->dialect->lanes[lane]);
}

static enum scalar_type part_type(const struct cg_emitter *e, const struct cg_value *v, unsigned part)
{
    return bb_part_type(&e->p->bb->insts[v->inst], part);
}

/* The register of a part (of digits[a] on axis a); if component, the scalar in it when it is a vector. */
static const char *register_text(struct cg_emitter *e, const struct cg_value *v, unsigned part,
                                 const int64_t *digits, bool component)
{
    struct strbuf b = {0};
    int64_t lane = 0;
    strbuf_add(&b, e->names->value[v->inst][part]);
    for (unsigned a = 0; a < v->n_axes; a++) {
        if (v->axes[a] == v->vector)
            lane = digits[a];
        else
            strbuf_printf(&b, "_%lld", (long long)digits[a]);
    }
    const char *text = keep(e, &b);
    return component && v->vector ? component_text(e, text, lane) : text;
}

static const char *operand_scalar(struct cg_emitter *e, const struct cg_operand *x, unsigned part,
                                  int64_t lane)
{
    int64_t digits[BB_MAX_LOGICALS * BB_MAX_LEVELS];
    for (unsigned a = 0; a < x->value->n_axes; a++)
        digits[a] = x->digits[a] == e->lane ? lane : e->digit[x->digits[a]->id];
    return register_text(e, x->value, part, digits, true);
}

/* "(float4)(a, b, c, d)" of the parts, or "(float4)(a)" if all are the same text. */
static const char *pack(struct cg_emitter *e, enum scalar_type type, const char *const *parts)
{
    const char *vector = type_text(e, type, e->lane->size);
    bool same = true;
    for (int64_t i = 1; i < e->lane->size; i++)
        same &= !strcmp(parts[i], parts[0]);
    if (same) return CG_TEXT(e, e->dialect->broadcast, vector, parts[0]);
    struct strbuf b = {0};
    for (int64_t i = 0; i < e->lane->size; i++) {
        if (i) strbuf_add(&b, ", ");
        strbuf_add(&b, parts[i]);
    }
    return CG_TEXT(e, e->dialect->pack, vector, keep(e, &b));
}

static bool is_whole_vector(const struct cg_emitter *e, const struct cg_operand *x)
{
    for (unsigned a = 0; a < x->value->n_axes; a++)
        if (x->value->axes[a] == x->value->vector) return x->digits[a] == e->lane;
    return false;
}

static const char *operand_text(struct cg_emitter *e, const struct cg_operand *x, unsigned part, bool vector)
{
    if (!vector) return operand_scalar(e, x, part, 0);
    if (is_whole_vector(e, x)) {
        int64_t digits[BB_MAX_LOGICALS * BB_MAX_LEVELS];
        for (unsigned a = 0; a < x->value->n_axes; a++)
            digits[a] = e->digit[x->digits[a]->id];
        return register_text(e, x->value, part, digits, false);
    }
    const char *parts[CG_MAX_WIDTH];
    for (int64_t i = 0; i < e->lane->size; i++)
        parts[i] = operand_scalar(e, x, part, i);
    return pack(e, part_type(e, x->value, part), parts);
}

static void declare(struct cg_emitter *e, const struct cg_value *v, unsigned part, unsigned axis,
                    int64_t *digits, bool *first)
{
    if (axis < v->n_axes) {
        bool vector = v->axes[axis] == v->vector;
        for (digits[axis] = 0; digits[axis] < (vector ? 1 : v->axes[axis]->size); digits[axis]++)
            declare(e, v, part, axis + 1, digits, first);
        return;
    }
    strbuf_printf(e->out, "%s%s", *first ? " " : ", ", register_text(e, v, part, digits, false));
    *first = false;
}

void cg_emit_declaration(struct cg_emitter *e, const struct cg_value *v)
{
    int64_t digits[BB_MAX_LOGICALS * BB_MAX_LEVELS];
    for (unsigned part = 0; part < bb_parts(&e->p->bb->insts[v->inst]); part++) {
        bool first = true;
        strbuf_indent(e->out, e->indent);
        strbuf_add(e->out, type_text(e, part_type(e, v, part), width_of(v)));
        declare(e, v, part, 0, digits, &first);
        strbuf_add(e->out, ";\n");
    }
}

/* ---- memory ---- */

static const struct index_expr *here(struct cg_emitter *e, const struct index_expr *x)
{
    return index_substitute(e->scratch, x, e->fixed, e->p->n_nodes);
}

static const struct index_expr *at_lane(struct cg_emitter *e, const struct index_expr *x, int64_t lane)
{
    const struct index_expr *kept = e->fixed[e->lane->id];
    e->fixed[e->lane->id] = index_constant(e->scratch, lane);
    x = here(e, x);
    e->fixed[e->lane->id] = kept;
    return x;
}

static enum scalar_type memory_type(const struct cg_emitter *e, const struct cg_access *x)
{
    const struct backbone *bb = e->p->bb;
    return x->buffer != BB_NONE ? bb->buffers[x->buffer].type : bb->regions[x->region].type;
}

/* "A[16 * k0 + m3]"; "alpha" of a scalar that is passed by value. */
static const char *element_text(struct cg_emitter *e, const struct cg_access *x,
                                const struct index_expr *offset)
{
    struct strbuf b = {0};
    if (x->buffer != BB_NONE && e->p->bb->buffers[x->buffer].by_value) return e->names->buffer[x->buffer];
    strbuf_add(&b, x->buffer != BB_NONE ? e->names->buffer[x->buffer] : e->names->region[x->region]);
    strbuf_add(&b, "[");
    index_print(offset, index_fits_int(offset) ? e->names->node : e->names->wide, &b);
    strbuf_add(&b, "]");
    return keep(e, &b);
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
    return CG_TEXT(e, format, space, type_text(e, memory_type(e, x), e->lane->size), element);
}

/* Elements between the lanes of an access; INT64_MIN if it is not affine in the lane. */
static int64_t lane_stride(const struct cg_emitter *e, const struct index_expr *offset)
{
    int affine = 0;
    int64_t stride = index_stride(offset, e->lane->id, &affine);
    return affine ? stride : INT64_MIN;
}

static const char *read_element(struct cg_emitter *e, const struct cg_access *x,
                                const struct index_expr *offset)
{
    const char *element = element_text(e, x, offset);
    return x->streaming ? CG_TEXT(e, e->dialect->stream_load, CG_TEXT(e, "&$1", element)) : element;
}

/* `yes` where the guards hold at this point of the unrolled code, `no` elsewhere. */
static const char *choice_text(struct cg_emitter *e, const struct index_guard *guards, unsigned n,
                               const char *yes, const char *no)
{
    guards = guard_substitute(e->scratch, guards, &n, e->fixed, e->p->n_nodes);
    enum guard_verdict verdict = guard_prove(guards, n);
    if (verdict != GUARD_OPEN) return verdict == GUARD_TRUE ? yes : no;
    struct strbuf b = {0};
    guard_print(guards, n, e->names->node, e->names->wide, &b);
    return arena_printf(e->scratch, "(%s ? %s : %s)", keep(e, &b), yes, no);
}

static const char *constant_text(struct cg_emitter *e, enum scalar_type type, double c, bool vector);

/* One element that is loaded, at a lane or, if it is negative, at none. */
static const char *load_element(struct cg_emitter *e, const struct cg_access *x, int64_t lane)
{
    const struct index_expr *kept = NULL;
    if (lane >= 0) {
        kept = e->fixed[e->lane->id];
        e->fixed[e->lane->id] = index_constant(e->scratch, lane);
    }
    const char *text = read_element(e, x, here(e, x->offset));
    if (x->n_guards)
        text = choice_text(e, x->guards, x->n_guards, text,
                           constant_text(e, memory_type(e, x), x->otherwise, false));
    if (lane >= 0) e->fixed[e->lane->id] = kept;
    return text;
}

static const char *load_vector(struct cg_emitter *e, const struct cg_access *x)
{
    const struct cg_dialect *d = e->dialect;
    const struct index_expr *first = at_lane(e, x->offset, 0);
    const char *element = element_text(e, x, first);
    if (!is_aligned(e, first)) return CG_TEXT(e, d->load_vector, cg_number(e, e->lane->size), element);
    const char *pointer = pointer_text(e, x, d->input_pointer, element);
    return CG_TEXT(e, x->streaming ? d->stream_load : "*$1", pointer);
}

static const char *load_text(struct cg_emitter *e, const struct cg_access *x, bool vector)
{
    if (!vector) return load_element(e, x, -1);
    if (lane_stride(e, x->offset) == 1 && !guard_mentions(x->guards, x->n_guards, e->lane->id)) {
        const char *text = load_vector(e, x);
        return x->n_guards ? choice_text(e, x->guards, x->n_guards, text,
                                         constant_text(e, memory_type(e, x), x->otherwise, true))
                           : text;
    }
    const char *parts[CG_MAX_WIDTH];
    for (int64_t i = 0; i < e->lane->size; i++)
        parts[i] = load_element(e, x, i);
    return pack(e, memory_type(e, x), parts);
}

static void write_element(struct cg_emitter *e, const struct cg_access *x, const struct index_expr *offset,
                          const char *value)
{
    const char *element = element_text(e, x, offset);
    if (x->streaming)
        cg_fill(e->out, e->dialect->stream_store, (const char *const[]){CG_TEXT(e, "&$1", element), value});
    else
        cg_fill(e->out, "$1 = $2", (const char *const[]){element, value});
    strbuf_add(e->out, ";\n");
}

static void emit_store(struct cg_emitter *e, const struct cg_access *x, const char *value, bool vector)
{
    if (!vector) {
        write_element(e, x, here(e, x->offset), value);
        return;
    }
    const struct cg_dialect *d = e->dialect;
    const struct index_expr *first = at_lane(e, x->offset, 0);
    const char *element = element_text(e, x, first);
    if (is_aligned(e, first)) {
        const char *const parts[] = {pointer_text(e, x, d->output_pointer, element), value};
        cg_fill(e->out, x->streaming ? d->stream_store : "*$1 = $2", parts);
    } else {
        const char *const parts[] = {cg_number(e, e->lane->size), value, element};
        cg_fill(e->out, d->store_vector, parts);
    }
    strbuf_add(e->out, ";\n");
}

/* A store whose lanes are not neighbours: one statement each. */
static void emit_scatter(struct cg_emitter *e, const struct cg_access *x, const struct cg_operand *value,
                         unsigned part)
{
    for (int64_t i = 0; i < e->lane->size; i++) {
        if (i) strbuf_indent(e->out, e->indent);
        write_element(e, x, at_lane(e, x->offset, i), operand_scalar(e, value, part, i));
    }
}

/* ---- arithmetic ---- */

/* The number without its type: "3", "-0.5", "INFINITY". */
static const char *number_text(struct cg_emitter *e, enum scalar_type type, double c)
{
    const struct cg_dialect *d = e->dialect;
    if (isnan(c)) return d->nan;
    if (isinf(c)) return c > 0 ? d->infinity : CG_TEXT(e, "-$1", d->infinity);
    if (type == SCALAR_INT || type == SCALAR_BOOL) return cg_number(e, (int64_t)c);
    const char *text = arena_printf(e->scratch, type == SCALAR_DOUBLE ? "%.17g" : "%.9g", c);
    if (!strpbrk(text, ".e")) text = CG_TEXT(e, "$1.0", text);
    return CG_TEXT(e, d->types[type].literal, text);
}

/* A sign stands in parentheses: "--" would be a decrement. */
static const char *constant_text(struct cg_emitter *e, enum scalar_type type, double c, bool vector)
{
    const char *text = number_text(e, type, c);
    if (text[0] == '-') text = CG_TEXT(e, "($1)", text);
    text = CG_TEXT(e, e->dialect->types[type].constant, text);
    return vector ? CG_TEXT(e, e->dialect->broadcast, type_text(e, type, e->lane->size), text) : text;
}

/* An operation over operands of which the last one has the node's type. */
static const char *operation_text(struct cg_emitter *e, const struct bb_node *n, const char **operands,
                                  bool vector)
{
    const struct cg_dialect *d = e->dialect;
    const char *format = vector ? d->vector_operations[n->op] : NULL;
    const char *parts[9] = {[7] = d->types[n->type].mask, [8] = vector ? cg_number(e, e->lane->size) : ""};
    if (!format && n->type == SCALAR_INT) format = d->int_operations[n->op];
    if (!format) format = d->operations[n->op];
    for (unsigned i = 0; i < scalar_op_arity(n->op); i++)
        parts[i] = operands[i];
    return cg_text(e, format, parts);
}

/* "(i * 4 + 3)", an int */
static const char *index_text(struct cg_emitter *e, const struct index_expr *x, enum scalar_type type,
                              bool vector)
{
    struct strbuf b = {0};
    x = here(e, x);
    index_print(x, index_fits_int(x) ? e->names->node : e->names->wide, &b);
    const char *text = CG_TEXT(e, "($1)", keep(e, &b));
    return vector ? CG_TEXT(e, e->dialect->broadcast, type_text(e, type, e->lane->size), text) : text;
}

/* The texts of an instruction's expressions, one for each part: of all lanes, of one, or (lane < 0) outside
 * of vectors. */
static const char **nodes_texts(struct cg_emitter *e, uint32_t inst, bool vector, int64_t lane)
{
    const struct bb_inst *in = &e->p->bb->insts[inst];
    const char **stack = ARENA_ARRAY(e->scratch, const char *, in->n_nodes);
    unsigned top = 0;
    for (unsigned i = 0; i < in->n_nodes; i++) {
        const struct bb_node *n = &e->p->expression[inst][i];
        const struct cg_operand *x = n->kind == BB_NODE_OPERAND ? &e->p->operands[inst][n->operand] : NULL;
        if (x)
            stack[top++] =
                lane < 0 ? operand_text(e, x, n->part, vector) : operand_scalar(e, x, n->part, lane);
        else if (n->kind == BB_NODE_CONST)
            stack[top++] = constant_text(e, n->type, n->value, vector);
        else if (n->kind == BB_NODE_INDEX)
            stack[top++] = index_text(e, n->index, n->type, vector);
        else if (n->kind == BB_NODE_SELECT) {
            top--;
            stack[top - 1] = choice_text(e, n->guards, n->n_guards, stack[top - 1], stack[top]);
        } else {
            top -= scalar_op_arity(n->op);
            stack[top] = operation_text(e, n, stack + top, vector);
            top++;
        }
    }
    return stack;
}

/* Whether an index or a guard in the expression differs between lanes: then each lane is written by itself.
 */
static bool differs_by_lane(const struct cg_emitter *e, uint32_t inst)
{
    for (unsigned i = 0; i < e->p->bb->insts[inst].n_nodes; i++)
        if (bb_node_mentions(&e->p->expression[inst][i], e->lane->id)) return true;
    return false;
}

static const char **texts_by_lane(struct cg_emitter *e, uint32_t inst)
{
    const struct bb_inst *in = &e->p->bb->insts[inst];
    const char **lanes[CG_MAX_WIDTH], *parts[CG_MAX_WIDTH];
    const char **packed = ARENA_ARRAY(e->scratch, const char *, bb_parts(in));
    for (int64_t i = 0; i < e->lane->size; i++) {
        const struct index_expr *kept = e->fixed[e->lane->id];
        e->fixed[e->lane->id] = index_constant(e->scratch, i);
        lanes[i] = nodes_texts(e, inst, false, i);
        e->fixed[e->lane->id] = kept;
    }
    for (unsigned p = 0; p < bb_parts(in); p++) {
        for (int64_t i = 0; i < e->lane->size; i++)
            parts[i] = lanes[i][p];
        packed[p] = pack(e, bb_part_type(in, p), parts);
    }
    return packed;
}

/* The texts of an instruction's expressions, one for each part. */
static const char **expression_texts(struct cg_emitter *e, uint32_t inst, bool vector)
{
    if (!e->p->bb->insts[inst].n_nodes) {
        const char *text = operand_text(e, &e->p->operands[inst][0], 0, vector);
        return arena_memdup(e->scratch, &text, sizeof text);
    }
    return vector && differs_by_lane(e, inst) ? texts_by_lane(e, inst) : nodes_texts(e, inst, vector, -1);
}

static const char *expression_text(struct cg_emitter *e, uint32_t inst, bool vector)
{
    return expression_texts(e, inst, vector)[0];
}

/* ---- statements ---- */

/* "get_local_id(0) == 0 && get_group_id(1) == 0" */
static const char *condition_text(struct cg_emitter *e, const struct cg_node *n)
{
    struct strbuf b = {0};
    const char *separator = "";
    for (unsigned i = 0; i < 2 * CG_AXES; i++) {
        unsigned axis = i / 2;
        enum bb_dim_kind kind = i % 2 ? cg_group_kind(e->p) : BB_THREAD;
        unsigned guards = i % 2 ? n->guard_group : n->guard_local;
        if (!(guards >> axis & 1u)) continue;
        strbuf_printf(&b, "%s%s == 0", separator, cg_id_text(e, kind, axis));
        separator = " && ";
    }
    return keep(e, &b);
}

/* The value of a guarded load that is not executed is never used. */
static const char *guarded_load_text(struct cg_emitter *e, uint32_t inst, bool vector)
{
    const struct cg_node *n = e->p->inst_node[inst];
    const char *loaded = load_text(e, &e->p->access[inst], vector);
    if (!cg_is_guarded(e->p, n)) return loaded;
    return CG_TEXT(e, "$1 ? $2 : $3", condition_text(e, n), loaded,
                   constant_text(e, e->p->bb->insts[inst].type, 0, vector));
}

/* Which scalar of its operand a store writes. */
static unsigned stored_part(const struct bb_inst *store)
{
    return store->n_nodes ? store->nodes[0].part : 0;
}

static void emit_memory_write(struct cg_emitter *e, const struct cg_node *n, bool vector)
{
    const struct cg_access *x = &e->p->access[n->statement];
    if (cg_is_guarded(e->p, n)) strbuf_printf(e->out, "if (%s) ", condition_text(e, n));
    if (!vector || lane_stride(e, x->offset) == 1) {
        emit_store(e, x, expression_text(e, n->statement, vector), vector);
        return;
    }
    bool braces = cg_is_guarded(e->p, n);
    if (braces) strbuf_add(e->out, "{ ");
    emit_scatter(e, x, &e->p->operands[n->statement][0], stored_part(&e->p->bb->insts[n->statement]));
    if (braces) strbuf_indent(e->out, e->indent), strbuf_add(e->out, "}\n");
}

/* A variable for the result of a part, before it is assigned. */
static const char *result_name(struct cg_emitter *e, const struct bb_inst *in, unsigned part)
{
    return in->n_more ? arena_printf(e->scratch, CG_NEXT "%c", 'a' + (int)part) : "lanes";
}

static void assign_result(struct cg_emitter *e, const struct cg_operand *target, unsigned part,
                          const char *result, bool vector)
{
    bool spread = vector && !is_whole_vector(e, target);
    for (int64_t i = 0; i < (spread ? e->lane->size : 1); i++) {
        strbuf_indent(e->out, e->indent);
        if (spread)
            strbuf_printf(e->out, "%s = %s;\n", operand_scalar(e, target, part, i),
                          component_text(e, result, i));
        else
            strbuf_printf(e->out, "%s = %s;\n", operand_text(e, target, part, vector), result);
    }
}

/* Computes results in variables of their own before it assigns them: the parts of a tuple read each other,
 * and lanes that go to an array of scalars, or to components of another vector, are taken apart. (An
 * assignment to a list of scalars would need the list to be an lvalue.) */
static void emit_results(struct cg_emitter *e, uint32_t inst, const struct cg_operand *target, bool vector)
{
    const struct bb_inst *in = &e->p->bb->insts[inst];
    const char *const *texts = expression_texts(e, inst, vector);
    strbuf_add(e->out, "{\n");
    e->indent++;
    for (unsigned part = 0; part < bb_parts(in); part++) {
        strbuf_indent(e->out, e->indent);
        strbuf_printf(e->out, "const %s %s = %s;\n",
                      type_text(e, bb_part_type(in, part), vector ? e->lane->size : 1),
                      result_name(e, in, part), texts[part]);
    }
    for (unsigned part = 0; part < bb_parts(in); part++)
        assign_result(e, target, part, result_name(e, in, part), vector);
    strbuf_indent(e->out, --e->indent);
    strbuf_add(e->out, "}\n");
}

/* "acc = ...;", or "const float x_load = ...;" where it is declared here. */
static void assign_part(struct cg_emitter *e, uint32_t inst, const struct cg_operand *target, unsigned part,
                        bool vector)
{
    const struct bb_inst *in = &e->p->bb->insts[inst];
    const struct cg_value *v = &e->p->values[inst];
    const struct cg_access *x = &e->p->access[inst];
    if (part) strbuf_indent(e->out, e->indent);
    if (in->kind != BB_STEP && v->declared_inline)
        strbuf_printf(e->out, "%s%s ", in->kind == BB_INIT ? "" : "const ",
                      type_text(e, bb_part_type(in, part), width_of(v)));
    strbuf_printf(e->out, "%s = %s;\n", operand_text(e, target, part, vector),
                  x->offset ? guarded_load_text(e, inst, vector) : expression_texts(e, inst, vector)[part]);
}

static void emit_assignment(struct cg_emitter *e, uint32_t inst, bool vector)
{
    const struct bb_inst *in = &e->p->bb->insts[inst];
    const struct cg_value *v = &e->p->values[inst];
    const struct cg_operand own = {v, v->axes};
    const struct cg_operand *target = in->kind == BB_STEP ? &e->p->operands[inst][0] : &own;
    bool tuple_step = in->kind == BB_STEP && in->n_more;
    if (tuple_step || (vector && !is_whole_vector(e, target))) {
        emit_results(e, inst, target, vector);
        return;
    }
    for (unsigned part = 0; part < bb_parts(in); part++)
        assign_part(e, inst, target, part, vector);
}

void cg_emit_statement(struct cg_emitter *e, const struct cg_node *n)
{
    enum bb_inst_kind kind = e->p->bb->insts[n->statement].kind;
    bool vector = e->lane && cg_owns(e->p, n->statement, e->lane);
    strbuf_indent(e->out, e->indent);
    if (kind == BB_STORE || kind == BB_COPY_STORE)
        emit_memory_write(e, n, vector);
    else
        emit_assignment(e, n->statement, vector);
}
