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
    if (e->truth) return bind_scalar(b, SCALAR_BOOL);
    const struct lift_type *t = hint && hint->kind == LIFT_SCALAR ? hint : bind_scalar(b, SCALAR_FLOAT);
    if (e->extreme && t->scalar != SCALAR_BOOL)
        return e->value = e->extreme > 0 ? scalar_type_largest(t->scalar) : scalar_type_lowest(t->scalar), t;
    bool whole = e->value == nearbyint(e->value) && fabs(e->value) < 0x1p31;
    if (t->scalar == SCALAR_BOOL || (t->scalar == SCALAR_INT && !whole)) {
        bind_report(b, e->at, "%g is not %s %s; %s", e->value, t->scalar == SCALAR_INT ? "an" : "a",
                    scalar_type_name(t->scalar),
                    t->scalar == SCALAR_INT ? "write a whole number, or convert the int: float(x)"
                                            : "write true or false, or compare: x != 0.0");
        return NULL;
    }
    return t;
}

/* Whether the operation has a type that does not depend on what stands around it. */
static bool has_own_type(enum scalar_op op)
{
    return scalar_op_compares(op) || scalar_op_converts(op);
}

static bool is_open_literal(const struct lift_expr *e)
{
    if (e->kind == LIFT_LITERAL) return !e->truth;
    if (e->kind != LIFT_OP || has_own_type(e->op)) return false;
    for (unsigned i = scalar_op_first(e->op); i < e->n_args; i++)
        if (!is_open_literal(e->args[i])) return false;
    return true;
}

/* Whether the type of an expression comes from what stands around it. */
static bool takes_hint(const struct lift_expr *e)
{
    if (is_open_literal(e)) return true;
    if (e->kind == LIFT_LET) return takes_hint(e->body);
    bool list = e->kind == LIFT_MAKE_TUPLE || e->kind == LIFT_MAKE_ARRAY;
    if (!list && (e->kind != LIFT_OP || has_own_type(e->op))) return false;
    for (unsigned i = list ? 0 : scalar_op_first(e->op); i < e->n_args; i++)
        if (takes_hint(e->args[i]) && (list || !is_open_literal(e->args[i]))) return true;
    return false;
}

/* ---- operations ---- */

/* What to write instead of an operation on a scalar type that it does not take. */
static const char *operand_advice(struct binder *b, enum scalar_op op, enum scalar_type t)
{
    const char *name = scalar_op_name(op);
    if (t == SCALAR_BOOL && !scalar_op_takes(op, SCALAR_FLOAT))
        return scalar_op_takes(op, SCALAR_INT) ? "write if c then 1 else 0" : "write && || !";
    if (t == SCALAR_BOOL) return "write if c then 1.0 else 0.0, or of conditions && || !";
    if (t == SCALAR_INT && scalar_op_takes(op, SCALAR_FLOAT))
        return arena_printf(b->arena, "convert the int: %s(float(x))", name);
    if (scalar_op_takes(op, SCALAR_INT))
        return op == SCALAR_MOD ? "convert to int, or write x - y * trunc(x / y)" : "convert it: int(x)";
    return "compare it: x != 0";
}

/* Reports scalars of two types as operands of one operation. */
static void report_mixed(struct binder *b, const struct lift_expr *e, enum scalar_type x, enum scalar_type y)
{
    unsigned wider = scalar_type_precision(x) > scalar_type_precision(y) ? x : y;
    if (x == SCALAR_INT || y == SCALAR_INT) wider = x == SCALAR_INT ? y : x;
    const char *way = "; compare the number: x != 0";
    if (x != SCALAR_BOOL && y != SCALAR_BOOL)
        way = arena_printf(b->arena, "; convert one of them, as in %s(x)", scalar_type_name(wider));
    bind_report(b, e->at, "%s needs arguments of one type, not %s and %s%s",
                e->op == SCALAR_SELECT ? "a selection" : scalar_op_name(e->op), scalar_type_name(x),
                scalar_type_name(y), way);
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
    else if (!scalar_op_takes(e->op, t->scalar))
        bind_report(b, e->at, "%s does not take %s; %s", name, text, operand_advice(b, e->op, t->scalar));
    else
        report_mixed(b, e, first->scalar, t->scalar);
}

/* Infers the operands: literals as what the first other operand is; else as hint. */
static bool infer_operands(struct binder *b, struct lift_expr *e, const struct lift_type *hint)
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
    return ok;
}

/* What a literal operand takes its type from: a conversion's is a literal of the type that it gives. */
static const struct lift_type *operand_hint(struct binder *b, enum scalar_op op, const struct lift_type *hint)
{
    enum scalar_type to = scalar_op_gives(op, SCALAR_BOOL);
    if (scalar_op_compares(op)) return NULL;
    if (scalar_op_converts(op)) return to == SCALAR_INT ? NULL : bind_scalar(b, to);
    return hint;
}

static bool is_of_scalars(const struct lift_type *t)
{
    bool scalars = t->kind != LIFT_ARRAY;
    for (unsigned i = 0; scalars && t->kind == LIFT_TUPLE && i < t->n_parts; i++)
        scalars = is_of_scalars(t->parts[i]);
    return scalars;
}

/* if c then a else b. */
static const struct lift_type *infer_select(struct binder *b, struct lift_expr *e,
                                            const struct lift_type *hint)
{
    unsigned first = takes_hint(e->args[1]) ? 2 : 1;
    const struct lift_type *c = bind_infer(b, e->args[0], NULL), *t = bind_infer(b, e->args[first], hint),
                           *other = bind_infer(b, e->args[3 - first], t ? t : hint);
    if (!c || !t || !other) return NULL;
    const struct lift_type *yes = e->args[1]->type, *no = e->args[2]->type;
    if (c->kind != LIFT_SCALAR || c->scalar != SCALAR_BOOL)
        bind_report(b, e->args[0]->at, "a condition must be bool, not %s; compare it: x != 0",
                    bind_type_text(b, c));
    else if (!is_of_scalars(yes) || !is_of_scalars(no))
        bind_report(b, e->at,
                    "a selection takes scalars and tuples of scalars, not %s; write map(fun (x, y) -> if c "
                    "then x else y, zip(a, b)) for arrays",
                    bind_type_text(b, is_of_scalars(yes) ? no : yes));
    else if (lift_type_same(yes, no))
        return bind_either(b, yes, no);
    else if (yes->kind == LIFT_SCALAR && no->kind == LIFT_SCALAR)
        report_mixed(b, e, yes->scalar, no->scalar);
    else
        bind_report(b, e->at, "a selection needs two values of one type, not %s and %s",
                    bind_type_text(b, yes), bind_type_text(b, no));
    return NULL;
}

static const struct lift_type *infer_op(struct binder *b, struct lift_expr *e, const struct lift_type *hint)
{
    if (e->op == SCALAR_SELECT) return infer_select(b, e, hint);
    if (!infer_operands(b, e, operand_hint(b, e->op, hint))) return NULL;
    const struct lift_type *type = e->args[0]->type;
    for (unsigned i = 0; i < e->n_args; i++) {
        const struct lift_type *t = e->args[i]->type;
        if (t->kind == LIFT_SCALAR && t->scalar == type->scalar && scalar_op_takes(e->op, t->scalar))
            continue;
        report_operand(b, e, type, t);
        return NULL;
    }
    return has_own_type(e->op) ? bind_scalar(b, scalar_op_gives(e->op, type->scalar)) : type;
}

/* ---- tuples, names ---- */

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
    case LIFT_MAKE_ARRAY:
        return bind_infer_list(b, e, hint);
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
    return e->type = bind_refine(b, e, infer_kind(b, e, hint));
}
