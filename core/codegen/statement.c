/* The text of one instruction: registers and arithmetic; scalar or over the lanes of a VECTOR dimension. Its
 * accesses to memory are in access.c. An instruction over four lanes n in OpenCL C:
 *
 *     add = x_load + y_load                                  all of them are float4
 *     add = (float4)(x_load_0, x_load_1, ...) + y_load       x_load is made lane by lane
 *
 * Values that are made by lanes and read one by one are unpacked alike. */
#include "core/codegen/emit.h"

#include <math.h>
#include <string.h>

#include "core/base/arena.h"

/* The text of the buffer, in the scratch arena; frees the buffer. */
const char *cg_keep(struct cg_emitter *e, struct strbuf *b)
{
    const char *text = arena_strndup(e->scratch, b->text ? b->text : "", b->length);
    strbuf_free(b);
    return text;
}

const char *cg_text(struct cg_emitter *e, const char *format, const char *const *args)
{
    struct strbuf b = {0};
    cg_fill(&b, format, args);
    return cg_keep(e, &b);
}

const char *cg_number(struct cg_emitter *e, int64_t n)
{
    return arena_printf(e->scratch, "%lld", (long long)n);
}

/* "float", "float4" (width > 1). */
const char *cg_type_text(struct cg_emitter *e, enum scalar_type type, int64_t width)
{
    const char *scalar = cg_type_of(&e->p->target, type)->name;
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

/* The type of the variables of a part. */
static const char *variable_type(struct cg_emitter *e, const struct cg_value *v, unsigned part)
{
    if (v->direct) return e->dialect->direct_type;
    if (v->words) return e->dialect->half_words;
    return cg_type_text(e, bb_part_type(&e->p->bb->insts[v->inst], part), v->vector ? v->vector->size : 1);
}

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
        else if (!v->axes[a]->rolled)
            strbuf_printf(&b, "_%lld", (long long)digits[a]);
    }
    const char *text = cg_keep(e, &b);
    return component && v->vector ? component_text(e, text, lane) : text;
}

const char *cg_operand_scalar(struct cg_emitter *e, const struct cg_operand *x, unsigned part, int64_t lane)
{
    int64_t digits[BB_MAX_LOGICALS * BB_MAX_LEVELS];
    for (unsigned a = 0; a < x->value->n_axes; a++)
        digits[a] = x->digits[a] == e->lane ? lane : e->digit[x->digits[a]->id];
    return register_text(e, x->value, part, digits, true);
}

/* "(float4)(a, b, c, d)" of the parts, or "(float4)(a)" if all are the same text. */
const char *cg_pack(struct cg_emitter *e, enum scalar_type type, const char *const *parts)
{
    const char *vector = cg_type_text(e, type, e->lane->size);
    bool same = true;
    for (int64_t i = 1; i < e->lane->size; i++)
        same &= !strcmp(parts[i], parts[0]);
    if (same) return CG_TEXT(e, e->dialect->broadcast, vector, parts[0]);
    struct strbuf b = {0};
    for (int64_t i = 0; i < e->lane->size; i++) {
        if (i) strbuf_add(&b, ", ");
        strbuf_add(&b, parts[i]);
    }
    return CG_TEXT(e, e->dialect->pack, vector, cg_keep(e, &b));
}

static bool is_whole_vector(const struct cg_emitter *e, const struct cg_operand *x)
{
    for (unsigned a = 0; a < x->value->n_axes; a++)
        if (x->value->axes[a] == x->value->vector) return x->digits[a] == e->lane;
    return false;
}

static const char *operand_text(struct cg_emitter *e, const struct cg_operand *x, unsigned part, bool vector)
{
    if (!vector) return cg_operand_scalar(e, x, part, 0);
    if (is_whole_vector(e, x)) {
        int64_t digits[BB_MAX_LOGICALS * BB_MAX_LEVELS];
        for (unsigned a = 0; a < x->value->n_axes; a++)
            digits[a] = e->digit[x->digits[a]->id];
        return register_text(e, x->value, part, digits, false);
    }
    const char *parts[CG_MAX_WIDTH];
    for (int64_t i = 0; i < e->lane->size; i++)
        parts[i] = cg_operand_scalar(e, x, part, i);
    return cg_pack(e, part_type(e, x->value, part), parts);
}

/* Work-items whose indices are beyond an extent take part in combining what they have not made. */
static const char *start_text(struct cg_emitter *e, const struct cg_value *v, unsigned part)
{
    const struct bb_inst *in = &e->p->bb->insts[v->inst];
    if (in->kind != BB_INIT || !e->p->splits[in->partner]) return "";
    return CG_TEXT(e, " = $1", cg_constant_text(e, part_type(e, v, part), 0, false));
}

static void declare(struct cg_emitter *e, const struct cg_value *v, unsigned part, unsigned axis,
                    int64_t *digits, bool *first)
{
    if (axis < v->n_axes) {
        bool once = v->axes[axis] == v->vector || v->axes[axis]->rolled;
        for (digits[axis] = 0; digits[axis] < (once ? 1 : v->axes[axis]->size); digits[axis]++)
            declare(e, v, part, axis + 1, digits, first);
        return;
    }
    strbuf_printf(e->out, "%s%s%s", *first ? " " : ", ", register_text(e, v, part, digits, false),
                  start_text(e, v, part));
    *first = false;
}

void cg_emit_declaration(struct cg_emitter *e, const struct cg_value *v)
{
    int64_t digits[BB_MAX_LOGICALS * BB_MAX_LEVELS];
    for (unsigned part = 0; part < bb_parts(&e->p->bb->insts[v->inst]); part++) {
        bool first = true;
        strbuf_indent(e->out, e->indent);
        strbuf_add(e->out, variable_type(e, v, part));
        declare(e, v, part, 0, digits, &first);
        strbuf_add(e->out, ";\n");
    }
}

/* ---- arithmetic ---- */

/* The number without its type: "3", "-0.5", "INFINITY". The digits of the lowest int alone are a long. */
static const char *number_text(struct cg_emitter *e, enum scalar_type type, double c)
{
    const struct cg_dialect *d = e->dialect;
    if (isnan(c)) return d->nan;
    if (isinf(c)) return c > 0 ? d->infinity : CG_TEXT(e, "-$1", d->infinity);
    if (type == SCALAR_INT && c == INT32_MIN) return "-2147483647 - 1";
    if (type == SCALAR_INT || type == SCALAR_BOOL) return cg_number(e, (int64_t)c);
    const char *text = arena_printf(e->scratch, type == SCALAR_DOUBLE ? "%.17g" : "%.9g", c);
    if (!strpbrk(text, ".e")) text = CG_TEXT(e, "$1.0", text);
    return CG_TEXT(e, cg_type_of(&e->p->target, type)->literal, text);
}

/* A sign stands in parentheses: "--" would be a decrement. */
const char *cg_constant_text(struct cg_emitter *e, enum scalar_type type, double c, bool vector)
{
    const char *text = number_text(e, type, c);
    if (text[0] == '-') text = CG_TEXT(e, "($1)", text);
    text = CG_TEXT(e, cg_type_of(&e->p->target, type)->constant, text);
    return vector ? CG_TEXT(e, e->dialect->broadcast, cg_type_text(e, type, e->lane->size), text) : text;
}

/* An operation on half numbers that are bits: that on float. Sums, products, quotients and roots are as exact
 * as if they were rounded once; functions such as exp, and fma, are rounded twice. */
static const char *bits_operation_text(struct cg_emitter *e, const struct bb_node *n, const char **operands,
                                       bool vector)
{
    const struct bb_node on_float = {.kind = BB_NODE_OP, .type = SCALAR_FLOAT, .op = n->op};
    const char *width = vector ? cg_number(e, e->lane->size) : "", *floats[SCALAR_MAX_ARITY];
    for (unsigned i = 0; i < scalar_op_arity(n->op); i++)
        floats[i] = i < scalar_op_first(n->op) ? operands[i]
                                               : CG_TEXT(e, e->dialect->half_to_float, operands[i], width);
    const char *text = n->op == SCALAR_TO_FLOAT || n->op == SCALAR_TO_HALF
                           ? floats[0]
                           : cg_operation_text(e, &on_float, floats, vector);
    bool half = scalar_op_gives(n->op, SCALAR_HALF) == SCALAR_HALF;
    return half ? CG_TEXT(e, e->dialect->float_to_half, text, width) : text;
}

const char *cg_operation_text(struct cg_emitter *e, const struct bb_node *n, const char **operands,
                              bool vector)
{
    if (e->p->target.half_bits) {
        const struct bb_node to_float = {.kind = BB_NODE_OP, .type = n->type, .op = SCALAR_TO_FLOAT};
        if (n->type == SCALAR_HALF) return bits_operation_text(e, n, operands, vector);
        if (n->op == SCALAR_TO_HALF && n->type == SCALAR_DOUBLE)
            return CG_TEXT(e, e->dialect->double_to_half, operands[0],
                           vector ? cg_number(e, e->lane->size) : "");
        if (n->op == SCALAR_TO_HALF)
            return CG_TEXT(e, e->dialect->float_to_half, cg_operation_text(e, &to_float, operands, vector),
                           vector ? cg_number(e, e->lane->size) : "");
    }
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
    x = cg_here(e, x);
    index_print(x, index_fits_int(x) ? e->names->node : e->names->wide, &b);
    const char *text = CG_TEXT(e, "($1)", cg_keep(e, &b));
    return vector ? CG_TEXT(e, e->dialect->broadcast, cg_type_text(e, type, e->lane->size), text) : text;
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
                lane < 0 ? operand_text(e, x, n->part, vector) : cg_operand_scalar(e, x, n->part, lane);
        else if (n->kind == BB_NODE_CONST)
            stack[top++] = cg_constant_text(e, n->type, n->value, vector);
        else if (n->kind == BB_NODE_INDEX)
            stack[top++] = index_text(e, n->index, n->type, vector);
        else if (n->kind == BB_NODE_SELECT) {
            top--;
            stack[top - 1] = cg_choice_text(e, n->guards, n->n_guards, stack[top - 1], stack[top]);
        } else {
            top -= scalar_op_arity(n->op);
            stack[top] = cg_operation_text(e, n, stack + top, vector);
            top++;
        }
    }
    return stack;
}

void cg_name_data(struct cg_emitter *e, uint32_t inst, int64_t lane)
{
    const struct bb_inst *in = &e->p->bb->insts[inst];
    const char **texts = in->n_data ? nodes_texts(e, inst, false, lane) : NULL;
    for (unsigned k = 0; k < in->n_data; k++) {
        const char *text = texts[k];
        if (in->data[k].least) text = CG_TEXT(e, "($1 - $2)", text, cg_number(e, in->data[k].least));
        e->names->node[e->p->first_datum + k] = text;
        e->names->wide[e->p->first_datum + k] = CG_TEXT(e, "($1)$2", e->dialect->wide_index, text);
    }
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
        packed[p] = cg_pack(e, bb_part_type(in, p), parts);
    }
    return packed;
}

/* "get_local_id(0) == 0 && get_group_id(1) == 0": whether a work-item has the first part. */
static const char *first_text(struct cg_emitter *e, const struct cg_split *s)
{
    const char *item = s->part ? CG_TEXT(e, "$1 == 0", cg_id_text(e, BB_THREAD, s->part->axis)) : NULL;
    const char *group = s->groups ? CG_TEXT(e, "$1 == 0", cg_id_text(e, BB_BLOCK, s->groups->axis)) : NULL;
    return item && group ? CG_TEXT(e, "$1 && $2", item, group) : item ? item : group;
}

/* Where a reduction is split, all parts but the first start from the neutral element, if there is one. */
static const char **start_texts(struct cg_emitter *e, uint32_t init, const char **texts, bool vector)
{
    const struct cg_split *s = cg_split_start(e->p, init);
    for (unsigned part = 0; s && part < bb_parts(&e->p->bb->insts[init]); part++) {
        enum scalar_type type = bb_part_type(&e->p->bb->insts[init], part);
        if (s->how.op[part] == SCALAR_SELECT) continue;
        texts[part] = CG_TEXT(e, "($1 ? $2 : $3)", first_text(e, s), texts[part],
                              cg_constant_text(e, type, s->how.neutral[part], vector));
    }
    return texts;
}

/* The texts of an instruction's expressions, one for each part. */
const char **cg_expression_texts(struct cg_emitter *e, uint32_t inst, bool vector)
{
    if (!e->p->bb->insts[inst].n_nodes) {
        const char *text = operand_text(e, &e->p->operands[inst][0], 0, vector);
        return start_texts(e, inst, arena_memdup(e->scratch, &text, sizeof text), vector);
    }
    const char **texts =
        vector && differs_by_lane(e, inst) ? texts_by_lane(e, inst) : nodes_texts(e, inst, vector, -1);
    return start_texts(e, inst, texts, vector);
}

/* ---- statements ---- */

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
            strbuf_printf(e->out, "%s = %s;\n", cg_operand_scalar(e, target, part, i),
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
    const char *const *texts = cg_expression_texts(e, inst, vector);
    strbuf_add(e->out, "{\n");
    e->indent++;
    for (unsigned part = 0; part < bb_parts(in); part++) {
        strbuf_indent(e->out, e->indent);
        strbuf_printf(e->out, "const %s %s = %s;\n",
                      cg_type_text(e, bb_part_type(in, part), vector ? e->lane->size : 1),
                      result_name(e, in, part), texts[part]);
    }
    for (unsigned part = 0; part < bb_parts(in); part++)
        assign_result(e, target, part, result_name(e, in, part), vector);
    strbuf_indent(e->out, --e->indent);
    strbuf_add(e->out, "}\n");
}

/* "acc", or "const float x_load" where it is declared here. */
static const char *target_text(struct cg_emitter *e, uint32_t inst, const struct cg_operand *target,
                               unsigned part, bool vector, bool is_const)
{
    const struct cg_value *v = &e->p->values[inst];
    const char *text = operand_text(e, target, part, vector);
    if (e->p->bb->insts[inst].kind == BB_STEP || !v->declared_inline) return text;
    return CG_TEXT(e, "$1$2 $3", is_const ? "const " : "", variable_type(e, v, part), text);
}

/* A load of lanes that may be beyond an extent. */
static void emit_border_load(struct cg_emitter *e, const struct cg_node *n, const struct cg_operand *own,
                             const char *whole)
{
    if (e->p->values[n->statement].declared_inline) {
        strbuf_printf(e->out, "%s;\n", target_text(e, n->statement, own, 0, true, false));
        strbuf_indent(e->out, e->indent);
    }
    const char *target = operand_text(e, own, 0, true);
    strbuf_printf(e->out, "if (%s) %s = %s;\n", whole, target, cg_load_vector(e, n));
    strbuf_indent(e->out, e->indent);
    strbuf_printf(e->out, "else %s = %s;\n", target, cg_load_lanes(e, n));
}

static void assign_part(struct cg_emitter *e, const struct cg_node *n, const struct cg_operand *target,
                        unsigned part, bool vector)
{
    uint32_t inst = n->statement;
    bool load = e->p->access[inst].offset != NULL, is_const = e->p->bb->insts[inst].kind != BB_INIT;
    if (part) strbuf_indent(e->out, e->indent);
    strbuf_printf(e->out, "%s = %s;\n", target_text(e, inst, target, part, vector, is_const),
                  load ? cg_load_text(e, n, vector) : cg_expression_texts(e, inst, vector)[part]);
}

static void emit_assignment(struct cg_emitter *e, const struct cg_node *n, bool vector)
{
    uint32_t inst = n->statement;
    const struct bb_inst *in = &e->p->bb->insts[inst];
    const struct cg_operand own = {&e->p->values[inst], e->p->values[inst].axes};
    const struct cg_operand *target = in->kind == BB_STEP ? &e->p->operands[inst][0] : &own;
    bool load = e->p->access[inst].offset != NULL, tuple_step = in->kind == BB_STEP && in->n_more;
    bool all = !n->guard_local && !n->guard_group; /* of the work-items execute it */
    const char *whole = load && vector && all && cg_load_vector(e, n) ? cg_whole_text(e, n) : NULL;
    if (in->kind == BB_STEP) cg_emit_guard(e, n);
    if (tuple_step || (vector && !is_whole_vector(e, target)))
        emit_results(e, inst, target, vector);
    else if (whole)
        emit_border_load(e, n, &own, whole);
    else
        for (unsigned part = 0; part < bb_parts(in); part++)
            assign_part(e, n, target, part, vector);
}

static void emit(struct cg_emitter *e, const struct cg_node *n, bool store, bool vector)
{
    strbuf_indent(e->out, e->indent);
    if (store)
        cg_emit_memory_write(e, n, vector);
    else
        emit_assignment(e, n, vector);
}

/* The statement is written behind the pointers that it needs. */
static void emit_with_pointers(struct cg_emitter *e, const struct cg_node *n, bool store, bool vector)
{
    struct strbuf statement = {0}, *out = e->out;
    e->declarations = out;
    e->out = &statement;
    emit(e, n, store, vector);
    e->declarations = NULL;
    e->out = out;
    strbuf_addn(out, statement.text, statement.length);
    strbuf_free(&statement);
}

void cg_emit_statement(struct cg_emitter *e, const struct cg_node *n)
{
    enum bb_inst_kind kind = e->p->bb->insts[n->statement].kind;
    bool vector = e->lane && cg_owns(e->p, n->statement, e->lane);
    bool store = kind == BB_STORE || kind == BB_COPY_STORE;
    if (store && cg_is_left_out(e, n, vector)) return;
    (e->points ? emit_with_pointers : emit)(e, n, store, vector);
}
