/* The reference interpreter: pull arrays.
 *
 * An array value is a closure that computes element i on demand; nothing is stored but the inputs, so one
 * element of a large matrix product costs one dot product:
 *
 *     output map(fun r -> reduce(add, 0.0, r), A)     output 3 asks the MAP for element 3, which binds r to
 *                                                     the BUFFER of row 3 and reduces it
 *
 * Each scalar carries the bound of the error that a floating-point evaluation of the same operations may have
 * (rounding.h). */
#include <stdlib.h>

#include "core/base/arena.h"
#include "core/base/panic.h"
#include "core/lift/lift.h"
#include "core/lift/rounding.h"

enum { STEPS_PER_ARENA = 1024 }; /* steps of a reduction between two releases of what they left behind */

enum array_kind {
    ARRAY_BUFFER,
    ARRAY_MAP,
    ARRAY_ZIP,
    ARRAY_TRANSPOSE,
    ARRAY_COLUMN,
    ARRAY_SPLIT,
    ARRAY_SLICE,
    ARRAY_JOIN,
    ARRAY_PART,
    ARRAY_LIST,
    ARRAY_CONCAT,
    ARRAY_REVERSE,
    ARRAY_SCAN,
    ARRAY_SCATTER,
    ARRAY_PAD,
    ARRAY_FILL,
    ARRAY_IOTA
};

struct value {
    const struct array *array;      /* not NULL: an array */
    const struct value *parts;      /* not NULL: a tuple */
    struct lift_value_bound scalar; /* otherwise */
};

/* Values of the parameters in scope. */
struct env {
    const struct env *next;
    const struct lift_param *param;
    struct value value;
};

/* A value in the arrays of an input. */
struct place {
    const double *const *arrays;  /* the first of its leaves; the one array, if interleaved */
    const struct lift_type *type; /* of the value */
    int64_t offset;               /* its first scalar; of several arrays the elements before it */
    bool interleaved;
};

struct array {
    enum array_kind kind;
    const struct array *source; /* all but BUFFER and ZIP */
    int64_t offset;             /* COLUMN: which. SLICE: its first element. PART: which */
    int64_t length; /* SPLIT: from one chunk or window to the next. JOIN: of an inner array. REVERSE: of it */
    struct place place;              /* BUFFER */
    const struct lift_lambda *fun;   /* MAP */
    const struct env *env;           /* MAP, SCAN */
    unsigned n_zipped;               /* ZIP */
    const struct value *zipped;      /* ZIP; LIST: the elements; CONCAT: the arrays */
    const struct lift_expr *expr;    /* CONCAT, PAD, SCAN, SCATTER: the pattern */
    const struct lift_type *element; /* FILL: of an element */
    struct value fill;               /* PAD: of the scalars beyond the array, if constant; FILL: of all */
};

static struct value evaluate(struct arena *a, const struct lift_expr *e, const struct env *env);

/* ---- scalars ---- */

static struct value scalar_value(struct lift_value_bound v)
{
    return (struct value){.scalar = v};
}

/* A selection between scalars, or the components of tuples, by the condition c. */
static struct value select_value(struct arena *a, const struct lift_type *type, struct lift_value_bound c,
                                 struct value yes, struct value no)
{
    if (type->kind == LIFT_SCALAR) {
        const struct lift_value_bound x[] = {c, yes.scalar, no.scalar};
        return scalar_value(rounding_apply(SCALAR_SELECT, type->scalar, x));
    }
    struct value *parts = ARENA_ARRAY(a, struct value, type->n_parts);
    for (unsigned i = 0; i < type->n_parts; i++)
        parts[i] = select_value(a, type->parts[i], c, yes.parts[i], no.parts[i]);
    return (struct value){.parts = parts};
}

static struct value evaluate_op(struct arena *a, const struct lift_expr *e, const struct env *env)
{
    struct value x[SCALAR_MAX_ARITY];
    struct lift_value_bound bounds[SCALAR_MAX_ARITY];
    for (unsigned i = 0; i < e->n_args; i++) {
        x[i] = evaluate(a, e->args[i], env);
        bounds[i] = x[i].scalar;
    }
    if (e->op == SCALAR_SELECT) return select_value(a, e->type, x[0].scalar, x[1], x[2]);
    return scalar_value(rounding_apply(e->op, e->args[0]->type->scalar, bounds));
}

/* ---- arrays ---- */

static struct value new_array(struct arena *a, struct array array)
{
    return (struct value){.array = arena_memdup(a, &array, sizeof array)};
}

static struct value value_at(struct arena *a, struct place at);

/* Several arrays are passed through together, as far as a tuple's parts have one each. */
static struct place part_at(struct place at, unsigned part)
{
    const struct lift_type *tuple = at.type;
    bool several = !at.interleaved && lift_type_leaves(tuple) > 1;
    for (unsigned i = 0; i < part; i++) {
        if (at.interleaved) at.offset += lift_type_scalars(tuple->parts[i]);
        if (several) at.arrays += lift_type_leaves(tuple->parts[i]);
    }
    at.type = tuple->parts[part];
    if (several && lift_type_leaves(at.type) == 1) at.offset *= lift_type_scalars(at.type);
    return at;
}

static struct value tuple_at(struct arena *a, struct place at)
{
    struct value *parts = ARENA_ARRAY(a, struct value, at.type->n_parts);
    for (unsigned i = 0; i < at.type->n_parts; i++)
        parts[i] = value_at(a, part_at(at, i));
    return (struct value){.parts = parts};
}

static struct value value_at(struct arena *a, struct place at)
{
    if (at.type->kind == LIFT_SCALAR)
        return scalar_value(rounding_input(at.type->scalar, at.arrays[0][at.offset]));
    if (at.type->kind == LIFT_TUPLE) return tuple_at(a, at);
    return new_array(a, (struct array){.kind = ARRAY_BUFFER, .place = at});
}

static struct value buffer_element(struct arena *a, struct place at, int64_t i)
{
    bool several = !at.interleaved && lift_type_leaves(at.type) > 1;
    at.offset =
        several ? at.offset * at.type->extent + i : at.offset + i * lift_type_scalars(at.type->element);
    at.type = at.type->element;
    return value_at(a, at);
}

static const struct env *bind(struct arena *a, const struct env *next, const struct lift_param *param,
                              struct value value)
{
    struct env env = {.next = next, .param = param, .value = value};
    return arena_memdup(a, &env, sizeof env);
}

static struct value element(struct arena *a, const struct array *array, int64_t i);

static struct value zip_element(struct arena *a, const struct array *array, int64_t i)
{
    struct value *parts = ARENA_ARRAY(a, struct value, array->n_zipped);
    for (unsigned k = 0; k < array->n_zipped; k++)
        parts[k] = element(a, array->zipped[k].array, i);
    return (struct value){.parts = parts};
}

static struct value concat_element(struct arena *a, const struct array *array, int64_t i)
{
    unsigned k = 0;
    for (; i >= array->expr->args[k]->type->extent; k++)
        i -= array->expr->args[k]->type->extent;
    return element(a, array->zipped[k].array, i);
}

/* An element of type t whose scalars all have one value. */
static struct value filled(struct arena *a, const struct lift_type *t, struct value fill)
{
    if (t->kind == LIFT_SCALAR) return fill;
    return new_array(a, (struct array){.kind = ARRAY_FILL, .element = t->element, .fill = fill});
}

static struct value evaluate_steps(struct arena *a, const struct lift_expr *e, const struct lift_type *type,
                                   int64_t n, const struct env *env);

static struct value padded_element(struct arena *a, const struct array *array, int64_t i)
{
    const struct lift_expr *e = array->expr;
    int64_t n = e->args[e->n_args - 1]->type->extent, at = i - e->amount;
    if (e->pattern == LIFT_PAD) return element(a, array->source, lift_border_source(e->border, n, at));
    return at < 0 || at >= n ? filled(a, e->type->element, array->fill) : element(a, array->source, at);
}

static struct value element(struct arena *a, const struct array *array, int64_t i)
{
    const struct array *source = array->source;
    switch (array->kind) {
    case ARRAY_BUFFER:
        return buffer_element(a, array->place, i);
    case ARRAY_MAP:
        return evaluate(a, array->fun->body,
                        bind(a, array->env, array->fun->params[0], element(a, source, i)));
    case ARRAY_ZIP:
        return zip_element(a, array, i);
    case ARRAY_TRANSPOSE:
        return new_array(a, (struct array){.kind = ARRAY_COLUMN, .source = source, .offset = i});
    case ARRAY_COLUMN:
        return element(a, element(a, source, i).array, array->offset);
    case ARRAY_SPLIT:
        return new_array(a,
                         (struct array){.kind = ARRAY_SLICE, .source = source, .offset = i * array->length});
    case ARRAY_SLICE:
        return element(a, source, array->offset + i);
    case ARRAY_JOIN:
        return element(a, element(a, source, i / array->length).array, i % array->length);
    case ARRAY_PART:
        return element(a, source, i).parts[array->offset];
    case ARRAY_LIST:
        return array->zipped[i];
    case ARRAY_CONCAT:
        return concat_element(a, array, i);
    case ARRAY_REVERSE:
        return element(a, source, array->length - 1 - i);
    case ARRAY_SCAN:
        return evaluate_steps(a, array->expr, array->expr->type->element, i + 1, array->env);
    case ARRAY_SCATTER:
        return element(a, source, array->expr->inverse[i]);
    case ARRAY_PAD:
        return padded_element(a, array, i);
    case ARRAY_FILL:
        return filled(a, array->element, array->fill);
    case ARRAY_IOTA:
        return scalar_value(rounding_literal(SCALAR_INT, (double)i));
    }
    PANIC("array kind %d", (int)array->kind);
}

/* ---- patterns ---- */

/* An array of several arrays, or of all its elements. */
static struct value evaluate_all(struct arena *a, enum array_kind kind, const struct lift_expr *e,
                                 const struct env *env)
{
    struct value *zipped = ARENA_ARRAY(a, struct value, e->n_args);
    for (unsigned i = 0; i < e->n_args; i++)
        zipped[i] = evaluate(a, e->args[i], env);
    return new_array(a, (struct array){.kind = kind, .n_zipped = e->n_args, .zipped = zipped, .expr = e});
}

static struct value evaluate_pad_constant(struct arena *a, const struct lift_expr *e, const struct env *env)
{
    struct value fill = evaluate(a, e->args[0], env);
    const struct array *source = evaluate(a, e->args[1], env).array;
    return new_array(a, (struct array){.kind = ARRAY_PAD, .source = source, .expr = e, .fill = fill});
}

/* Indices are whole numbers in the range of the array: types say so, as inputs are in theirs. */
static struct value evaluate_at(struct arena *a, const struct lift_expr *e, const struct env *env)
{
    int64_t i = (int64_t)evaluate(a, e->args[0], env).scalar.value;
    CHECK(i >= 0 && i < e->args[1]->type->extent);
    return element(a, evaluate(a, e->args[1], env).array, i);
}

static struct value evaluate_unzip(struct arena *a, const struct lift_expr *e, const struct array *source)
{
    struct value *parts = ARENA_ARRAY(a, struct value, e->type->n_parts);
    for (unsigned i = 0; i < e->type->n_parts; i++)
        parts[i] = new_array(a, (struct array){.kind = ARRAY_PART, .source = source, .offset = i});
    return (struct value){.parts = parts};
}

/* A value of scalars and tuples, in an arena of its own. */
static struct value copied(struct arena *a, struct value v, const struct lift_type *type)
{
    if (type->kind == LIFT_SCALAR) return v;
    struct value *parts = ARENA_ARRAY(a, struct value, type->n_parts);
    for (unsigned i = 0; i < type->n_parts; i++)
        parts[i] = copied(a, v.parts[i], type->parts[i]);
    return (struct value){.parts = parts};
}

/* The accumulator, of this type, after n elements. What a step computes is dropped in bulk where there is no
 * array in it, which refers to others. */
static struct value evaluate_steps(struct arena *a, const struct lift_expr *e, const struct lift_type *type,
                                   int64_t n, const struct env *env)
{
    const struct lift_lambda *fun = e->fun;
    struct value accumulator = evaluate(a, e->args[0], env);
    const struct array *source = evaluate(a, e->args[1], env).array;
    bool drop = lift_type_parts(type) > 0;
    struct arena *scratch = drop ? arena_new() : a;
    for (int64_t i = 0; i < n; i++) {
        if (drop && i % STEPS_PER_ARENA == STEPS_PER_ARENA - 1) {
            struct arena *fresh = arena_new();
            accumulator = copied(fresh, accumulator, type);
            arena_free(scratch);
            scratch = fresh;
        }
        const struct env *inner = bind(scratch, env, fun->params[0], accumulator);
        inner = bind(scratch, inner, fun->params[1], element(scratch, source, i));
        accumulator = evaluate(scratch, fun->body, inner);
    }
    if (!drop) return accumulator;
    accumulator = copied(a, accumulator, type);
    arena_free(scratch);
    return accumulator;
}

static struct value evaluate_view(struct arena *a, const struct lift_expr *e, const struct env *env)
{
    const struct array *source = evaluate(a, e->args[0], env).array;
    switch (e->pattern) {
    case LIFT_MAP:
        return new_array(a, (struct array){.kind = ARRAY_MAP, .source = source, .fun = e->fun, .env = env});
    case LIFT_UNZIP:
        return evaluate_unzip(a, e, source);
    case LIFT_TRANSPOSE:
        return new_array(a, (struct array){.kind = ARRAY_TRANSPOSE, .source = source});
    case LIFT_SPLIT:
        return new_array(a, (struct array){.kind = ARRAY_SPLIT, .source = source, .length = e->amount});
    case LIFT_SLIDE:
        return new_array(a, (struct array){.kind = ARRAY_SPLIT, .source = source, .length = e->second});
    case LIFT_REVERSE:
        return new_array(a,
                         (struct array){.kind = ARRAY_REVERSE, .source = source, .length = e->type->extent});
    case LIFT_SCATTER:
        return new_array(a, (struct array){.kind = ARRAY_SCATTER, .source = source, .expr = e});
    case LIFT_PAD:
        return new_array(a, (struct array){.kind = ARRAY_PAD, .source = source, .expr = e});
    case LIFT_HEAD:
        return element(a, source, 0);
    case LIFT_TAIL:
        return new_array(a, (struct array){.kind = ARRAY_SLICE, .source = source, .offset = 1});
    case LIFT_JOIN: {
        int64_t inner = e->args[0]->type->element->extent;
        return new_array(a, (struct array){.kind = ARRAY_JOIN, .source = source, .length = inner});
    }
    default:
        PANIC("pattern %d is no view", (int)e->pattern);
    }
}

static struct value evaluate_apply(struct arena *a, const struct lift_expr *e, const struct env *env)
{
    if (e->pattern == LIFT_REDUCE) return evaluate_steps(a, e, e->type, e->args[1]->type->extent, env);
    if (e->pattern == LIFT_SCAN)
        return new_array(a, (struct array){.kind = ARRAY_SCAN, .expr = e, .env = env});
    switch (e->pattern) {
    case LIFT_ZIP:
        return evaluate_all(a, ARRAY_ZIP, e, env);
    case LIFT_CONCAT:
        return evaluate_all(a, ARRAY_CONCAT, e, env);
    case LIFT_ID:
        return evaluate(a, e->args[0], env);
    case LIFT_AT:
        return evaluate_at(a, e, env);
    case LIFT_PAD_CONSTANT:
        return evaluate_pad_constant(a, e, env);
    case LIFT_IOTA:
    case LIFT_INDICES:
        return new_array(a, (struct array){.kind = ARRAY_IOTA});
    default:
        return evaluate_view(a, e, env);
    }
}

/* ---- expressions ---- */

static struct value look_up(const struct env *env, const struct lift_param *param)
{
    while (env && env->param != param)
        env = env->next;
    CHECK(env);
    return env->value;
}

static struct value evaluate_tuple(struct arena *a, const struct lift_expr *e, const struct env *env)
{
    struct value *parts = ARENA_ARRAY(a, struct value, e->n_args);
    for (unsigned i = 0; i < e->n_args; i++)
        parts[i] = evaluate(a, e->args[i], env);
    return (struct value){.parts = parts};
}

static struct value evaluate(struct arena *a, const struct lift_expr *e, const struct env *env)
{
    switch (e->kind) {
    case LIFT_PARAM_REF:
        return look_up(env, e->param);
    case LIFT_LITERAL:
        return scalar_value(rounding_literal(e->type->scalar, e->value));
    case LIFT_OP:
        return evaluate_op(a, e, env);
    case LIFT_MAKE_TUPLE:
        return evaluate_tuple(a, e, env);
    case LIFT_MAKE_ARRAY:
        return evaluate_all(a, ARRAY_LIST, e, env);
    case LIFT_GET:
        return evaluate(a, e->args[0], env).parts[e->index];
    case LIFT_LET:
        return evaluate(a, e->body, bind(a, env, e->param, evaluate(a, e->args[0], env)));
    case LIFT_APPLY:
        return evaluate_apply(a, e, env);
    }
    PANIC("expression kind %d", (int)e->kind);
}

/* ---- outputs ---- */

static const struct env *bind_inputs(struct arena *a, const struct lift_program *p,
                                     const double *const *arrays)
{
    const struct env *env = NULL;
    for (unsigned i = 0; i < p->n_inputs; i++) {
        const struct lift_param *in = p->inputs[i];
        struct place at = {.arrays = arrays + in->first_array, .type = in->type};
        at.interleaved = in->interleaved;
        env = bind(a, env, in, value_at(a, at));
    }
    return env;
}

/* The value of one output: of several, the others are not evaluated. */
static struct value evaluate_output(struct arena *a, const struct lift_program *p, unsigned output,
                                    const struct env *env)
{
    const struct lift_expr *e = p->output;
    if (p->n_outputs == 1) return evaluate(a, e, env);
    for (; e->kind == LIFT_LET; e = e->body)
        env = bind(a, env, e->param, evaluate(a, e->args[0], env));
    return evaluate(a, e->args[output], env);
}

/* The scalars of an array below a value of type t: of one leaf, or of all of them if interleaved. */
static int64_t scalars_below(const struct lift_type *t, unsigned leaf, bool interleaved)
{
    return interleaved ? lift_type_scalars(t) : lift_type_leaf_scalars(t, leaf);
}

/* Goes to one scalar of a value: element `flat` of the array of a leaf, or of the interleaved array. */
static struct value scalar_of(struct arena *a, struct value value, const struct lift_type *t, unsigned leaf,
                              int64_t flat, bool interleaved)
{
    while (t->kind != LIFT_SCALAR) {
        if (t->kind == LIFT_ARRAY) {
            int64_t below = scalars_below(t->element, leaf, interleaved);
            value = element(a, value.array, flat / below);
            flat %= below;
            t = t->element;
        } else {
            unsigned part = interleaved ? (unsigned)flat : lift_type_part(t, &leaf);
            value = value.parts[part];
            flat = interleaved ? 0 : flat;
            t = t->parts[part];
        }
    }
    return value;
}

struct lift_value_bound lift_interpret_element(const struct lift_program *p, const double *const *arrays,
                                               unsigned array, int64_t flat)
{
    struct arena *a = arena_new();
    const struct lift_array *of = &p->arrays[array];
    const struct lift_output *o = &p->outputs[of->output];
    bool interleaved = o->input == LIFT_NONE ? o->interleaved : p->inputs[o->input]->interleaved;
    struct value value = evaluate_output(a, p, of->output, bind_inputs(a, p, arrays));
    struct lift_value_bound result = scalar_of(a, value, o->type, of->part, flat, interleaved).scalar;
    arena_free(a);
    return result;
}

void lift_interpret(const struct lift_program *p, const double *const *arrays, unsigned array, double *out)
{
    int64_t n = lift_type_scalars(p->arrays[array].type);
    for (int64_t i = 0; i < n; i++)
        out[i] = lift_interpret_element(p, arrays, array, i).value;
}
