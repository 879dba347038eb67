/* States: their parts, snapshots, reads of domains, the canonical form. */
#include <stdlib.h>
#include <string.h>

#include "core/base/hash.h"
#include "core/base/panic.h"
#include "core/space/engine/cells.h"
#include "core/space/engine/propagators.h"

/* ---- life ---- */

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
    st->tabulated = queue_new(s->n_instances);
    st->formulas = queue_new(s->n_instances);
    st->changed_slots = queue_new(s->n_all);
    st->restricted = queue_new(s->n_all);
    st->restrictions = base_malloc((s->n_all + 1) * sizeof *st->restrictions);
    for (uint32_t i = 0; i < s->n_all; i++)
        st->restrictions[i].allowed = UINT64_MAX;
    st->dirty = base_calloc(s->n_cells / 64 + 1, sizeof *st->dirty);
    st->first_dirty = SPACE_NONE;
    st->triples = base_calloc(TRIPLE_ENTRIES, sizeof *st->triples);
    st->open = base_calloc(s->n_instances + 1, sizeof *st->open);
    st->scratch = base_malloc((s->max_nodes + 1) * sizeof *st->scratch);
    st->values = base_malloc((s->max_nodes + 1) * sizeof *st->values);
    st->allowed = base_malloc((s->max_nodes + 1) * sizeof *st->allowed);
    return st;
}

void space_state_free(struct space_state *st)
{
    if (!st) return;
    queue_free(&st->pairs);
    queue_free(&st->rows);
    queue_free(&st->tabulated);
    queue_free(&st->formulas);
    queue_free(&st->changed_slots);
    queue_free(&st->restricted);
    free(st->changed_pairs);
    free(st->restrictions);
    free(st->dirty);
    free(st->triples);
    free(st->open);
    free(st->limits);
    free(st->vector);
    free(st->trail);
    free(st->scratch);
    free(st->values);
    free(st->allowed);
    free(st);
}

struct space_state *space_root(const struct space *s, struct space_failure *why)
{
    if (!s->root) {
        if (why) *why = s->root_failure;
        return NULL;
    }
    struct space_state *st = state_new(s);
    memcpy(st->vector, s->root, s->vector_bytes);
    return st;
}

struct space_state *space_state_clone(const struct space_state *st)
{
    struct space_state *copy = state_new(st->space);
    space_state_assign(copy, st);
    return copy;
}

void space_state_assign(struct space_state *to, const struct space_state *from)
{
    CHECK(to->space == from->space);
    memcpy(to->vector, from->vector, from->space->vector_bytes);
    to->trail_top = to->trail;
    state_clear_queues(to);
}

const struct space *space_of(const struct space_state *st)
{
    return st->space;
}

space_mark space_snapshot(struct space_state *st)
{
    return trail_length(st);
}

void space_rollback(struct space_state *st, space_mark m)
{
    CHECK(m <= trail_length(st));
    state_clear_queues(st);
    uint8_t *vector = st->vector;
    struct trail_entry *e = st->trail_top;
    for (const struct trail_entry *end = st->trail + m; e > end;) {
        e--;
        vector_store(vector, e->offset, e->old);
    }
    st->trail_top = e;
}

void state_grow_trail(struct space_state *st)
{
    size_t n = trail_length(st), room = n ? 2 * n : 1024;
    st->trail = base_realloc(st->trail, room * sizeof *st->trail);
    st->trail_top = st->trail + n;
    st->trail_end = st->trail + room;
}

/* ---- reads ---- */

bool space_is_live(const struct space_state *st, uint32_t slot)
{
    return state_live(st, slot);
}

bool space_is_dead(const struct space_state *st, uint32_t slot)
{
    return state_dead(st, &st->space->slots[slot]);
}

uint32_t space_value_count(const struct space_state *st, uint32_t slot)
{
    uint32_t n = 0;
    for (unsigned w = 0; w < st->space->slots[slot].words; w++)
        n += (uint32_t)__builtin_popcountll(state_word(st, slot, w));
    return n;
}

bool space_is_open(const struct space_state *st, uint32_t slot)
{
    return space_value_count(st, slot) > 1 && state_live(st, slot);
}

bool space_has_value(const struct space_state *st, uint32_t slot, uint32_t value)
{
    return state_word(st, slot, value / 64) >> value % 64 & 1;
}

uint32_t space_first_value(const struct space_state *st, uint32_t slot)
{
    for (unsigned w = 0; w < st->space->slots[slot].words; w++) {
        uint64_t word = state_word(st, slot, w);
        if (word) return w * 64 + (uint32_t)__builtin_ctzll(word);
    }
    PANIC("slot %u has no value", slot);
}

uint32_t space_values(const struct space_state *st, uint32_t slot, uint32_t *out)
{
    uint32_t n = 0;
    for (unsigned w = 0; w < st->space->slots[slot].words; w++)
        for (uint64_t m = state_word(st, slot, w); m; m &= m - 1)
            out[n++] = w * 64 + (uint32_t)__builtin_ctzll(m);
    return n;
}

uint32_t space_open_count(const struct space_state *st)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < st->space->n_slots; i++)
        n += space_is_open(st, i);
    return n;
}

static uint64_t full_word(const struct space *s, uint32_t slot, unsigned word)
{
    uint32_t left = slot_values(s, slot) - word * 64;
    return left >= 64 ? UINT64_MAX : (UINT64_C(1) << left) - 1;
}

void space_canonical(const struct space_state *st, uint8_t *out)
{
    const struct space *s = st->space;
    for (uint32_t i = 0; i < s->n_all; i++) {
        const struct slot_info *info = &s->slots[i];
        bool live = state_live(st, i);
        for (unsigned w = 0; w < info->words; w++)
            vector_set_word(out, s->origins[i].canonical + w * info->width, info->width,
                            live ? state_word(st, i, w) : full_word(s, i, w));
    }
}

uint64_t space_state_hash(const struct space_state *st)
{
    const struct space *s = st->space;
    uint64_t h = HASH_START;
    for (uint32_t i = 0; i < s->n_all; i++) {
        const struct slot_info *info = &s->slots[i];
        bool live = state_live(st, i);
        for (unsigned w = 0; w < info->words; w++) {
            uint8_t bytes[8];
            vector_set_word(bytes, 0, info->width, live ? state_word(st, i, w) : full_word(s, i, w));
            h = hash_bytes(h, bytes, info->width);
        }
    }
    return hash_finish(h);
}
