/* Simplifies expressions as they are built, see expression.h. */
#include "core/space/formula/expression.h"

#include <string.h>

#include "core/base/arena.h"
#include "core/base/panic.h"

static int64_t fold(enum formula_op op, const int64_t *x, uint32_t n)
{
    int64_t r = x[0];
    for (uint32_t i = 1; i < n; i++) {
        if (op == FORMULA_ADD)
            r = expression_add(r, x[i]);
        else if (op == FORMULA_MUL)
            r = expression_mul(r, x[i]);
        else if (op == FORMULA_MIN)
            r = r < x[i] ? r : x[i];
        else if (op == FORMULA_MAX)
            r = r > x[i] ? r : x[i];
        else if (op == FORMULA_AND)
            r = r && x[i];
        else
            r = r || x[i];
    }
    return r;
}

int64_t expression_apply(enum formula_op op, const int64_t *x, uint32_t n)
{
    switch (op) {
    case FORMULA_DIV:
        return x[1] ? x[0] / x[1] : 0;
    case FORMULA_MOD:
        return x[1] ? x[0] % x[1] : 0;
    case FORMULA_NEG:
        return -x[0];
    case FORMULA_EQ:
        return x[0] == x[1];
    case FORMULA_LE:
        return x[0] <= x[1];
    case FORMULA_NOT:
        return !x[0];
    case FORMULA_ITE:
        return x[0] ? x[1] : x[2];
    default:
        return fold(op, x, n);
    }
}

struct expression *expression_const(struct arena *a, int64_t value)
{
    struct expression *g = ARENA_NEW(a, struct expression);
    g->op = FORMULA_CONST;
    g->imm = expression_clamp(value);
    return g;
}

struct expression *expression_func(struct arena *a, uint32_t slot, const int64_t *table, uint32_t n)
{
    bool constant = true;
    for (uint32_t i = 1; i < n && constant; i++)
        constant = table[i] == table[0];
    if (constant) return expression_const(a, table[0]);
    struct expression *g = ARENA_NEW(a, struct expression);
    g->op = FORMULA_FUNC;
    g->slot = slot;
    g->table = table;
    g->n_table = n;
    return g;
}

/* The operation over constants and functions of one slot, as one function. */
static struct expression *tabulate(struct arena *a, enum formula_op op, struct expression **kids, uint32_t n,
                                   const struct expression *func)
{
    int64_t *table = ARENA_ARRAY(a, int64_t, func->n_table), *x = ARENA_ARRAY(a, int64_t, n);
    for (uint32_t v = 0; v < func->n_table; v++) {
        for (uint32_t i = 0; i < n; i++)
            x[i] = kids[i]->op == FORMULA_CONST ? kids[i]->imm : kids[i]->table[v];
        table[v] = expression_apply(op, x, n);
    }
    return expression_func(a, func->slot, table, func->n_table);
}

static bool associative(enum formula_op op)
{
    return op == FORMULA_ADD || op == FORMULA_MUL || op == FORMULA_MIN || op == FORMULA_MAX ||
           op == FORMULA_AND || op == FORMULA_OR;
}

/* Whether a constant operand decides the result. */
static bool absorbs(enum formula_op op, int64_t value)
{
    return (op == FORMULA_MUL && value == 0) || (op == FORMULA_AND && value == 0) ||
           (op == FORMULA_OR && value != 0);
}

static bool neutral(enum formula_op op, int64_t value)
{
    if (op == FORMULA_ADD || op == FORMULA_OR) return value == 0;
    if (op == FORMULA_MUL) return value == 1;
    return op == FORMULA_AND && value != 0;
}

static struct expression *find_mergeable(struct expression **kids, uint32_t n, const struct expression *k)
{
    enum { WINDOW = 24 };
    if (k->op != FORMULA_CONST && k->op != FORMULA_FUNC) return NULL;
    for (uint32_t i = n > WINDOW ? n - WINDOW : 0; i < n; i++) {
        if (k->op == FORMULA_CONST && kids[i]->op == FORMULA_CONST) return kids[i];
        if (k->op == FORMULA_FUNC && kids[i]->op == FORMULA_FUNC && kids[i]->slot == k->slot) return kids[i];
    }
    return NULL;
}

/* Flattens nested operations of the same kind. */
static uint32_t flatten(struct arena *a, enum formula_op op, struct expression ***kids, uint32_t n)
{
    uint32_t total = 0;
    for (uint32_t i = 0; i < n; i++)
        total += (*kids)[i]->op == op ? (*kids)[i]->n : 1;
    struct expression **flat = ARENA_ARRAY(a, struct expression *, total + 1);
    uint32_t at = 0;
    for (uint32_t i = 0; i < n; i++) {
        struct expression *k = (*kids)[i];
        if (k->op != op)
            flat[at++] = k;
        else
            for (uint32_t j = 0; j < k->n; j++)
                flat[at++] = k->kids[j];
    }
    *kids = flat;
    return total;
}

/* Puts the constant, if there is one, into the first function. Returns how many operands are left. */
static uint32_t fold_constant(struct arena *a, enum formula_op op, struct expression **kids, uint32_t n)
{
    uint32_t constant = n, func = n;
    for (uint32_t i = 0; i < n; i++) {
        if (kids[i]->op == FORMULA_CONST) constant = i;
        if (kids[i]->op == FORMULA_FUNC && func == n) func = i;
    }
    if (constant == n || func == n) return n;
    kids[func] = tabulate(a, op, (struct expression *[]){kids[func], kids[constant]}, 2, kids[func]);
    memmove(kids + constant, kids + constant + 1, (n - constant - 1) * sizeof *kids);
    return n - 1;
}

static struct expression *make_associative(struct arena *a, enum formula_op op, struct expression **kids,
                                           uint32_t n)
{
    n = flatten(a, op, &kids, n);
    struct expression **kept = ARENA_ARRAY(a, struct expression *, n + 1);
    uint32_t m = 0;
    for (uint32_t i = 0; i < n; i++) {
        struct expression *same = find_mergeable(kept, m, kids[i]);
        if (same)
            *same = *tabulate(a, op, (struct expression *[]){same, kids[i]}, 2,
                              same->op == FORMULA_FUNC ? same : &(struct expression){.n_table = 1});
        else {
            kept[m] = ARENA_NEW(a, struct expression);
            *kept[m++] = *kids[i];
        }
    }
    m = fold_constant(a, op, kept, m);
    uint32_t out = 0;
    for (uint32_t i = 0; i < m; i++) {
        if (kept[i]->op == FORMULA_CONST && absorbs(op, kept[i]->imm)) return kept[i];
        if (kept[i]->op != FORMULA_CONST || !neutral(op, kept[i]->imm)) kept[out++] = kept[i];
    }
    if (out == 0) return m ? kept[0] : expression_const(a, op == FORMULA_MUL || op == FORMULA_AND);
    if (out == 1) return kept[0];
    struct expression *g = ARENA_NEW(a, struct expression);
    *g = (struct expression){.op = (uint8_t)op, .n = out, .kids = kept};
    return g;
}

/* The one slot that all operands depend on: a FUNC node; NULL if there are several or other kinds. *constant:
 * none at all. */
static const struct expression *single_slot(struct expression **kids, uint32_t n, bool *constant)
{
    const struct expression *func = NULL;
    *constant = true;
    for (uint32_t i = 0; i < n; i++) {
        if (kids[i]->op == FORMULA_CONST) continue;
        *constant = false;
        if (kids[i]->op != FORMULA_FUNC || (func && func->slot != kids[i]->slot)) return NULL;
        func = kids[i];
    }
    return func;
}

struct expression *expression_make(struct arena *a, enum formula_op op, struct expression **kids, uint32_t n)
{
    if (associative(op)) return make_associative(a, op, kids, n);
    bool constant;
    const struct expression *func = single_slot(kids, n, &constant);
    if (func) return tabulate(a, op, kids, n, func);
    if (constant) return tabulate(a, op, kids, n, &(struct expression){.n_table = 1});
    if (op == FORMULA_ITE && n == 3 && kids[0]->op == FORMULA_CONST) return kids[0]->imm ? kids[1] : kids[2];
    if (op == FORMULA_NOT && kids[0]->op == FORMULA_NOT) return kids[0]->kids[0];
    struct expression *g = ARENA_NEW(a, struct expression);
    *g = (struct expression){
        .op = (uint8_t)op, .n = n, .kids = arena_memdup(a, kids, n * sizeof(struct expression *))};
    return g;
}

struct expression *expression_binary(struct arena *a, enum formula_op op, struct expression *x,
                                     struct expression *y)
{
    return expression_make(a, op, (struct expression *[]){x, y}, 2);
}

struct expression *expression_not(struct arena *a, struct expression *x)
{
    return expression_make(a, FORMULA_NOT, &x, 1);
}

int64_t expression_value(const struct expression *g, const uint32_t *slots, const uint32_t *values,
                         uint32_t n)
{
    if (g->op == FORMULA_CONST) return g->imm;
    if (g->op == FORMULA_FUNC) {
        for (uint32_t i = 0; i < n; i++)
            if (slots[i] == g->slot) return g->table[values[i]];
        PANIC("slot %u has no value", g->slot);
    }
    int64_t r = 0;
    for (uint32_t i = 0; i < g->n; i++) {
        int64_t x[3] = {r, 0, 0};
        if (!associative(g->op)) {
            for (uint32_t k = 0; k < g->n; k++)
                x[k] = expression_value(g->kids[k], slots, values, n);
            return expression_apply(g->op, x, g->n);
        }
        x[1] = expression_value(g->kids[i], slots, values, n);
        r = i ? expression_apply(g->op, x, 2) : x[1];
    }
    return r;
}
