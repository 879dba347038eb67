/* Intervals of cells (cells.h): forward evaluation, and carrying changes up. Booleans are intervals within
 * [0, 1]. Arithmetic saturates at SPACE_BIG. */
#include "core/base/panic.h"
#include "core/space/engine/cells.h"

static int64_t least(int64_t x, int64_t y)
{
    return x < y ? x : y;
}

static int64_t most(int64_t x, int64_t y)
{
    return x > y ? x : y;
}

static struct interval interval(int64_t lo, int64_t hi)
{
    return (struct interval){lo, hi, 0};
}

/* ---- leaves ---- */

/* The extremes of a domain of several words. An empty conditional domain says nothing of a formula that does
 * not depend on it. */
static struct interval evaluate_words(const struct space_state *st, const struct cell *c)
{
    const struct value_view *view = &c->node->view;
    uint32_t slot = cell_slot(st->space, c, c->node->local);
    bool empty = space_value_count(st, slot) == 0;
    struct interval x = {INT64_MAX, INT64_MIN, 0};
    for (uint32_t v = 0; v < view->n; v++) {
        if (!empty && !space_has_value(st, slot, v)) continue;
        x.lo = least(x.lo, view->table[v]);
        x.hi = most(x.hi, view->table[v]);
    }
    return x;
}

static struct interval evaluate_function(const struct space_state *st, const struct cell *c)
{
    const struct value_view *view = &c->node->view;
    uint64_t domain = view->n <= 64 ? cell_domain(st, c) : 0;
    if (!domain) return evaluate_words(st, c);
    struct interval x = {0};
    view_extremes(view, domain, &x.lo, &x.hi);
    return x;
}

enum { OPEN_BITS = 8, EXTREME_BITS = 8 };

/* Numbers below 256 that change when the needed extremes of the function of a term do. */
static uint64_t extremes_code(const struct cell *c, uint64_t domain)
{
    uint64_t low = (uint64_t)__builtin_popcountll(domain), high = low;
    if (c->node->view.kind == VIEW_ASCENDING && domain) {
        low = (uint64_t)__builtin_ctzll(domain);
        high = (uint64_t)__builtin_clzll(domain);
    }
    return (c->watched & BOUND_LOW ? low << OPEN_BITS : 0) |
           (c->watched & BOUND_HIGH ? high << (OPEN_BITS + EXTREME_BITS) : 0);
}

/* The interval hides what is below it where the condition is open; `inner` counts the open conditions and
 * numbers the extremes of the function. */
static struct interval evaluate_term(const struct space_state *st, const struct cell *c)
{
    int64_t otherwise = c->node->otherwise;
    uint64_t n_open = 0;
    for (uint32_t i = 0; i < c->n_conditions; i++) {
        const struct cell_condition *condition = &c->conditions[i];
        uint64_t domain = vector_load(st->vector, condition->at);
        if (!(domain & condition->yes)) return interval(otherwise, otherwise);
        n_open += (domain & condition->no) != 0;
    }
    struct interval x = {c->node->imm, c->node->imm, c->counts ? n_open : 0};
    if (c->is_function) {
        uint64_t domain = cell_domain(st, c);
        view_extremes(&c->node->view, domain, &x.lo, &x.hi);
        x.inner |= extremes_code(c, domain);
    }
    if (n_open == 0 && x.lo <= x.hi) return x;
    x.lo = least(x.lo, otherwise);
    x.hi = most(x.hi, otherwise);
    return x;
}

/* ---- operations ---- */

static struct interval times(struct interval x, struct interval y)
{
    if (x.lo >= 0 && y.lo >= 0)
        return interval(expression_mul_natural(x.lo, y.lo), expression_mul_natural(x.hi, y.hi));
    int64_t a = expression_mul(x.lo, y.lo), b = expression_mul(x.lo, y.hi), c = expression_mul(x.hi, y.lo),
            d = expression_mul(x.hi, y.hi);
    return interval(least(least(a, b), least(c, d)), most(most(a, b), most(c, d)));
}

/* Of an operation that rises with each of its operands. */
static inline struct interval fold(const struct interval *all, const uint32_t *kid, const uint32_t *end,
                                   int64_t (*join)(int64_t, int64_t))
{
    int64_t lo = all[*kid].lo, hi = all[*kid].hi;
    while (++kid < end) {
        lo = join(lo, all[*kid].lo);
        hi = join(hi, all[*kid].hi);
    }
    return interval(lo, hi);
}

static struct interval product(const struct interval *all, const uint32_t *kid, const uint32_t *end)
{
    struct interval x = all[*kid];
    while (++kid < end)
        x = times(x, all[*kid]);
    return interval(x.lo, x.hi);
}

static struct interval quotient(struct interval x, struct interval y)
{
    int64_t size = most(x.hi < 0 ? -x.hi : x.hi, x.lo < 0 ? -x.lo : x.lo);
    if (y.lo <= 0) return interval(-size, size);
    return interval(least(x.lo / y.lo, x.lo / y.hi), most(x.hi / y.lo, x.hi / y.hi));
}

static struct interval remainder_of(struct interval x, struct interval y)
{
    int64_t size = most(x.hi < 0 ? -x.hi : x.hi, x.lo < 0 ? -x.lo : x.lo);
    struct interval r = interval(x.lo < 0 ? -size : 0, x.hi > 0 ? x.hi : 0);
    if (y.lo <= 0) return r;
    r.lo = most(r.lo, x.lo < 0 ? -(y.hi - 1) : 0);
    r.hi = least(r.hi, y.hi - 1);
    bool unchanged = x.lo >= 0 && x.hi < y.lo,
         one_cycle = y.lo == y.hi && x.lo >= 0 && x.lo / y.lo == x.hi / y.lo;
    return unchanged || one_cycle ? interval(x.lo % y.lo, x.hi % y.lo) : r;
}

static struct interval choose(struct interval condition, struct interval yes, struct interval no)
{
    if (condition.lo == 1) return yes;
    if (condition.hi == 0) return no;
    return interval(least(yes.lo, no.lo), most(yes.hi, no.hi));
}

static struct interval evaluate_operation(const struct space_state *st, const struct cell *c)
{
    const struct interval *all = cell_intervals(st), *x = &all[c->kids[0]], *y = &all[c->kids[c->n > 1]];
    const uint32_t *end = c->kids + c->n;
    switch ((enum formula_op)c->op) {
    case FORMULA_ADD:
        return fold(all, c->kids, end, expression_add);
    case FORMULA_MUL:
        return product(all, c->kids, end);
    case FORMULA_MIN:
    case FORMULA_AND:
        return fold(all, c->kids, end, least);
    case FORMULA_MAX:
    case FORMULA_OR:
        return fold(all, c->kids, end, most);
    case FORMULA_NEG:
        return interval(-x->hi, -x->lo);
    case FORMULA_NOT:
        return interval(!x->hi, !x->lo);
    case FORMULA_DIV:
        return quotient(*x, *y);
    case FORMULA_MOD:
        return remainder_of(*x, *y);
    case FORMULA_EQ:
        return interval(x->lo == x->hi && y->lo == y->hi && x->lo == y->lo, x->lo <= y->hi && y->lo <= x->hi);
    case FORMULA_LE:
        return interval(x->hi <= y->lo, x->lo <= y->hi);
    case FORMULA_ITE:
        return choose(*x, *y, all[c->kids[2]]);
    case FORMULA_CONST:
    case FORMULA_FUNC:
    case FORMULA_TERM:
        break;
    }
    PANIC("a leaf is no operation");
}

static inline struct interval evaluate(const struct space_state *st, const struct cell *c)
{
    switch (c->op) {
    case FORMULA_TERM:
        return evaluate_term(st, c);
    case FORMULA_FUNC:
        return evaluate_function(st, c);
    case FORMULA_CONST:
        return interval(c->node->imm, c->node->imm);
    default:
        return evaluate_operation(st, c);
    }
}

void cells_fill(struct space_state *st)
{
    const struct space *s = st->space;
    for (uint32_t i = 0; i < s->n_cells; i++)
        cell_intervals(st)[i] = evaluate(st, &s->cells[i]);
}

/* ---- changes ---- */

static bool is_fixed(const struct space_state *st, uint32_t cell)
{
    struct interval x = cell_intervals(st)[cell];
    return x.lo == x.hi;
}

/* Nothing reads its interval in this state. */
static bool is_suspended(const struct space_state *st, const struct cell *c)
{
    return (st->vector[c->guards[0]] | st->vector[c->guards[1]]) != LIVENESS_LIVE ||
           is_fixed(st, c->sole_user);
}

enum change { UNCHANGED, INNER, MOVED };

/* Evaluates a cell again. MOVED: a bound that its users need did; INNER: what the interval hides. */
static inline enum change renew(struct space_state *st, uint32_t cell, const struct cell *c,
                                struct interval *now)
{
    uint32_t at = st->space->cells_at + cell * (uint32_t)sizeof *now;
    struct interval old = cell_intervals(st)[cell];
    *now = evaluate(st, c);
    uint8_t moved = (uint8_t)((now->lo != old.lo ? BOUND_LOW : 0) | (now->hi != old.hi ? BOUND_HIGH : 0));
    if (moved & BOUND_LOW) state_write(st, at, UINT64_MAX, (uint64_t)now->lo);
    if (moved & BOUND_HIGH) state_write(st, at + 8, UINT64_MAX, (uint64_t)now->hi);
    bool inner = now->inner != old.inner;
    if (inner) state_write(st, at + 16, UINT64_MAX, now->inner);
    return moved & c->watched ? MOVED : inner ? INNER : UNCHANGED;
}

static void mark(struct space_state *st, uint32_t cell)
{
    st->dirty[cell / 64] |= UINT64_C(1) << cell % 64;
    if (cell / 64 < st->first_dirty) st->first_dirty = cell / 64;
}

/* A comparison at the root that nothing below can make narrower. */
static bool is_bounds_consistent(const struct space_state *st, const struct cell *c)
{
    if (c->op != FORMULA_LE) return false;
    struct interval x = cell_intervals(st)[c->kids[0]], y = cell_intervals(st)[c->kids[1]];
    return x.hi <= y.hi && x.lo <= y.lo;
}

/* Queues instances that a cell is the root of. */
static void notify_roots(struct space_state *st, const struct cell *c, int64_t hi)
{
    const struct cell_root *r = st->space->cell_roots + c->roots, *end = r + c->n_roots;
    for (; r < end; r++) {
        bool consistent = r->checked_only ? hi > 0 : r->monotone && is_bounds_consistent(st, c);
        if (!consistent) state_queue_watch(st, &r->watch);
    }
}

/* Marks the users of a cell that has changed, but for those that are fixed, which force nothing more. */
static inline void notify_users(struct space_state *st, const struct cell *c, const struct interval *now)
{
    const uint32_t *user = st->space->cell_users + c->users, *end = user + c->n_users;
    for (; user < end; user++)
        if (!is_fixed(st, *user)) mark(st, *user);
    if (c->n_roots && now->lo != 1) notify_roots(st, c, now->hi);
}

/* The lower bound of a user when that of one of its operands rises; SPACE_BIG if that is not known. */
static int64_t raised(const struct cell *user, struct interval x, int64_t from, int64_t to)
{
    switch (user->op) {
    case FORMULA_ADD:
        return expression_add(x.lo - from, to);
    case FORMULA_MUL:
        return from > 0 && x.lo < SPACE_BIG ? expression_mul(x.lo / from, to) : SPACE_BIG;
    case FORMULA_MAX:
    case FORMULA_ITE:
        return most(x.lo, to);
    default:
        return SPACE_BIG;
    }
}

/* Whether all formulas that a upper_limited cell is part of could still be true if its lower bound rose. */
static bool has_slack(const struct space_state *st, const struct cell *c, int64_t from, int64_t to)
{
    for (uint32_t k = 0; k < c->n_users; k++) {
        uint32_t cell = st->space->cell_users[c->users + k];
        const struct cell *user = &st->space->cells[cell];
        struct interval x = cell_intervals(st)[cell];
        bool room = user->op == FORMULA_LE ? to <= cell_intervals(st)[user->kids[1]].lo
                                           : has_slack(st, user, x.lo, raised(user, x, from, to));
        if (!room) return false;
    }
    return true;
}

/* Whether nothing can be said of a upper_limited term, nor of other terms, as its interval is the same: as it
 * is open and could have its value, or fixed. */
static bool cannot_prune(const struct space_state *st, const struct cell *c, const struct interval *now)
{
    bool open = now->inner & ((1u << OPEN_BITS) - 1);
    if (!open) return now->lo == now->hi;
    struct interval value = {c->node->imm, c->node->imm, 0};
    if (c->is_function) view_extremes(&c->node->view, cell_domain(st, c), &value.lo, &value.hi);
    return value.lo <= value.hi && has_slack(st, c, now->lo, most(now->lo, value.lo));
}

static void update_leaf(struct space_state *st, uint32_t cell)
{
    const struct cell *c = &st->space->cells[cell];
    struct interval now;
    if (is_fixed(st, cell) || is_suspended(st, c)) return;
    enum change change = renew(st, cell, c, &now);
    if (change == MOVED || (change == INNER && !(c->upper_limited && cannot_prune(st, c, &now))))
        notify_users(st, c, &now);
}

/* A disjunction with two operands that may be true forces none of them. */
static bool has_free_disjunct(const struct space_state *st, const struct cell *c)
{
    uint32_t able = 0;
    for (uint32_t k = 0; k < c->n && able < 2; k++)
        able += cell_intervals(st)[c->kids[k]].hi == 1;
    return able > 1;
}

/* Its users are also notified of changes below it, unless a disjunction makes them irrelevant. */
static void update(struct space_state *st, uint32_t cell)
{
    const struct cell *c = &st->space->cells[cell];
    struct interval now;
    if (is_suspended(st, c)) return;
    bool moved = renew(st, cell, c, &now) != UNCHANGED;
    bool disjunction = c->op == FORMULA_OR && c->watched == BOUND_HIGH;
    if (moved || !disjunction || !has_free_disjunct(st, c)) notify_users(st, c, &now);
}

static void resume(struct space_state *st, const struct slot_cells *of)
{
    for (uint32_t k = 0; k < of->n_resumed; k++)
        mark(st, st->space->resumed_cells[of->resumed + k]);
}

static inline bool is_as_it_was(const struct slot_leaf *leaf, uint64_t now)
{
    return ((now & leaf->least) != 0) & ((now & leaf->most) != 0);
}

static void update_slot(struct space_state *st, uint32_t slot)
{
    const struct space *s = st->space;
    const struct slot_cells *of = &s->slot_cells[slot];
    const struct slot_leaf *leaf = s->slot_leaves + of->leaves, *end = leaf + of->n_leaves;
    uint64_t now = state_word(st, slot, 0);
    if (of->n_resumed && now == LIVENESS_LIVE) resume(st, of);
    for (; leaf < end; leaf++)
        if (!is_as_it_was(leaf, now)) update_leaf(st, leaf->cell);
}

bool cells_affected(const struct space *s, uint32_t slot, uint64_t now)
{
    const struct slot_cells *of = &s->slot_cells[slot];
    for (uint32_t k = 0; k < of->n_leaves; k++)
        if (!is_as_it_was(&s->slot_leaves[of->leaves + k], now)) return true;
    return false;
}

void cells_update(struct space_state *st)
{
    const struct space *s = st->space;
    while (st->changed_slots.n)
        update_slot(st, queue_take(&st->changed_slots));
    for (uint32_t w = st->first_dirty; w < s->n_cells / 64 + 1; w++) {
        while (st->dirty[w]) {
            uint32_t cell = w * 64 + (uint32_t)__builtin_ctzll(st->dirty[w]);
            st->dirty[w] &= st->dirty[w] - 1;
            update(st, cell);
        }
    }
    st->first_dirty = SPACE_NONE;
}
