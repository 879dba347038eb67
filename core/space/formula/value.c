/* The value of a formula under an assignment, and the numbers that a function of one slot has on a set of
 * values. Values are indices: under #0 = 1, #1 = 2, both in { 1, 2, 4 }, the formula `#0 * #1 <= 8` is 2 * 4
 * <= 8, true. */
#include "core/space/formula/shape.h"

/* ---- functions of one slot ---- */

void view_of_table(const int64_t *table, uint32_t n, struct value_view *out)
{
    bool boolean = n <= 64, ascending = n <= 64, chain = n <= 64;
    *out = (struct value_view){.kind = VIEW_TABLE, .n = n, .table = table};
    for (uint32_t v = 0; v < n; v++) {
        boolean = boolean && (table[v] == 0 || table[v] == 1);
        ascending = ascending && (v == 0 || table[v - 1] <= table[v]);
        chain = chain && table[v] >= 1 && (v == 0 || table[v] % table[v - 1] == 0);
        if (v < 64 && table[v] == 1) out->yes |= UINT64_C(1) << v;
    }
    out->chain = chain;
    if (boolean)
        out->kind = VIEW_BOOLEAN;
    else if (ascending)
        out->kind = VIEW_ASCENDING;
}

static void table_extremes(const int64_t *table, uint64_t domain, int64_t *lo, int64_t *hi)
{
    *lo = INT64_MAX;
    *hi = INT64_MIN;
    for (; domain; domain &= domain - 1) {
        int64_t x = table[__builtin_ctzll(domain)];
        if (x < *lo) *lo = x;
        if (x > *hi) *hi = x;
    }
}

void view_extremes(const struct value_view *v, uint64_t domain, int64_t *lo, int64_t *hi)
{
    if (v->kind == VIEW_BOOLEAN) {
        *lo = !(domain & ~v->yes);
        *hi = domain & v->yes ? 1 : 0;
    } else if (v->kind == VIEW_ASCENDING && domain) {
        *lo = v->table[__builtin_ctzll(domain)];
        *hi = v->table[63 - __builtin_clzll(domain)];
    } else {
        table_extremes(v->table, domain, lo, hi);
    }
}

/* ---- an assignment ---- */

int64_t term_value(const struct shape_node *n, const uint32_t *values)
{
    for (uint32_t i = 0; i < n->n_conditions; i++)
        if (!(n->conditions[i].yes >> values[n->conditions[i].local] & 1)) return n->otherwise;
    return n->is_function ? n->view.table[values[n->local]] : n->imm;
}

int64_t shape_value(const struct shape *sh, const uint32_t *values, int64_t *scratch)
{
    for (uint32_t i = 0; i < sh->n_nodes; i++) {
        const struct shape_node *n = &sh->nodes[i];
        const uint32_t *kids = sh->kids + n->first;
        if (n->op == FORMULA_CONST)
            scratch[i] = n->imm;
        else if (n->op == FORMULA_FUNC)
            scratch[i] = n->view.table[values[n->local]];
        else if (n->op == FORMULA_TERM)
            scratch[i] = term_value(n, values);
        else if (n->n <= 3)
            scratch[i] = expression_apply(n->op,
                                          (int64_t[]){scratch[kids[0]], n->n > 1 ? scratch[kids[1]] : 0,
                                                      n->n > 2 ? scratch[kids[2]] : 0},
                                          n->n);
        else {
            int64_t x = scratch[kids[0]];
            for (uint32_t k = 1; k < n->n; k++)
                x = expression_apply(n->op, (int64_t[]){x, scratch[kids[k]]}, 2);
            scratch[i] = x;
        }
    }
    return scratch[sh->n_nodes - 1];
}
