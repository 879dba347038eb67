/* Symbolic sizes as small trees, folded while they are built: (N / 4) * 4 is N. */
#include "core/lift/size.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stddef.h>

#include "core/base/arena.h"
#include "core/base/panic.h"
#include "core/base/strbuf.h"
#include "core/lift/lift.h"

static struct lift_size *new_size(struct arena *a, enum lift_size_kind kind, unsigned nodes)
{
    struct lift_size *s = ARENA_NEW(a, struct lift_size);
    s->kind = kind;
    s->nodes = nodes;
    return s;
}

const struct lift_size *lift_size_const(struct arena *a, int64_t value)
{
    struct lift_size *s = new_size(a, LIFT_SIZE_CONST, 1);
    s->value = value;
    return s;
}

const struct lift_size *lift_size_param(struct arena *a, unsigned param, const char *name)
{
    struct lift_size *s = new_size(a, LIFT_SIZE_PARAM, 1);
    s->param = param;
    s->name = name;
    return s;
}

static enum lift_size_status apply(enum lift_size_kind kind, int64_t x, int64_t y, int64_t *out)
{
    bool overflow = false;
    switch (kind) {
    case LIFT_SIZE_ADD:
        overflow = __builtin_add_overflow(x, y, out);
        break;
    case LIFT_SIZE_SUB:
        overflow = __builtin_sub_overflow(x, y, out);
        break;
    case LIFT_SIZE_MUL:
        overflow = __builtin_mul_overflow(x, y, out);
        break;
    case LIFT_SIZE_DIV:
        if (y == 0) return LIFT_SIZE_BY_ZERO;
        if (x == INT64_MIN && y == -1) return LIFT_SIZE_OVERFLOW;
        if (x % y != 0) return LIFT_SIZE_INEXACT;
        *out = x / y;
        break;
    default:
        PANIC("size kind %d is not an operation", (int)kind);
    }
    return overflow ? LIFT_SIZE_OVERFLOW : LIFT_SIZE_OK;
}

static bool is_const(const struct lift_size *s, int64_t value)
{
    return s->kind == LIFT_SIZE_CONST && s->value == value;
}

/* x op neutral element, or NULL. */
static const struct lift_size *fold_neutral(enum lift_size_kind kind, const struct lift_size *x,
                                            const struct lift_size *y)
{
    bool additive = kind == LIFT_SIZE_ADD || kind == LIFT_SIZE_SUB;
    if (is_const(y, additive ? 0 : 1)) return x;
    if (kind == LIFT_SIZE_ADD && is_const(x, 0)) return y;
    if (kind == LIFT_SIZE_MUL && is_const(x, 1)) return y;
    if (kind == LIFT_SIZE_MUL && x->kind == LIFT_SIZE_DIV && x->b->kind == y->kind &&
        x->b->param == y->param &&
        (y->kind == LIFT_SIZE_PARAM || (y->kind == LIFT_SIZE_CONST && x->b->value == y->value)))
        return x->a;
    return NULL;
}

static bool is_additive(const struct lift_size *s)
{
    return s->kind == LIFT_SIZE_ADD || s->kind == LIFT_SIZE_SUB;
}

/* (x + 2) - 3 as x - 1: a sum with one constant; NULL for anything else. */
static const struct lift_size *fold_constants(struct arena *a, enum lift_size_kind kind,
                                              const struct lift_size *x, const struct lift_size *y)
{
    bool additive = kind == LIFT_SIZE_ADD || kind == LIFT_SIZE_SUB;
    if (!additive || !is_additive(x) || x->b->kind != LIFT_SIZE_CONST || y->kind != LIFT_SIZE_CONST)
        return NULL;
    int64_t sum, first = x->b->value;
    enum lift_size_kind signs = x->kind == kind ? LIFT_SIZE_ADD : LIFT_SIZE_SUB;
    if (first < 0 || y->value < 0 || apply(signs, first, y->value, &sum) != LIFT_SIZE_OK) return NULL;
    enum lift_size_kind sign = x->kind;
    if (sum < 0) sign = x->kind == LIFT_SIZE_ADD ? LIFT_SIZE_SUB : LIFT_SIZE_ADD;
    return lift_size_op(a, sign, x->a, lift_size_const(a, sum < 0 ? -sum : sum));
}

const struct lift_size *lift_size_op(struct arena *a, enum lift_size_kind kind, const struct lift_size *x,
                                     const struct lift_size *y)
{
    int64_t value;
    if (x->kind == LIFT_SIZE_CONST && y->kind == LIFT_SIZE_CONST &&
        apply(kind, x->value, y->value, &value) == LIFT_SIZE_OK)
        return lift_size_const(a, value);
    const struct lift_size *folded = fold_neutral(kind, x, y);
    if (!folded) folded = fold_constants(a, kind, x, y);
    if (folded) return folded;
    struct lift_size *s = new_size(a, kind, x->nodes + y->nodes + 1);
    s->a = x;
    s->b = y;
    return s;
}

enum lift_size_status lift_size_value(const struct lift_size *s, const struct lift_size_param *params,
                                      int64_t *out)
{
    if (s->kind == LIFT_SIZE_CONST || s->kind == LIFT_SIZE_PARAM) {
        *out = s->kind == LIFT_SIZE_CONST ? s->value : params[s->param].value;
        return LIFT_SIZE_OK;
    }
    int64_t x, y;
    enum lift_size_status status = lift_size_value(s->a, params, &x);
    if (status == LIFT_SIZE_OK) status = lift_size_value(s->b, params, &y);
    return status == LIFT_SIZE_OK ? apply(s->kind, x, y, out) : status;
}

const char *lift_size_status_text(enum lift_size_status status)
{
    switch (status) {
    case LIFT_SIZE_OVERFLOW:
        return "does not fit into 64 bits; choose smaller sizes";
    case LIFT_SIZE_BY_ZERO:
        return "divides by zero";
    case LIFT_SIZE_INEXACT:
        return "is not a whole number; choose sizes for which the division is exact";
    case LIFT_SIZE_OK:
        break;
    }
    return "is fine";
}

static int precedence(enum lift_size_kind kind)
{
    if (kind == LIFT_SIZE_ADD || kind == LIFT_SIZE_SUB) return 1;
    return kind == LIFT_SIZE_MUL || kind == LIFT_SIZE_DIV ? 2 : 3;
}

static void print_at(const struct lift_size *s, int level, struct strbuf *out)
{
    int own = precedence(s->kind);
    if (s->kind == LIFT_SIZE_CONST) {
        strbuf_printf(out, "%" PRId64, s->value);
    } else if (s->kind == LIFT_SIZE_PARAM) {
        strbuf_add(out, s->name);
    } else {
        static const char *const signs[] = {[LIFT_SIZE_ADD] = " + ",
                                            [LIFT_SIZE_SUB] = " - ",
                                            [LIFT_SIZE_MUL] = " * ",
                                            [LIFT_SIZE_DIV] = " / "};
        if (own < level) strbuf_add(out, "(");
        print_at(s->a, own, out);
        strbuf_add(out, signs[s->kind]);
        print_at(s->b, own + 1, out);
        if (own < level) strbuf_add(out, ")");
    }
}

void lift_size_print(const struct lift_size *s, struct strbuf *out)
{
    print_at(s, 0, out);
}
