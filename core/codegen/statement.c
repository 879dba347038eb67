/* The text of one instruction: registers, memory accesses, arithmetic; scalar or over the lanes of a VECTOR
 * dimension. A load of four lanes n in OpenCL C, by the index of the access:
 *
 *     x[4 * i + n]       *(const __global float4 *)&x[4 * i]             stride 1, aligned
 *     x[5 * i + n]       vload4(0, &x[5 * i])                            stride 1
 *     x[8 * n + i]       (float4)(x[i], x[8 + i], x[16 + i], x[24 + i])  another stride
 *     x[i]               (float4)(x[i])                                  stride 0: the same in each lane
 *
 * An access is aligned if the constant and all coefficients but the lane's are multiples of the width. Values
 * that are made by lanes and read one by one, or the other way round, are unpacked and packed alike. */
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

/* The register (of digits[a] on axis a); if component, the scalar in it when it is a vector. */
static const char *register_text(struct cg_emitter *e, const struct cg_value *v, const int64_t *digits,
                                 bool component)
{
    struct strbuf b = {0};
    int64_t lane = 0;
    strbuf_add(&b, e->names->value[v->inst]);
    for (unsigned a = 0; a < v->n_axes; a++) {
        if (v->axes[a] == v->vector)
            lane = digits[a];
        else
            strbuf_printf(&b, "_%lld", (long long)digits[a]);
    }
    const char *text = keep(e, &b);
    return component && v->vector ? component_text(e, text, lane) : text;
}

static const char *operand_scalar(struct cg_emitter *e, const struct cg_operand *x, int64_t lane)
{
    int64_t digits[BB_MAX_LOGICALS * BB_MAX_LEVELS];
    for (unsigned a = 0; a < x->value->n_axes; a++)
        digits[a] = x->digits[a] == e->lane ? lane : e->digit[x->digits[a]->id];
    return register_text(e, x->value, digits, true);
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

static const char *operand_text(struct cg_emitter *e, const struct cg_operand *x, bool vector)
{
    if (!vector) return operand_scalar(e, x, 0);
    if (is_whole_vector(e, x)) {
        int64_t digits[BB_MAX_LOGICALS * BB_MAX_LEVELS];
        for (unsigned a = 0; a < x->value->n_axes; a++)
            digits[a] = e->digit[x->digits[a]->id];
        return register_text(e, x->value, digits, false);
    }
    const char *parts[CG_MAX_WIDTH];
    for (int64_t i = 0; i < e->lane->size; i++)
        parts[i] = operand_scalar(e, x, i);
    return pack(e, e->p->bb->insts[x->value->inst].type, parts);
}

static void declare(struct cg_emitter *e, const struct cg_value *v, unsigned axis, int64_t *digits,
                    bool *first)
{
    if (axis < v->n_axes) {
        bool vector = v->axes[axis] == v->vector;
        for (digits[axis] = 0; digits[axis] < (vector ? 1 : v->axes[axis]->size); digits[axis]++)
            declare(e, v, axis + 1, digits, first);
        return;
    }
    strbuf_printf(e->out, "%s%s", *first ? " " : ", ", register_text(e, v, digits, false));
    *first = false;
}

void cg_emit_declaration(struct cg_emitter *e, const struct cg_value *v)
{
    int64_t digits[BB_MAX_LOGICALS * BB_MAX_LEVELS];
    bool first = true;
    strbuf_indent(e->out, e->indent);
    strbuf_add(e->out, type_text(e, e->p->bb->insts[v->inst].type, width_of(v)));
    declare(e, v, 0, digits, &first);
    strbuf_add(e->out, ";\n");
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

/* "A[16 * k0 + m3]" */
static const char *element_text(struct cg_emitter *e, const struct cg_access *x,
                                const struct index_expr *offset)
{
    struct strbuf b = {0};
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

static const char *load_text(struct cg_emitter *e, const struct cg_access *x, bool vector)
{
    if (!vector) return read_element(e, x, here(e, x->offset));
    const struct cg_dialect *d = e->dialect;
    const struct index_expr *first = at_lane(e, x->offset, 0);
    if (lane_stride(e, x->offset) != 1) {
        const char *parts[CG_MAX_WIDTH];
        for (int64_t i = 0; i < e->lane->size; i++)
            parts[i] = read_element(e, x, at_lane(e, x->offset, i));
        return pack(e, memory_type(e, x), parts);
    }
    const char *element = element_text(e, x, first);
    if (!is_aligned(e, first)) return CG_TEXT(e, d->load_vector, cg_number(e, e->lane->size), element);
    const char *pointer = pointer_text(e, x, d->input_pointer, element);
    return CG_TEXT(e, x->streaming ? d->stream_load : "*$1", pointer);
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
static void emit_scatter(struct cg_emitter *e, const struct cg_access *x, const struct cg_operand *value)
{
    for (int64_t i = 0; i < e->lane->size; i++) {
        if (i) strbuf_indent(e->out, e->indent);
        write_element(e, x, at_lane(e, x->offset, i), operand_scalar(e, value, i));
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

static const char *expression_text(struct cg_emitter *e, uint32_t inst, bool vector)
{
    const struct bb_inst *in = &e->p->bb->insts[inst];
    if (!in->n_nodes) return operand_text(e, &e->p->operands[inst][0], vector);
    const char **stack = ARENA_ARRAY(e->scratch, const char *, in->n_nodes);
    unsigned top = 0;
    for (unsigned i = 0; i < in->n_nodes; i++) {
        const struct bb_node *n = &in->nodes[i];
        if (n->kind == BB_NODE_OPERAND)
            stack[top++] = operand_text(e, &e->p->operands[inst][n->operand], vector);
        else if (n->kind == BB_NODE_CONST)
            stack[top++] = constant_text(e, in->type, n->value, vector);
        else {
            top -= scalar_op_arity(n->op);
            stack[top] = cg_text(e, e->dialect->operations[n->op], stack + top);
            top++;
        }
    }
    return stack[0];
}

/* ---- statements ---- */

/* "if (get_local_id(0) == 0 && get_group_id(1) == 0) " */
static void emit_guard(struct cg_emitter *e, const struct cg_node *n)
{
    const char *separator = "if (";
    for (unsigned i = 0; i < 2 * CG_AXES; i++) {
        unsigned axis = i / 2;
        enum bb_dim_kind kind = i % 2 ? cg_group_kind(e->p) : BB_THREAD;
        unsigned guards = i % 2 ? n->guard_group : n->guard_local;
        if (!(guards >> axis & 1u)) continue;
        strbuf_printf(e->out, "%s%s == 0", separator, cg_id_text(e, kind, axis));
        separator = " && ";
    }
    if (cg_is_guarded(e->p, n)) strbuf_add(e->out, ") ");
}

static void emit_memory_write(struct cg_emitter *e, const struct cg_node *n, bool vector)
{
    const struct cg_access *x = &e->p->access[n->statement];
    emit_guard(e, n);
    if (!vector || lane_stride(e, x->offset) == 1) {
        emit_store(e, x, expression_text(e, n->statement, vector), vector);
        return;
    }
    bool braces = cg_is_guarded(e->p, n);
    if (braces) strbuf_add(e->out, "{ ");
    emit_scatter(e, x, &e->p->operands[n->statement][0]);
    if (braces) strbuf_indent(e->out, e->indent), strbuf_add(e->out, "}\n");
}

/* Lanes that go to an array of scalars, or to components of another vector, are computed in a vector of their
 * own and taken apart. (An assignment to a list of scalars would need the list to be an lvalue.) */
static void emit_spread(struct cg_emitter *e, uint32_t inst, const struct cg_operand *target)
{
    const char *type = type_text(e, e->p->bb->insts[inst].type, e->lane->size);
    strbuf_printf(e->out, "{\n");
    strbuf_indent(e->out, e->indent + 1);
    strbuf_printf(e->out, "const %s lanes = %s;\n", type, expression_text(e, inst, true));
    for (int64_t i = 0; i < e->lane->size; i++) {
        strbuf_indent(e->out, e->indent + 1);
        strbuf_printf(e->out, "%s = %s;\n", operand_scalar(e, target, i), component_text(e, "lanes", i));
    }
    strbuf_indent(e->out, e->indent);
    strbuf_add(e->out, "}\n");
}

static void emit_assignment(struct cg_emitter *e, uint32_t inst, bool vector)
{
    const struct bb_inst *in = &e->p->bb->insts[inst];
    const struct cg_value *v = &e->p->values[inst];
    const struct cg_operand own = {v, v->axes};
    const struct cg_operand *target = in->kind == BB_STEP ? &e->p->operands[inst][0] : &own;
    const struct cg_access *x = &e->p->access[inst];
    if (vector && !is_whole_vector(e, target)) {
        emit_spread(e, inst, target);
        return;
    }
    if (in->kind != BB_STEP && v->declared_inline)
        strbuf_printf(e->out, "%s%s ", in->kind == BB_INIT ? "" : "const ",
                      type_text(e, in->type, width_of(v)));
    strbuf_printf(e->out, "%s = %s;\n", operand_text(e, target, vector),
                  x->offset ? load_text(e, x, vector) : expression_text(e, inst, vector));
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
