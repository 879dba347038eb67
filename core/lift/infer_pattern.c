/* The types of patterns. Each infer_...() is one row of the table of patterns in the README: it infers the
 * arguments, checks them and builds the type of the result.
 *
 *     map(f, a)        a : [S]n, f : S -> T                   gives [T]n
 *     split(32, a)     a : [T]n, 32 divides n                 gives [[T]32](n / 32)
 *
 * A function's parameters get their types here, from the array that the pattern walks over, before the
 * function's body is inferred. */
#include "core/lift/bind.h"

#include "core/base/arena.h"
#include "core/lift/pattern.h"

enum { MAX_RETRIES = 64 }; /* of a program */

/* ---- expectations ---- */

const struct lift_type *bind_want_array(struct binder *b, const struct lift_expr *e, unsigned i)
{
    const struct lift_type *t = e->args[i]->type;
    if (!t || t->kind == LIFT_ARRAY) return t;
    bind_report(b, e->at, "%s needs an array, not %s", lift_pattern_info(e->pattern)->name,
                bind_type_text(b, t));
    return NULL;
}

static const struct lift_type *want_matrix(struct binder *b, const struct lift_expr *e)
{
    const struct lift_type *t = bind_want_array(b, e, 0);
    if (!t || t->element->kind == LIFT_ARRAY) return t;
    bind_report(b, e->at, "%s needs an array of arrays, not %s", lift_pattern_info(e->pattern)->name,
                bind_type_text(b, t));
    return NULL;
}

static bool infer_args(struct binder *b, struct lift_expr *e)
{
    bool ok = true;
    for (unsigned i = 0; i < e->n_args; i++)
        ok = bind_infer(b, e->args[i], NULL) && ok;
    return ok;
}

static const struct lift_type *infer_lambda(struct binder *b, struct lift_lambda *fun,
                                            const struct lift_type *const *params,
                                            const struct lift_type *hint)
{
    for (unsigned i = 0; i < fun->n_params; i++)
        fun->params[i]->type = params[i];
    return bind_infer(b, fun->body, hint);
}

/* ---- patterns ---- */

static const struct lift_type *infer_map(struct binder *b, struct lift_expr *e)
{
    if (!infer_args(b, e)) return NULL;
    const struct lift_type *array = bind_want_array(b, e, 0);
    if (!array) return NULL;
    const struct lift_type *body = infer_lambda(b, e->fun, &array->element, NULL);
    return body ? bind_array_of(b, body, array->size, e->at) : NULL;
}

/* The first scalar in a type: what a literal beside it most likely is. */
static const struct lift_type *first_scalar(const struct lift_type *t)
{
    while (t && t->kind != LIFT_SCALAR)
        t = t->kind == LIFT_ARRAY ? t->element : t->parts[0];
    return t;
}

/* The type without ranges but those of the ints of both start and element: what a reduction that selects
 * elements keeps. */
static const struct lift_type *guess_accumulator(struct binder *b, const struct lift_type *start,
                                                 const struct lift_type *element)
{
    return lift_type_same(start, element) ? bind_either(b, start, element) : bind_unranged(b, start);
}

/* The type of the function's result. The accumulator has a range if the function keeps it there. */
static const struct lift_type *infer_steps(struct binder *b, struct lift_expr *e,
                                           const struct lift_type *start, const struct lift_type *element)
{
    const struct lift_type *guess = guess_accumulator(b, start, element), *plain = bind_unranged(b, start);
    bool retry = !bind_within(plain, guess) && b->n_retries < MAX_RETRIES;
    const struct lift_type *params[] = {retry ? guess : plain, element};
    const struct lift_type *body = infer_lambda(b, e->fun, params, plain);
    if (!retry || !body || !lift_type_same(body, plain) || bind_within(body, guess)) return body;
    b->n_retries++;
    params[0] = plain;
    return infer_lambda(b, e->fun, params, plain);
}

static const struct lift_type *infer_reduce(struct binder *b, struct lift_expr *e)
{
    if (!bind_infer(b, e->args[1], NULL)) return NULL;
    const struct lift_type *array = bind_want_array(b, e, 1);
    if (!array) return NULL;
    const struct lift_type *start = bind_infer(b, e->args[0], first_scalar(array->element));
    if (!start) return NULL;
    const struct lift_type *body = infer_steps(b, e, start, array->element);
    if (!body || lift_type_same(body, start)) return body;
    bind_report(b, e->at, "the function of %s returns %s, but the initial value is %s",
                lift_pattern_info(e->pattern)->name, bind_type_text(b, body), bind_type_text(b, start));
    return NULL;
}

static const struct lift_type *infer_scan(struct binder *b, struct lift_expr *e)
{
    const struct lift_type *element = infer_reduce(b, e);
    return element ? bind_array_of(b, element, e->args[1]->type->size, e->at) : NULL;
}

static const struct lift_type *infer_zip(struct binder *b, struct lift_expr *e)
{
    if (!infer_args(b, e)) return NULL;
    const struct lift_type **parts = ARENA_ARRAY(b->arena, const struct lift_type *, e->n_args);
    for (unsigned i = 0; i < e->n_args; i++) {
        const struct lift_type *array = bind_want_array(b, e, i), *first = e->args[0]->type;
        if (!array) return NULL;
        parts[i] = array->element;
        if (array->extent == first->extent) continue;
        bind_report(
            b, e->at, "zip needs arrays of equal length, not %s and %s; choose equal sizes or other arrays",
            bind_size_text(b, first->size, first->extent), bind_size_text(b, array->size, array->extent));
        return NULL;
    }
    return bind_array_of(b, bind_tuple_of(b, parts, e->n_args, e->at), e->args[0]->type->size, e->at);
}

static const struct lift_type *infer_unzip(struct binder *b, struct lift_expr *e)
{
    const struct lift_type *array = bind_want_array(b, e, 0);
    if (!array) return NULL;
    const struct lift_type *tuple = array->element;
    if (tuple->kind != LIFT_TUPLE) {
        bind_report(b, e->at, "unzip needs an array of tuples, not %s", bind_type_text(b, array));
        return NULL;
    }
    const struct lift_type **parts = ARENA_ARRAY(b->arena, const struct lift_type *, tuple->n_parts);
    for (unsigned i = 0; i < tuple->n_parts; i++)
        if (!(parts[i] = bind_array_of(b, tuple->parts[i], array->size, e->at))) return NULL;
    return bind_tuple_of(b, parts, tuple->n_parts, e->at);
}

static const struct lift_type *infer_split(struct binder *b, struct lift_expr *e)
{
    const struct lift_type *array = bind_want_array(b, e, 0);
    if (!array || !bind_size_value(b, e->amount_size, e->at, &e->amount)) return NULL;
    if (array->extent % e->amount) {
        bind_report(
            b, e->at,
            "split: the chunk length %s does not divide the array length %s; choose sizes where it does",
            bind_size_text(b, e->amount_size, e->amount), bind_size_text(b, array->size, array->extent));
        return NULL;
    }
    const struct lift_size *chunks = lift_size_op(b->arena, LIFT_SIZE_DIV, array->size, e->amount_size);
    return bind_array_of(b, bind_array_of(b, array->element, e->amount_size, e->at), chunks, e->at);
}

static const struct lift_type *infer_tail(struct binder *b, struct lift_expr *e)
{
    const struct lift_type *array = bind_want_array(b, e, 0);
    if (!array) return NULL;
    if (array->extent > 1) {
        const struct lift_size *rest =
            lift_size_op(b->arena, LIFT_SIZE_SUB, array->size, lift_size_const(b->arena, 1));
        return bind_array_of(b, array->element, rest, e->at);
    }
    bind_report(b, e->at, "tail needs an array of at least 2 elements");
    return NULL;
}

static const struct lift_type *infer_transpose(struct binder *b, struct lift_expr *e)
{
    const struct lift_type *t = want_matrix(b, e);
    if (!t) return NULL;
    return bind_array_of(b, bind_array_of(b, t->element->element, t->size, e->at), t->element->size, e->at);
}

static const struct lift_type *infer_join(struct binder *b, struct lift_expr *e)
{
    const struct lift_type *t = want_matrix(b, e);
    if (!t) return NULL;
    const struct lift_size *size = lift_size_op(b->arena, LIFT_SIZE_MUL, t->size, t->element->size);
    return bind_array_of(b, t->element->element, size, e->at);
}

const struct lift_type *bind_infer_pattern(struct binder *b, struct lift_expr *e)
{
    if (e->pattern == LIFT_MAP) return infer_map(b, e);
    if (e->pattern == LIFT_REDUCE) return infer_reduce(b, e);
    if (e->pattern == LIFT_SCAN) return infer_scan(b, e);
    if (e->pattern == LIFT_ZIP) return infer_zip(b, e);
    if (e->pattern == LIFT_AT) return bind_infer_index(b, e);
    if (e->pattern == LIFT_PAD_CONSTANT) return bind_infer_index(b, e);
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
        const struct lift_type *t = bind_want_array(b, e, 0);
        return t ? t->element : NULL;
    }
    default:
        return bind_infer_index(b, e);
    }
}
