/* The types of patterns that choose elements by their index, and the ranges of indices.
 *
 *     slide(3, 1, a)         a : [T]n                  gives [[T]3](n - 3 + 1)
 *     pad(1, 1, clamp, a)    a : [T]n                  gives [T](n + 2)
 *     at(i + 1, a)           a : [T]n, i : int         gives T; i + 1 must be in 0..n - 1 whatever i is
 *
 *     at(at(j, idx), a)      input idx: [int]N in 0..M-1    what the input states is enough
 *
 * A type int carries the range of its values where that is known: of literals, of the elements of iota and
 * indices, of inputs that state one, and of what is computed from such. So an index out of range is an error
 * before anything runs, and what is read at an index by data needs no check. */
#include "core/lift/bind.h"

#include <inttypes.h>
#include <math.h>

#include "core/base/arena.h"
#include "core/base/panic.h"
#include "core/base/strbuf.h"
#include "core/lift/pattern.h"

/* ---- ranges ---- */

struct interval {
    int64_t least, most;
};

static const struct lift_type *int_in(struct binder *b, struct interval r)
{
    struct lift_type *t = arena_memdup(b->arena, bind_scalar(b, SCALAR_INT), sizeof *t);
    t->ranged = r.least >= INT32_MIN && r.most <= INT32_MAX && (r.least > INT32_MIN || r.most < INT32_MAX);
    t->least = r.least;
    t->most = r.most;
    return t;
}

const struct lift_type *bind_unranged(struct binder *b, const struct lift_type *t)
{
    struct lift_type *plain = arena_memdup(b->arena, t, sizeof *t);
    plain->ranged = false;
    if (t->kind == LIFT_ARRAY) plain->element = bind_unranged(b, t->element);
    if (t->kind != LIFT_TUPLE) return plain;
    plain->parts = ARENA_ARRAY(b->arena, const struct lift_type *, t->n_parts);
    for (unsigned i = 0; i < t->n_parts; i++)
        plain->parts[i] = bind_unranged(b, t->parts[i]);
    return plain;
}

const struct lift_type *bind_ranged(struct binder *b, const struct lift_type *t, const struct lift_range *r)
{
    if (t->kind == LIFT_SCALAR)
        return t->scalar == SCALAR_INT
                   ? int_in(b, (struct interval){(int64_t)floor(r->low), (int64_t)ceil(r->high)})
                   : t;
    struct lift_type *ranged = arena_memdup(b->arena, t, sizeof *t);
    if (t->kind == LIFT_ARRAY) ranged->element = bind_ranged(b, t->element, r);
    ranged->parts = ARENA_ARRAY(b->arena, const struct lift_type *, t->n_parts);
    for (unsigned i = 0; i < t->n_parts; i++)
        ranged->parts[i] = bind_ranged(b, t->parts[i], r);
    return ranged;
}

static int64_t smaller(int64_t x, int64_t y)
{
    return x < y ? x : y;
}

static int64_t larger(int64_t x, int64_t y)
{
    return x > y ? x : y;
}

const struct lift_type *bind_either(struct binder *b, const struct lift_type *x, const struct lift_type *y)
{
    if (x->kind == LIFT_SCALAR) {
        if (!x->ranged || !y->ranged) return x->ranged ? y : x;
        return int_in(b, (struct interval){smaller(x->least, y->least), larger(x->most, y->most)});
    }
    struct lift_type *either = arena_memdup(b->arena, x, sizeof *x);
    if (x->kind == LIFT_ARRAY) either->element = bind_either(b, x->element, y->element);
    either->parts = ARENA_ARRAY(b->arena, const struct lift_type *, x->n_parts);
    for (unsigned i = 0; i < x->n_parts; i++)
        either->parts[i] = bind_either(b, x->parts[i], y->parts[i]);
    return either;
}

bool bind_within(const struct lift_type *x, const struct lift_type *y)
{
    if (x->kind == LIFT_SCALAR)
        return !y->ranged || (x->ranged && x->least >= y->least && x->most <= y->most);
    bool within = x->kind != LIFT_ARRAY || bind_within(x->element, y->element);
    for (unsigned i = 0; i < x->n_parts; i++)
        within = within && bind_within(x->parts[i], y->parts[i]);
    return within;
}

static struct interval product(struct interval x, struct interval y)
{
    int64_t p[] = {x.least * y.least, x.least * y.most, x.most * y.least, x.most * y.most};
    return (struct interval){smaller(smaller(p[0], p[1]), smaller(p[2], p[3])),
                             larger(larger(p[0], p[1]), larger(p[2], p[3]))};
}

/* The same of what brings any int into a range: x % 8, x / 8, shr(x, 3), bitand(x, 7), abs(x). */
static bool range_of_division(enum scalar_op op, const struct interval *x, struct interval *out)
{
    bool by_number = op != SCALAR_ABS && x[1].least == x[1].most && x[1].least > 0;
    int64_t by = by_number ? x[1].least : 1;
    if (op == SCALAR_MOD && by_number)
        *out = (struct interval){x[0].least < 0 ? larger(x[0].least, 1 - by) : 0, smaller(x[0].most, by - 1)};
    else if (op == SCALAR_DIV && by_number)
        *out = (struct interval){x[0].least / by, x[0].most / by};
    else if (op == SCALAR_SHR && by_number && by < 32)
        *out = (struct interval){x[0].least >> by, x[0].most >> by};
    else if (op == SCALAR_BITAND && (x[0].least >= 0 || x[1].least >= 0))
        *out = (struct interval){
            0, smaller(x[0].least >= 0 ? x[0].most : INT32_MAX, x[1].least >= 0 ? x[1].most : INT32_MAX)};
    else if (op == SCALAR_ABS)
        *out = (struct interval){x[0].least < 0 ? 0 : x[0].least, larger(-x[0].least, x[0].most)};
    else
        return false;
    if (out->most < out->least) out->most = out->least;
    return true;
}

/* The range of an operation on ints in ranges x[]; false: not known. */
static bool range_of_op(enum scalar_op op, const struct interval *x, struct interval *out)
{
    switch (op) {
    case SCALAR_ADD:
        *out = (struct interval){x[0].least + x[1].least, x[0].most + x[1].most};
        return true;
    case SCALAR_SUB:
        *out = (struct interval){x[0].least - x[1].most, x[0].most - x[1].least};
        return true;
    case SCALAR_NEG:
        *out = (struct interval){-x[0].most, -x[0].least};
        return true;
    case SCALAR_MULT:
        *out = product(x[0], x[1]);
        return true;
    case SCALAR_MIN:
        *out = (struct interval){smaller(x[0].least, x[1].least), smaller(x[0].most, x[1].most)};
        return true;
    case SCALAR_MAX:
        *out = (struct interval){larger(x[0].least, x[1].least), larger(x[0].most, x[1].most)};
        return true;
    default:
        return range_of_division(op, x, out);
    }
}

const struct lift_type *bind_refine(struct binder *b, const struct lift_expr *e, const struct lift_type *t)
{
    if (!t || t->kind != LIFT_SCALAR || t->scalar != SCALAR_INT) return t;
    if (e->kind == LIFT_LITERAL) return int_in(b, (struct interval){(int64_t)e->value, (int64_t)e->value});
    if (e->kind != LIFT_OP || e->op == SCALAR_SELECT) return t;
    struct interval x[SCALAR_MAX_ARITY], range;
    for (unsigned i = 0; i < e->n_args; i++) {
        const struct lift_type *of = e->args[i]->type;
        if (!of || of->kind != LIFT_SCALAR || of->scalar != SCALAR_INT) return bind_unranged(b, t);
        x[i] = of->ranged ? (struct interval){of->least, of->most} : (struct interval){INT32_MIN, INT32_MAX};
    }
    return range_of_op(e->op, x, &range) ? int_in(b, range) : bind_unranged(b, t);
}

/* ---- elements by index ---- */

/* The size of an array as the program writes it, in parentheses if it is a sum. */
static const char *size_name(struct binder *b, const struct lift_type *array)
{
    struct strbuf text = {0};
    bool plain = array->size->kind == LIFT_SIZE_CONST || array->size->kind == LIFT_SIZE_PARAM;
    if (!plain) strbuf_add(&text, "(");
    lift_size_print(array->size, &text);
    if (!plain) strbuf_add(&text, ")");
    const char *copy = arena_strdup(b->arena, text.text);
    strbuf_free(&text);
    return copy;
}

static const struct lift_type *infer_at(struct binder *b, struct lift_expr *e)
{
    const struct lift_type *index = bind_infer(b, e->args[0], bind_scalar(b, SCALAR_INT));
    if (!bind_infer(b, e->args[1], NULL) || !index) return NULL;
    const struct lift_type *array = bind_want_array(b, e, 1);
    if (!array) return NULL;
    if (index->kind != LIFT_SCALAR || index->scalar != SCALAR_INT)
        bind_report(b, e->args[0]->at, "the index of at must be an int, not %s", bind_type_text(b, index));
    else if (!index->ranged)
        bind_report(
            b, e->args[0]->at,
            "the index depends on data whose range is not known; state the range of the input, as in input "
            "idx: [int]N in 0..%s-1, or write max(0, min(i, %s - 1))",
            size_name(b, array), size_name(b, array));
    else if (index->least < 0 || index->most >= array->extent)
        bind_report(
            b, e->args[0]->at,
            index->least == index->most
                ? "index %" PRId64 " is out of range: the array has %s elements, numbered from 0"
                : "the index may be %" PRId64 ": out of range, as the array has %s elements, numbered from 0",
            index->least < 0 ? index->least : index->most, bind_size_text(b, array->size, array->extent));
    else
        return array->element;
    return NULL;
}

static const struct lift_type *infer_concat(struct binder *b, struct lift_expr *e)
{
    const struct lift_size *size = NULL;
    const struct lift_type *element = NULL;
    for (unsigned i = 0; i < e->n_args; i++) {
        const struct lift_type *array = bind_want_array(b, e, i), *first = e->args[0]->type;
        if (!array) return NULL;
        if (i == 0) element = array->element;
        if (!lift_type_same(array->element, first->element)) {
            bind_report(b, e->args[i]->at, "concat needs arrays of one element type, not %s and %s",
                        bind_type_text(b, first), bind_type_text(b, array));
            return NULL;
        }
        size = size ? lift_size_op(b->arena, LIFT_SIZE_ADD, size, array->size) : array->size;
        element = bind_either(b, element, array->element);
    }
    return bind_array_of(b, element, size, e->at);
}

const struct lift_type *bind_infer_list(struct binder *b, struct lift_expr *e, const struct lift_type *hint)
{
    const struct lift_type *element = NULL;
    if (hint && hint->kind == LIFT_ARRAY) hint = hint->element;
    for (unsigned i = 0; i < e->n_args; i++) {
        const struct lift_type *t = bind_infer(b, e->args[i], element ? element : hint);
        if (!t) return NULL;
        if (!element) element = t;
        if (lift_type_same(t, element)) {
            element = bind_either(b, element, t);
            continue;
        }
        bind_report(b, e->args[i]->at, "the elements of an array are of one type, not %s and %s",
                    bind_type_text(b, element), bind_type_text(b, t));
        return NULL;
    }
    return bind_array_of(b, element, lift_size_const(b->arena, e->n_args), e->at);
}

/* ---- windows and borders ---- */

/* (n - size) / step + 1 windows; an incomplete last one is left out. */
static const struct lift_type *infer_slide(struct binder *b, struct lift_expr *e)
{
    const struct lift_type *array = bind_want_array(b, e, 0);
    if (!array || !bind_size_value(b, e->amount_size, e->at, &e->amount) ||
        !bind_size_value(b, e->second_size, e->at, &e->second))
        return NULL;
    if (e->amount > array->extent) {
        bind_report(b, e->at, "slide: the window of %s elements is longer than the array, which has %s",
                    bind_size_text(b, e->amount_size, e->amount),
                    bind_size_text(b, array->size, array->extent));
        return NULL;
    }
    const struct lift_size *left_out = lift_size_const(b->arena, (array->extent - e->amount) % e->second);
    const struct lift_size *count = lift_size_op(b->arena, LIFT_SIZE_SUB, array->size, e->amount_size);
    count = lift_size_op(b->arena, LIFT_SIZE_SUB, count, left_out);
    count = lift_size_op(b->arena, LIFT_SIZE_DIV, count, e->second_size);
    count = lift_size_op(b->arena, LIFT_SIZE_ADD, count, lift_size_const(b->arena, 1));
    return bind_array_of(b, bind_array_of(b, array->element, e->amount_size, e->at), count, e->at);
}

/* The padded array; `border` elements at most on each side. */
static const struct lift_type *padded(struct binder *b, struct lift_expr *e, const struct lift_type *array,
                                      int64_t border)
{
    if (!array || !bind_size_from(b, e->amount_size, 0, e->at, &e->amount) ||
        !bind_size_from(b, e->second_size, 0, e->at, &e->second))
        return NULL;
    if (e->amount > border || e->second > border) {
        bind_report(b, e->at, "pad: %" PRId64 " elements cannot be mirrored: the array has %s",
                    larger(e->amount, e->second), bind_size_text(b, array->size, array->extent));
        return NULL;
    }
    const struct lift_size *size = lift_size_op(b->arena, LIFT_SIZE_ADD, array->size, e->amount_size);
    size = lift_size_op(b->arena, LIFT_SIZE_ADD, size, e->second_size);
    return bind_array_of(b, array->element, size, e->at);
}

static const struct lift_type *infer_pad(struct binder *b, struct lift_expr *e)
{
    const struct lift_type *array = bind_want_array(b, e, 0);
    return array ? padded(b, e, array, e->border == LIFT_MIRROR ? array->extent : INT64_MAX) : NULL;
}

static const struct lift_type *infer_pad_constant(struct binder *b, struct lift_expr *e)
{
    if (!bind_infer(b, e->args[1], NULL)) return NULL;
    const struct lift_type *array = bind_want_array(b, e, 1);
    if (!array) return NULL;
    enum scalar_type bottom;
    if (!lift_type_bottom(array, &bottom)) {
        bind_report(b, e->at,
                    "padConstant needs an array of scalars, not %s; pad each component of its tuples",
                    bind_type_text(b, array));
        return NULL;
    }
    const struct lift_type *value = bind_infer(b, e->args[0], bind_scalar(b, bottom));
    if (!value) return NULL;
    if (value->kind != LIFT_SCALAR || value->scalar != bottom) {
        bind_report(b, e->args[0]->at, "the border of padConstant must be of type %s, not %s",
                    scalar_type_name(bottom), bind_type_text(b, value));
        return NULL;
    }
    return padded(b, e, bind_unranged(b, array), INT64_MAX);
}

/* ---- indices ---- */

const struct lift_type *bind_index(struct binder *b, int64_t n)
{
    return int_in(b, (struct interval){0, n - 1});
}

static const struct lift_type *indices_of(struct binder *b, const struct lift_expr *e,
                                          const struct lift_size *size, int64_t n)
{
    return bind_array_of(b, bind_index(b, n), size, e->at);
}

const struct lift_type *bind_infer_index(struct binder *b, struct lift_expr *e)
{
    switch (e->pattern) {
    case LIFT_AT:
        return infer_at(b, e);
    case LIFT_REVERSE:
        return bind_want_array(b, e, 0);
    case LIFT_CONCAT:
        return infer_concat(b, e);
    case LIFT_SCATTER:
        return bind_infer_scatter(b, e);
    case LIFT_SLIDE:
        return infer_slide(b, e);
    case LIFT_PAD:
        return infer_pad(b, e);
    case LIFT_PAD_CONSTANT:
        return infer_pad_constant(b, e);
    case LIFT_IOTA:
        return bind_size_value(b, e->amount_size, e->at, &e->amount)
                   ? indices_of(b, e, e->amount_size, e->amount)
                   : NULL;
    case LIFT_INDICES: {
        const struct lift_type *array = bind_want_array(b, e, 0);
        if (array) e->amount = array->extent;
        return array ? indices_of(b, e, array->size, array->extent) : NULL;
    }
    default:
        PANIC("pattern %d is not inferred here", (int)e->pattern);
    }
}
