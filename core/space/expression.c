/* Ground expressions: formulas whose only unknowns are slots. They are simplified as they are built:
 * constants fold, and whatever depends on one slot alone becomes a FUNC, a table from the slot's values to
 * numbers. So most conditions end as tables before any propagator sees them. Booleans are 0 and 1. */
#include <string.h>

#include "core/base/panic.h"
#include "core/space/internal.h"

static int64_t fold(enum ground_op op, const int64_t *x, uint32_t n)
{
    int64_t r = x[0];
    for (uint32_t i = 1; i < n; i++) {
        if (op == GROUND_ADD)
            r = expression_add(r, x[i]);
        else if (op == GROUND_MUL)
            r = expression_mul(r, x[i]);
        else if (op == GROUND_MIN)
            r = r < x[i] ? r : x[i];
        else if (op == GROUND_MAX)
            r = r > x[i] ? r : x[i];
        else if (op == GROUND_AND)
            r = r && x[i];
        else
            r = r || x[i];
    }
    return r;
}

int64_t expression_apply(enum ground_op op, const int64_t *x, uint32_t n)
{
    switch (op) {
    case GROUND_DIV:
        return x[1] ? x[0] / x[1] : 0;
    case GROUND_MOD:
        return x[1] ? x[0] % x[1] : 0;
    case GROUND_NEG:
        return -x[0];
    case GROUND_EQ:
        return x[0] == x[1];
    case GROUND_LE:
        return x[0] <= x[1];
    case GROUND_NOT:
        return !x[0];
    case GROUND_ITE:
        return x[0] ? x[1] : x[2];
    default:
        return fold(op, x, n);
    }
}

struct ground_node *expression_const(struct arena *a, int64_t value)
{
    struct ground_node *g = ARENA_NEW(a, struct ground_node);
    g->op = GROUND_CONST;
    g->imm = expression_clamp(value);
    return g;
}

struct ground_node *expression_func(struct arena *a, uint32_t slot, const int64_t *table, uint32_t n)
{
    bool constant = true;
    for (uint32_t i = 1; i < n && constant; i++)
        constant = table[i] == table[0];
    if (constant) return expression_const(a, table[0]);
    struct ground_node *g = ARENA_NEW(a, struct ground_node);
    g->op = GROUND_FUNC;
    g->slot = slot;
    g->table = table;
    g->n_table = n;
    return g;
}

/* The operation over constants and functions of one slot, as one function. */
static struct ground_node *tabulate(struct arena *a, enum ground_op op, struct ground_node **kids, uint32_t n,
                                    const struct ground_node *func)
{
    int64_t *table = ARENA_ARRAY(a, int64_t, func->n_table), *x = ARENA_ARRAY(a, int64_t, n);
    for (uint32_t v = 0; v < func->n_table; v++) {
        for (uint32_t i = 0; i < n; i++)
            x[i] = kids[i]->op == GROUND_CONST ? kids[i]->imm : kids[i]->table[v];
        table[v] = expression_apply(op, x, n);
    }
    return expression_func(a, func->slot, table, func->n_table);
}

static bool associative(enum ground_op op)
{
    return op == GROUND_ADD || op == GROUND_MUL || op == GROUND_MIN || op == GROUND_MAX || op == GROUND_AND ||
           op == GROUND_OR;
}

/* Whether a constant operand decides the result. */
static bool absorbs(enum ground_op op, int64_t value)
{
    return (op == GROUND_MUL && value == 0) || (op == GROUND_AND && value == 0) ||
           (op == GROUND_OR && value != 0);
}

static bool neutral(enum ground_op op, int64_t value)
{
    if (op == GROUND_ADD || op == GROUND_OR) return value == 0;
    if (op == GROUND_MUL) return value == 1;
    return op == GROUND_AND && value != 0;
}

static struct ground_node *find_mergeable(struct ground_node **kids, uint32_t n, const struct ground_node *k)
{
    enum { WINDOW = 24 };
    if (k->op != GROUND_CONST && k->op != GROUND_FUNC) return NULL;
    for (uint32_t i = n > WINDOW ? n - WINDOW : 0; i < n; i++) {
        if (k->op == GROUND_CONST && kids[i]->op == GROUND_CONST) return kids[i];
        if (k->op == GROUND_FUNC && kids[i]->op == GROUND_FUNC && kids[i]->slot == k->slot) return kids[i];
    }
    return NULL;
}

/* Flattens nested operations of the same kind. */
static uint32_t flatten(struct arena *a, enum ground_op op, struct ground_node ***kids, uint32_t n)
{
    uint32_t total = 0;
    for (uint32_t i = 0; i < n; i++)
        total += (*kids)[i]->op == op ? (*kids)[i]->n : 1;
    struct ground_node **flat = ARENA_ARRAY(a, struct ground_node *, total + 1);
    uint32_t at = 0;
    for (uint32_t i = 0; i < n; i++) {
        struct ground_node *k = (*kids)[i];
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
static uint32_t fold_constant(struct arena *a, enum ground_op op, struct ground_node **kids, uint32_t n)
{
    uint32_t constant = n, func = n;
    for (uint32_t i = 0; i < n; i++) {
        if (kids[i]->op == GROUND_CONST) constant = i;
        if (kids[i]->op == GROUND_FUNC && func == n) func = i;
    }
    if (constant == n || func == n) return n;
    kids[func] = tabulate(a, op, (struct ground_node *[]){kids[func], kids[constant]}, 2, kids[func]);
    memmove(kids + constant, kids + constant + 1, (n - constant - 1) * sizeof *kids);
    return n - 1;
}

static struct ground_node *make_associative(struct arena *a, enum ground_op op, struct ground_node **kids,
                                            uint32_t n)
{
    n = flatten(a, op, &kids, n);
    struct ground_node **kept = ARENA_ARRAY(a, struct ground_node *, n + 1);
    uint32_t m = 0;
    for (uint32_t i = 0; i < n; i++) {
        struct ground_node *same = find_mergeable(kept, m, kids[i]);
        if (same)
            *same = *tabulate(a, op, (struct ground_node *[]){same, kids[i]}, 2,
                              same->op == GROUND_FUNC ? same : &(struct ground_node){.n_table = 1});
        else {
            kept[m] = ARENA_NEW(a, struct ground_node);
            *kept[m++] = *kids[i];
        }
    }
    m = fold_constant(a, op, kept, m);
    uint32_t out = 0;
    for (uint32_t i = 0; i < m; i++) {
        if (kept[i]->op == GROUND_CONST && absorbs(op, kept[i]->imm)) return kept[i];
        if (kept[i]->op != GROUND_CONST || !neutral(op, kept[i]->imm)) kept[out++] = kept[i];
    }
    if (out == 0) return m ? kept[0] : expression_const(a, op == GROUND_MUL || op == GROUND_AND);
    if (out == 1) return kept[0];
    struct ground_node *g = ARENA_NEW(a, struct ground_node);
    *g = (struct ground_node){.op = (uint8_t)op, .n = out, .kids = kept};
    return g;
}

/* The one slot that all operands depend on: a FUNC node; NULL if there are several or other kinds. *constant:
 * none at all. */
static const struct ground_node *single_slot(struct ground_node **kids, uint32_t n, bool *constant)
{
    const struct ground_node *func = NULL;
    *constant = true;
    for (uint32_t i = 0; i < n; i++) {
        if (kids[i]->op == GROUND_CONST) continue;
        *constant = false;
        if (kids[i]->op != GROUND_FUNC || (func && func->slot != kids[i]->slot)) return NULL;
        func = kids[i];
    }
    return func;
}

struct ground_node *expression_make(struct arena *a, enum ground_op op, struct ground_node **kids, uint32_t n)
{
    if (associative(op)) return make_associative(a, op, kids, n);
    bool constant;
    const struct ground_node *func = single_slot(kids, n, &constant);
    if (func) return tabulate(a, op, kids, n, func);
    if (constant) return tabulate(a, op, kids, n, &(struct ground_node){.n_table = 1});
    if (op == GROUND_ITE && n == 3 && kids[0]->op == GROUND_CONST) return kids[0]->imm ? kids[1] : kids[2];
    if (op == GROUND_NOT && kids[0]->op == GROUND_NOT) return kids[0]->kids[0];
    struct ground_node *g = ARENA_NEW(a, struct ground_node);
    *g = (struct ground_node){
        .op = (uint8_t)op, .n = n, .kids = arena_memdup(a, kids, n * sizeof(struct ground_node *))};
    return g;
}

struct ground_node *expression_binary(struct arena *a, enum ground_op op, struct ground_node *x,
                                      struct ground_node *y)
{
    return expression_make(a, op, (struct ground_node *[]){x, y}, 2);
}

struct ground_node *expression_not(struct arena *a, struct ground_node *x)
{
    return expression_make(a, GROUND_NOT, &x, 1);
}

int64_t expression_value(const struct ground_node *g, const uint32_t *slots, const uint32_t *values,
                         uint32_t n)
{
    if (g->op == GROUND_CONST) return g->imm;
    if (g->op == GROUND_FUNC) {
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
