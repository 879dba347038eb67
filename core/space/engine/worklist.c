/* The worklist: visits what changes of domains have queued (events.h), cheap propagators first, to the
 * fixpoint.
 *
 *     1. restrictions   what tabulated pairs leave to a slot: one write
 *     2. tabulated      instances with a table
 *     3. rows           of squares: relations, objects that became live
 *     4. pairs          of squares: triangles
 *     5. changed slots  cells are brought up to date, which queues formulas
 *     6. formulas       over many slots: bounds
 *
 * The first of these that has something is asked, and then all of them again. The order says what a fixpoint
 * costs, not what it is: propagators only remove values, and remove at least as much from smaller domains.
 *
 * Example: `a <= b` and `b * c * d * e <= 8`, all in { 1, 2, 4 }. The action a = 4 leaves b the restriction
 * { 4 } (a tabulated pair). Step 1 writes it, and b is queued as a changed slot. Steps 2 to 4 have nothing.
 * Step 5 raises the lower bound of the product from 1 to 4: its formula is queued. Step 6 narrows c, d and e
 * to at most 8 / 4 = 2. They lose 4, which the formula does not watch: it is told when a least value rises.
 * All queues are empty: this is the fixpoint. */
#include <string.h>

#include "core/space/engine/cells.h"
#include "core/space/engine/justify.h"
#include "core/space/engine/propagators.h"

/* ---- queues ---- */

static void queue_clear(struct work_queue *q)
{
    while (q->n)
        queue_take(q);
}

/* The next slot that is to keep some of its values only. */
static uint32_t take_restriction(struct space_state *st)
{
    uint32_t slot = queue_take(&st->restricted);
    st->restrictions[slot].allowed = UINT64_MAX;
    return slot;
}

static void clear_pairs(struct space_state *st)
{
    while (st->pairs.n) {
        uint32_t row = queue_take(&st->pairs);
        const struct square *sq = &st->space->squares[row / ROW_MAX];
        memset(st->changed_pairs + sq->changed + row % ROW_MAX * sq->words, 0,
               sq->words * sizeof *st->changed_pairs);
    }
}

void state_clear_queues(struct space_state *st)
{
    clear_pairs(st);
    queue_clear(&st->rows);
    queue_clear(&st->tabulated);
    queue_clear(&st->formulas);
    queue_clear(&st->changed_slots);
    while (st->restricted.n)
        take_restriction(st);
}

static void queue_instance(struct space_state *st, uint32_t instance)
{
    const struct shape *sh = &st->space->shapes[st->space->instances[instance].shape];
    queue_add(sh->kind == SHAPE_GENERAL ? &st->formulas : &st->tabulated, instance);
}

void state_queue_all(struct space_state *st)
{
    const struct space *s = st->space;
    for (uint32_t i = 0; i < s->n_instances; i++)
        if (!s->instances[i].related && !s->entailed[i]) queue_instance(st, i);
    for (uint32_t i = 0; i < s->n_slots; i++)
        if (s->slots[i].square >= 0)
            state_queue_pair(st, &s->squares[s->slots[i].square], s->slots[i].row, s->slots[i].column);
    for (uint32_t i = 0; i < s->n_squares; i++)
        for (uint32_t a = 0; a < s->squares[i].n; a++)
            state_queue_row(st, i, a);
    for (uint32_t i = 0; i < s->n_all; i++)
        queue_add(&st->changed_slots, i);
}

/* ---- visits ---- */

static bool propagate_formula(struct space_state *st, uint32_t instance)
{
    const struct instance *in = &st->space->instances[instance];
    if (!state_is_enforced(st, instance, in->guard_bytes) || st->n_pending) return true;
    st->failed_constraint = in->constraint;
    st->failed_slot = SPACE_NONE;
    return bounds_propagate(st, instance);
}

static bool propagate_pairs(struct space_state *st, uint32_t row)
{
    space_mark since = trail_length(st);
    bool ok = square_propagate_pairs(st, row / ROW_MAX, row % ROW_MAX);
    if (JUSTIFY) justify_square(st, row / ROW_MAX, since, ok);
    return ok;
}

static bool propagate_row(struct space_state *st, uint32_t row)
{
    space_mark since = trail_length(st);
    uint32_t square = row / (2 * ROW_MAX);
    bool ok = square_propagate_row(st, square, row % (2 * ROW_MAX));
    if (JUSTIFY) justify_square(st, square, since, ok);
    return ok;
}

static bool propagate_instance(struct space_state *st, uint32_t instance,
                               bool (*propagate)(struct space_state *st, uint32_t instance))
{
    space_mark since = trail_length(st);
    bool ok = propagate(st, instance);
    if (JUSTIFY) justify_instance(st, instance, since, ok);
    return ok;
}

static bool apply_restriction(struct space_state *st)
{
    struct restriction r = st->restrictions[st->restricted.items[st->restricted.head]];
    st->failed_slot = SPACE_NONE;
    if (state_restrict_word(st, take_restriction(st), 0, r.allowed)) return true;
    st->failed_constraint = st->space->instances[r.instance].constraint;
    return false;
}

bool state_propagate(struct space_state *st)
{
    for (;;) {
        bool ok = true;
        st->n_pending = 0;
        if (st->restricted.n)
            ok = apply_restriction(st);
        else if (st->tabulated.n)
            ok = propagate_instance(st, queue_take(&st->tabulated), table_propagate);
        else if (st->rows.n)
            ok = propagate_row(st, queue_take(&st->rows));
        else if (st->pairs.n)
            ok = propagate_pairs(st, queue_take(&st->pairs));
        else if (st->changed_slots.n)
            cells_update(st);
        else if (st->formulas.n)
            ok = propagate_instance(st, queue_take(&st->formulas), propagate_formula);
        else
            return true;
        if (ok) continue;
        state_clear_queues(st);
        return false;
    }
}
