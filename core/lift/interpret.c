/* The reference interpreter: pull arrays.
 *
 * An array value is a closure that computes element i on demand; nothing is stored but the inputs, so one
 * element of a large matrix product costs one dot product:
 *
 *     output map(fun r -> reduce(add, 0.0, r), A)     output 3 asks the MAP for element 3, which binds r to
 *                                                     the BUFFER of row 3 and reduces it
 *
 * Each scalar carries the bound of the error that a floating-point evaluation of the same operations may
 * have: first-order analysis, |y - value| <= (n + 1) u s. */
#include <math.h>
#include <stdlib.h>

#include "core/base/arena.h"
#include "core/base/panic.h"
#include "core/lift/lift.h"
#include "core/lift/scalar.h"

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
    ARRAY_PART
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

struct array {
    enum array_kind kind;
    const struct array *source; /* all but BUFFER and ZIP */
    int64_t offset;             /* BUFFER: in scalars. COLUMN: which. SLICE: its first element. PART: which */
    int64_t length;             /* SPLIT: of a chunk. JOIN: of an inner array */
    const double *data;         /* BUFFER */
    const struct lift_type *type;  /* BUFFER: of the element */
    const struct lift_lambda *fun; /* MAP */
    const struct env *env;         /* MAP */
    unsigned n_zipped;             /* ZIP */
    const struct value *zipped;    /* ZIP */
};

static struct value evaluate(struct arena *a, const struct lift_expr *e, const struct env *env);

/* ---- scalars ---- */

static struct value exact_scalar(double value, bool constant)
{
    return (struct value){
        .scalar = {.value = value, .s = fabs(value), .n = 0, .exact_ops = true, .constant = constant}};
}

/* Magnitude of the derivative of a function of one argument x with value y; a bound where it is periodic. */
static double derivative(enum scalar_op op, double x, double y)
{
    switch (op) {
    case SCALAR_SQRT:
        return y > 0 ? 0.5 / y : 0;
    case SCALAR_RSQRT:
        return fabs(0.5 * y / x);
    case SCALAR_EXP:
        return y;
    case SCALAR_LOG:
        return fabs(1 / x);
    default:
        return 1;
    }
}

/* Whether max never selects the constant c over x, whatever the signs of the inputs: x is at least -s, and
 * computed with an error below s. */
static bool never_selected(double c, const struct lift_value_bound *x)
{
    return c < -2 * x->s;
}

/* The larger bound, as another output may select the other operand. A constant that no output selects, the
 * -1e30 that a maximum starts from, has no part in it. sign: 1 for max, -1 for min. */
static void bound_of_selection(double sign, const struct lift_value_bound *x, struct lift_value_bound *out)
{
    bool drop[2];
    for (int i = 0; i < 2; i++)
        drop[i] = x[i].constant && never_selected(sign * x[i].value, &x[1 - i]);
    out->s = fmax(drop[0] ? 0 : x[0].s, drop[1] ? 0 : x[1].s);
    out->n = fmax(drop[0] ? 0 : x[0].n, drop[1] ? 0 : x[1].n);
}

static void bound_of_op(enum scalar_op op, const struct lift_value_bound *x, struct lift_value_bound *out)
{
    switch (op) {
    case SCALAR_ADD:
    case SCALAR_SUB:
        out->s = x[0].s + x[1].s;
        out->n = fmax(x[0].n, x[1].n) + 1;
        return;
    case SCALAR_MULT:
        out->s = x[0].s * x[1].s;
        out->n = x[0].n + x[1].n + 1;
        return;
    case SCALAR_FMA:
        out->s = x[0].s * x[1].s + x[2].s;
        out->n = fmax(x[0].n + x[1].n + 1, x[2].n) + 1;
        return;
    case SCALAR_DIV:
        out->s = x[0].s * x[1].s / (x[1].value * x[1].value);
        out->n = x[0].n + x[1].n + 5;
        return;
    case SCALAR_MIN:
    case SCALAR_MAX:
        bound_of_selection(op == SCALAR_MAX ? 1 : -1, x, out);
        return;
    case SCALAR_NEG:
    case SCALAR_ABS:
        out->s = x[0].s;
        out->n = x[0].n;
        return;
    default:
        out->s = fabs(out->value) + derivative(op, x[0].value, out->value) * x[0].s;
        out->n = x[0].n + 10;
    }
}

/* A result that overflows the operation's type is marked (not an infinity such as 1 / 0, which is the result
 * in every type); one so small that a device may replace it with zero is off by as much, in units of u. */
static void bound_of_range(enum scalar_type type, struct lift_value_bound *out)
{
    double size = fabs(out->value), smallest = scalar_type_smallest(type);
    if (isfinite(size) && size > scalar_type_largest(type)) out->overflows = true;
    if (size > 0 && size < smallest) out->s += ldexp(smallest, (int)scalar_type_precision(type));
}

static struct value evaluate_op(struct arena *a, const struct lift_expr *e, const struct env *env)
{
    struct lift_value_bound x[SCALAR_MAX_ARITY];
    double values[SCALAR_MAX_ARITY];
    struct value result = {.scalar = {.exact_ops = scalar_op_exact(e->op), .constant = true}};
    for (unsigned i = 0; i < e->n_args; i++) {
        x[i] = evaluate(a, e->args[i], env).scalar;
        values[i] = x[i].value;
        result.scalar.exact_ops = result.scalar.exact_ops && x[i].exact_ops;
        result.scalar.constant = result.scalar.constant && x[i].constant;
        result.scalar.overflows = result.scalar.overflows || x[i].overflows;
    }
    result.scalar.value = scalar_op_apply(e->op, values);
    bound_of_op(e->op, x, &result.scalar);
    bound_of_range(e->type->scalar, &result.scalar);
    return result;
}

/* ---- arrays ---- */

static struct value new_array(struct arena *a, struct array array)
{
    return (struct value){.array = arena_memdup(a, &array, sizeof array)};
}

static struct value view_of_buffer(struct arena *a, const double *data, const struct lift_type *type,
                                   int64_t offset)
{
    if (type->kind == LIFT_SCALAR) return exact_scalar(data[offset], false);
    return new_array(
        a, (struct array){.kind = ARRAY_BUFFER, .data = data, .type = type->element, .offset = offset});
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

static struct value element(struct arena *a, const struct array *array, int64_t i)
{
    const struct array *source = array->source;
    switch (array->kind) {
    case ARRAY_BUFFER:
        return view_of_buffer(a, array->data, array->type,
                              array->offset + i * lift_type_scalars(array->type));
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
    }
    PANIC("array kind %d", (int)array->kind);
}

/* ---- patterns ---- */

static struct value evaluate_zip(struct arena *a, const struct lift_expr *e, const struct env *env)
{
    struct value *zipped = ARENA_ARRAY(a, struct value, e->n_args);
    for (unsigned i = 0; i < e->n_args; i++)
        zipped[i] = evaluate(a, e->args[i], env);
    return new_array(a, (struct array){.kind = ARRAY_ZIP, .n_zipped = e->n_args, .zipped = zipped});
}

static struct value evaluate_unzip(struct arena *a, const struct lift_expr *e, const struct array *source)
{
    struct value *parts = ARENA_ARRAY(a, struct value, e->type->n_parts);
    for (unsigned i = 0; i < e->type->n_parts; i++)
        parts[i] = new_array(a, (struct array){.kind = ARRAY_PART, .source = source, .offset = i});
    return (struct value){.parts = parts};
}

/* What a step computes is dropped in bulk where the accumulator is a scalar, which refers to nothing. */
static struct value evaluate_reduce(struct arena *a, const struct lift_expr *e, const struct env *env)
{
    const struct lift_lambda *fun = e->fun;
    struct value accumulator = evaluate(a, e->args[0], env);
    const struct array *source = evaluate(a, e->args[1], env).array;
    bool drop = e->type->kind == LIFT_SCALAR;
    struct arena *scratch = drop ? arena_new() : a;
    for (int64_t i = 0; i < e->args[1]->type->extent; i++) {
        if (drop && i % STEPS_PER_ARENA == STEPS_PER_ARENA - 1) {
            arena_free(scratch);
            scratch = arena_new();
        }
        const struct env *inner = bind(scratch, env, fun->params[0], accumulator);
        inner = bind(scratch, inner, fun->params[1], element(scratch, source, i));
        accumulator = evaluate(scratch, fun->body, inner);
    }
    if (drop) arena_free(scratch);
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
    if (e->pattern == LIFT_REDUCE) return evaluate_reduce(a, e, env);
    if (e->pattern == LIFT_ZIP) return evaluate_zip(a, e, env);
    if (e->pattern == LIFT_ID) return evaluate(a, e->args[0], env);
    return evaluate_view(a, e, env);
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
        return exact_scalar(e->value, true);
    case LIFT_OP:
        return evaluate_op(a, e, env);
    case LIFT_MAKE_TUPLE:
        return evaluate_tuple(a, e, env);
    case LIFT_GET:
        return evaluate(a, e->args[0], env).parts[e->index];
    case LIFT_LET:
        return evaluate(a, e->body, bind(a, env, e->param, evaluate(a, e->args[0], env)));
    case LIFT_APPLY:
        return evaluate_apply(a, e, env);
    }
    PANIC("expression kind %d", (int)e->kind);
}

struct lift_value_bound lift_interpret_element(const struct lift_program *p, const double *const *inputs,
                                               int64_t flat)
{
    struct arena *a = arena_new();
    const struct env *env = NULL;
    for (unsigned i = 0; i < p->n_inputs; i++)
        env = bind(a, env, p->inputs[i], view_of_buffer(a, inputs[i], p->inputs[i]->type, 0));
    struct value value = evaluate(a, p->output, env);
    for (const struct lift_type *t = p->output->type; t->kind == LIFT_ARRAY; t = t->element) {
        int64_t below = lift_type_scalars(t->element);
        value = element(a, value.array, flat / below);
        flat %= below;
    }
    struct lift_value_bound result = value.scalar;
    arena_free(a);
    return result;
}

void lift_interpret(const struct lift_program *p, const double *const *inputs, double *out)
{
    int64_t n = lift_type_scalars(p->output->type);
    for (int64_t i = 0; i < n; i++)
        out[i] = lift_interpret_element(p, inputs, i).value;
}
