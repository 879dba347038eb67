/* Propagation: a worklist of changed pairs, rows of relations and instances, run to the fixpoint.
 *
 * Every propagator only removes values, and removes at least as much from smaller domains, so the fixpoint
 * does not depend on the order of work. Each write goes on the trail. Conditional domains: see internal.h. */
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
    st->rows = queue_new(s->n_squares * 2 * ROW_MAX);
    st->quick = queue_new(s->n_instances);
    st->slow = queue_new(s->n_instances);
    st->triples = base_calloc(TRIPLE_ENTRIES, sizeof *st->triples);
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
    queue_free(&st->rows);
    queue_free(&st->quick);
    queue_free(&st->slow);
    free(st->triples);
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
    queue_clear(&st->rows);
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

void state_queue_row(struct space_state *st, uint32_t square, uint32_t object)
{
    queue_add(&st->rows, square * 2 * ROW_MAX + object);
}

/* Whether an instance can remove values: no guard is dead. Those that are only possible become st->pending.
 */
static bool is_enforced(struct space_state *st, const struct instance *in)
{
    const struct space *s = st->space;
    st->n_pending = 0;
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
static bool may_write(const struct space_state *st, const struct slot_info *info)
{
    for (uint32_t k = 0; k < st->n_pending; k++) {
        bool own = false;
        for (unsigned i = 0; i < info->n_live && !own; i++)
            own = info->live[i] == st->pending[k];
        if (!own) return false;
    }
    return true;
}

/* Queues what the change may concern. Guards after the second are left to propagate_instance. */
static void notify(struct space_state *st, uint32_t slot, uint64_t lost, uint64_t now)
{
    const struct space *s = st->space;
    const struct watch_group *end = s->watch_groups + s->group_of_slot[slot + 1];
    for (const struct watch_group *g = s->watch_groups + s->group_of_slot[slot]; g < end; g++) {
        if (!watch_concerns(g, lost, now)) continue;
        for (const struct watch *w = s->watch + g->first; w < s->watch + g->first + g->n; w++) {
            bool dead =
                st->vector[w->guards[0]] == LIVENESS_DEAD || st->vector[w->guards[1]] == LIVENESS_DEAD;
            if (!dead) queue_add(w->slow ? &st->slow : &st->quick, w->instance);
        }
    }
}

void state_pair_narrowed(struct space_state *st, uint32_t slot, uint64_t lost, uint64_t now)
{
    notify(st, slot, lost, now);
    queue_add(&st->pairs, slot);
}

/* Objects of squares take part in triangles from now on, or no longer. */
static void notify_squares(struct space_state *st, uint32_t latent, uint8_t liveness)
{
    for (uint32_t i = 0; i < st->space->n_squares; i++) {
        const struct square *sq = &st->space->squares[i];
        if (sq->member[latent] != SPACE_NONE) square_set_liveness(st, sq, sq->member[latent], liveness);
    }
}

void state_write(struct space_state *st, uint32_t offset, unsigned width, uint64_t value)
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

static bool has_other_word(const struct space_state *st, const struct slot_info *info, unsigned word)
{
    for (unsigned w = 0; w < info->words; w++)
        if (w != word && vector_word(st->vector, info->offset + w * info->width, info->width)) return true;
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
        possible = info->live[k];
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

static void write_domain(struct space_state *st, const struct slot_info *info, uint32_t offset, uint64_t now)
{
    state_write(st, offset, info->width, now);
    if (info->mirror != SPACE_NONE)
        state_write(st, info->mirror, 1, st->space->squares[info->square].mirror[now]);
}

/* Removes values of one word of a domain. false: none is left of a live choice. Does nothing to a choice of a
 * dead object, or one that does not depend on what the instance at work waits for. */
bool state_restrict_word(struct space_state *st, uint32_t slot, unsigned word, uint64_t allowed)
{
    const struct slot_info *info = &st->space->slots[slot];
    uint32_t offset = info->offset + word * info->width;
    uint64_t old = vector_word(st->vector, offset, info->width), now = old & allowed;
    if ((now == old && old) || state_dead(st, info) || (st->n_pending && !may_write(st, info))) return true;
    if (!now && !has_other_word(st, info, word)) {
        if (old) write_domain(st, info, offset, 0);
        return refute(st, slot);
    }
    if (now == old) return true;
    write_domain(st, info, offset, now);
    notify(st, slot, old & ~now, now);
    if (info->square >= 0)
        state_queue_pair(st, slot);
    else if (info->tuple_of >= 0)
        relation_update(st, (uint32_t)info->tuple_of, info->row, info->tuple_choice, now);
    else if (slot >= st->space->n_slots)
        notify_squares(st, slot - st->space->n_slots, (uint8_t)now);
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

/* The values of an operand. A choice without any is one of a dead object: it may have any. */
static uint64_t operand(const struct space_state *st, const struct shape *sh, const struct slot_at *at,
                        unsigned k)
{
    uint64_t domain = domain_at(st, at[k]);
    return domain ? domain : UINT64_MAX >> (64 - sh->sizes[k]);
}

/* Keeps some values of an operand; one without any is asked about again. */
static bool keep(struct space_state *st, uint32_t slot, struct slot_at at, uint64_t left)
{
    uint64_t now = domain_at(st, at);
    return (now && !(now & ~left)) || state_restrict_word(st, slot, 0, left);
}

static bool propagate_pair(struct space_state *st, const struct shape *sh, const uint32_t *slots,
                           const struct slot_at *at)
{
    uint64_t x = operand(st, sh, at, 0), y = operand(st, sh, at, 1);
    uint64_t to_y = supports(sh->forward, x), to_x = supports(sh->reverse, y);
    return keep(st, slots[1], at[1], to_y) && keep(st, slots[0], at[0], to_x);
}

/* Values of three slots that take part in a solution. */
static void triple_supports(const struct shape *sh, const uint64_t *domain, uint64_t *left)
{
    left[0] = left[1] = left[2] = 0;
    for (uint64_t i = domain[0]; i; i &= i - 1) {
        const uint64_t *row = sh->forward + (uint32_t)__builtin_ctzll(i) * sh->sizes[1];
        for (uint64_t k = domain[1]; k; k &= k - 1) {
            uint64_t both = row[__builtin_ctzll(k)] & domain[2];
            if (!both) continue;
            left[0] |= i & -i;
            left[1] |= k & -k;
            left[2] |= both;
        }
    }
}

/* The same, remembered: the few domains that occur come back in many instances and descents. */
static const uint64_t *recall_supports(struct space_state *st, uint32_t shape, const uint64_t *domain)
{
    uint64_t hash = (domain[0] ^ domain[1] << 21 ^ domain[2] << 42 ^ domain[2] >> 22 ^ (uint64_t)shape << 7) *
                    UINT64_C(0x9e3779b97f4a7c15);
    struct triple_entry *e = &st->triples[hash >> 52 & (TRIPLE_ENTRIES - 1)];
    bool known = e->shape == shape + 1 && e->domain[0] == domain[0] && e->domain[1] == domain[1] &&
                 e->domain[2] == domain[2];
    if (!known) {
        *e = (struct triple_entry){.domain = {domain[0], domain[1], domain[2]}, .shape = shape + 1};
        triple_supports(&st->space->shapes[shape], domain, e->left);
    }
    return e->left;
}

static bool propagate_triple(struct space_state *st, uint32_t shape, const uint32_t *slots,
                             const struct slot_at *at)
{
    uint64_t domain[3], left[3];
    for (unsigned k = 0; k < 3; k++)
        domain[k] = operand(st, &st->space->shapes[shape], at, k);
    memcpy(left, recall_supports(st, shape, domain), sizeof left);
    for (unsigned k = 0; k < 3; k++)
        if (!keep(st, slots[k], at[k], left[k])) return false;
    return true;
}

static bool propagate_instance(struct space_state *st, uint32_t instance)
{
    const struct space *s = st->space;
    const struct instance *in = &s->instances[instance];
    const struct shape *sh = &s->shapes[in->shape];
    const uint32_t *slots = s->instance_slots + in->slots;
    const struct slot_at *at = s->instance_at + in->slots;
    if (!is_enforced(st, in)) return true;
    if (st->n_pending && sh->kind == SHAPE_GENERAL) return true;
    st->failed_constraint = in->constraint;
    st->failed_slot = SPACE_NONE;
    switch (sh->kind) {
    case SHAPE_UNARY:
        return propagate_unary(st, sh, slots);
    case SHAPE_PAIR:
        return propagate_pair(st, sh, slots, at);
    case SHAPE_TRIPLE:
        return propagate_triple(st, in->shape, slots, at);
    case SHAPE_GENERAL:
        return bounds_propagate(st, instance);
    }
    PANIC("shape of unknown kind %d", sh->kind);
}

/* ---- the worklist ---- */

static bool propagate_row(struct space_state *st, uint32_t row)
{
    return square_propagate_row(st, row / (2 * ROW_MAX), row % (2 * ROW_MAX));
}

bool state_propagate(struct space_state *st)
{
    for (;;) {
        bool ok;
        st->n_pending = 0;
        if (st->pairs.n)
            ok = square_propagate_pair(st, queue_take(&st->pairs));
        else if (st->rows.n)
            ok = propagate_row(st, queue_take(&st->rows));
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

/* ---- which constraint failed ---- */

/* Values of a slot before the write that emptied it. */
static uint64_t values_before(const struct space_state *st, uint32_t slot)
{
    uint64_t now = state_word(st, slot, 0);
    for (size_t i = st->n_trail; i-- > 0 && !now;)
        if (st->trail[i].offset == st->space->slots[slot].offset) now = st->trail[i].old;
    return now;
}

/* Whether an instance of a relation has a solution, with slots from `k` on free. */
static bool has_solution(const struct space_state *st, const struct instance *in, uint32_t k,
                         uint32_t *values)
{
    const struct space *s = st->space;
    const struct shape *sh = &s->shapes[in->shape];
    if (k == sh->n_slots) return shape_value(sh, values, st->lo) != 0;
    for (uint64_t m = values_before(st, s->instance_slots[in->slots + k]); m; m &= m - 1) {
        values[k] = (uint32_t)__builtin_ctzll(m);
        if (has_solution(st, in, k + 1, values)) return true;
    }
    return false;
}

static bool is_over_pair(const struct space *s, const struct instance *in, const struct slot_info *pair)
{
    for (uint32_t k = 0; k < s->shapes[in->shape].n_slots; k++) {
        const struct slot_info *info = &s->slots[s->instance_slots[in->slots + k]];
        for (unsigned o = 0; o < info->arity; o++)
            if (info->objects[o] != pair->objects[0] && info->objects[o] != pair->objects[1]) return false;
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
        if (!in->related || !is_over_pair(s, in, &s->slots[pair])) continue;
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
