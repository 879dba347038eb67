/* Components met before and their counts: direct-mapped, growing while it fills, with whole keys. */
#include <stdlib.h>
#include <string.h>

#include "core/space/count_internal.h"

enum {
    FIRST_ENTRIES = 1 << 10,
    MOST_ENTRIES = 1 << 20,
    MOST_BYTES = 256 << 20,
    TRIAL = 4096 /* lookups before the table must have paid off */
};

struct entry {
    uint64_t hash; /* 0: free */
    uint32_t bytes;
    uint8_t *key;
    long double count;
};

struct count_table {
    struct entry *entries;
    size_t size, used, bytes;
    uint64_t lookups, hits;
};

static struct entry *place(const struct count_table *t, uint64_t hash)
{
    return &t->entries[hash & (t->size - 1)];
}

/* Entries of different old places get different new ones. */
static void grow(struct count_table *t)
{
    struct count_table old = *t;
    t->size = old.size ? old.size * 4 : FIRST_ENTRIES;
    t->entries = base_calloc(t->size, sizeof *t->entries);
    for (size_t i = 0; i < old.size; i++)
        if (old.entries[i].hash) *place(t, old.entries[i].hash) = old.entries[i];
    free(old.entries);
}

struct count_table *count_table_new(void)
{
    return base_calloc(1, sizeof(struct count_table));
}

void count_table_free(struct count_table *t)
{
    for (size_t i = 0; i < t->size; i++)
        free(t->entries[i].key);
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
    t->lookups++;
    if (!t->size) return false;
    const struct entry *e = place(t, hash);
    if (e->hash != hash || e->bytes != bytes || memcmp(e->key, key, bytes)) return false;
    t->hits++;
    *count = e->count;
    return true;
}

void count_table_add(struct count_table *t, uint64_t hash, const void *key, uint32_t bytes, long double count)
{
    if (t->used * 2 >= t->size && t->size < MOST_ENTRIES) grow(t);
    struct entry *e = place(t, hash);
    t->bytes -= e->bytes;
    t->used -= e->hash != 0;
    free(e->key);
    *e = (struct entry){0};
    if (t->bytes + bytes > MOST_BYTES) return;
    t->bytes += bytes;
    t->used++;
    *e = (struct entry){hash, bytes, base_malloc(bytes + 1), count};
    memcpy(e->key, key, bytes);
}

uint64_t count_table_hits(const struct count_table *t)
{
    return t->hits;
}
