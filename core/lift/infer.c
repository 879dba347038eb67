/* The types of expressions, inferred from the inputs upwards.
 *
 * Example: in `map(fun x -> 2.0 * x, a)` the array a gives x its type, x gives the literal 2.0 its type, and
 * the product gives the type of the result. A parameter's type is known before the body that uses it, so one
 * walk is enough and nothing is unified. Only literals look at their surroundings: `hint` is the type that
 * the context wants; without one a literal is a float. */
#include "core/lift/bind.h"

#include <inttypes.h>
#include <math.h>

#include "core/base/arena.h"
#include "core/base/panic.h"
#include "core/lift/pattern.h"

static const struct lift_type *infer_literal(struct binder *b, struct lift_expr *e,
                                             const struct lift_type *hint)
{
    if (e->amount_size) {
        int64_t value;
        if (!bind_size_value(b, e->amount_size, e->at, &value)) return NULL;
        e->value = (double)value;
    }
    const struct lift_type *t = hint && hint->kind == LIFT_SCALAR ? hint : bind_scalar(b, SCALAR_FLOAT);
    bool whole = e->value == nearbyint(e->value) && fabs(e->value) < 0x1p31;
    if (t->scalar == SCALAR_BOOL || (t->scalar == SCALAR_INT && !whole)) {
        bind_report(b, e->at, "%g is not %s %s; %s", e->value, t->scalar == SCALAR_INT ? "an" : "a",
                    scalar_type_name(t->scalar),
                    t->scalar == SCALAR_INT ? "write a whole number, or declare the input as float"
                                            : "bool has no literals");
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
    const char *name = scalar_op_name(e->op), *text = bind_type_text(b, t);
    if (t->kind == LIFT_ARRAY)
        bind_report(
            b, e->at,
            "%s takes scalars, not %s; write map(%s, %s) for arrays, and join(a) before a reduction over "
            "several dimensions",
            name, text, name, e->n_args > 1 ? "zip(a, b)" : "a");
    else if (t->kind == LIFT_TUPLE)
        bind_report(b, e->at, "%s takes scalars, not %s; take the tuple apart: fun (a, b) -> ...", name,
                    text);
    else if (!op_takes(e->op, t->scalar))
        bind_report(b, e->at, "%s does not take %s; declare the inputs as float", name, text);
    else
        bind_report(b, e->at,
                    "%s needs arguments of one type, not %s and %s; types are not converted: declare the "
                    "inputs with one type",
                    name, bind_type_text(b, first), text);
}

static const struct lift_type *infer_op(struct binder *b, struct lift_expr *e, const struct lift_type *hint)
{
    const struct lift_type *type = NULL;
    bool ok = true;
    for (unsigned i = 0; i < e->n_args; i++) {
        if (is_open_literal(e->args[i])) continue;
        const struct lift_type *t = bind_infer(b, e->args[i], hint);
        if (!t) ok = false;
        if (!type) type = t;
    }
    for (unsigned i = 0; i < e->n_args; i++)
        if (is_open_literal(e->args[i])) ok = bind_infer(b, e->args[i], type ? type : hint) && ok;
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
        ok = (parts[i] = bind_infer(b, e->args[i], fits ? hint->parts[i] : hint)) && ok;
    return ok ? bind_tuple_of(b, parts, e->n_args, e->at) : NULL;
}

static const struct lift_type *infer_get(struct binder *b, struct lift_expr *e)
{
    const struct lift_type *t = bind_infer(b, e->args[0], NULL);
    if (!t) return NULL;
    bool fits = t->kind == LIFT_TUPLE && (!e->amount || e->amount == (int64_t)t->n_parts);
    if (fits && e->index < t->n_parts) return t->parts[e->index];
    if (!fits && e->amount)
        bind_report(b, e->at, "expected a tuple of %" PRId64 ", found %s", e->amount, bind_type_text(b, t));
    else if (fits)
        bind_report(b, e->at, "no component %u in a tuple of %u, %s; components are numbered from 0",
                    e->index, t->n_parts, bind_type_text(b, t));
    else
        bind_report(b, e->at, "expected a tuple, found %s", bind_type_text(b, t));
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
    const struct lift_type *written = bind_resolve(b, e->type, e->at);
    const struct lift_type *t = bind_infer(b, e->args[0], written);
    if (!written || !t) return NULL;
    if (!lift_type_same(written, t)) {
        bind_report(b, e->at, "expected %s, found %s", bind_type_text(b, written), bind_type_text(b, t));
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
        return bind_infer_pattern(b, e);
    case LIFT_LET:
        e->param->type = bind_infer(b, e->args[0], NULL);
        return e->param->type ? bind_infer(b, e->body, hint) : NULL;
    }
    PANIC("expression kind %d", (int)e->kind);
}

const struct lift_type *bind_infer(struct binder *b, struct lift_expr *e, const struct lift_type *hint)
{
    if (lift_is_ascription(e)) return infer_ascription(b, e);
    return e->type = infer_kind(b, e, hint);
}
