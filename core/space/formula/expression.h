/* Expressions: formulas whose only unknowns are slots, simplified as they are built.
 *
 *     size(p) * 2 + 1 <= 5    with size(p) in { 1, 2, 4 }
 *
 * is a function of one slot, so what is built is no tree but the table { 1, 1, 0 } over its values. Constants
 * fold likewise, and sums of sums are one sum: most conditions end as tables before any propagator sees them.
 * Booleans are 0 and 1. All arithmetic saturates at SPACE_BIG. */
#ifndef THRESH_SPACE_FORMULA_EXPRESSION_H
#define THRESH_SPACE_FORMULA_EXPRESSION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/space/def.h"

struct arena;

enum formula_op {
    FORMULA_CONST,
    FORMULA_FUNC, /* a table from the values of one slot to numbers */
    FORMULA_ADD,
    FORMULA_MUL,
    FORMULA_MIN,
    FORMULA_MAX,
    FORMULA_DIV,
    FORMULA_MOD,
    FORMULA_NEG,
    FORMULA_EQ,
    FORMULA_LE,
    FORMULA_AND,
    FORMULA_OR,
    FORMULA_NOT,
    FORMULA_ITE,
    FORMULA_TERM /* of shapes only: all conditions ? a FUNC or a constant : a constant */
};

struct expression {
    uint8_t op; /* enum formula_op */
    uint32_t n;
    struct expression **kids;
    int64_t imm;            /* CONST */
    uint32_t slot, n_table; /* FUNC */
    const int64_t *table;
    bool shared;  /* may stand in several places of a formula: copies of it have the same kids */
    bool settled; /* see ground/rules.c */
};

struct expression *expression_const(struct arena *a, int64_t value);
/* The table is borrowed. */
struct expression *expression_func(struct arena *a, uint32_t slot, const int64_t *table, uint32_t n);
struct expression *expression_make(struct arena *a, enum formula_op op, struct expression **kids, uint32_t n);
struct expression *expression_binary(struct arena *a, enum formula_op op, struct expression *x,
                                     struct expression *y);
struct expression *expression_not(struct arena *a, struct expression *x);
int64_t expression_apply(enum formula_op op, const int64_t *x, uint32_t n);
/* The value when slots[i] has value values[i]. */
int64_t expression_value(const struct expression *g, const uint32_t *slots, const uint32_t *values,
                         uint32_t n);

/* ---- saturating arithmetic, of operands within SPACE_BIG ---- */

static inline int64_t expression_clamp(int64_t x)
{
    return x > SPACE_BIG ? SPACE_BIG : x < -SPACE_BIG ? -SPACE_BIG : x;
}

static inline int64_t expression_add(int64_t x, int64_t y)
{
    return expression_clamp(x + y);
}

static inline int64_t expression_mul_natural(int64_t x, int64_t y) /* neither is negative */
{
    int64_t product;
    if (__builtin_mul_overflow(x, y, &product)) return SPACE_BIG;
    return product > SPACE_BIG ? SPACE_BIG : product;
}

static inline int64_t expression_mul(int64_t x, int64_t y)
{
    int64_t product;
    if (__builtin_mul_overflow(x, y, &product)) return (x < 0) == (y < 0) ? SPACE_BIG : -SPACE_BIG;
    return expression_clamp(product);
}

#endif
