/* Which values are the same: the keys under which the interpreter remembers results.
 *
 *     map(fun q -> map(fun k -> sum(map(mult, zip(q, k))), K), Q)
 *
 * The sum has the key of its expression, of q and of k; q that of row 3 of Q, which is the number of the
 * input's array and an offset. An array that is computed has the key of its pattern and of what that reads.
 */
#include "core/lift/interpret.h"

#include <string.h>

#include "core/base/panic.h"

static struct remember_key key_of_value(struct remember_key key, struct value v,
                                        const struct lift_type *type);

/* Two keys as one; the order matters. */
static struct remember_key join_keys(struct remember_key x, struct remember_key y)
{
    return remember_mix(remember_mix(x, y.low), y.high);
}

static uint64_t bits(double x)
{
    uint64_t word;
    memcpy(&word, &x, sizeof word);
    return word;
}

static struct remember_key key_of_scalar(struct remember_key key, const struct lift_value_bound *v)
{
    unsigned flags = v->exact | v->exact_ops << 1u | v->fits << 2u | v->jumps << 3u | v->constant << 4u |
                     v->overflows << 5u;
    key = remember_mix(remember_mix(key, bits(v->value)), bits(v->s));
    return remember_mix(remember_mix(key, bits(v->n)), flags);
}

/* How deep the type is: that tells an array from its first element, and a tuple from its first part. */
static unsigned depth_of(const struct lift_type *t)
{
    unsigned depth = 0;
    for (; t->kind != LIFT_SCALAR; depth++)
        t = t->kind == LIFT_ARRAY ? t->element : t->parts[0];
    return depth;
}

static struct remember_key key_of_place(struct remember_key key, const struct place *at)
{
    key = remember_mix(key, (uint64_t)at->offset);
    return remember_mix(remember_mix(key, at->first), depth_of(at->type));
}

static struct remember_key key_of_values(struct remember_key key, const struct array *a)
{
    for (unsigned i = 0; i < a->n_zipped; i++)
        key = key_of_value(key, a->zipped[i], a->expr->args[i]->type);
    return key;
}

static struct value read_value(const struct lift_expr *e, const struct env *env)
{
    if (e->kind == LIFT_PARAM_REF) return interpret_look_up(env, e->param);
    return read_value(e->args[0], env).parts[e->index];
}

static struct remember_key key_of_reads(struct remember_key key, const struct lift_expr *e,
                                        const struct env *env)
{
    key = remember_mix(key, e->number);
    for (unsigned i = 0; i < e->n_reads && e->n_reads != LIFT_NONE; i++)
        key = key_of_value(key, read_value(e->reads[i], env), e->reads[i]->type);
    return key;
}

struct remember_key interpret_reduced_key(const struct reduced *of)
{
    const struct remember_key key = {.low = 4, .high = of->serial};
    return of->serial ? key : key_of_reads(remember_mix(key, (uint64_t)of->n), of->e, of->env);
}

/* What a kind has beside its numbers and its source. One that reads too much is told by its number. */
static struct remember_key key_of_rest(struct remember_key key, const struct array *a)
{
    switch (a->kind) {
    case ARRAY_BUFFER:
        return key_of_place(key, &a->place);
    case ARRAY_MAP:
    case ARRAY_SCAN:
        return key_of_reads(key, a->expr, a->env);
    case ARRAY_ZIP:
    case ARRAY_LIST:
    case ARRAY_CONCAT:
        return key_of_values(remember_mix(key, a->expr->number), a);
    case ARRAY_SCATTER:
        return remember_mix(key, a->expr->number);
    case ARRAY_PAD:
        return key_of_scalar(remember_mix(key, a->expr->number), &a->fill.scalar);
    case ARRAY_REDUCED:
        return a->source ? key : join_keys(key, interpret_reduced_key(a->reduced));
    case ARRAY_FILL:
        return key_of_scalar(key, &a->fill.scalar);
    default:
        return key;
    }
}

struct remember_key interpret_array_key(struct array *a)
{
    if (a->kind == ARRAY_KEPT) return interpret_array_key(a->source);
    if (a->keyed) return a->key;
    struct remember_key key = {.low = a->kind, .high = 1};
    key = remember_mix(remember_mix(key, (uint64_t)a->offset), (uint64_t)a->length);
    if (a->source && a->kind != ARRAY_MAP) key = join_keys(key, interpret_array_key(a->source));
    a->key = key_of_rest(key, a);
    a->keyed = true;
    return a->key;
}

static struct remember_key key_of_value(struct remember_key key, struct value v, const struct lift_type *type)
{
    if (type->kind == LIFT_SCALAR) return key_of_scalar(key, &v.scalar);
    if (type->kind == LIFT_ARRAY) return join_keys(key, interpret_array_key(v.array));
    for (unsigned i = 0; i < type->n_parts; i++)
        key = key_of_value(key, v.parts[i], type->parts[i]);
    return key;
}

bool interpret_expr_key(const struct lift_expr *e, const struct env *env, struct remember_key *out)
{
    if (e->n_reads == LIFT_NONE) return false;
    *out = key_of_reads((struct remember_key){.low = 2, .high = 3}, e, env);
    return true;
}

/* ---- what is remembered ---- */

bool interpret_recall(struct run *r, struct remember_key key, const struct lift_type *type, struct value *out)
{
    *out = (struct value){0};
    if (type->kind == LIFT_SCALAR) return remember_recall(r->memory, key, &out->scalar);
    struct value *parts = ARENA_ARRAY(r->arena, struct value, type->n_parts);
    out->parts = parts;
    for (unsigned i = 0; i < type->n_parts; i++)
        if (!interpret_recall(r, remember_mix(key, i), type->parts[i], &parts[i])) return false;
    return true;
}

void interpret_store(struct run *r, struct remember_key key, const struct lift_type *type, struct value v)
{
    if (type->kind == LIFT_SCALAR) remember_store(r->memory, key, &v.scalar);
    for (unsigned i = 0; type->kind == LIFT_TUPLE && i < type->n_parts; i++)
        interpret_store(r, remember_mix(key, i), type->parts[i], v.parts[i]);
}
