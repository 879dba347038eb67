/* The text of one instruction: registers, memory accesses, arithmetic; scalar or over the lanes of a VECTOR
 * dimension.
 *
 * A vector access needs stride 1 along the lane and is aligned if all other coefficients and the constant of
 * its index are multiples of the width: then it goes through a vector pointer, else through vload and vstore.
 * Other strides take component by component; stride 0 is a broadcast. Values that cross between VECTOR and
 * UNROLL are packed and unpacked. */
#include "core/codegen/emit.h"

#include <math.h>
#include <string.h>

#include "core/base/arena.h"

static int64_t width_of(const struct cg_value *v)
{
    return v->vector ? v->vector->size : 1;
}

const char *cg_type_text(struct cg_emitter *e, enum scalar_type type, int64_t width)
{
    if (width <= 1) return scalar_type_name(type);
    return arena_printf(e->scratch, "%s%lld", scalar_type_name(type), (long long)width);
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
    if (component && v->vector) strbuf_printf(&b, ".s%llx", (long long)lane);
    const char *text = arena_strdup(e->scratch, b.text);
    strbuf_free(&b);
    return text;
}

static const char *operand_scalar(struct cg_emitter *e, const struct cg_operand *x, int64_t lane)
{
    int64_t digits[BB_MAX_LOGICALS * BB_MAX_LEVELS];
    for (unsigned a = 0; a < x->value->n_axes; a++)
        digits[a] = x->digits[a] == e->lane ? lane : e->digit[x->digits[a]->id];
    return register_text(e, x->value, digits, true);
}

/* "(float4)(a, b, c, d)" of part(i), or of part(0) alone if all are the same text. */
static const char *pack(struct cg_emitter *e, enum scalar_type type, const char *const *parts)
{
    int64_t width = e->lane->size;
    bool same = true;
    for (int64_t i = 1; i < width; i++)
        same &= !strcmp(parts[i], parts[0]);
    struct strbuf b = {0};
    strbuf_printf(&b, "(%s)(%s", cg_type_text(e, type, width), parts[0]);
    for (int64_t i = 1; i < width && !same; i++)
        strbuf_printf(&b, ", %s", parts[i]);
    strbuf_add(&b, ")");
    const char *text = arena_strdup(e->scratch, b.text);
    strbuf_free(&b);
    return text;
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
    const char *parts[16];
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
    strbuf_add(e->out, cg_type_text(e, e->p->bb->insts[v->inst].type, width_of(v)));
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
    const char *text = arena_strdup(e->scratch, b.text);
    strbuf_free(&b);
    return text;
}

static bool is_aligned(const struct cg_emitter *e, const struct index_expr *offset)
{
    int64_t width = e->lane->size;
    bool aligned = e->p->options.aligned_vectors && offset->constant % width == 0;
    for (unsigned i = 0; i < offset->n_terms; i++)
        aligned &= offset->terms[i].coefficient % width == 0;
    return aligned;
}

static const char *space_text(const struct cg_emitter *e, const struct cg_access *x)
{
    bool local = x->region != BB_NONE && e->p->regions[x->region].space == BB_MEM_LOCAL;
    return local ? "__local" : "__global";
}

/* Elements between the lanes of an access; INT64_MIN if it is not affine in the lane. */
static int64_t lane_stride(const struct cg_emitter *e, const struct index_expr *offset)
{
    int affine = 0;
    int64_t stride = index_stride(offset, e->lane->id, &affine);
    return affine ? stride : INT64_MIN;
}

/* Reads what a pointer of the text points at. */
static const char *read_text(struct cg_emitter *e, const struct cg_access *x, const char *pointer)
{
    return arena_printf(e->scratch, x->streaming ? "__builtin_nontemporal_load(%s)" : "*%s", pointer);
}

static const char *read_element(struct cg_emitter *e, const struct cg_access *x,
                                const struct index_expr *offset)
{
    const char *element = element_text(e, x, offset);
    return x->streaming ? read_text(e, x, arena_printf(e->scratch, "&%s", element)) : element;
}

static const char *load_text(struct cg_emitter *e, const struct cg_access *x, bool vector)
{
    if (!vector) return read_element(e, x, here(e, x->offset));
    enum scalar_type type = memory_type(e, x);
    const struct index_expr *first = at_lane(e, x->offset, 0);
    if (lane_stride(e, x->offset) != 1) {
        const char *parts[16];
        for (int64_t i = 0; i < e->lane->size; i++)
            parts[i] = read_element(e, x, at_lane(e, x->offset, i));
        return pack(e, type, parts);
    }
    const char *element = element_text(e, x, first), *vtype = cg_type_text(e, type, e->lane->size);
    if (is_aligned(e, first))
        return read_text(e, x,
                         arena_printf(e->scratch, "(const %s %s *)&%s", space_text(e, x), vtype, element));
    return arena_printf(e->scratch, "vload%lld(0, &%s)", (long long)e->lane->size, element);
}

static void write_element(struct cg_emitter *e, const struct cg_access *x, const struct index_expr *offset,
                          const char *value)
{
    const char *element = element_text(e, x, offset);
    if (x->streaming)
        strbuf_printf(e->out, "__builtin_nontemporal_store(%s, &%s);\n", value, element);
    else
        strbuf_printf(e->out, "%s = %s;\n", element, value);
}

static void emit_store(struct cg_emitter *e, const struct cg_access *x, const char *value, bool vector)
{
    if (!vector) {
        write_element(e, x, here(e, x->offset), value);
        return;
    }
    const struct index_expr *first = at_lane(e, x->offset, 0);
    const char *element = element_text(e, x, first);
    const char *type = cg_type_text(e, memory_type(e, x), e->lane->size);
    if (is_aligned(e, first) && x->streaming)
        strbuf_printf(e->out, "__builtin_nontemporal_store(%s, (%s %s *)&%s);\n", value, space_text(e, x),
                      type, element);
    else if (is_aligned(e, first))
        strbuf_printf(e->out, "*(%s %s *)&%s = %s;\n", space_text(e, x), type, element, value);
    else
        strbuf_printf(e->out, "vstore%lld(%s, 0, &%s);\n", (long long)e->lane->size, value, element);
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

static const char *number_text(struct cg_emitter *e, enum scalar_type type, double c)
{
    if (isnan(c)) return "NAN";
    if (isinf(c)) return c > 0 ? "INFINITY" : "-INFINITY";
    if (type == SCALAR_INT || type == SCALAR_BOOL) return arena_printf(e->scratch, "%lld", (long long)c);
    const char *text = arena_printf(e->scratch, type == SCALAR_DOUBLE ? "%.17g" : "%.9g", c);
    if (!strpbrk(text, ".e")) text = arena_printf(e->scratch, "%s.0", text);
    return type == SCALAR_DOUBLE ? text : arena_printf(e->scratch, "%sf", text);
}

/* A float beside a half makes calls of functions ambiguous; a sign before another makes a decrement. */
static const char *constant_text(struct cg_emitter *e, enum scalar_type type, double c, bool vector)
{
    const char *text = number_text(e, type, c);
    if (text[0] == '-') text = arena_printf(e->scratch, "(%s)", text);
    if (type == SCALAR_HALF) text = arena_printf(e->scratch, "(half)%s", text);
    return vector ? arena_printf(e->scratch, "(%s)(%s)", cg_type_text(e, type, e->lane->size), text) : text;
}

/* Fills $1 $2 $3 of an operation's format. */
static const char *apply_text(struct cg_emitter *e, enum scalar_op op, const char *const *args)
{
    struct strbuf b = {0};
    for (const char *f = scalar_op_format(op); *f; f++) {
        if (*f == '$' && f[1] >= '1' && f[1] <= '3')
            strbuf_add(&b, args[*++f - '1']);
        else
            strbuf_addn(&b, f, 1);
    }
    const char *text = arena_strdup(e->scratch, b.text);
    strbuf_free(&b);
    return text;
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
            stack[top] = apply_text(e, n->op, stack + top);
            top++;
        }
    }
    return stack[0];
}

/* ---- statements ---- */

static void emit_guard(struct cg_emitter *e, const struct cg_node *n)
{
    const char *group_id = e->p->global_ids ? "get_global_id" : "get_group_id", *sep = "if (";
    for (unsigned g = 0; g < CG_AXES; g++) {
        if (n->guard_local >> g & 1u) strbuf_printf(e->out, "%sget_local_id(%u) == 0", sep, g), sep = " && ";
        if (n->guard_group >> g & 1u) strbuf_printf(e->out, "%s%s(%u) == 0", sep, group_id, g), sep = " && ";
    }
    if (n->guard_local || n->guard_group) strbuf_add(e->out, ") ");
}

static void emit_memory_write(struct cg_emitter *e, const struct cg_node *n, bool vector)
{
    const struct cg_access *x = &e->p->access[n->statement];
    emit_guard(e, n);
    if (!vector || lane_stride(e, x->offset) == 1) {
        emit_store(e, x, expression_text(e, n->statement, vector), vector);
        return;
    }
    bool braces = n->guard_local || n->guard_group;
    if (braces) strbuf_add(e->out, "{ ");
    emit_scatter(e, x, &e->p->operands[n->statement][0]);
    if (braces) strbuf_indent(e->out, e->indent), strbuf_add(e->out, "}\n");
}

/* Lanes that go to an array of scalars (or to another vector's components) are computed in a vector of their
 * own and taken apart. A vector literal is no lvalue; PoCL drops stores to one. */
static void emit_spread(struct cg_emitter *e, uint32_t inst, const struct cg_operand *target)
{
    const char *type = cg_type_text(e, e->p->bb->insts[inst].type, e->lane->size);
    strbuf_printf(e->out, "{\n");
    strbuf_indent(e->out, e->indent + 1);
    strbuf_printf(e->out, "const %s lanes = %s;\n", type, expression_text(e, inst, true));
    for (int64_t i = 0; i < e->lane->size; i++) {
        strbuf_indent(e->out, e->indent + 1);
        strbuf_printf(e->out, "%s = lanes.s%llx;\n", operand_scalar(e, target, i), (long long)i);
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
                      cg_type_text(e, in->type, width_of(v)));
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
