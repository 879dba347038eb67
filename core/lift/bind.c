/* Sizes get their values; types are inferred from the inputs upwards.
 *
 * A parameter's type is known before the body that uses it (map knows its array first), so one walk is enough
 * and nothing is unified. Only literals look at their surroundings: `hint` is the type that the context
 * wants. A NULL type means that an error was reported below; nothing above reports it again. */
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/arena.h"
#include "core/base/panic.h"
#include "core/base/strbuf.h"
#include "core/lift/lift.h"
#include "core/lift/pattern.h"
#include "core/lift/size.h"

struct binder {
    struct lift_program *program;
    struct arena *arena;
    struct diag *diag;
    struct source_pos last; /* of the last error: one is enough for a place */
};

static const struct lift_type *infer(struct binder *b, struct lift_expr *e, const struct lift_type *hint);

BASE_PRINTF(3, 4) static void report(struct binder *b, struct source_pos at, const char *fmt, ...)
{
    if (b->last.source == at.source && b->last.offset == at.offset) return;
    struct strbuf text = {0};
    va_list args;
    va_start(args, fmt);
    strbuf_vprintf(&text, fmt, args);
    va_end(args);
    diag_error(b->diag, at, "%s", text.text);
    strbuf_free(&text);
    b->last = at;
}

/* ---- types ---- */

static const struct lift_type *scalar_type(struct binder *b, enum scalar_type scalar)
{
    struct lift_type *t = ARENA_NEW(b->arena, struct lift_type);
    t->kind = LIFT_SCALAR;
    t->scalar = scalar;
    t->nodes = 1;
    return t;
}

static const char *type_text(struct binder *b, const struct lift_type *t)
{
    struct strbuf text = {0};
    lift_print_type(t, &text);
    const char *copy = arena_strdup(b->arena, text.text);
    strbuf_free(&text);
    return copy;
}

/* "N", or "N = 512" where the size is not a number already. */
static const char *size_text(struct binder *b, const struct lift_size *size, int64_t value)
{
    struct strbuf text = {0};
    lift_size_print(size, &text);
    if (size->kind != LIFT_SIZE_CONST) strbuf_printf(&text, " = %" PRId64, value);
    const char *copy = arena_strdup(b->arena, text.text);
    strbuf_free(&text);
    return copy;
}

static bool size_value(struct binder *b, const struct lift_size *size, struct source_pos at, int64_t *value)
{
    enum lift_size_status status = lift_size_value(size, b->program->sizes, value);
    if (status == LIFT_SIZE_OK && *value > 0) return true;
    struct strbuf text = {0};
    lift_size_print(size, &text);
    if (status != LIFT_SIZE_OK)
        report(b, at, "size %s %s", text.text, lift_size_status_text(status));
    else
        report(b, at, "size %s is %" PRId64 "; sizes must be at least 1", text.text, *value);
    strbuf_free(&text);
    return false;
}

/* The type, with the number of its nodes; NULL after an error if they are too many. */
static const struct lift_type *count_nodes(struct binder *b, struct lift_type *t, struct source_pos at)
{
    t->nodes = 1;
    if (t->kind == LIFT_ARRAY) t->nodes += t->element->nodes + t->size->nodes;
    for (unsigned i = 0; i < t->n_parts && t->nodes <= LIFT_MAX_TERMS; i++)
        t->nodes += t->parts[i]->nodes;
    if (t->nodes <= LIFT_MAX_TERMS) return t;
    report(b, at, "the type has more than %u parts and terms of sizes", LIFT_MAX_TERMS);
    return NULL;
}

static const struct lift_type *array_of(struct binder *b, const struct lift_type *element,
                                        const struct lift_size *size, struct source_pos at)
{
    struct lift_type *t = ARENA_NEW(b->arena, struct lift_type);
    t->kind = LIFT_ARRAY;
    t->element = element;
    t->size = size;
    if (!element || !size_value(b, size, at, &t->extent) || !count_nodes(b, t, at)) return NULL;
    if (lift_type_bytes(t) < LIFT_MAX_BYTES) return t;
    report(b, at, "array %s has 2^50 bytes or more; choose smaller sizes", type_text(b, t));
    return NULL;
}

static const struct lift_type *tuple_of(struct binder *b, const struct lift_type **parts, unsigned n,
                                        struct source_pos at)
{
    struct lift_type *t = ARENA_NEW(b->arena, struct lift_type);
    t->kind = LIFT_TUPLE;
    t->n_parts = n;
    t->parts = parts;
    return count_nodes(b, t, at);
}

/* A written type with its extents. */
static const struct lift_type *resolve(struct binder *b, const struct lift_type *t, struct source_pos at)
{
    if (t->kind == LIFT_SCALAR) return scalar_type(b, t->scalar);
    if (t->kind == LIFT_ARRAY) return array_of(b, resolve(b, t->element, at), t->size, at);
    const struct lift_type **parts = ARENA_ARRAY(b->arena, const struct lift_type *, t->n_parts);
    for (unsigned i = 0; i < t->n_parts; i++)
        if (!(parts[i] = resolve(b, t->parts[i], at))) return NULL;
    return tuple_of(b, parts, t->n_parts, at);
}

/* ---- expectations ---- */

/* The type of argument i if it is an array; NULL after an error otherwise. */
static const struct lift_type *want_array(struct binder *b, const struct lift_expr *e, unsigned i)
{
    const struct lift_type *t = e->args[i]->type;
    if (!t || t->kind == LIFT_ARRAY) return t;
    report(b, e->at, "%s needs an array, not %s", lift_pattern_info(e->pattern)->name, type_text(b, t));
    return NULL;
}

static const struct lift_type *want_matrix(struct binder *b, const struct lift_expr *e)
{
    const struct lift_type *t = want_array(b, e, 0);
    if (!t || t->element->kind == LIFT_ARRAY) return t;
    report(b, e->at, "%s needs an array of arrays, not %s", lift_pattern_info(e->pattern)->name,
           type_text(b, t));
    return NULL;
}

static bool infer_args(struct binder *b, struct lift_expr *e)
{
    bool ok = true;
    for (unsigned i = 0; i < e->n_args; i++)
        ok = infer(b, e->args[i], NULL) && ok;
    return ok;
}

static const struct lift_type *infer_lambda(struct binder *b, struct lift_lambda *fun,
                                            const struct lift_type *const *params,
                                            const struct lift_type *hint)
{
    for (unsigned i = 0; i < fun->n_params; i++)
        fun->params[i]->type = params[i];
    return infer(b, fun->body, hint);
}

/* ---- patterns ---- */

static const struct lift_type *infer_map(struct binder *b, struct lift_expr *e)
{
    if (!infer_args(b, e)) return NULL;
    const struct lift_type *array = want_array(b, e, 0);
    if (!array) return NULL;
    const struct lift_type *body = infer_lambda(b, e->fun, &array->element, NULL);
    return body ? array_of(b, body, array->size, e->at) : NULL;
}

/* The first scalar in a type: what a literal beside it most likely is. */
static const struct lift_type *first_scalar(const struct lift_type *t)
{
    while (t && t->kind != LIFT_SCALAR)
        t = t->kind == LIFT_ARRAY ? t->element : t->parts[0];
    return t;
}

static const struct lift_type *infer_reduce(struct binder *b, struct lift_expr *e)
{
    if (!infer(b, e->args[1], NULL)) return NULL;
    const struct lift_type *array = want_array(b, e, 1);
    if (!array) return NULL;
    const struct lift_type *start = infer(b, e->args[0], first_scalar(array->element));
    if (!start) return NULL;
    const struct lift_type *params[] = {start, array->element};
    const struct lift_type *body = infer_lambda(b, e->fun, params, start);
    if (!body || lift_type_same(body, start)) return body;
    report(b, e->at, "the function of reduce returns %s, but the initial value is %s", type_text(b, body),
           type_text(b, start));
    return NULL;
}

static const struct lift_type *infer_zip(struct binder *b, struct lift_expr *e)
{
    if (!infer_args(b, e)) return NULL;
    const struct lift_type **parts = ARENA_ARRAY(b->arena, const struct lift_type *, e->n_args);
    for (unsigned i = 0; i < e->n_args; i++) {
        const struct lift_type *array = want_array(b, e, i), *first = e->args[0]->type;
        if (!array) return NULL;
        parts[i] = array->element;
        if (array->extent == first->extent) continue;
        report(b, e->at,
               "zip needs arrays of equal length, not %s and %s; choose equal sizes or other arrays",
               size_text(b, first->size, first->extent), size_text(b, array->size, array->extent));
        return NULL;
    }
    return array_of(b, tuple_of(b, parts, e->n_args, e->at), e->args[0]->type->size, e->at);
}

static const struct lift_type *infer_unzip(struct binder *b, struct lift_expr *e)
{
    const struct lift_type *array = want_array(b, e, 0);
    if (!array) return NULL;
    const struct lift_type *tuple = array->element;
    if (tuple->kind != LIFT_TUPLE) {
        report(b, e->at, "unzip needs an array of tuples, not %s", type_text(b, array));
        return NULL;
    }
    const struct lift_type **parts = ARENA_ARRAY(b->arena, const struct lift_type *, tuple->n_parts);
    for (unsigned i = 0; i < tuple->n_parts; i++)
        if (!(parts[i] = array_of(b, tuple->parts[i], array->size, e->at))) return NULL;
    return tuple_of(b, parts, tuple->n_parts, e->at);
}

static const struct lift_type *infer_split(struct binder *b, struct lift_expr *e)
{
    const struct lift_type *array = want_array(b, e, 0);
    if (!array || !size_value(b, e->amount_size, e->at, &e->amount)) return NULL;
    if (array->extent % e->amount) {
        report(b, e->at,
               "split: the chunk length %s does not divide the length %s; choose sizes where it does",
               size_text(b, e->amount_size, e->amount), size_text(b, array->size, array->extent));
        return NULL;
    }
    const struct lift_size *chunks = lift_size_op(b->arena, LIFT_SIZE_DIV, array->size, e->amount_size);
    return array_of(b, array_of(b, array->element, e->amount_size, e->at), chunks, e->at);
}

static const struct lift_type *infer_tail(struct binder *b, struct lift_expr *e)
{
    const struct lift_type *array = want_array(b, e, 0);
    if (!array) return NULL;
    if (array->extent > 1) {
        const struct lift_size *rest =
            lift_size_op(b->arena, LIFT_SIZE_SUB, array->size, lift_size_const(b->arena, 1));
        return array_of(b, array->element, rest, e->at);
    }
    report(b, e->at, "tail needs an array of at least 2 elements");
    return NULL;
}

static const struct lift_type *infer_transpose(struct binder *b, struct lift_expr *e)
{
    const struct lift_type *t = want_matrix(b, e);
    if (!t) return NULL;
    return array_of(b, array_of(b, t->element->element, t->size, e->at), t->element->size, e->at);
}

static const struct lift_type *infer_join(struct binder *b, struct lift_expr *e)
{
    const struct lift_type *t = want_matrix(b, e);
    if (!t) return NULL;
    const struct lift_size *size = lift_size_op(b->arena, LIFT_SIZE_MUL, t->size, t->element->size);
    return array_of(b, t->element->element, size, e->at);
}

static const struct lift_type *infer_apply(struct binder *b, struct lift_expr *e)
{
    if (e->pattern == LIFT_MAP) return infer_map(b, e);
    if (e->pattern == LIFT_REDUCE) return infer_reduce(b, e);
    if (e->pattern == LIFT_ZIP) return infer_zip(b, e);
    if (!infer_args(b, e)) return NULL;
    switch (e->pattern) {
    case LIFT_UNZIP:
        return infer_unzip(b, e);
    case LIFT_TRANSPOSE:
        return infer_transpose(b, e);
    case LIFT_SPLIT:
        return infer_split(b, e);
    case LIFT_JOIN:
        return infer_join(b, e);
    case LIFT_TAIL:
        return infer_tail(b, e);
    case LIFT_ID:
        return e->args[0]->type;
    case LIFT_HEAD: {
        const struct lift_type *t = want_array(b, e, 0);
        return t ? t->element : NULL;
    }
    default:
        PANIC("pattern %d is not inferred here", (int)e->pattern);
    }
}

/* ---- other expressions ---- */

static const struct lift_type *infer_literal(struct binder *b, struct lift_expr *e,
                                             const struct lift_type *hint)
{
    if (e->amount_size) {
        int64_t value;
        if (!size_value(b, e->amount_size, e->at, &value)) return NULL;
        e->value = (double)value;
    }
    const struct lift_type *t = hint && hint->kind == LIFT_SCALAR ? hint : scalar_type(b, SCALAR_FLOAT);
    bool whole = e->value == nearbyint(e->value) && fabs(e->value) < 0x1p31;
    if (t->scalar == SCALAR_BOOL || (t->scalar == SCALAR_INT && !whole)) {
        report(b, e->at, "%g is not %s %s; %s", e->value, t->scalar == SCALAR_INT ? "an" : "a",
               scalar_type_name(t->scalar),
               t->scalar == SCALAR_INT ? "write a whole number, or declare the input as float"
                                       : "there are no literals of type bool");
        return NULL;
    }
    return t;
}

static bool is_open_literal(const struct lift_expr *e)
{
    if (e->kind == LIFT_LITERAL) return true;
    if (e->kind != LIFT_OP) return false;
    for (unsigned i = 0; i < e->n_args; i++)
        if (!is_open_literal(e->args[i])) return false;
    return true;
}

/* Whether an operation makes sense on a scalar type. */
static bool op_takes(enum scalar_op op, enum scalar_type t)
{
    bool integer = op == SCALAR_ADD || op == SCALAR_SUB || op == SCALAR_MULT || op == SCALAR_NEG;
    return t != SCALAR_BOOL && (t != SCALAR_INT || integer);
}

/* Reports an operand of type t, where the first one is of type `first`. */
static void report_operand(struct binder *b, const struct lift_expr *e, const struct lift_type *first,
                           const struct lift_type *t)
{
    const char *name = scalar_op_name(e->op), *text = type_text(b, t);
    if (t->kind == LIFT_ARRAY)
        report(b, e->at,
               "%s takes scalars, not %s; write map(%s, %s) for arrays, and join(a) before a reduction over "
               "several dimensions",
               name, text, name, e->n_args > 1 ? "zip(a, b)" : "a");
    else if (t->kind == LIFT_TUPLE)
        report(b, e->at, "%s takes scalars, not %s; take the tuple apart: fun (a, b) -> ...", name, text);
    else if (!op_takes(e->op, t->scalar))
        report(b, e->at, "%s does not take %s; declare the inputs as float", name, text);
    else
        report(b, e->at,
               "%s needs arguments of one type, not %s and %s; there are no conversions yet: declare the "
               "inputs with one type",
               name, type_text(b, first), text);
}

static const struct lift_type *infer_op(struct binder *b, struct lift_expr *e, const struct lift_type *hint)
{
    const struct lift_type *type = NULL;
    bool ok = true;
    for (unsigned i = 0; i < e->n_args; i++) {
        if (is_open_literal(e->args[i])) continue;
        const struct lift_type *t = infer(b, e->args[i], hint);
        if (!t) ok = false;
        if (!type) type = t;
    }
    for (unsigned i = 0; i < e->n_args; i++)
        if (is_open_literal(e->args[i])) ok = infer(b, e->args[i], type ? type : hint) && ok;
    if (!ok) return NULL;
    type = e->args[0]->type;
    for (unsigned i = 0; i < e->n_args; i++) {
        const struct lift_type *t = e->args[i]->type;
        if (t->kind == LIFT_SCALAR && t->scalar == type->scalar && op_takes(e->op, t->scalar)) continue;
        report_operand(b, e, type, t);
        return NULL;
    }
    return type;
}

static const struct lift_type *infer_tuple(struct binder *b, struct lift_expr *e,
                                           const struct lift_type *hint)
{
    const struct lift_type **parts = ARENA_ARRAY(b->arena, const struct lift_type *, e->n_args);
    bool fits = hint && hint->kind == LIFT_TUPLE && hint->n_parts == e->n_args, ok = true;
    for (unsigned i = 0; i < e->n_args; i++)
        ok = (parts[i] = infer(b, e->args[i], fits ? hint->parts[i] : hint)) && ok;
    return ok ? tuple_of(b, parts, e->n_args, e->at) : NULL;
}

static const struct lift_type *infer_get(struct binder *b, struct lift_expr *e)
{
    const struct lift_type *t = infer(b, e->args[0], NULL);
    if (!t) return NULL;
    bool fits = t->kind == LIFT_TUPLE && (!e->amount || e->amount == (int64_t)t->n_parts);
    if (fits && e->index < t->n_parts) return t->parts[e->index];
    if (!fits && e->amount)
        report(b, e->at, "a tuple of %" PRId64 " is needed here, not %s", e->amount, type_text(b, t));
    else if (fits)
        report(b, e->at, "component %u of a tuple of %u, %s; components are numbered from 0", e->index,
               t->n_parts, type_text(b, t));
    else
        report(b, e->at, "a tuple is needed here, not %s", type_text(b, t));
    return NULL;
}

/* Whether the type of an expression comes from what stands around it. */
static bool takes_hint(const struct lift_expr *e)
{
    if (is_open_literal(e)) return true;
    if (e->kind == LIFT_LET) return takes_hint(e->body);
    if (e->kind != LIFT_OP && e->kind != LIFT_MAKE_TUPLE) return false;
    for (unsigned i = 0; i < e->n_args; i++)
        if (takes_hint(e->args[i]) && (e->kind == LIFT_MAKE_TUPLE || !is_open_literal(e->args[i])))
            return true;
    return false;
}

/* Checks (value : type). It stays where it gives literals their type; otherwise the value takes its place. */
static const struct lift_type *infer_ascription(struct binder *b, struct lift_expr *e)
{
    const struct lift_type *written = resolve(b, e->type, e->at);
    const struct lift_type *t = infer(b, e->args[0], written);
    if (!written || !t) return NULL;
    if (!lift_type_same(written, t)) {
        report(b, e->at, "%s is needed here, not %s", type_text(b, written), type_text(b, t));
        return NULL;
    }
    if (takes_hint(e->args[0]))
        e->type = t;
    else
        *e = *e->args[0];
    return t;
}

static const struct lift_type *infer_kind(struct binder *b, struct lift_expr *e, const struct lift_type *hint)
{
    switch (e->kind) {
    case LIFT_PARAM_REF:
        return e->param->type;
    case LIFT_LITERAL:
        return infer_literal(b, e, hint);
    case LIFT_OP:
        return infer_op(b, e, hint);
    case LIFT_MAKE_TUPLE:
        return infer_tuple(b, e, hint);
    case LIFT_GET:
        return infer_get(b, e);
    case LIFT_APPLY:
        return infer_apply(b, e);
    case LIFT_LET:
        e->param->type = infer(b, e->args[0], NULL);
        return e->param->type ? infer(b, e->body, hint) : NULL;
    }
    PANIC("expression kind %d", (int)e->kind);
}

static const struct lift_type *infer(struct binder *b, struct lift_expr *e, const struct lift_type *hint)
{
    if (lift_is_ascription(e)) return infer_ascription(b, e);
    return e->type = infer_kind(b, e, hint);
}

/* ---- the program ---- */

static struct lift_size_param *find_size(struct lift_program *p, const char *name)
{
    for (unsigned i = 0; i < p->n_sizes; i++)
        if (!strcmp(p->sizes[i].name, name)) return &p->sizes[i];
    return NULL;
}

/* The program's sizes: "M, N, K". */
static const char *size_names(struct binder *b)
{
    const struct lift_program *p = b->program;
    const char *text = "";
    for (unsigned i = 0; i < p->n_sizes; i++)
        text = arena_printf(b->arena, "%s%s%s", text, i ? ", " : "", p->sizes[i].name);
    return text;
}

static void report_unknown_size(struct binder *b, const char *name)
{
    unsigned n = b->program->n_sizes;
    if (n == 0)
        diag_plain(b->diag, "the program has no size '%s': it has no sizes at all", name);
    else
        diag_plain(b->diag, "the program has no size '%s'; %s %s", name,
                   n == 1 ? "its size is" : "its sizes are", size_names(b));
}

/* One error for all sizes without a value, at the first. */
static void report_missing_sizes(struct binder *b, const bool *given)
{
    const struct lift_program *p = b->program;
    const struct lift_size_param *first = NULL;
    const char *names = "", *option = "";
    unsigned n = 0;
    for (unsigned i = 0; i < p->n_sizes; i++) {
        const char *name = p->sizes[i].name;
        if (given[i]) continue;
        if (n++ == 0) first = &p->sizes[i];
        names = arena_printf(b->arena, "%s%s'%s'", names, n > 1 ? ", " : "", name);
        option = arena_printf(b->arena, "%s%s%s=...", option, n > 1 ? "," : "", name);
    }
    if (n > 0)
        report(b, first->at, "%s %s %s no value; add --size %s", n > 1 ? "sizes" : "size", names,
               n > 1 ? "have" : "has", option);
}

static void bind_sizes(struct binder *b, const struct lift_size_value *values, unsigned n)
{
    struct lift_program *p = b->program;
    bool *given = ARENA_ARRAY(b->arena, bool, p->n_sizes + 1);
    for (unsigned i = 0; i < n; i++) {
        struct lift_size_param *size = find_size(p, values[i].name);
        if (!size)
            report_unknown_size(b, values[i].name);
        else if (given[size - p->sizes])
            diag_plain(b->diag, "size '%s' is given twice: --size %s=... must appear once", values[i].name,
                       values[i].name);
        else if (values[i].value <= 0)
            report(b, size->at, "size '%s' is %" PRId64 "; sizes must be at least 1", size->name,
                   values[i].value);
        if (!size) continue;
        size->value = values[i].value;
        given[size - p->sizes] = true;
    }
    report_missing_sizes(b, given);
}

static void bind_inputs(struct binder *b)
{
    for (unsigned i = 0; i < b->program->n_inputs; i++) {
        struct lift_param *input = b->program->inputs[i];
        enum scalar_type bottom;
        input->type = resolve(b, input->type, input->at);
        if (input->type && !lift_type_bottom(input->type, &bottom))
            report(b, input->at,
                   "an input must be a scalar or an array of scalars, not %s; pass the components of tuples "
                   "as inputs of their own",
                   type_text(b, input->type));
    }
}

static void bind_output(struct binder *b)
{
    enum scalar_type bottom;
    const struct lift_type *t = infer(b, b->program->output, NULL);
    if (t && !lift_type_bottom(t, &bottom))
        report(b, b->program->output->at,
               "the output must be a scalar or an array of scalars, not %s; tune one program for each "
               "component of a tuple",
               type_text(b, t));
}

bool lift_bind(struct lift_program *p, const struct lift_size_value *values, unsigned n, struct arena *a,
               struct diag *d)
{
    struct binder b = {.program = p, .arena = a, .diag = d};
    size_t errors = diag_count(d);
    bind_sizes(&b, values, n);
    if (diag_count(d) == errors) bind_inputs(&b);
    if (diag_count(d) == errors) bind_output(&b);
    return diag_count(d) == errors;
}
