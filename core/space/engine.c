/* Propagation: a worklist of instances and of changed pairs, run to the fixpoint.
 *
 * Every propagator only removes values, and removes at least as much from smaller domains, so the fixpoint
 * does not depend on the order of work. Choices that are not live are read but never written. Each write goes
 * on the trail. */
#include <stdlib.h>
#include <string.h>

#include "core/base/panic.h"
#include "core/space/internal.h"

enum { SLOW_NODES = 24 }; /* larger shapes wait until the quick ones are done */

static struct work_queue queue_new(size_t n)
{
    struct work_queue q = {.size = (uint32_t)(n ? n : 1)};
    q.items = base_malloc(q.size * sizeof *q.items);
    q.queued = base_calloc(q.size, 1);
    return q;
}

static void queue_free(struct work_queue *q)
{
    free(q->items);
    free(q->queued);
}

static void queue_add(struct work_queue *q, uint32_t id)
{
    if (q->queued[id]) return;
    q->queued[id] = 1;
    uint32_t at = q->head + q->n++;
    q->items[at < q->size ? at : at - q->size] = id;
}

static uint32_t queue_take(struct work_queue *q)
{
    uint32_t id = q->items[q->head];
    q->head = q->head + 1 < q->size ? q->head + 1 : 0;
    q->n--;
    q->queued[id] = 0;
    return id;
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
    st->vector[vector_always_live(s)] = 2;
    st->pairs = queue_new(s->n_squares ? s->n_slots : 0);
    st->quick = queue_new(s->n_instances);
    st->slow = queue_new(s->n_instances);
    st->lo = base_malloc((s->max_nodes + 1) * sizeof *st->lo);
    st->hi = base_malloc((s->max_nodes + 1) * sizeof *st->hi);
    st->rest = base_malloc((s->max_nodes + 1) * sizeof *st->rest);
    st->values = base_malloc((s->max_nodes + 1) * sizeof *st->values);
    st->narrowed = base_malloc((s->max_nodes + 1) * sizeof *st->narrowed);
    return st;
}

void space_state_free(struct space_state *st)
{
    if (!st) return;
    queue_free(&st->pairs);
    queue_free(&st->quick);
    queue_free(&st->slow);
    free(st->vector);
    free(st->trail);
    free(st->lo);
    free(st->hi);
    free(st->rest);
    free(st->values);
    free(st->narrowed);
    free(st);
}

void state_clear_queues(struct space_state *st)
{
    queue_clear(&st->pairs);
    queue_clear(&st->quick);
    queue_clear(&st->slow);
}

bool shape_is_slow(const struct shape *sh)
{
    return sh->kind == SHAPE_GENERAL && sh->n_nodes > SLOW_NODES;
}

void state_queue_instance(struct space_state *st, uint32_t instance)
{
    const struct shape *sh = &st->space->shapes[st->space->instances[instance].shape];
    queue_add(shape_is_slow(sh) ? &st->slow : &st->quick, instance);
}

void state_queue_pair(struct space_state *st, uint32_t slot)
{
    queue_add(&st->pairs, slot);
}

/* The pairs of an object that became live take part in triangles from now on. */
static void queue_object_pairs(struct space_state *st, uint32_t live)
{
    for (uint32_t i = 0; i < st->space->n_squares; i++) {
        const struct square *sq = &st->space->squares[i];
        for (uint32_t a = 0; a < sq->n; a++) {
            if (sq->liveness[a] != live) continue;
            for (uint32_t b = 0; b < sq->n; b++)
                if (b != a) state_queue_pair(st, sq->slots[a * sq->n + b]);
        }
    }
}

static bool is_enforced(const struct space_state *st, const struct instance *in)
{
    const struct space *s = st->space;
    for (uint32_t k = 0; k < in->n_guards; k++)
        if (st->vector[s->guard_at[in->guards + k]] != 2) return false;
    return true;
}

static void extremes(const int64_t *table, uint64_t domain, int64_t *lo, int64_t *hi)
{
    *lo = INT64_MAX;
    *hi = INT64_MIN;
    for (; domain; domain &= domain - 1) {
        int64_t x = table[__builtin_ctzll(domain)];
        if (x < *lo) *lo = x;
        if (x > *hi) *hi = x;
    }
}

/* Whether the loss of values changes a bound that an untabulated instance reads, or fixes the slot. */
static bool moves_bounds(const struct shape *sh, unsigned local, uint64_t lost, uint64_t now)
{
    const struct slot_tables *t = &sh->extremes[local];
    if (!t->n || !(now & (now - 1))) return true;
    for (uint32_t k = 0; k < t->n; k++) {
        int64_t lo, hi, old_lo, old_hi;
        extremes(t->tables[k], now, &lo, &hi);
        extremes(t->tables[k], lost, &old_lo, &old_hi);
        if (old_lo < lo || old_hi > hi) return true;
    }
    return false;
}

/* Whether the loss of values can make a tabulated instance prune: a lost value has no dominator left. */
static bool matters(const uint64_t *dominators, uint64_t lost, uint64_t now)
{
    for (; lost; lost &= lost - 1)
        if (!(dominators[__builtin_ctzll(lost)] & now)) return true;
    return false;
}

static bool concerns(const struct space *s, const struct watch *w, uint64_t lost, uint64_t now)
{
    if (w->local == WATCH_LIVENESS) return now == 2;
    if (w->local == WATCH_ALWAYS) return true;
    if (w->dominators) return matters(w->dominators, lost, now);
    return moves_bounds(&s->shapes[s->instances[w->instance].shape], w->local, lost, now);
}

/* Queues what the change may concern. An instance that is not enforced yet is queued when its last guard
 * becomes live; guards after the second are left to propagate_instance. */
static void notify(struct space_state *st, uint32_t slot, uint64_t lost, uint64_t now)
{
    const struct space *s = st->space;
    const struct watch *end = s->watch + s->watch_first[slot + 1];
    for (const struct watch *w = s->watch + s->watch_first[slot]; w < end; w++) {
        if (st->vector[w->guards[0]] != 2 || st->vector[w->guards[1]] != 2) continue;
        if (concerns(s, w, lost, now)) queue_add(w->slow ? &st->slow : &st->quick, w->instance);
    }
    if (s->slots[slot].square >= 0) state_queue_pair(st, slot);
    if (slot >= s->n_slots && s->n_squares && st->vector[s->slots[slot].offset] == 2)
        queue_object_pairs(st, slot);
}

static void write_word(struct space_state *st, uint32_t offset, unsigned width, uint64_t value)
{
    if (st->trailing) {
        if (st->n_trail == st->cap_trail) {
            st->cap_trail = st->cap_trail ? st->cap_trail * 2 : 1024;
            st->trail = base_realloc(st->trail, st->cap_trail * sizeof *st->trail);
        }
        st->trail[st->n_trail++] =
            (struct trail_entry){vector_word(st->vector, offset, width), offset, width};
    }
    vector_set_word(st->vector, offset, width, value);
}

static bool is_empty(const struct space_state *st, uint32_t slot)
{
    for (unsigned w = 0; w < st->space->slots[slot].words; w++)
        if (state_word(st, slot, w)) return false;
    return true;
}

/* Removes values of one word of a domain. false: none is left. Does nothing to a choice that is not live. */
bool state_restrict_word(struct space_state *st, uint32_t slot, unsigned word, uint64_t allowed)
{
    const struct slot_info *info = &st->space->slots[slot];
    uint32_t offset = info->offset + word * info->width;
    uint64_t old = vector_word(st->vector, offset, info->width), now = old & allowed;
    if (now == old || !state_live(st, slot)) return true;
    write_word(st, offset, info->width, now);
    if (info->mirror != SPACE_NONE)
        write_word(st, info->mirror, 1, st->space->squares[info->square].mirror[now]);
    if (!now && is_empty(st, slot)) {
        st->failed_slot = slot;
        return false;
    }
    notify(st, slot, old & ~now, now);
    return true;
}

/* ---- tabulated instances ---- */

static bool propagate_unary(struct space_state *st, const struct shape *sh, const uint32_t *slots)
{
    for (unsigned w = 0; w < st->space->slots[slots[0]].words; w++)
        if (!state_restrict_word(st, slots[0], w, sh->forward[w])) return false;
    return true;
}

static uint64_t supports(const uint64_t *table, uint64_t domain)
{
    uint64_t mask = 0;
    for (; domain; domain &= domain - 1)
        mask |= table[__builtin_ctzll(domain)];
    return mask;
}

static bool propagate_pair(struct space_state *st, const struct shape *sh, const uint32_t *slots)
{
    uint64_t x = state_word(st, slots[0], 0), y = state_word(st, slots[1], 0);
    uint64_t to_y = supports(sh->forward, x), to_x = supports(sh->reverse, y);
    return state_restrict_word(st, slots[1], 0, to_y) && state_restrict_word(st, slots[0], 0, to_x);
}

static bool propagate_triple(struct space_state *st, const struct shape *sh, const uint32_t *slots)
{
    uint64_t x = state_word(st, slots[0], 0), y = state_word(st, slots[1], 0),
             z = state_word(st, slots[2], 0);
    uint64_t in_x = 0, in_y = 0, in_z = 0;
    for (uint64_t i = x; i; i &= i - 1) {
        const uint64_t *row = sh->forward + (uint32_t)__builtin_ctzll(i) * sh->sizes[1];
        for (uint64_t k = y; k; k &= k - 1) {
            uint64_t both = row[__builtin_ctzll(k)] & z;
            if (!both) continue;
            in_x |= i & -i;
            in_y |= k & -k;
            in_z |= both;
        }
    }
    return state_restrict_word(st, slots[0], 0, in_x) && state_restrict_word(st, slots[1], 0, in_y) &&
           state_restrict_word(st, slots[2], 0, in_z);
}

static bool propagate_instance(struct space_state *st, uint32_t instance)
{
    const struct space *s = st->space;
    const struct instance *in = &s->instances[instance];
    const struct shape *sh = &s->shapes[in->shape];
    const uint32_t *slots = s->instance_slots + in->slots;
    if (!is_enforced(st, in)) return true;
    st->failed_constraint = in->constraint;
    st->failed_slot = SPACE_NONE;
    switch (sh->kind) {
    case SHAPE_UNARY:
        return propagate_unary(st, sh, slots);
    case SHAPE_PAIR:
        return propagate_pair(st, sh, slots);
    case SHAPE_TRIPLE:
        return propagate_triple(st, sh, slots);
    case SHAPE_GENERAL:
        return bounds_propagate(st, instance);
    }
    PANIC("shape of unknown kind %d", sh->kind);
}

/* ---- triangles ---- */

static bool object_live(const struct space_state *st, const struct square *sq, uint32_t a)
{
    return sq->liveness[a] == SPACE_NONE || st->vector[st->space->slots[sq->liveness[a]].offset] == 2;
}

/* The pair (a, b) changed: revisits (a, c) and (b, c) of every triangle on it. */
static bool propagate_triangles(struct space_state *st, const struct square *sq, uint32_t a, uint32_t b)
{
    const uint8_t *row_a = st->vector + sq->offset + a * sq->stride,
                  *row_b = st->vector + sq->offset + b * sq->stride;
    const uint8_t *by_ab = sq->compose + 256u * row_a[b], *by_ba = sq->compose + 256u * row_b[a];
    for (uint32_t c = 0; c < sq->n; c++) {
        bool settled = !(row_a[c] & ~by_ab[row_b[c]]) && !(row_b[c] & ~by_ba[row_a[c]]);
        if (settled || c == a || c == b || !object_live(st, sq, c)) continue;
        uint8_t ac = by_ab[row_b[c]];
        const uint8_t *mirror = sq->mirror;
        if (!state_restrict_word(st, sq->slots[a * sq->n + c], 0, a < c ? ac : mirror[ac])) return false;
        uint8_t bc = by_ba[row_a[c]];
        if (!state_restrict_word(st, sq->slots[b * sq->n + c], 0, b < c ? bc : mirror[bc])) return false;
    }
    return true;
}

static bool propagate_changed_pair(struct space_state *st, uint32_t slot)
{
    const struct slot_info *info = &st->space->slots[slot];
    const struct square *sq = &st->space->squares[info->square];
    if (!state_live(st, slot)) return true;
    st->failed_constraint = sq->constraint;
    st->failed_slot = SPACE_NONE;
    uint32_t at = info->offset - sq->offset;
    return propagate_triangles(st, sq, at / sq->stride, at % sq->stride);
}

bool state_propagate(struct space_state *st)
{
    for (;;) {
        bool ok;
        if (st->pairs.n)
            ok = propagate_changed_pair(st, queue_take(&st->pairs));
        else if (st->quick.n)
            ok = propagate_instance(st, queue_take(&st->quick));
        else if (st->slow.n)
            ok = propagate_instance(st, queue_take(&st->slow));
        else
            return true;
        if (ok) continue;
        state_clear_queues(st);
        return false;
    }
}

void state_failure(const struct space_state *st, struct space_failure *why)
{
    const struct space_def *def = st->space->def;
    uint32_t c = st->failed_constraint, n = (uint32_t)def->n_constraints;
    if (!why) return;
    bool known = c < n + (uint32_t)def->n_triggers;
    bool trigger = known && c >= n;
    *why = (struct space_failure){
        .file = def->file, .slot = st->failed_slot < st->space->n_slots ? st->failed_slot : SPACE_NONE};
    why->line = !known ? 0 : trigger ? def->triggers[c - n].line : def->constraints[c].line;
    why->text = !known    ? "the value was ruled out before"
                : trigger ? def->triggers[c - n].text
                          : def->constraints[c].text;
}
