/* What a bound type says: equality, sizes. */
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

int64_t lift_type_scalars(const struct lift_type *t)
{
    int64_t n = 1;
    for (; t->kind == LIFT_ARRAY; t = t->element)
        n *= t->extent;
    return n;
}

bool lift_type_bottom(const struct lift_type *t, enum scalar_type *out)
{
    while (t->kind == LIFT_ARRAY)
        t = t->element;
    if (t->kind == LIFT_SCALAR) *out = t->scalar;
    return t->kind == LIFT_SCALAR;
}
