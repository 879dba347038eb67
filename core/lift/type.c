/* What a bound type says: equality, sizes. */
#include "core/base/arena.h"
#include "core/lift/lift.h"

bool lift_type_same(const struct lift_type *x, const struct lift_type *y)
{
    if (x == y) return true;
    if (x->kind != y->kind) return false;
    if (x->kind == LIFT_SCALAR) return x->scalar == y->scalar;
    if (x->kind == LIFT_ARRAY) return x->extent == y->extent && lift_type_same(x->element, y->element);
    if (x->n_parts != y->n_parts) return false;
    for (unsigned i = 0; i < x->n_parts; i++)
        if (!lift_type_same(x->parts[i], y->parts[i])) return false;
    return true;
}

int64_t lift_type_bytes(const struct lift_type *t)
{
    int64_t bytes = 0;
    if (t->kind == LIFT_SCALAR) return (int64_t)scalar_type_bytes(t->scalar);
    if (t->kind == LIFT_ARRAY) {
        bool overflow = __builtin_mul_overflow(t->extent, lift_type_bytes(t->element), &bytes);
        return overflow || bytes > LIFT_MAX_BYTES ? LIFT_MAX_BYTES : bytes;
    }
    for (unsigned i = 0; i < t->n_parts; i++) {
        bytes += lift_type_bytes(t->parts[i]);
        if (bytes >= LIFT_MAX_BYTES) return LIFT_MAX_BYTES;
    }
    return bytes;
}

unsigned lift_type_parts(const struct lift_type *t)
{
    unsigned sum = 0;
    if (t->kind != LIFT_TUPLE) return t->kind == LIFT_SCALAR;
    for (unsigned i = 0; i < t->n_parts; i++) {
        unsigned parts = lift_type_parts(t->parts[i]);
        if (!parts) return 0;
        sum += parts;
    }
    return sum;
}

int64_t lift_type_scalars(const struct lift_type *t)
{
    int64_t n = 1, sum = 0;
    for (; t->kind == LIFT_ARRAY; t = t->element)
        n *= t->extent;
    for (unsigned i = 0; i < t->n_parts; i++)
        sum += lift_type_scalars(t->parts[i]);
    return t->kind == LIFT_TUPLE ? n * sum : n;
}

/* ---- leaves ---- */

unsigned lift_type_leaves(const struct lift_type *t)
{
    unsigned n = 0;
    while (t->kind == LIFT_ARRAY)
        t = t->element;
    for (unsigned i = 0; i < t->n_parts; i++)
        n += lift_type_leaves(t->parts[i]);
    return t->kind == LIFT_TUPLE ? n : 1;
}

unsigned lift_type_part(const struct lift_type *tuple, unsigned *leaf)
{
    unsigned part = 0;
    for (; *leaf >= lift_type_leaves(tuple->parts[part]); part++)
        *leaf -= lift_type_leaves(tuple->parts[part]);
    return part;
}

const struct lift_type *lift_type_leaf(const struct lift_type *t, unsigned leaf, struct arena *a)
{
    if (lift_type_leaves(t) == 1 && t->kind != LIFT_TUPLE) return t;
    if (t->kind == LIFT_TUPLE) {
        unsigned part = lift_type_part(t, &leaf);
        return lift_type_leaf(t->parts[part], leaf, a);
    }
    struct lift_type *array = arena_memdup(a, t, sizeof *t);
    array->element = lift_type_leaf(t->element, leaf, a);
    return array;
}

int64_t lift_type_leaf_scalars(const struct lift_type *t, unsigned leaf)
{
    int64_t n = 1;
    while (t->kind != LIFT_SCALAR) {
        if (t->kind == LIFT_ARRAY) {
            n *= t->extent;
            t = t->element;
        } else {
            unsigned part = lift_type_part(t, &leaf);
            t = t->parts[part];
        }
    }
    return n;
}

bool lift_type_bottom(const struct lift_type *t, enum scalar_type *out)
{
    while (t->kind == LIFT_ARRAY)
        t = t->element;
    if (t->kind == LIFT_SCALAR) *out = t->scalar;
    return t->kind == LIFT_SCALAR;
}
