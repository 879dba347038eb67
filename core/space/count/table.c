/* Components met before and their counts: open addressing, growing while it fills, with whole keys. When it
 * may not grow any more all entries are dropped: the components that follow are mostly like the last ones. */
#include <stdlib.h>
#include <string.h>

#include "core/space/count/private.h"

enum {
    FIRST_ENTRIES = 1 << 7, /* grown once, they are enough for a trial */
    MOST_ENTRIES = 1 << 21,
    MOST_BYTES = 256 << 20, /* of keys */
    TRIAL = 512             /* lookups before the table must have paid off */
};

struct entry {
    uint64_t hash; /* 0: free */
    const void *key;
    uint32_t bytes;
    long double count;
};

struct count_table {
    struct entry *entries;
    size_t size, used, bytes;
    struct arena *keys;
    uint64_t lookups, hits;
};

/* The entry of the key, or the free one where it belongs. */
static struct entry *place(const struct count_table *t, uint64_t hash, const void *key, uint32_t bytes)
{
    size_t at = hash & (t->size - 1);
    for (; t->entries[at].hash; at = (at + 1) & (t->size - 1)) {
        const struct entry *e = &t->entries[at];
        if (e->hash == hash && e->bytes == bytes && !memcmp(e->key, key, bytes)) break;
    }
    return &t->entries[at];
}

static void grow(struct count_table *t)
{
    struct count_table old = *t;
    t->size = old.size * 8 < MOST_ENTRIES ? old.size * 8 : MOST_ENTRIES;
    t->entries = base_calloc(t->size, sizeof *t->entries);
    for (size_t i = 0; i < old.size; i++) {
        const struct entry *e = &old.entries[i];
        if (e->hash) *place(t, e->hash, e->key, e->bytes) = *e;
    }
    free(old.entries);
}

static void forget(struct count_table *t)
{
    arena_free(t->keys);
    t->keys = arena_new();
    memset(t->entries, 0, t->size * sizeof *t->entries);
    t->used = t->bytes = 0;
}

struct count_table *count_table_new(void)
{
    struct count_table *t = base_calloc(1, sizeof *t);
    t->keys = arena_new();
    t->size = FIRST_ENTRIES;
    t->entries = base_calloc(t->size, sizeof *t->entries);
    return t;
}

void count_table_free(struct count_table *t)
{
    arena_free(t->keys);
    free(t->entries);
    free(t);
}

/* After the trial it must have answered one lookup in sixteen. */
bool count_table_pays(const struct count_table *t)
{
    return t->lookups < TRIAL || t->hits * 16 > t->lookups;
}

bool count_table_find(struct count_table *t, uint64_t hash, const void *key, uint32_t bytes,
                      long double *count)
{
    const struct entry *e = place(t, hash, key, bytes);
    t->lookups++;
    t->hits += e->hash != 0;
    if (e->hash) *count = e->count;
    return e->hash != 0;
}

void count_table_add(struct count_table *t, uint64_t hash, const void *key, uint32_t bytes, long double count)
{
    bool full = t->used * 4 >= t->size * 3;
    if ((full && t->size == MOST_ENTRIES) || t->bytes + bytes > MOST_BYTES)
        forget(t);
    else if (full)
        grow(t);
    struct entry *e = place(t, hash, key, bytes);
    if (e->hash) return;
    t->used++;
    t->bytes += bytes;
    *e = (struct entry){hash, arena_memdup(t->keys, key, bytes), bytes, count};
}

uint64_t count_table_hits(const struct count_table *t)
{
    return t->hits;
}
