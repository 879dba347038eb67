/* A table with one place for each key. It grows while less than half of it is used, up to REMEMBER_MOST
 * places (16 MiB); a value whose place is taken takes it. */
#include "core/lift/remember.h"

#include <stdlib.h>

#include "core/base/arena.h"

enum { FIRST_PLACES = 64, GROWTH = 4, PROBES = 16 };

struct entry {
    struct remember_key key; /* low 0: empty */
    struct lift_value_bound value;
};

struct remembered {
    size_t places, used; /* places: 0, or a power of 2 */
    struct entry *entries;
};

struct remembered *remember_new(void)
{
    return base_calloc(1, sizeof(struct remembered));
}

void remember_free(struct remembered *m)
{
    free(m->entries);
    free(m);
}

/* Where the key is, or an empty place for it; NULL: neither is near. */
static struct entry *find(const struct remembered *m, struct remember_key key)
{
    for (size_t i = 0; i < PROBES; i++) {
        struct entry *e = &m->entries[(key.high + i) & (m->places - 1)];
        if (!e->key.low || (e->key.low == (key.low | 1) && e->key.high == key.high)) return e;
    }
    return NULL;
}

bool remember_recall(const struct remembered *m, struct remember_key key, struct lift_value_bound *out)
{
    const struct entry *e = m->places ? find(m, key) : NULL;
    if (!e || !e->key.low) return false;
    *out = e->value;
    return true;
}

static void put(struct remembered *m, struct remember_key key, const struct lift_value_bound *v)
{
    struct entry *e = find(m, key);
    if (!e) e = &m->entries[key.high & (m->places - 1)];
    m->used += !e->key.low;
    *e = (struct entry){.key = {.low = key.low | 1, .high = key.high}, .value = *v};
}

static void grow(struct remembered *m)
{
    struct remembered old = *m;
    m->places = old.places ? old.places * GROWTH : FIRST_PLACES;
    m->used = 0;
    m->entries = base_calloc(m->places, sizeof *m->entries);
    for (size_t i = 0; i < old.places; i++)
        if (old.entries[i].key.low) put(m, old.entries[i].key, &old.entries[i].value);
    free(old.entries);
}

void remember_store(struct remembered *m, struct remember_key key, const struct lift_value_bound *v)
{
    if (m->places < REMEMBER_MOST && 2 * m->used >= m->places) grow(m);
    put(m, key, v);
}
