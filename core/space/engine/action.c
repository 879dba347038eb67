/* Actions: a choice is restricted, and the state propagated to the fixpoint.
 *
 *     space_apply(st, {slot, value})      restrict, propagate
 *     space_apply_all(st, actions, n)     restrict all, then propagate once */
#include "core/base/panic.h"
#include "core/space/engine/justify.h"
#include "core/space/engine/propagators.h"

/* What a failure is blamed on until a propagator says more. */
static void begin(struct space_state *st, uint32_t slot)
{
    st->failed_constraint = st->failed_pair = SPACE_NONE;
    st->failed_slot = slot;
    st->n_pending = 0;
}

static bool fail(struct space_state *st, struct space_failure *why)
{
    state_clear_queues(st);
    state_failure(st, why);
    return false;
}

/* To the fixpoint of what was restricted. */
static bool propagate(struct space_state *st)
{
    atomic_fetch_add_explicit(st->space->propagations, 1, memory_order_relaxed);
    bool ok = state_propagate(st);
    if (ok && JUSTIFY) justify_fixpoint(st);
    return ok;
}

bool space_restrict(struct space_state *st, uint32_t slot, const uint64_t *allowed, unsigned words,
                    struct space_failure *why)
{
    CHECK(slot < st->space->n_slots);
    begin(st, slot);
    bool ok = true;
    for (unsigned w = 0; ok && w < st->space->slots[slot].words; w++)
        ok = state_restrict_word(st, slot, w, w < words ? allowed[w] : 0);
    return (ok && propagate(st)) || fail(st, why);
}

static bool is_action(const struct space *s, struct space_action a)
{
    return a.slot < s->n_slots && a.value < slot_values(s, a.slot);
}

/* Removes the other values, without propagation. */
static bool decide(struct space_state *st, struct space_action a)
{
    bool ok = true;
    for (unsigned w = 0; ok && w < st->space->slots[a.slot].words; w++)
        ok = state_restrict_word(st, a.slot, w, w == a.value / 64 ? UINT64_C(1) << a.value % 64 : 0);
    return ok;
}

static bool refuse_action(const struct space_state *st, const char *text, uint32_t slot,
                          struct space_failure *why)
{
    if (why) *why = (struct space_failure){.file = st->space->def->file, .text = text, .slot = slot};
    return false;
}

bool space_apply(struct space_state *st, struct space_action a, struct space_failure *why)
{
    CHECK(is_action(st->space, a));
    if (!state_live(st, a.slot)) return refuse_action(st, "the choice is not live", a.slot, why);
    begin(st, a.slot);
    return (decide(st, a) && propagate(st)) || fail(st, why);
}

static bool decide_all(struct space_state *st, const struct space_action *actions, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        begin(st, actions[i].slot);
        if (!decide(st, actions[i])) return false;
    }
    return true;
}

bool space_apply_all(struct space_state *st, const struct space_action *actions, size_t n,
                     struct space_failure *why)
{
    for (size_t i = 0; i < n; i++)
        if (!is_action(st->space, actions[i]))
            return refuse_action(st, "an action names no choice or value of the space", SPACE_NONE, why);
    if (n > 0 && !(decide_all(st, actions, n) && propagate(st))) return fail(st, why);
    for (size_t i = 0; i < n; i++)
        if (!state_live(st, actions[i].slot))
            return refuse_action(st, "an action is of a choice that is not live", actions[i].slot, why);
    return true;
}
