/* Functions of one slot, and terms: `conditions ? value : constant`, the operands of most counters. A term
 * reads two or three masks; as a tree of its parts it would be five nodes or more. */
#include "core/space/internal.h"

void view_of_table(const int64_t *table, uint32_t n, struct value_view *out)
{
    bool boolean = n <= 64, ascending = n <= 64;
    *out = (struct value_view){.kind = VIEW_TABLE, .n = n, .table = table};
    for (uint32_t v = 0; v < n; v++) {
        boolean = boolean && (table[v] == 0 || table[v] == 1);
        ascending = ascending && (v == 0 || table[v - 1] <= table[v]);
        if (v < 64 && table[v] == 1) out->yes |= UINT64_C(1) << v;
    }
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

/* ---- terms ---- */

enum truth { NEVER, MAYBE, ALWAYS };

/* *open: the last condition that may be false. *n_open: how many. */
static enum truth conditions(const struct space_state *st, const struct shape_node *n,
                             const struct slot_at *at, uint32_t *open, uint32_t *n_open)
{
    *n_open = 0;
    for (uint32_t i = 0; i < n->n_conditions; i++) {
        uint64_t domain = domain_at(st, at[n->conditions[i].local]);
        if (!(domain & n->conditions[i].yes)) return NEVER;
        if (!(domain & ~n->conditions[i].yes)) continue;
        *open = i;
        ++*n_open;
    }
    return *n_open ? MAYBE : ALWAYS;
}

static void value_extremes(const struct space_state *st, const struct shape_node *n, const struct slot_at *at,
                           int64_t *lo, int64_t *hi)
{
    *lo = *hi = n->imm;
    if (n->is_function) view_extremes(&n->view, domain_at(st, at[n->local]), lo, hi);
}

static bool keep_values(struct space_state *st, const struct shape_node *n, uint32_t slot, int64_t lo,
                        int64_t hi)
{
    uint64_t keep = 0;
    for (uint64_t m = state_word(st, slot, 0); m; m &= m - 1) {
        int64_t x = n->view.table[__builtin_ctzll(m)];
        if (x >= lo && x <= hi) keep |= m & -m;
    }
    return state_restrict_word(st, slot, 0, keep);
}

static bool require_conditions(struct space_state *st, const struct shape_node *n, const uint32_t *slots)
{
    for (uint32_t i = 0; i < n->n_conditions; i++)
        if (!state_restrict_word(st, slots[n->conditions[i].local], 0, n->conditions[i].yes)) return false;
    return true;
}

bool term_backward(struct space_state *st, const struct shape_node *n, const uint32_t *slots,
                   const struct slot_at *at, int64_t lo, int64_t hi)
{
    uint32_t open = 0, n_open;
    int64_t vlo, vhi;
    enum truth truth = conditions(st, n, at, &open, &n_open);
    bool else_fits = n->otherwise >= lo && n->otherwise <= hi;
    if (truth == NEVER) return else_fits;
    value_extremes(st, n, at, &vlo, &vhi);
    bool then_fits = vlo <= hi && vhi >= lo;
    if (!then_fits && (!else_fits || truth == ALWAYS)) return false;
    if (!then_fits)
        return n_open > 1 ||
               state_restrict_word(st, slots[n->conditions[open].local], 0, ~n->conditions[open].yes);
    if (truth == MAYBE && else_fits) return true;
    if (!require_conditions(st, n, slots)) return false;
    return !n->is_function || keep_values(st, n, slots[n->local], lo, hi);
}

int64_t term_value(const struct shape_node *n, const uint32_t *values)
{
    for (uint32_t i = 0; i < n->n_conditions; i++)
        if (!(n->conditions[i].yes >> values[n->conditions[i].local] & 1)) return n->otherwise;
    return n->is_function ? n->view.table[values[n->local]] : n->imm;
}
