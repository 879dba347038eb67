/* Terms backward: `conditions ? value : constant`, the operands of most counters, must lie in an interval. A
 * term reads two or three masks; as a tree of its parts it would be five nodes or more.
 *
 *     use(b) is YES ? size(b) : 0    must be at least 4, size(b) in { 1, 2, 4 }
 *
 * cannot be the constant, so the condition must hold and size(b) keeps 4. If the constant had fitted too,
 * nothing could be said before the condition is decided. */
#include "core/space/engine/cells.h"

enum truth { NEVER, MAYBE, ALWAYS };

/* *open: the last condition that may be false. *n_open: how many. */
static enum truth conditions(const struct space_state *st, const struct cell *c, uint32_t *open,
                             uint32_t *n_open)
{
    *n_open = 0;
    for (uint32_t i = 0; i < c->n_conditions; i++) {
        const struct cell_condition *condition = &c->conditions[i];
        uint64_t domain = vector_load(st->vector, condition->at);
        if (!(domain & condition->yes)) return NEVER;
        if (!(domain & condition->no)) continue;
        *open = i;
        ++*n_open;
    }
    return *n_open ? MAYBE : ALWAYS;
}

static bool keep_values(struct space_state *st, const struct cell *c, int64_t lo, int64_t hi)
{
    uint64_t keep = 0;
    for (uint64_t m = cell_domain(st, c); m; m &= m - 1) {
        int64_t x = c->node->view.table[__builtin_ctzll(m)];
        if (x >= lo && x <= hi) keep |= m & -m;
    }
    return state_restrict_word(st, cell_slot(st->space, c, c->node->local), 0, keep);
}

/* A condition becomes true or false. */
static bool decide(struct space_state *st, const struct cell *c, uint32_t condition, bool truth)
{
    uint64_t yes = c->conditions[condition].yes;
    uint32_t slot = cell_slot(st->space, c, (uint32_t)c->node->conditions[condition].local);
    return state_restrict_word(st, slot, 0, truth ? yes : ~yes);
}

static bool require_conditions(struct space_state *st, const struct cell *c)
{
    for (uint32_t i = 0; i < c->n_conditions; i++)
        if (!decide(st, c, i, true)) return false;
    return true;
}

bool narrow_term(struct space_state *st, const struct cell *c, int64_t lo, int64_t hi)
{
    uint32_t open = 0, n_open;
    int64_t otherwise = c->node->otherwise, least = c->node->imm, most = least;
    enum truth truth = conditions(st, c, &open, &n_open);
    bool else_fits = otherwise >= lo && otherwise <= hi;
    if (truth == NEVER) return else_fits;
    if (c->is_function) view_extremes(&c->node->view, cell_domain(st, c), &least, &most);
    bool then_fits = least <= hi && most >= lo;
    if (!then_fits && (!else_fits || truth == ALWAYS)) return false;
    if (!then_fits) return n_open > 1 || decide(st, c, open, false);
    if (truth == MAYBE && else_fits) return true;
    if (!require_conditions(st, c)) return false;
    return !c->is_function || keep_values(st, c, lo, hi);
}
