/* Logs: what actions wrote, kept so that one of several that were tried can be taken without propagating it
 * again.
 *
 *     try size = 2      entry 0: the words of the vector that it changed; roll back
 *     try size = 4      entry 1; roll back
 *     take size = 2     the words of entry 0 are written again */
#include <stdlib.h>

#include "core/base/panic.h"
#include "core/space/engine/state.h"

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
