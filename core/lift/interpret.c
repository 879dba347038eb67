/* The reference interpreter: pull arrays.
 *
 * An array value is a closure that computes element i on demand; only inputs are stored, and one element of a
 * large matrix product costs one dot product:
 *
 *     output map(fun r -> reduce(add, 0.0, r), A)     output 3 asks the MAP for element 3, which binds r to
 *                                                     the BUFFER of row 3 and reduces it
 *
 * Results of reductions, and elements of arrays that are read again, are remembered under what they depend
 * on, as far as memory for REMEMBER_MOST scalars goes (remember.h): in attention the product of a query and a
 * key is computed once for all columns of the result. A result is the same bit for bit as if it were computed
 * again.
 *
 * Each scalar carries the bound of the error that a floating-point evaluation of the same operations may have
 * (rounding.h). */
#include "core/base/panic.h"
#include "core/lift/interpret.h"
#include "core/lift/rounding.h"

enum { STEPS_PER_ARENA = 1024 }; /* steps of a reduction between two releases of what they left behind */

/* ---- scalars ---- */

/* A selection between scalars, or the components of tuples, by the condition c. */
static struct value select_value(struct run *r, const struct lift_type *type, struct lift_value_bound c,
                                 struct value yes, struct value no)
{
    if (type->kind == LIFT_SCALAR) {
        const struct lift_value_bound x[] = {c, yes.scalar, no.scalar};
        return interpret_scalar(rounding_apply(SCALAR_SELECT, type->scalar, x));
    }
    struct value *parts = ARENA_ARRAY(r->arena, struct value, type->n_parts);
    for (unsigned i = 0; i < type->n_parts; i++)
        parts[i] = select_value(r, type->parts[i], c, yes.parts[i], no.parts[i]);
    return (struct value){.parts = parts};
}

/* Whether the first two operands are factors of a product of floats that may be one in matrices: neither is
 * made of literals. */
static bool is_product(const struct lift_expr *e, const struct lift_value_bound *x)
{
    return (e->op == SCALAR_MULT || e->op == SCALAR_FMA) && e->args[0]->type->scalar == SCALAR_FLOAT &&
           !x[0].constant && !x[1].constant;
}

static struct value evaluate_op(struct run *r, const struct lift_expr *e, const struct env *env)
{
    struct value x[SCALAR_MAX_ARITY];
    struct lift_value_bound bounds[SCALAR_MAX_ARITY];
    r->work++;
    for (unsigned i = 0; i < e->n_args; i++) {
        x[i] = interpret_expr(r, e->args[i], env);
        bounds[i] = x[i].scalar;
    }
    if (e->op == SCALAR_SELECT) return select_value(r, e->type, x[0].scalar, x[1], x[2]);
    bool rounds = r->arrays.rounds_factors && is_product(e, bounds);
    for (unsigned i = 0; i < 2 && rounds; i++)
        bounds[i] = rounding_factor(bounds[i]);
    return interpret_scalar(rounding_apply(e->op, e->args[0]->type->scalar, bounds));
}

/* ---- patterns ---- */

/* An array of several arrays, or of all its elements. */
static struct value evaluate_all(struct run *r, enum array_kind kind, const struct lift_expr *e,
                                 const struct env *env)
{
    struct value *zipped = ARENA_ARRAY(r->arena, struct value, e->n_args);
    for (unsigned i = 0; i < e->n_args; i++)
        zipped[i] = interpret_expr(r, e->args[i], env);
    return interpret_new_array(
        r, (struct array){.kind = kind, .n_zipped = e->n_args, .zipped = zipped, .expr = e});
}

static struct value evaluate_pad_constant(struct run *r, const struct lift_expr *e, const struct env *env)
{
    struct value fill = interpret_expr(r, e->args[0], env);
    struct array *source = interpret_expr(r, e->args[1], env).array;
    return interpret_new_array(r,
                               (struct array){.kind = ARRAY_PAD, .source = source, .expr = e, .fill = fill});
}

/* Indices are whole numbers in the range of the array: types say so, as inputs are in theirs. One that may be
 * another on a device leads to another element there. */
static struct value evaluate_at(struct run *r, const struct lift_expr *e, const struct env *env)
{
    struct lift_value_bound index = interpret_expr(r, e->args[0], env).scalar;
    int64_t i = (int64_t)index.value;
    CHECK(i >= 0 && i < e->args[1]->type->extent);
    struct array *array = interpret_expr(r, e->args[1], env).array;
    r->revisits = r->revisits || array->computes;
    struct value v = interpret_element(r, array, i);
    return index.exact ? v : interpret_doubtful(r, v, e->type);
}

static struct value evaluate_unzip(struct run *r, const struct lift_expr *e, struct array *source)
{
    struct value *parts = ARENA_ARRAY(r->arena, struct value, e->type->n_parts);
    for (unsigned i = 0; i < e->type->n_parts; i++)
        parts[i] = interpret_new_array(r, (struct array){.kind = ARRAY_PART, .source = source, .offset = i});
    return (struct value){.parts = parts};
}

/* A value of scalars and tuples, in another arena. */
static struct value copied(struct arena *a, struct value v, const struct lift_type *type)
{
    if (type->kind == LIFT_SCALAR) return v;
    struct value *parts = ARENA_ARRAY(a, struct value, type->n_parts);
    for (unsigned i = 0; i < type->n_parts; i++)
        parts[i] = copied(a, v.parts[i], type->parts[i]);
    return (struct value){.parts = parts};
}

struct arena *interpret_take_arena(struct run *r)
{
    return r->n_spare ? r->spare[--r->n_spare] : arena_new();
}

void interpret_give_arena(struct run *r, struct arena *a)
{
    if (r->n_spare == INTERPRET_SPARES) {
        arena_free(a);
        return;
    }
    arena_reset(a);
    r->spare[r->n_spare++] = a;
}

/* A reduction or a scan on its way. */
struct steps {
    const struct lift_expr *e;
    const struct lift_type *type; /* of the accumulator */
    const struct env *env;
    const struct remember_key *key; /* of a scan, whose elements are stored; or NULL */
};

static struct value one_step(struct run *r, const struct steps *s, struct array *source, int64_t i,
                             struct value accumulator)
{
    const struct lift_lambda *fun = s->e->fun;
    const struct env *inner = interpret_bind(r, s->env, fun->params[0], accumulator);
    inner = interpret_bind(r, inner, fun->params[1], interpret_element(r, source, i));
    struct value v = interpret_expr(r, fun->body, inner);
    if (s->key) interpret_store(r, remember_mix(*s->key, (uint64_t)i), s->type, v);
    return v;
}

/* The accumulator after elements `from` to n - 1. What a step computes is dropped in bulk. */
static struct value evaluate_steps(struct run *r, const struct steps *s, struct value accumulator,
                                   int64_t from, int64_t n)
{
    struct array *source = interpret_expr(r, s->e->args[1], s->env).array;
    struct arena *outer = r->arena;
    r->arena = interpret_take_arena(r);
    for (int64_t i = from; i < n; i++) {
        if (i % STEPS_PER_ARENA == STEPS_PER_ARENA - 1) {
            struct arena *full = r->arena;
            r->arena = interpret_take_arena(r);
            accumulator = copied(r->arena, accumulator, s->type);
            interpret_give_arena(r, full);
        }
        accumulator = one_step(r, s, source, i, accumulator);
    }
    accumulator = copied(outer, accumulator, s->type);
    interpret_give_arena(r, r->arena);
    r->arena = outer;
    return accumulator;
}

static struct value evaluate_reduce(struct run *r, const struct lift_expr *e, const struct env *env)
{
    const struct steps s = {.e = e, .type = e->type, .env = env};
    int64_t n = e->args[1]->type->extent;
    struct remember_key key;
    struct value v;
    if (!lift_type_parts(e->type)) return interpret_reduction(r, e, e->type, env, n);
    bool remembers = (e->repeated || r->revisits) && interpret_expr_key(e, env, &key);
    if (remembers && interpret_recall(r, key, e->type, &v)) return v;
    v = evaluate_steps(r, &s, interpret_expr(r, e->args[0], env), 0, n);
    if (remembers) interpret_store(r, key, e->type, v);
    return v;
}

struct value interpret_scan(struct run *r, struct array *scan, int64_t i)
{
    const struct lift_expr *e = scan->expr;
    const struct remember_key key = interpret_array_key(scan);
    const struct steps s = {.e = e, .type = e->type->element, .env = scan->env, .key = &key};
    struct value v;
    if (!lift_type_parts(s.type)) return interpret_reduction(r, e, s.type, scan->env, i + 1);
    if (interpret_recall(r, remember_mix(key, (uint64_t)i), s.type, &v)) return v;
    if (i > 0 && interpret_recall(r, remember_mix(key, (uint64_t)(i - 1)), s.type, &v))
        return evaluate_steps(r, &s, v, i, i + 1);
    return evaluate_steps(r, &s, interpret_expr(r, e->args[0], scan->env), 0, i + 1);
}

/* An array that is computed by a function. One that reads too much to have a key is told by a number. */
static struct value functional_array(struct run *r, enum array_kind kind, const struct lift_expr *e,
                                     struct array *source, const struct env *env)
{
    struct array array = {.kind = kind, .source = source, .expr = e, .env = env};
    if (e->n_reads == LIFT_NONE) array.length = (int64_t)++r->serial;
    return interpret_new_array(r, array);
}

static struct value evaluate_view(struct run *r, const struct lift_expr *e, const struct env *env)
{
    struct array *source = interpret_expr(r, e->args[0], env).array;
    switch (e->pattern) {
    case LIFT_MAP:
        return functional_array(r, ARRAY_MAP, e, source, env);
    case LIFT_UNZIP:
        return evaluate_unzip(r, e, source);
    case LIFT_TRANSPOSE:
        return interpret_new_array(r, (struct array){.kind = ARRAY_TRANSPOSE, .source = source});
    case LIFT_SPLIT:
        return interpret_new_array(
            r, (struct array){.kind = ARRAY_SPLIT, .source = source, .length = e->amount});
    case LIFT_SLIDE:
        return interpret_new_array(
            r, (struct array){.kind = ARRAY_SPLIT, .source = source, .length = e->second});
    case LIFT_REVERSE:
        return interpret_new_array(
            r, (struct array){.kind = ARRAY_REVERSE, .source = source, .length = e->type->extent});
    case LIFT_SCATTER:
        return interpret_new_array(r, (struct array){.kind = ARRAY_SCATTER, .source = source, .expr = e});
    case LIFT_PAD:
        return interpret_new_array(r, (struct array){.kind = ARRAY_PAD, .source = source, .expr = e});
    case LIFT_HEAD:
        return interpret_element(r, source, 0);
    case LIFT_TAIL:
        return interpret_new_array(r, (struct array){.kind = ARRAY_SLICE, .source = source, .offset = 1});
    case LIFT_JOIN: {
        int64_t inner = e->args[0]->type->element->extent;
        return interpret_new_array(r, (struct array){.kind = ARRAY_JOIN, .source = source, .length = inner});
    }
    default:
        PANIC("pattern %d is no view", (int)e->pattern);
    }
}

static struct value evaluate_apply(struct run *r, const struct lift_expr *e, const struct env *env)
{
    if (e->pattern == LIFT_REDUCE) return evaluate_reduce(r, e, env);
    if (e->pattern == LIFT_SCAN) return functional_array(r, ARRAY_SCAN, e, NULL, env);
    switch (e->pattern) {
    case LIFT_ZIP:
        return evaluate_all(r, ARRAY_ZIP, e, env);
    case LIFT_CONCAT:
        return evaluate_all(r, ARRAY_CONCAT, e, env);
    case LIFT_ID:
        return interpret_expr(r, e->args[0], env);
    case LIFT_AT:
        return evaluate_at(r, e, env);
    case LIFT_PAD_CONSTANT:
        return evaluate_pad_constant(r, e, env);
    case LIFT_IOTA:
    case LIFT_INDICES:
        return interpret_new_array(r, (struct array){.kind = ARRAY_IOTA});
    default:
        return evaluate_view(r, e, env);
    }
}

/* ---- expressions ---- */

struct value interpret_look_up(const struct env *env, const struct lift_param *param)
{
    while (env && env->param != param)
        env = env->next;
    CHECK(env);
    return env->value;
}

const struct env *interpret_bind(struct run *r, const struct env *next, const struct lift_param *param,
                                 struct value value)
{
    bool keep = param->again && param->type->kind != LIFT_SCALAR;
    struct env env = {.next = next, .param = param};
    env.value = keep ? interpret_kept(r, value, param->type) : value;
    return arena_memdup(r->arena, &env, sizeof env);
}

static struct value evaluate_tuple(struct run *r, const struct lift_expr *e, const struct env *env)
{
    struct value *parts = ARENA_ARRAY(r->arena, struct value, e->n_args);
    for (unsigned i = 0; i < e->n_args; i++)
        parts[i] = interpret_expr(r, e->args[i], env);
    return (struct value){.parts = parts};
}

struct value interpret_expr(struct run *r, const struct lift_expr *e, const struct env *env)
{
    switch (e->kind) {
    case LIFT_PARAM_REF:
        return interpret_look_up(env, e->param);
    case LIFT_LITERAL:
        return interpret_scalar(rounding_literal(e->type->scalar, e->value));
    case LIFT_OP:
        return evaluate_op(r, e, env);
    case LIFT_MAKE_TUPLE:
        return evaluate_tuple(r, e, env);
    case LIFT_MAKE_ARRAY:
        return evaluate_all(r, ARRAY_LIST, e, env);
    case LIFT_GET:
        return interpret_expr(r, e->args[0], env).parts[e->index];
    case LIFT_LET:
        return interpret_expr(r, e->body,
                              interpret_bind(r, env, e->param, interpret_expr(r, e->args[0], env)));
    case LIFT_APPLY:
        return evaluate_apply(r, e, env);
    }
    PANIC("expression kind %d", (int)e->kind);
}
