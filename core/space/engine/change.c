/* Changes of domains: removes values, and notifies whoever watches (events.h is the contract).
 *
 *     state_restrict_word(st, size(p), 0, { 2, 4 })
 *         write the domain, and its old bytes to the trail
 *         notify watches, then cells, then what is derived from the slot
 *
 * Propagators and actions change domains only by these functions; square.c does the same for rows of pairs.
 */
#include "core/space/engine/cells.h"
#include "core/space/engine/justify.h"
#include "core/space/engine/propagators.h"

static void queue_pair_of(struct space_state *st, const struct slot_info *info)
{
    state_queue_pair(st, &st->space->squares[info->square], info->row, info->column);
}

bool state_find_pending(struct space_state *st, uint32_t instance)
{
    const struct space *s = st->space;
    const struct instance *in = &s->instances[instance];
    for (uint32_t k = 0; k < in->n_guards; k++) {
        uint8_t live = st->vector[s->guard_at[in->guards + k]];
        if (live == LIVENESS_DEAD) return false;
        if (live == LIVENESS_LIVE) continue;
        if (st->n_pending == STATE_MAX_PENDING) return false;
        st->pending[st->n_pending++] = s->guards[in->guards + k];
    }
    return true;
}

/* Whether the slot means something only if all pending guards are live. */
static bool may_write(const struct space_state *st, uint32_t slot)
{
    for (uint32_t k = 0; k < st->n_pending; k++) {
        bool own = false;
        for (unsigned i = 0; i < st->space->slots[slot].n_live && !own; i++)
            own = st->space->origins[slot].live[i] == st->pending[k];
        if (!own) return false;
    }
    return true;
}

static inline void queue_watch(struct space_state *st, const struct watch *w)
{
    for (unsigned k = 0; k < w->n_tests; k++)
        if (!((st->vector[w->bytes[k]] ^ w->flips[k]) & w->masks[k])) return;
    queue_add(w->kind == SHAPE_GENERAL ? &st->formulas : &st->tabulated, w->instance);
}

void state_queue_watch(struct space_state *st, const struct watch *w)
{
    queue_watch(st, w);
}

static inline void notify_cells(struct space_state *st, uint32_t slot)
{
    if (st->space->slots[slot].has_cells) queue_add(&st->changed_slots, slot);
}

static inline bool may_narrow(const struct space_state *st, const struct pair_watch *w)
{
    for (unsigned k = 0; k < PAIR_GUARDS; k++) {
        uint8_t live = st->vector[w->guard_bytes[k]];
        if (w->own[k] ? live == LIVENESS_DEAD : live != LIVENESS_LIVE) return false;
    }
    return true;
}

/* Notes what the other slots of a group of pairs may keep, of those that have more, or nothing: of a dead
 * object. */
static void post_restrictions(struct space_state *st, const struct watch_group *g, uint64_t allowed)
{
    for (const struct pair_watch *w = st->space->pair_watch + g->first, *end = w + g->n; w < end; w++) {
        uint64_t domain = domain_load(st, w->offset, w->foreign_bits);
        if ((domain && !(domain & ~allowed)) || !may_narrow(st, w)) continue;
        if (JUSTIFY) justify_restriction(st, w->instance, w->slot, allowed);
        st->restrictions[w->slot].allowed &= allowed;
        st->restrictions[w->slot].instance = w->instance;
        queue_add(&st->restricted, w->slot);
    }
}

static void queue_group(struct space_state *st, const struct watch_group *g)
{
    for (const struct watch *w = st->space->watch + g->first, *end = w + g->n; w < end; w++)
        queue_watch(st, w);
}

/* A guard became live. */
static void queue_resumed(struct space_state *st, const struct watch_group *g)
{
    for (const struct watch *w = st->space->watch + g->first, *end = w + g->n; w < end; w++)
        if (w->kind != SHAPE_PAIR || !table_is_consistent(st, w->instance)) queue_watch(st, w);
}

/* Queues what the loss may concern. */
static inline void notify_group(struct space_state *st, const struct watch_group *g, uint64_t lost,
                                uint64_t now)
{
    const uint64_t *table = g->filter;
    uint64_t allowed;
    switch ((enum watch_kind)g->how) {
    case WATCH_UNIONS:
        if (table[now] != table[now | lost]) post_restrictions(st, g, table[now]);
        break;
    case WATCH_SUPPORTS:
        if (supports_fall(g->filter, lost, now, &allowed)) post_restrictions(st, g, allowed);
        break;
    case WATCH_DOMINATORS:
        if (watch_matters(g->filter, lost, now)) queue_group(st, g);
        break;
    case WATCH_LIVENESS:
        if (now == LIVENESS_LIVE) queue_resumed(st, g);
        break;
    case WATCH_FIXED:
        if (!(now & (now - 1))) queue_group(st, g);
        break;
    case WATCH_ALWAYS:
        queue_group(st, g);
    }
}

/* Queues what the change may concern. Guards after the second are left to the propagators. */
static void notify_watches(struct space_state *st, uint32_t slot, uint64_t lost, uint64_t now)
{
    const struct slot_info *info = &st->space->slots[slot];
    const struct watch_group *g = st->space->watch_groups + info->groups;
    for (const struct watch_group *end = g + info->n_groups; g < end; g++)
        notify_group(st, g, lost, now);
}

static void notify(struct space_state *st, uint32_t slot, uint64_t lost, uint64_t now)
{
    notify_watches(st, slot, lost, now);
    notify_cells(st, slot);
}

void state_pair_event(struct space_state *st, uint32_t slot, const struct pair_events *events, uint64_t lost,
                      uint64_t now)
{
    if (lost & events->losses[now]) notify_watches(st, slot, lost, now);
    if (events->cells[now]) queue_add(&st->changed_slots, slot);
}

/* Objects of squares take part in triangles from now on, or no longer. */
static void notify_squares(struct space_state *st, uint32_t latent, uint8_t liveness)
{
    for (uint32_t i = 0; i < st->space->n_squares; i++) {
        const struct square *sq = &st->space->squares[i];
        if (sq->member[latent] != SPACE_NONE) square_set_liveness(st, sq, sq->member[latent], liveness);
    }
}

static bool has_other_word(const struct space_state *st, const struct slot_info *info, unsigned word)
{
    for (unsigned w = 0; w < info->words; w++)
        if (w != word && vector_load(st->vector, info->offset + w * 8)) return true;
    return false;
}

/* No value is left: the objects of the slot are not all live. With all but one known to be, that one is dead.
 */
static bool refute(struct space_state *st, uint32_t slot)
{
    const struct slot_info *info = &st->space->slots[slot];
    uint32_t possible = SPACE_NONE, n = 0;
    for (unsigned k = 0; k < info->n_live; k++) {
        if (st->vector[info->live_at[k]] == LIVENESS_LIVE) continue;
        possible = st->space->origins[slot].live[k];
        n++;
    }
    st->failed_slot = slot;
    if (n != 1) return n > 1;
    uint32_t pending = st->n_pending;
    st->n_pending = 0;
    bool ok = state_restrict_word(st, possible, 0, LIVENESS_DEAD);
    st->n_pending = pending;
    return ok;
}

/* An object became live: one that shares a choice without values with it may be dead now. */
static bool refute_shared(struct space_state *st, uint32_t latent)
{
    const struct space *s = st->space;
    for (uint32_t i = s->first_shared[latent]; i < s->first_shared[latent + 1]; i++)
        if (space_value_count(st, s->shared_slots[i]) == 0 && !refute(st, s->shared_slots[i])) return false;
    return true;
}

static bool liveness_narrowed(struct space_state *st, uint32_t latent, uint8_t liveness)
{
    notify_squares(st, latent, liveness);
    return liveness != LIVENESS_LIVE || refute_shared(st, latent);
}

static void write_domain(struct space_state *st, const struct slot_info *info, uint32_t offset, uint64_t now)
{
    state_write(st, offset, info->mask, now);
    if (info->mirror != SPACE_NONE)
        state_write(st, info->mirror, UINT8_MAX, st->space->squares[info->square].mirror[now]);
}

/* state_restrict_word(), where something is to do. */
bool state_narrow(struct space_state *st, uint32_t slot, unsigned word, uint64_t old, uint64_t now)
{
    const struct slot_info *info = &st->space->slots[slot];
    uint32_t offset = info->offset + word * 8;
    if (state_dead(st, info) || (st->n_pending && !may_write(st, slot))) return true;
    if (!now && !has_other_word(st, info, word)) {
        if (old) {
            write_domain(st, info, offset, 0);
            notify_cells(st, slot);
        }
        return refute(st, slot);
    }
    if (now == old) return true;
    write_domain(st, info, offset, now);
    notify(st, slot, old & ~now, now);
    if (info->square >= 0)
        queue_pair_of(st, info);
    else if (info->tuple_of >= 0)
        relation_update(st, (uint32_t)info->tuple_of, info->row, info->tuple_choice, now);
    else if (slot >= st->space->n_slots)
        return liveness_narrowed(st, slot - st->space->n_slots, (uint8_t)now);
    return true;
}
