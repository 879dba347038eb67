/* States: domains, snapshots and the public operations on them. */
#include <stdlib.h>
#include <string.h>

#include "core/base/arena.h"
#include "core/base/hash.h"
#include "core/base/panic.h"
#include "core/space/justify.h"

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

/* ---- logs ---- */

/* Words of eight bytes at multiples of eight: the many writes of single bytes of a row are few of them. */
struct space_log {
    struct trail_entry *entries; /* words with the bytes after the writes */
    size_t *first;               /* entry of each number, and the end */
    size_t n, cap_entries, cap_first;
    uint64_t *changed; /* scratch: bit w: word w has changed */
    size_t cap_changed;
};

struct space_log *space_log_new(void)
{
    struct space_log *log = base_calloc(1, sizeof *log);
    log->cap_first = 16;
    log->first = base_calloc(log->cap_first, sizeof *log->first);
    return log;
}

void space_log_free(struct space_log *log)
{
    if (!log) return;
    free(log->entries);
    free(log->first);
    free(log->changed);
    free(log);
}

size_t space_log_length(const struct space_log *log)
{
    return log->n;
}

void space_log_cut(struct space_log *log, size_t n)
{
    CHECK(n <= log->n);
    log->n = n;
}

static void reserve_log(struct space_log *log, const struct space_state *st, size_t entries)
{
    size_t words = (st->space->vector_bytes / 8 + 1) / 64 + 1; /* a write may reach into one more */
    if (entries > log->cap_entries) {
        log->cap_entries = 2 * entries;
        log->entries = base_realloc(log->entries, log->cap_entries * sizeof *log->entries);
    }
    if (log->n + 2 > log->cap_first) {
        log->cap_first *= 2;
        log->first = base_realloc(log->first, log->cap_first * sizeof *log->first);
    }
    if (words > log->cap_changed) {
        free(log->changed);
        log->changed = base_calloc(words, sizeof *log->changed);
        log->cap_changed = words;
    }
}

static void mark_changed(struct space_log *log, size_t word, uint64_t bytes)
{
    log->changed[word / 64] |= (uint64_t)(bytes != 0) << word % 64;
}

/* Finds the words that are not as they were. */
static void compare_words(struct space_log *log, const struct space_state *st, space_mark since)
{
    for (const struct trail_entry *e = st->trail + since; e < st->trail_top; e++) {
        uint64_t changed = e->old ^ vector_load(st->vector, e->offset);
        unsigned shift = e->offset % 8 * 8;
        mark_changed(log, e->offset / 8, changed << shift);
        if (shift) mark_changed(log, e->offset / 8 + 1, changed >> (64 - shift));
    }
}

size_t space_log_keep(struct space_log *log, const struct space_state *st, space_mark since)
{
    size_t at = log->first[log->n];
    reserve_log(log, st, at + 2 * (trail_length(st) - since));
    compare_words(log, st, since);
    for (uint32_t w = 0; w < log->cap_changed; w++) {
        for (; log->changed[w]; log->changed[w] &= log->changed[w] - 1) {
            uint32_t offset = (w * 64 + (uint32_t)__builtin_ctzll(log->changed[w])) * 8;
            log->entries[at++] = (struct trail_entry){vector_load(st->vector, offset), offset};
        }
    }
    log->first[log->n + 1] = at;
    return log->n++;
}

void space_log_repeat(const struct space_log *log, size_t number, struct space_state *st)
{
    CHECK(number < log->n);
    for (size_t i = log->first[number]; i < log->first[number + 1]; i++)
        state_write(st, log->entries[i].offset, UINT64_MAX, log->entries[i].old);
}

/* ---- actions ---- */

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

int space_object_state(const struct space_state *st, unsigned root_set, uint32_t set_object)
{
    const struct space *s = st->space;
    CHECK(root_set < (unsigned)s->def->n_sets && set_object < s->root_sizes[root_set]);
    uint32_t live = s->liveness[root_set] ? s->liveness[root_set][set_object] : SPACE_NONE;
    if (live == SPACE_NONE) return 1;
    uint8_t mask = st->vector[s->slots[live].offset];
    return mask == 2 ? 1 : mask == 1 ? -1 : 0;
}

/* Not open in any candidate: decided, or of a dead object. */
static bool is_settled(const struct space_state *st, uint32_t slot)
{
    struct slot_at at = st->space->slot_at[slot];
    uint64_t word = domain_at(st, at);
    bool one_word = at.mask != UINT64_MAX;
    return (one_word && !(word & (word - 1))) || state_dead(st, &st->space->slots[slot]);
}

/* The first open slot of a group from the slot *from of it on, which moves past settled ones. */
static uint32_t first_open(const struct space_state *st, unsigned group, uint32_t *from)
{
    const struct space *s = st->space;
    uint32_t first = s->group_first[group], end = s->group_first[group + 1];
    if (first == end) return SPACE_NONE;
    int16_t square = s->slots[first].square;
    if (square >= 0) return square_first_open(st, &s->squares[square]);
    for (uint32_t i = first + *from; i < end; i++) {
        bool settled = is_settled(st, i);
        if (!settled && space_is_open(st, i)) return i;
        if (settled && i == first + *from) ++*from;
    }
    return SPACE_NONE;
}

/* The same of a list of slots; *from is an index in it. */
static uint32_t first_listed(const struct space_state *st, const struct space_part *part, uint32_t *from)
{
    for (uint32_t i = *from; i < part->n; i++) {
        bool settled = is_settled(st, part->slots[i]);
        if (!settled && space_is_open(st, part->slots[i])) return part->slots[i];
        if (settled && i == *from) ++*from;
    }
    return SPACE_NONE;
}

uint32_t space_next_choice_from(const struct space_state *st, const struct space_part *parts,
                                unsigned n_parts, struct space_cursor *from)
{
    const struct space *s = st->space;
    unsigned n = parts ? n_parts : (unsigned)s->def->n_choices;
    for (unsigned k = from->part; k < n; k++) {
        unsigned group = parts ? parts[k].group : k;
        bool listed = parts && parts[k].slots;
        uint32_t at = k == from->part ? from->slot : 0;
        uint32_t slot = listed ? first_listed(st, &parts[k], &at) : first_open(st, group, &at);
        if (k == from->part) from->slot = at;
        if (slot != SPACE_NONE) return slot;
        uint32_t size = listed ? parts[k].n : s->group_first[group + 1] - s->group_first[group];
        if (k == from->part && at == size) *from = (struct space_cursor){k + 1, 0};
    }
    return SPACE_NONE;
}

uint32_t space_next_choice(const struct space_state *st, const struct space_part *parts, unsigned n_parts)
{
    return space_next_choice_from(st, parts, n_parts, &(struct space_cursor){0});
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
