/* Elements of pull arrays, computed on demand.
 *
 *     reverse(map(f, A))     element 0 asks the MAP for element n - 1, and the MAP the BUFFER of A
 *
 * An array that is read again, and takes operations to compute, is KEPT: its scalars are remembered under the
 * key of the array and their index. */
#include "core/lift/interpret.h"

#include <math.h>

#include "core/base/panic.h"
#include "core/lift/rounding.h"

struct value interpret_scalar(struct lift_value_bound v)
{
    return (struct value){.scalar = v};
}

/* ---- arrays ---- */

/* Whether elements take operations: views pass on those of what they view, scans remember theirs. */
static bool computes(const struct array *a)
{
    bool any = a->source && a->source->computes;
    if (a->kind == ARRAY_MAP) return a->expr->computes;
    if (a->kind == ARRAY_REDUCED) return !a->reduced->cell && !a->reduced->stored;
    for (unsigned i = 0; i < a->n_zipped && !any; i++)
        any = a->zipped[i].array && a->zipped[i].array->computes;
    return any && a->kind != ARRAY_KEPT;
}

struct value interpret_new_array(struct run *r, struct array array)
{
    array.computes = computes(&array);
    if (array.source && array.source->computes && array.kind != ARRAY_MAP) r->revisits = true;
    return (struct value){.array = arena_memdup(r->arena, &array, sizeof array)};
}

/* Several arrays are passed through together, as far as a tuple's parts have one each. */
static struct place part_at(struct place at, unsigned part)
{
    const struct lift_type *tuple = at.type;
    bool several = !at.interleaved && lift_type_leaves(tuple) > 1;
    for (unsigned i = 0; i < part; i++) {
        if (at.interleaved) at.offset += lift_type_scalars(tuple->parts[i]);
        if (several) at.first += lift_type_leaves(tuple->parts[i]);
    }
    at.type = tuple->parts[part];
    if (several && lift_type_leaves(at.type) == 1) at.offset *= lift_type_scalars(at.type);
    return at;
}

static struct value tuple_at(struct run *r, struct place at)
{
    struct value *parts = ARENA_ARRAY(r->arena, struct value, at.type->n_parts);
    for (unsigned i = 0; i < at.type->n_parts; i++)
        parts[i] = interpret_input(r, part_at(at, i));
    return (struct value){.parts = parts};
}

struct value interpret_input(struct run *r, struct place at)
{
    if (at.type->kind == LIFT_SCALAR)
        return interpret_scalar(
            rounding_input(at.type->scalar, r->arrays.read(r->arrays.ctx, at.first, at.offset)));
    if (at.type->kind == LIFT_TUPLE) return tuple_at(r, at);
    return interpret_new_array(r, (struct array){.kind = ARRAY_BUFFER, .place = at});
}

static struct place place_of_element(struct place at, int64_t i)
{
    bool several = !at.interleaved && lift_type_leaves(at.type) > 1;
    at.offset =
        several ? at.offset * at.type->extent + i : at.offset + i * lift_type_scalars(at.type->element);
    at.type = at.type->element;
    return at;
}

static struct value column_element(struct run *r, const struct array *column, int64_t i)
{
    struct array *source = column->source;
    if (source->kind != ARRAY_BUFFER)
        return interpret_element(r, interpret_element(r, source, i).array, column->offset);
    return interpret_input(r, place_of_element(place_of_element(source->place, i), column->offset));
}

static struct value zip_element(struct run *r, struct array *array, int64_t i)
{
    struct value *parts = ARENA_ARRAY(r->arena, struct value, array->n_zipped);
    for (unsigned k = 0; k < array->n_zipped; k++)
        parts[k] = interpret_element(r, array->zipped[k].array, i);
    return (struct value){.parts = parts};
}

static struct value concat_element(struct run *r, struct array *array, int64_t i)
{
    unsigned k = 0;
    for (; i >= array->expr->args[k]->type->extent; k++)
        i -= array->expr->args[k]->type->extent;
    return interpret_element(r, array->zipped[k].array, i);
}

/* An element of type t whose scalars all have one value. */
static struct value filled(struct run *r, const struct lift_type *t, struct value fill)
{
    if (t->kind == LIFT_SCALAR) return fill;
    return interpret_new_array(r, (struct array){.kind = ARRAY_FILL, .element = t->element, .fill = fill});
}

static struct value padded_element(struct run *r, struct array *array, int64_t i)
{
    const struct lift_expr *e = array->expr;
    int64_t n = e->args[e->n_args - 1]->type->extent, at = i - e->amount;
    if (e->pattern == LIFT_PAD)
        return interpret_element(r, array->source, lift_border_source(e->border, n, at));
    return at < 0 || at >= n ? filled(r, e->type->element, array->fill)
                             : interpret_element(r, array->source, at);
}

static struct value mapped_element(struct run *r, const struct array *array, int64_t i)
{
    const struct lift_lambda *fun = array->expr->fun;
    struct value x = interpret_element(r, array->source, i);
    return interpret_expr(r, fun->body, interpret_bind(r, array->env, fun->params[0], x));
}

struct value interpret_doubtful(struct run *r, struct value v, const struct lift_type *type)
{
    if (type->kind == LIFT_ARRAY)
        return interpret_new_array(
            r, (struct array){.kind = ARRAY_DOUBTFUL, .source = v.array, .element = type->element});
    if (type->kind == LIFT_SCALAR) {
        v.scalar.s = INFINITY;
        v.scalar.exact = false;
        v.scalar.jumps = true;
        return v;
    }
    struct value *parts = ARENA_ARRAY(r->arena, struct value, type->n_parts);
    for (unsigned i = 0; i < type->n_parts; i++)
        parts[i] = interpret_doubtful(r, v.parts[i], type->parts[i]);
    return (struct value){.parts = parts};
}

struct value interpret_kept(struct run *r, struct value v, const struct lift_type *type)
{
    if (v.array && v.array->computes)
        return interpret_new_array(
            r, (struct array){.kind = ARRAY_KEPT, .source = v.array, .element = type->element});
    if (type->kind != LIFT_TUPLE || lift_type_parts(type)) return v;
    struct value *parts = ARENA_ARRAY(r->arena, struct value, type->n_parts);
    for (unsigned i = 0; i < type->n_parts; i++)
        parts[i] = interpret_kept(r, v.parts[i], type->parts[i]);
    return (struct value){.parts = parts};
}

static struct value kept_element(struct run *r, struct array *array, int64_t i)
{
    const struct lift_type *type = array->element;
    struct value v;
    if (!lift_type_parts(type)) return interpret_kept(r, interpret_element(r, array->source, i), type);
    struct remember_key key = remember_mix(interpret_array_key(array), (uint64_t)i);
    if (interpret_recall(r, key, type, &v)) return v;
    v = interpret_element(r, array->source, i);
    interpret_store(r, key, type, v);
    return v;
}

struct value interpret_element(struct run *r, struct array *array, int64_t i)
{
    struct array *source = array->source;
    switch (array->kind) {
    case ARRAY_BUFFER:
        return interpret_input(r, place_of_element(array->place, i));
    case ARRAY_MAP:
        return mapped_element(r, array, i);
    case ARRAY_ZIP:
        return zip_element(r, array, i);
    case ARRAY_TRANSPOSE:
        return interpret_new_array(r, (struct array){.kind = ARRAY_COLUMN, .source = source, .offset = i});
    case ARRAY_COLUMN:
        return column_element(r, array, i);
    case ARRAY_SPLIT:
        return interpret_new_array(
            r, (struct array){.kind = ARRAY_SLICE, .source = source, .offset = i * array->length});
    case ARRAY_SLICE:
        return interpret_element(r, source, array->offset + i);
    case ARRAY_JOIN:
        return interpret_element(r, interpret_element(r, source, i / array->length).array, i % array->length);
    case ARRAY_PART:
        return interpret_element(r, source, i).parts[array->offset];
    case ARRAY_LIST:
        return array->zipped[i];
    case ARRAY_CONCAT:
        return concat_element(r, array, i);
    case ARRAY_REVERSE:
        return interpret_element(r, source, array->length - 1 - i);
    case ARRAY_SCAN:
        return interpret_scan(r, array, i);
    case ARRAY_SCATTER:
        return interpret_element(r, source, array->expr->inverse[i]);
    case ARRAY_PAD:
        return padded_element(r, array, i);
    case ARRAY_FILL:
        return filled(r, array->element, array->fill);
    case ARRAY_IOTA:
        return interpret_scalar(rounding_literal(SCALAR_INT, (double)i));
    case ARRAY_DOUBTFUL:
        return interpret_doubtful(r, interpret_element(r, source, i), array->element);
    case ARRAY_REDUCED:
        return interpret_reduced_element(r, array, i);
    case ARRAY_KEPT:
        return kept_element(r, array, i);
    }
    PANIC("array kind %d", (int)array->kind);
}
