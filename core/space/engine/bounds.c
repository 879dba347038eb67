/* Propagation of formulas over many slots by bounds (HC4: F. Benhamou et al., "Revising hull and box
 * consistency", ICLP 1999).
 *
 * Forward: the interval of every node from those of its operands; cells.h keeps them. Backward, here: the
 * root must be true; each node whose interval shrank shrinks its operands. What several nodes share is
 * narrowed by each of them at once, or, where that would be visited too often, by what all of them ask for.
 * When a single slot is left open its values are tried one by one, so a formula is exact on its last choice;
 * monotone ones (formula/watched_bounds.c) need no such check. With no slot open bounds are exact, but those
 * of quotients and remainders. */
#include "core/base/arena.h"
#include "core/base/panic.h"
#include "core/space/engine/cells.h"
#include "core/space/engine/propagators.h"

struct work {
    struct space_state *st;
    const struct cell *cells;         /* of all formulas */
    const struct interval *intervals; /* of each */
    struct interval *limits;          /* where the nodes of a many_paths formula must lie so far; else NULL */
};

/* ---- backward ---- */

static bool narrow_cell(struct work *w, uint32_t cell, int64_t lo, int64_t hi);

static bool limit(struct interval *x, int64_t lo, int64_t hi)
{
    x->lo = lo > x->lo ? lo : x->lo;
    x->hi = hi < x->hi ? hi : x->hi;
    return x->lo <= x->hi;
}

/* The cell must lie in [lo, hi]. One that several share is narrowed by each of its users, in a many_paths
 * formula by all of them together. */
static inline bool narrow(struct work *w, uint32_t cell, int64_t lo, int64_t hi)
{
    struct interval x = w->intervals[cell];
    if (lo <= x.lo && hi >= x.hi) return true;
    if (w->limits) return limit(&w->limits[cell], lo, hi);
    return limit(&x, lo, hi) && narrow_cell(w, cell, x.lo, x.hi);
}

/* Keeps the values of a FUNC's slot whose number lies in [lo, hi] and is not `hole`. */
static bool filter_slot(struct work *w, const struct cell *c, int64_t lo, int64_t hi, const int64_t *hole)
{
    const struct shape_node *n = c->node;
    uint32_t slot = cell_slot(w->st->space, c, n->local);
    for (unsigned k = 0; k < w->st->space->slots[slot].words; k++) {
        uint64_t keep = 0;
        for (uint64_t m = state_word(w->st, slot, k); m; m &= m - 1) {
            int64_t x = n->view.table[k * 64 + (unsigned)__builtin_ctzll(m)];
            if (x >= lo && x <= hi && !(hole && x == *hole)) keep |= m & -m;
        }
        if (!state_restrict_word(w->st, slot, k, keep)) return false;
    }
    return true;
}

/* The values of a word whose numbers divide a multiple. In a chain all below one that does do so too. */
static uint64_t divisors(const int64_t *numbers, bool chain, uint64_t word, int64_t multiple)
{
    uint64_t keep = word;
    for (uint64_t m = word, top; m; m &= ~top) {
        unsigned v = 63 - (unsigned)__builtin_clzll(m);
        top = UINT64_C(1) << v;
        if (numbers[v] && multiple % numbers[v])
            keep &= ~top;
        else if (chain)
            break;
    }
    return keep;
}

/* Keeps the values of a FUNC's slot whose number divides a multiple. */
static bool filter_divisors(struct work *w, const struct cell *c, int64_t multiple)
{
    const struct value_view *view = &c->node->view;
    uint32_t slot = cell_slot(w->st->space, c, c->node->local);
    for (unsigned k = 0; k < w->st->space->slots[slot].words; k++) {
        uint64_t keep = divisors(view->table + k * 64, view->chain, state_word(w->st, slot, k), multiple);
        if (!state_restrict_word(w->st, slot, k, keep)) return false;
    }
    return true;
}

static bool exclude(struct work *w, uint32_t cell, int64_t hole)
{
    const struct cell *c = &w->cells[cell];
    if (c->op == FORMULA_FUNC) return filter_slot(w, c, INT64_MIN, INT64_MAX, &hole);
    struct interval x = w->intervals[cell];
    return narrow(w, cell, x.lo + (x.lo == hole), x.hi - (x.hi == hole));
}

/* Whether no sum of at most hi has saturated above on its way. */
static bool stays_below(const struct work *w, const uint32_t *kids, uint32_t n, int64_t hi)
{
    int64_t most = SPACE_BIG;
    for (uint32_t k = 0; k < n; k++)
        if (w->intervals[kids[k]].lo < 0) most = expression_add(most, w->intervals[kids[k]].lo);
    return hi < most;
}

/* Whether no sum of at least lo has saturated below on its way. */
static bool stays_above(const struct work *w, const uint32_t *kids, uint32_t n, int64_t lo)
{
    int64_t least = -SPACE_BIG;
    for (uint32_t k = 0; k < n; k++)
        if (w->intervals[kids[k]].hi > 0) least = expression_add(least, w->intervals[kids[k]].hi);
    return lo > least;
}

/* A total that saturates says nothing of its side; nor does the other one of sums that may have saturated. */
static bool backward_sum(struct work *w, const uint32_t *kids, uint32_t n, int64_t lo, int64_t hi)
{
    int64_t sum_lo = 0, sum_hi = 0;
    bool low = true, high = true;
    for (uint32_t k = 0; k < n; k++) {
        struct interval x = w->intervals[kids[k]];
        sum_lo = expression_add(sum_lo, x.lo);
        sum_hi = expression_add(sum_hi, x.hi);
        low = low && sum_lo > -SPACE_BIG && sum_lo < SPACE_BIG;
        high = high && sum_hi > -SPACE_BIG && sum_hi < SPACE_BIG;
    }
    bool up = high && (low || stays_above(w, kids, n, lo)),
         down = low && (high || stays_below(w, kids, n, hi));
    for (uint32_t k = 0; k < n; k++) {
        struct interval x = w->intervals[kids[k]];
        int64_t least = up ? lo - (sum_hi - x.hi) : INT64_MIN, most = down ? hi - (sum_lo - x.lo) : INT64_MAX;
        if (!narrow(w, kids[k], least, most)) return false;
    }
    return true;
}

/* The factors that are known divide the product; each of the others divides what they leave of it. */
static bool keep_divisors(struct work *w, const uint32_t *kids, uint32_t n, int64_t product)
{
    for (uint32_t k = 0; k < n; k++) {
        struct interval x = w->intervals[kids[k]];
        if (x.lo != x.hi) continue;
        if (x.lo == 0 || product % x.lo) return false;
        product /= x.lo;
    }
    for (uint32_t k = 0; k < n; k++) {
        struct interval x = w->intervals[kids[k]];
        const struct cell *c = &w->cells[kids[k]];
        if (x.lo == x.hi || c->op != FORMULA_FUNC) continue;
        if (!filter_divisors(w, c, product)) return false;
    }
    return true;
}

/* The greatest product of all factors but one, which saturates; `all` is that of all of them. */
static int64_t product_without(const struct work *w, const uint32_t *kids, uint32_t n, uint32_t factor,
                               int64_t all)
{
    int64_t most = w->intervals[kids[factor]].hi, product = 1;
    if (most > 0 && all < SPACE_BIG) return all / most;
    for (uint32_t k = 0; k < n; k++)
        if (k != factor) product = expression_mul_natural(product, w->intervals[kids[k]].hi);
    return product;
}

/* Each factor is at least lo over the greatest product of the others. A factor may be a product itself. */
static bool raise_factors(struct work *w, const uint32_t *kids, uint32_t n, int64_t lo)
{
    int64_t all = 1;
    for (uint32_t k = 0; k < n; k++)
        all = expression_mul_natural(all, w->intervals[kids[k]].hi);
    for (uint32_t k = 0; k < n; k++) {
        int64_t others = product_without(w, kids, n, k, all);
        if (others <= 0 || others >= SPACE_BIG ||
            lo <= expression_mul_natural(others, w->intervals[kids[k]].lo))
            continue;
        if (!narrow(w, kids[k], (lo + others - 1) / others, INT64_MAX)) return false;
    }
    return true;
}

/* Each factor is at most hi over the least product of the others. */
static bool lower_factors(struct work *w, const uint32_t *kids, uint32_t n, int64_t least_product, int64_t hi)
{
    for (uint32_t k = 0; k < n; k++) {
        struct interval x = w->intervals[kids[k]];
        int64_t product = expression_mul_natural(least_product, x.hi);
        bool fits = product < SPACE_BIG && product <= expression_mul_natural(hi, x.lo);
        if (!fits && !narrow(w, kids[k], INT64_MIN, hi / (least_product / x.lo))) return false;
    }
    return true;
}

/* Factors that are never negative. */
static bool backward_natural(struct work *w, const uint32_t *kids, uint32_t n, int64_t least_product,
                             int64_t lo, int64_t hi)
{
    if (lo == hi && lo > 0 && lo < SPACE_BIG && !keep_divisors(w, kids, n, lo)) return false;
    if (lo > least_product && !raise_factors(w, kids, n, lo)) return false;
    bool bounded = least_product > 0 && least_product < SPACE_BIG && hi < SPACE_BIG;
    return !bounded || lower_factors(w, kids, n, least_product, hi);
}

/* Says nothing of products with a factor that may be negative. */
static bool backward_product(struct work *w, uint32_t cell, int64_t lo, int64_t hi)
{
    const struct cell *c = &w->cells[cell];
    for (uint32_t k = 0; k < c->n && !c->natural; k++)
        if (w->intervals[c->kids[k]].lo < 0) return true;
    return backward_natural(w, c->kids, c->n, w->intervals[cell].lo, lo, hi);
}

/* The maximum lies in [lo, hi]; `or` is the maximum of booleans. */
static bool backward_max(struct work *w, const uint32_t *kids, uint32_t n, int64_t lo, int64_t hi)
{
    uint32_t able = 0, last = 0;
    for (uint32_t k = 0; k < n; k++) {
        if (w->intervals[kids[k]].hi < lo) continue;
        able++;
        last = kids[k];
    }
    if (able == 0) return false;
    for (uint32_t k = 0; k < n; k++)
        if (!narrow(w, kids[k], able == 1 && kids[k] == last ? lo : INT64_MIN, hi)) return false;
    return true;
}

static bool backward_min(struct work *w, const uint32_t *kids, uint32_t n, int64_t lo, int64_t hi)
{
    uint32_t able = 0, last = 0;
    for (uint32_t k = 0; k < n; k++) {
        if (w->intervals[kids[k]].lo > hi) continue;
        able++;
        last = kids[k];
    }
    if (able == 0) return false;
    for (uint32_t k = 0; k < n; k++)
        if (!narrow(w, kids[k], lo, able == 1 && kids[k] == last ? hi : INT64_MAX)) return false;
    return true;
}

static bool backward_equal(struct work *w, uint32_t left, uint32_t right, bool equal)
{
    struct interval x = w->intervals[left], y = w->intervals[right];
    if (equal) return narrow(w, left, y.lo, y.hi) && narrow(w, right, x.lo, x.hi);
    if (x.lo == x.hi && !exclude(w, right, x.lo)) return false;
    return y.lo != y.hi || exclude(w, left, y.lo);
}

static bool backward_le(struct work *w, uint32_t left, uint32_t right, bool le)
{
    struct interval x = w->intervals[left], y = w->intervals[right];
    if (le) return narrow(w, left, INT64_MIN, y.hi) && narrow(w, right, x.lo, INT64_MAX);
    return narrow(w, left, y.lo + 1, INT64_MAX) && narrow(w, right, INT64_MIN, x.hi - 1);
}

/* Of naturals: lo <= x / y <= hi where lo y <= x < (hi + 1) y. */
static bool backward_divide(struct work *w, const uint32_t *kids, int64_t lo, int64_t hi)
{
    struct interval x = w->intervals[kids[0]], y = w->intervals[kids[1]];
    if (y.lo <= 0 || x.lo < 0) return true;
    if (hi < 0) return false;
    int64_t least = hi < SPACE_BIG ? x.lo / (hi + 1) + 1 : INT64_MIN, most = lo > 0 ? x.hi / lo : INT64_MAX;
    return narrow(w, kids[1], least, most) &&
           narrow(w, kids[0], lo > 0 ? expression_mul_natural(lo, y.lo) : INT64_MIN,
                  hi < SPACE_BIG ? expression_add(expression_mul_natural(hi, y.hi), y.hi - 1) : INT64_MAX);
}

static bool backward_choose(struct work *w, const uint32_t *kids, int64_t lo, int64_t hi)
{
    struct interval condition = w->intervals[kids[0]], yes = w->intervals[kids[1]],
                    no = w->intervals[kids[2]];
    bool then_fits = yes.lo <= hi && yes.hi >= lo, else_fits = no.lo <= hi && no.hi >= lo;
    if (condition.lo == 1 || !else_fits) return narrow(w, kids[0], 1, 1) && narrow(w, kids[1], lo, hi);
    if (condition.hi == 0 || !then_fits) return narrow(w, kids[0], 0, 0) && narrow(w, kids[2], lo, hi);
    return true;
}

static bool narrow_cell(struct work *w, uint32_t cell, int64_t lo, int64_t hi)
{
    const struct cell *c = &w->cells[cell];
    const uint32_t *kids = c->kids;
    switch ((enum formula_op)c->op) {
    case FORMULA_CONST:
    case FORMULA_MOD:
        return true;
    case FORMULA_FUNC:
        return filter_slot(w, c, lo, hi, NULL);
    case FORMULA_TERM:
        return narrow_term(w->st, c, lo, hi);
    case FORMULA_ADD:
        return backward_sum(w, kids, c->n, lo, hi);
    case FORMULA_MUL:
        return backward_product(w, cell, lo, hi);
    case FORMULA_OR:
    case FORMULA_MAX:
        return backward_max(w, kids, c->n, lo, hi);
    case FORMULA_AND:
    case FORMULA_MIN:
        return backward_min(w, kids, c->n, lo, hi);
    case FORMULA_NEG:
        return narrow(w, kids[0], -hi, -lo);
    case FORMULA_NOT:
        return narrow(w, kids[0], !hi, !lo);
    case FORMULA_DIV:
        return backward_divide(w, kids, lo, hi);
    case FORMULA_EQ:
        return lo != hi || backward_equal(w, kids[0], kids[1], lo == 1);
    case FORMULA_LE:
        return lo != hi || backward_le(w, kids[0], kids[1], lo == 1);
    case FORMULA_ITE:
        return backward_choose(w, kids, lo, hi);
    }
    PANIC("unknown operation %d", c->op);
}

/* ---- the whole formula ---- */

/* Users before their operands, each node once. */
static bool narrow_node_by_node(struct work *w, const struct instance *in, const struct shape *sh)
{
    const uint32_t *cells = w->st->space->instance_cells + in->cells;
    if (!w->st->limits) w->st->limits = base_calloc(w->st->space->n_cells, sizeof *w->st->limits);
    w->limits = w->st->limits;
    for (uint32_t i = 0; i < sh->n_nodes; i++)
        w->limits[cells[i]] = w->intervals[cells[i]];
    w->limits[cells[sh->n_nodes - 1]].lo = 1;
    for (uint32_t i = sh->n_nodes; i-- > 0;) {
        struct interval x = w->intervals[cells[i]], now = w->limits[cells[i]];
        bool narrower = now.lo > x.lo || now.hi < x.hi;
        if (now.lo > now.hi || (narrower && !narrow_cell(w, cells[i], now.lo, now.hi))) return false;
    }
    return true;
}

/* What is left open of an instance. */
struct openness {
    unsigned n;    /* slots with several values, up to two */
    uint32_t last; /* one of them */
    bool unread;   /* there are choices of dead objects, on which no value depends */
};

static bool is_decided(const struct space_state *st, const struct slot_info *info, uint32_t slot)
{
    uint64_t word = vector_load(st->vector, info->offset) & info->mask;
    return info->words == 1 ? word && !(word & (word - 1)) : space_value_count(st, slot) == 1;
}

static bool is_still_open(const struct space_state *st, const struct instance *in, uint32_t local)
{
    uint32_t slot = st->space->instance_slots[in->slots + local];
    const struct slot_info *info = &st->space->slots[slot];
    return !is_decided(st, info, slot) && !state_dead(st, info);
}

/* The two that were open last are asked first; mostly they still are. */
static struct openness look_for_open(struct space_state *st, uint32_t instance)
{
    const struct space *s = st->space;
    const struct instance *in = &s->instances[instance];
    struct open_pair *known = &st->open[instance];
    struct openness left = {0};
    if (known->local[0] != known->local[1] && is_still_open(st, in, known->local[0]) &&
        is_still_open(st, in, known->local[1]))
        return (struct openness){.n = 2};
    for (uint32_t k = 0; k < s->shapes[in->shape].n_slots && left.n < 2; k++) {
        uint32_t slot = s->instance_slots[in->slots + k];
        const struct slot_info *info = &s->slots[slot];
        if (is_decided(st, info, slot)) continue;
        if (state_dead(st, info)) {
            left.unread = true;
            continue;
        }
        known->local[left.n++] = left.last = k;
    }
    return left;
}

/* Tries each value of the only open slot; with none open, the one value of the first: so the formula is
 * checked exactly. */
static bool try_values(struct space_state *st, const struct instance *in, uint32_t local)
{
    const struct shape *sh = &st->space->shapes[in->shape];
    const uint32_t *slots = st->space->instance_slots + in->slots;
    uint32_t *values = st->values;
    for (uint32_t k = 0; k < sh->n_slots; k++)
        values[k] = space_value_count(st, slots[k]) ? space_first_value(st, slots[k]) : 0;
    if (!sh->n_slots) return shape_value(sh, values, st->scratch) != 0;
    bool ok = true;
    for (unsigned word = 0; ok && word < st->space->slots[slots[local]].words; word++) {
        uint64_t keep = 0;
        for (uint64_t m = state_word(st, slots[local], word); m; m &= m - 1) {
            values[local] = word * 64 + (uint32_t)__builtin_ctzll(m);
            if (shape_value(sh, values, st->scratch)) keep |= m & -m;
        }
        ok = state_restrict_word(st, slots[local], word, keep);
    }
    return ok;
}

bool bounds_propagate(struct space_state *st, uint32_t instance)
{
    const struct space *s = st->space;
    const struct instance *in = &s->instances[instance];
    const struct shape *sh = &s->shapes[in->shape];
    struct work w = {st, s->cells, cell_intervals(st), NULL};
    uint32_t root = s->instance_cells[in->cells + sh->n_nodes - 1];
    if (w.intervals[root].lo == 1) return true;
    if (!(sh->many_paths ? narrow_node_by_node(&w, in, sh) : narrow(&w, root, 1, 1))) return false;
    if (sh->monotone) return true;
    struct openness left = look_for_open(st, instance);
    bool bounds_tell = left.n == 0 && !left.unread && !sh->divides;
    return left.n > 1 || bounds_tell || try_values(st, in, left.last);
}
