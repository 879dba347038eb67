/* Propagation: a worklist of changed pairs, rows of relations and instances, run to the fixpoint.
 *
 * Every propagator only removes values, and removes at least as much from smaller domains, so the fixpoint
 * does not depend on the order of work. Each write goes on the trail. Conditional domains: see internal.h. */
#include <stdlib.h>
#include <string.h>

#include "core/base/panic.h"
#include "core/space/cells.h"
#include "core/space/justify.h"

static struct work_queue queue_new(size_t n)
{
    size_t size = 1;
    while (size < n)
        size *= 2;
    return (struct work_queue){.items = base_malloc(size * sizeof(uint32_t)),
                               .queued = base_calloc(size, 1),
                               .last = (uint32_t)size - 1};
}

static void queue_free(struct work_queue *q)
{
    free(q->items);
    free(q->queued);
}

static void queue_clear(struct work_queue *q)
{
    while (q->n)
        queue_take(q);
}

struct space_state *state_new(const struct space *s)
{
    struct space_state *st = base_calloc(1, sizeof *st);
    st->space = s;
    st->vector = base_calloc(s->vector_bytes + 16, 1);
    st->vector[vector_always_live(s)] = LIVENESS_LIVE;
    st->vector[vector_never_live(s)] = LIVENESS_DEAD;
    st->pairs = queue_new(s->n_squares * ROW_MAX);
    st->changed_pairs = base_calloc(s->n_changed_words + 1, sizeof *st->changed_pairs);
    st->rows = queue_new(s->n_squares * 2 * ROW_MAX);
    st->quick = queue_new(s->n_instances);
    st->slow = queue_new(s->n_instances);
    st->changed = queue_new(s->n_all);
    st->wanted = queue_new(s->n_all);
    st->wants = base_malloc((s->n_all + 1) * sizeof *st->wants);
    for (uint32_t i = 0; i < s->n_all; i++)
        st->wants[i].allowed = UINT64_MAX;
    st->dirty = base_calloc(s->n_cells / 64 + 1, sizeof *st->dirty);
    st->first_dirty = SPACE_NONE;
    st->triples = base_calloc(TRIPLE_ENTRIES, sizeof *st->triples);
    st->open = base_calloc(s->n_instances + 1, sizeof *st->open);
    st->scratch = base_malloc((s->max_nodes + 1) * sizeof *st->scratch);
    st->values = base_malloc((s->max_nodes + 1) * sizeof *st->values);
    return st;
}

void space_state_free(struct space_state *st)
{
    if (!st) return;
    queue_free(&st->pairs);
    queue_free(&st->rows);
    queue_free(&st->quick);
    queue_free(&st->slow);
    queue_free(&st->changed);
    queue_free(&st->wanted);
    free(st->changed_pairs);
    free(st->wants);
    free(st->dirty);
    free(st->triples);
    free(st->open);
    free(st->limits);
    free(st->vector);
    free(st->trail);
    free(st->scratch);
    free(st->values);
    free(st);
}

/* The next slot that is to keep some of its values only. */
static uint32_t take_want(struct space_state *st)
{
    uint32_t slot = queue_take(&st->wanted);
    st->wants[slot].allowed = UINT64_MAX;
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
    queue_clear(&st->quick);
    queue_clear(&st->slow);
    queue_clear(&st->changed);
    while (st->wanted.n)
        take_want(st);
}

void state_queue_instance(struct space_state *st, uint32_t instance)
{
    const struct shape *sh = &st->space->shapes[st->space->instances[instance].shape];
    queue_add(sh->kind == SHAPE_GENERAL ? &st->slow : &st->quick, instance);
}

void state_queue_row(struct space_state *st, uint32_t square, uint32_t object)
{
    queue_add(&st->rows, square * 2 * ROW_MAX + object);
}

static void queue_pair_of(struct space_state *st, const struct slot_info *info)
{
    state_queue_pair(st, &st->space->squares[info->square], info->row, info->column);
}

void state_queue_all(struct space_state *st)
{
    const struct space *s = st->space;
    for (uint32_t i = 0; i < s->n_instances; i++)
        if (!s->instances[i].related && !s->entailed[i]) state_queue_instance(st, i);
    for (uint32_t i = 0; i < s->n_slots; i++)
        if (s->slots[i].square >= 0) queue_pair_of(st, &s->slots[i]);
    for (uint32_t i = 0; i < s->n_squares; i++)
        for (uint32_t a = 0; a < s->squares[i].n; a++)
            state_queue_row(st, i, a);
    for (uint32_t i = 0; i < s->n_all; i++)
        queue_add(&st->changed, i);
}

bool state_find_pending(struct space_state *st, uint32_t instance)
{
    const struct space *s = st->space;
    const struct instance *in = &s->instances[instance];
    for (uint32_t k = 0; k < in->n_guards; k++) {
        uint8_t live = st->vector[s->guard_at[in->guards + k]];
        if (live == LIVENESS_DEAD) return false;
        if (live == LIVENESS_LIVE) continue;
        if (st->n_pending == SPACE_MAX_PENDING) return false;
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
    queue_add(w->kind == SHAPE_GENERAL ? &st->slow : &st->quick, w->instance);
}

void state_queue_watch(struct space_state *st, const struct watch *w)
{
    queue_watch(st, w);
}

static inline void notify_cells(struct space_state *st, uint32_t slot)
{
    if (st->space->slots[slot].has_cells) queue_add(&st->changed, slot);
}

static inline bool may_narrow(const struct space_state *st, const struct pair_watch *w)
{
    for (unsigned k = 0; k < PAIR_GUARDS; k++) {
        uint8_t live = st->vector[w->guard_bytes[k]];
        if (w->own[k] ? live == LIVENESS_DEAD : live != LIVENESS_LIVE) return false;
    }
    return true;
}

/* Slots that still have values that `allowed` has not, or none: those of a dead object. */
static void want(struct space_state *st, const struct watch_group *g, uint64_t allowed)
{
    for (const struct pair_watch *w = st->space->pair_watch + g->first, *end = w + g->n; w < end; w++) {
        uint64_t domain = domain_load(st, w->offset, w->foreign_bits);
        if ((domain && !(domain & ~allowed)) || !may_narrow(st, w)) continue;
        if (JUSTIFY) justify_want(st, w->instance, w->slot, allowed);
        st->wants[w->slot].allowed &= allowed;
        st->wants[w->slot].instance = w->instance;
        queue_add(&st->wanted, w->slot);
    }
}

static void queue_group(struct space_state *st, const struct watch_group *g)
{
    for (const struct watch *w = st->space->watch + g->first, *end = w + g->n; w < end; w++)
        queue_watch(st, w);
}

/* A guard became live. */
static void queue_woken(struct space_state *st, const struct watch_group *g)
{
    for (const struct watch *w = st->space->watch + g->first, *end = w + g->n; w < end; w++)
        if (w->kind != SHAPE_PAIR || !table_is_consistent(st, w->instance)) queue_watch(st, w);
}

/* Queues what the loss may concern. */
static inline void tell_group(struct space_state *st, const struct watch_group *g, uint64_t lost,
                              uint64_t now)
{
    const uint64_t *table = g->filter;
    uint64_t allowed;
    switch ((enum watch_kind)g->how) {
    case WATCH_UNIONS:
        if (table[now] != table[now | lost]) want(st, g, table[now]);
        break;
    case WATCH_SUPPORTS:
        if (supports_fall(g->filter, lost, now, &allowed)) want(st, g, allowed);
        break;
    case WATCH_DOMINATORS:
        if (watch_matters(g->filter, lost, now)) queue_group(st, g);
        break;
    case WATCH_LIVENESS:
        if (now == LIVENESS_LIVE) queue_woken(st, g);
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
        tell_group(st, g, lost, now);
}

static void notify(struct space_state *st, uint32_t slot, uint64_t lost, uint64_t now)
{
    notify_watches(st, slot, lost, now);
    notify_cells(st, slot);
}

void state_tell_of_pair(struct space_state *st, uint32_t slot, const struct pair_news *news, uint64_t lost,
                        uint64_t now)
{
    if (lost & news->losses[now]) notify_watches(st, slot, lost, now);
    if (news->cells[now]) queue_add(&st->changed, slot);
}

/* Objects of squares take part in triangles from now on, or no longer. */
static void notify_squares(struct space_state *st, uint32_t latent, uint8_t liveness)
{
    for (uint32_t i = 0; i < st->space->n_squares; i++) {
        const struct square *sq = &st->space->squares[i];
        if (sq->member[latent] != SPACE_NONE) square_set_liveness(st, sq, sq->member[latent], liveness);
    }
}

void state_grow_trail(struct space_state *st)
{
    size_t n = trail_length(st), room = n ? 2 * n : 1024;
    st->trail = base_realloc(st->trail, room * sizeof *st->trail);
    st->trail_top = st->trail + n;
    st->trail_end = st->trail + room;
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

static bool propagate_formula(struct space_state *st, uint32_t instance)
{
    const struct instance *in = &st->space->instances[instance];
    if (!state_is_enforced(st, instance, in->guard_bytes) || st->n_pending) return true;
    st->failed_constraint = in->constraint;
    st->failed_slot = SPACE_NONE;
    return bounds_propagate(st, instance);
}

/* ---- the worklist ---- */

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

static bool narrow_wanted(struct space_state *st)
{
    struct want w = st->wants[st->wanted.items[st->wanted.head]];
    st->failed_slot = SPACE_NONE;
    if (state_restrict_word(st, take_want(st), 0, w.allowed)) return true;
    st->failed_constraint = st->space->instances[w.instance].constraint;
    return false;
}

bool state_propagate(struct space_state *st)
{
    for (;;) {
        bool ok = true;
        st->n_pending = 0;
        if (st->wanted.n)
            ok = narrow_wanted(st);
        else if (st->quick.n)
            ok = propagate_instance(st, queue_take(&st->quick), table_propagate);
        else if (st->rows.n)
            ok = propagate_row(st, queue_take(&st->rows));
        else if (st->pairs.n)
            ok = propagate_pairs(st, queue_take(&st->pairs));
        else if (st->changed.n)
            cells_update(st);
        else if (st->slow.n)
            ok = propagate_instance(st, queue_take(&st->slow), propagate_formula);
        else
            return true;
        if (ok) continue;
        state_clear_queues(st);
        return false;
    }
}

/* ---- which constraint failed ---- */

/* Values of a slot before the write that emptied it. */
static uint64_t values_before(const struct space_state *st, uint32_t slot)
{
    uint64_t now = state_word(st, slot, 0);
    for (size_t i = trail_length(st); i-- > 0 && !now;)
        if (st->trail[i].offset == st->space->slots[slot].offset)
            now = st->trail[i].old & st->space->slots[slot].mask;
    return now;
}

/* Whether an instance of a relation has a solution, with slots from `k` on free. */
static bool has_solution(const struct space_state *st, const struct instance *in, uint32_t k,
                         uint32_t *values)
{
    const struct space *s = st->space;
    const struct shape *sh = &s->shapes[in->shape];
    if (k == sh->n_slots) return shape_value(sh, values, st->scratch) != 0;
    for (uint64_t m = values_before(st, s->instance_slots[in->slots + k]); m; m &= m - 1) {
        values[k] = (uint32_t)__builtin_ctzll(m);
        if (has_solution(st, in, k + 1, values)) return true;
    }
    return false;
}

static bool is_over_pair(const struct space *s, const struct instance *in, uint32_t pair)
{
    for (uint32_t k = 0; k < s->shapes[in->shape].n_slots; k++) {
        uint32_t slot = s->instance_slots[in->slots + k];
        const uint32_t *of = s->origins[slot].objects, *both = s->origins[pair].objects;
        for (unsigned o = 0; o < s->slots[slot].arity; o++)
            if (of[o] != both[0] && of[o] != both[1]) return false;
    }
    return true;
}

/* The first constraint of a related pair that has no solution, else the last: they fail together. */
static uint32_t related_constraint(const struct space_state *st, uint32_t pair)
{
    const struct space *s = st->space;
    uint32_t found = SPACE_NONE;
    for (size_t i = 0; i < s->n_instances; i++) {
        const struct instance *in = &s->instances[i];
        if (!in->related || !is_over_pair(s, in, pair)) continue;
        found = in->constraint;
        if (!has_solution(st, in, 0, st->values)) return found;
    }
    return found;
}

void state_failure(const struct space_state *st, struct space_failure *why)
{
    const struct space_def *def = st->space->def;
    uint32_t c = st->failed_constraint, n = (uint32_t)def->n_constraints;
    if (!why) return;
    if (c == SPACE_NONE && st->failed_pair != SPACE_NONE) c = related_constraint(st, st->failed_pair);
    bool known = c < n + (uint32_t)def->n_triggers;
    bool trigger = known && c >= n;
    *why =
        (struct space_failure){.file = !known    ? def->file
                                       : trigger ? def->triggers[c - n].file
                                                 : def->constraints[c].file,
                               .slot = st->failed_slot < st->space->n_slots ? st->failed_slot : SPACE_NONE};
    why->line = !known ? 0 : trigger ? def->triggers[c - n].line : def->constraints[c].line;
    why->text = !known    ? "the value was ruled out before"
                : trigger ? def->triggers[c - n].text
                          : def->constraints[c].text;
}
