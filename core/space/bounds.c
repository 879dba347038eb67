/* Propagation of formulas over many slots by bounds (HC4: F. Benhamou et al., "Revising hull and box
 * consistency", ICLP 1999).
 *
 * Forward: the interval of every node from those of its operands; cells.h keeps them. Backward, here: the
 * root must be true; each node whose interval shrank shrinks its operands. When a single slot is left open
 * its values are tried one by one, so a formula is exact on its last choice; monotone ones (views.c) need no
 * such check at a leaf. */
#include <string.h>

#include "core/base/panic.h"
#include "core/space/cells.h"

struct work {
    struct space_state *st;
    const struct shape *shape;
    const uint32_t *slots;
    const struct slot_at *at;
    const uint32_t *cells;            /* of the nodes */
    const struct interval *intervals; /* of all cells */
    int64_t *lo, *hi;                 /* of each node that is loaded */
};

int64_t shape_value(const struct shape *sh, const uint32_t *values, int64_t *scratch)
{
    for (uint32_t i = 0; i < sh->n_nodes; i++) {
        const struct shape_node *n = &sh->nodes[i];
        const uint32_t *kids = sh->kids + n->first;
        if (n->op == GROUND_CONST)
            scratch[i] = n->imm;
        else if (n->op == GROUND_FUNC)
            scratch[i] = n->view.table[values[n->local]];
        else if (n->op == GROUND_TERM)
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

/* ---- backward ---- */

static void set_bit(uint64_t *bits, uint32_t i)
{
    bits[i / 64] |= UINT64_C(1) << i % 64;
}

/* The interval of a node as it is before anything is narrowed. */
static void load(struct work *w, uint32_t i)
{
    if (w->st->loaded[i / 64] >> i % 64 & 1) return;
    set_bit(w->st->loaded, i);
    w->lo[i] = w->intervals[w->cells[i]].lo;
    w->hi[i] = w->intervals[w->cells[i]].hi;
}

static bool narrow(struct work *w, uint32_t i, int64_t lo, int64_t hi)
{
    if (lo > w->lo[i]) {
        w->lo[i] = lo;
        set_bit(w->st->narrowed, i);
    }
    if (hi < w->hi[i]) {
        w->hi[i] = hi;
        set_bit(w->st->narrowed, i);
    }
    return w->lo[i] <= w->hi[i];
}

/* Keeps the values of a FUNC's slot whose number lies in the interval of the node, is not `hole`, and divides
 * `multiple`. */
static bool filter_slot(struct work *w, const struct shape_node *n, int64_t lo, int64_t hi,
                        const int64_t *hole, int64_t multiple)
{
    uint32_t slot = w->slots[n->local];
    for (unsigned k = 0; k < w->st->space->slots[slot].words; k++) {
        uint64_t keep = 0;
        for (uint64_t m = state_word(w->st, slot, k); m; m &= m - 1) {
            int64_t x = n->view.table[k * 64 + (unsigned)__builtin_ctzll(m)];
            bool ok = x >= lo && x <= hi && !(hole && x == *hole) && !(multiple && x && multiple % x);
            if (ok) keep |= m & -m;
        }
        if (!state_restrict_word(w->st, slot, k, keep)) return false;
    }
    return true;
}

static bool exclude(struct work *w, uint32_t i, int64_t hole)
{
    const struct shape_node *n = &w->shape->nodes[i];
    if (n->op == GROUND_FUNC) return filter_slot(w, n, INT64_MIN, INT64_MAX, &hole, 0);
    return narrow(w, i, w->lo[i] + (w->lo[i] == hole), w->hi[i] - (w->hi[i] == hole));
}

static bool backward_sum(struct work *w, const uint32_t *kids, uint32_t n, int64_t lo, int64_t hi)
{
    int64_t sum_lo = 0, sum_hi = 0;
    for (uint32_t k = 0; k < n; k++) {
        sum_lo = expression_add(sum_lo, w->lo[kids[k]]);
        sum_hi = expression_add(sum_hi, w->hi[kids[k]]);
    }
    if (sum_lo <= -SPACE_BIG || sum_hi >= SPACE_BIG) return true;
    for (uint32_t k = 0; k < n; k++) {
        int64_t xlo = w->lo[kids[k]], xhi = w->hi[kids[k]];
        if (!narrow(w, kids[k], lo - (sum_hi - xhi), hi - (sum_lo - xlo))) return false;
    }
    return true;
}

static bool must_divide(struct work *w, uint32_t i, int64_t product)
{
    const struct shape_node *n = &w->shape->nodes[i];
    if (n->op == GROUND_CONST) return n->imm == 0 || product % n->imm == 0;
    return n->op != GROUND_FUNC || filter_slot(w, n, INT64_MIN, INT64_MAX, NULL, product);
}

/* Each factor is at least lo over the greatest product of the others. */
static bool raise_factors(struct work *w, const uint32_t *kids, uint32_t n, int64_t lo)
{
    int64_t *rest = w->st->rest, before = 1;
    rest[n - 1] = 1;
    for (uint32_t k = n - 1; k > 0; k--)
        rest[k - 1] = expression_mul(rest[k], w->hi[kids[k]]);
    for (uint32_t k = 0; k < n; k++) {
        int64_t others = expression_mul(before, rest[k]);
        before = expression_mul(before, w->hi[kids[k]]);
        if (others <= 0 || others >= SPACE_BIG || lo <= expression_mul(others, w->lo[kids[k]])) continue;
        if (!narrow(w, kids[k], (lo + others - 1) / others, INT64_MAX)) return false;
    }
    return true;
}

static int64_t least_product_of(const struct work *w, const uint32_t *kids, uint32_t n)
{
    int64_t product = 1;
    for (uint32_t k = 0; k < n; k++)
        product = expression_mul(product, w->lo[kids[k]]);
    return product;
}

/* Each factor is at most hi over the least product of the others. */
static bool lower_factors(struct work *w, const uint32_t *kids, uint32_t n, int64_t hi)
{
    int64_t least_product = least_product_of(w, kids, n);
    if (least_product <= 0 || least_product >= SPACE_BIG || hi >= SPACE_BIG) return true;
    for (uint32_t k = 0; k < n; k++) {
        int64_t factor = w->lo[kids[k]];
        if (expression_mul(least_product, w->hi[kids[k]]) <= expression_mul(hi, factor)) continue;
        if (!narrow(w, kids[k], INT64_MIN, hi / (least_product / factor))) return false;
    }
    return true;
}

/* Factors that are never negative. */
static bool backward_product(struct work *w, const uint32_t *kids, uint32_t n, int64_t lo, int64_t hi)
{
    for (uint32_t k = 0; k < n; k++)
        if (w->lo[kids[k]] < 0) return true;
    if (lo == hi && lo > 0)
        for (uint32_t k = 0; k < n; k++)
            if (!must_divide(w, kids[k], lo)) return false;
    if (lo > least_product_of(w, kids, n) && !raise_factors(w, kids, n, lo)) return false;
    return lower_factors(w, kids, n, hi);
}

/* The maximum lies in [lo, hi]; `or` is the maximum of booleans. */
static bool backward_max(struct work *w, const uint32_t *kids, uint32_t n, int64_t lo, int64_t hi)
{
    uint32_t able = 0, last = 0;
    for (uint32_t k = 0; k < n; k++) {
        if (!narrow(w, kids[k], INT64_MIN, hi)) return false;
        if (w->hi[kids[k]] < lo) continue;
        able++;
        last = kids[k];
    }
    return able == 0 ? false : able > 1 || narrow(w, last, lo, INT64_MAX);
}

static bool backward_min(struct work *w, const uint32_t *kids, uint32_t n, int64_t lo, int64_t hi)
{
    uint32_t able = 0, last = 0;
    for (uint32_t k = 0; k < n; k++) {
        if (!narrow(w, kids[k], lo, INT64_MAX)) return false;
        if (w->lo[kids[k]] > hi) continue;
        able++;
        last = kids[k];
    }
    return able == 0 ? false : able > 1 || narrow(w, last, INT64_MIN, hi);
}

static bool backward_equal(struct work *w, uint32_t x, uint32_t y, bool equal)
{
    if (equal) return narrow(w, x, w->lo[y], w->hi[y]) && narrow(w, y, w->lo[x], w->hi[x]);
    if (w->lo[x] == w->hi[x] && !exclude(w, y, w->lo[x])) return false;
    return w->lo[y] != w->hi[y] || exclude(w, x, w->lo[y]);
}

static bool backward_le(struct work *w, uint32_t x, uint32_t y, bool le)
{
    if (le) return narrow(w, x, INT64_MIN, w->hi[y]) && narrow(w, y, w->lo[x], INT64_MAX);
    return narrow(w, x, w->lo[y] + 1, INT64_MAX) && narrow(w, y, INT64_MIN, w->hi[x] - 1);
}

static bool backward_divide(struct work *w, const uint32_t *kids, int64_t lo, int64_t hi)
{
    int64_t by = w->lo[kids[1]];
    if (by <= 0 || by != w->hi[kids[1]] || w->lo[kids[0]] < 0) return true;
    return narrow(w, kids[0], expression_mul(lo, by), expression_add(expression_mul(hi, by), by - 1));
}

static bool backward_choose(struct work *w, const uint32_t *kids, int64_t lo, int64_t hi)
{
    bool then_fits = w->lo[kids[1]] <= hi && w->hi[kids[1]] >= lo,
         else_fits = w->lo[kids[2]] <= hi && w->hi[kids[2]] >= lo;
    if (!then_fits && !narrow(w, kids[0], 0, 0)) return false;
    if (!else_fits && !narrow(w, kids[0], 1, 1)) return false;
    if (w->lo[kids[0]] == 1) return narrow(w, kids[1], lo, hi);
    return w->hi[kids[0]] != 0 || narrow(w, kids[2], lo, hi);
}

static bool backward_node(struct work *w, uint32_t i)
{
    const struct shape_node *n = &w->shape->nodes[i];
    const uint32_t *kids = w->shape->kids + n->first;
    int64_t lo = w->lo[i], hi = w->hi[i];
    switch ((enum ground_op)n->op) {
    case GROUND_CONST:
    case GROUND_MOD:
        return true;
    case GROUND_FUNC:
        return filter_slot(w, n, lo, hi, NULL, 0);
    case GROUND_TERM:
        return term_backward(w->st, n, w->slots, w->at, lo, hi);
    case GROUND_ADD:
        return backward_sum(w, kids, n->n, lo, hi);
    case GROUND_MUL:
        return backward_product(w, kids, n->n, lo, hi);
    case GROUND_OR:
    case GROUND_MAX:
        return backward_max(w, kids, n->n, lo, hi);
    case GROUND_AND:
    case GROUND_MIN:
        return backward_min(w, kids, n->n, lo, hi);
    case GROUND_NEG:
        return narrow(w, kids[0], -hi, -lo);
    case GROUND_NOT:
        return narrow(w, kids[0], !hi, !lo);
    case GROUND_DIV:
        return backward_divide(w, kids, lo, hi);
    case GROUND_EQ:
        return lo != hi || backward_equal(w, kids[0], kids[1], lo == 1);
    case GROUND_LE:
        return lo != hi || backward_le(w, kids[0], kids[1], lo == 1);
    case GROUND_ITE:
        return backward_choose(w, kids, lo, hi);
    }
    PANIC("unknown operation %d", n->op);
}

/* ---- the whole formula ---- */

/* Operands of a node, before it narrows them. */
static void load_operands(struct work *w, uint32_t i)
{
    const struct shape_node *n = &w->shape->nodes[i];
    for (uint32_t k = 0; k < n->n; k++)
        load(w, w->shape->kids[n->first + k]);
}

/* Operands have lower numbers than their users. */
static bool backward(struct work *w)
{
    uint32_t root = w->shape->n_nodes - 1, words = root / 64 + 1;
    memset(w->st->narrowed, 0, words * sizeof *w->st->narrowed);
    memset(w->st->loaded, 0, words * sizeof *w->st->loaded);
    load(w, root);
    if (!narrow(w, root, 1, 1)) return false;
    for (uint32_t word = words; word-- > 0;) {
        while (w->st->narrowed[word]) {
            uint32_t bit = 63 - (uint32_t)__builtin_clzll(w->st->narrowed[word]);
            w->st->narrowed[word] &= ~(UINT64_C(1) << bit);
            load_operands(w, word * 64 + bit);
            if (!backward_node(w, word * 64 + bit)) return false;
        }
    }
    return true;
}

/* How many slots are open, up to two, not counting choices of dead objects, on which no value depends. *last:
 * one of them. */
static unsigned count_open(const struct space_state *st, const struct instance *in, uint32_t *last)
{
    const struct space *s = st->space;
    unsigned n = 0;
    for (uint32_t k = 0; k < s->shapes[in->shape].n_slots && n < 2; k++) {
        const struct slot_info *info = &s->slots[s->instance_slots[in->slots + k]];
        uint64_t word = vector_load(st->vector, info->offset) & info->mask;
        bool fixed = info->words == 1 ? word && !(word & (word - 1))
                                      : space_value_count(st, s->instance_slots[in->slots + k]) == 1;
        if (fixed || state_dead(st, info)) continue;
        *last = k;
        n++;
    }
    return n;
}

/* Tries each value of the only open slot; with none open, the one value of a slot: so the formula is checked
 * exactly. */
static bool try_values(struct work *w, uint32_t local)
{
    uint32_t *values = w->st->values;
    for (uint32_t k = 0; k < w->shape->n_slots; k++)
        values[k] = space_value_count(w->st, w->slots[k]) ? space_first_value(w->st, w->slots[k]) : 0;
    if (!w->shape->n_slots) return shape_value(w->shape, values, w->lo) != 0;
    bool ok = true;
    for (unsigned word = 0; ok && word < w->st->space->slots[w->slots[local]].words; word++) {
        uint64_t keep = 0;
        for (uint64_t m = state_word(w->st, w->slots[local], word); m; m &= m - 1) {
            values[local] = word * 64 + (uint32_t)__builtin_ctzll(m);
            if (shape_value(w->shape, values, w->lo)) keep |= m & -m;
        }
        ok = state_restrict_word(w->st, w->slots[local], word, keep);
    }
    return ok;
}

bool bounds_propagate(struct space_state *st, uint32_t instance)
{
    const struct space *s = st->space;
    const struct instance *in = &s->instances[instance];
    struct work w = {.st = st,
                     .shape = &s->shapes[in->shape],
                     .slots = s->instance_slots + in->slots,
                     .at = s->instance_at + in->slots,
                     .cells = s->instance_cells + in->cells,
                     .intervals = cell_intervals(st),
                     .lo = st->lo,
                     .hi = st->hi};
    if (w.intervals[w.cells[w.shape->n_nodes - 1]].lo == 1) return true;
    if (!backward(&w)) return false;
    uint32_t last = 0;
    return w.shape->monotone || count_open(st, in, &last) > 1 || try_values(&w, last);
}
