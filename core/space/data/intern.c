#include "core/space/data/intern.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/arena.h"
#include "core/base/hash.h"

static size_t intern_probe(const struct intern_table *t, const void *bytes, size_t n)
{
    size_t at = (size_t)hash_finish(hash_bytes(HASH_START, bytes, n)) & (t->size - 1);
    while (t->entries[at].bytes && (t->entries[at].n != n || memcmp(t->entries[at].bytes, bytes, n)))
        at = (at + 1) & (t->size - 1);
    return at;
}

static void intern_grow(struct intern_table *t)
{
    struct intern_table old = *t;
    t->size = old.size ? old.size * 2 : 256;
    t->entries = base_calloc(t->size, sizeof *t->entries);
    for (size_t i = 0; i < old.size; i++)
        if (old.entries[i].bytes)
            t->entries[intern_probe(t, old.entries[i].bytes, old.entries[i].n)] = old.entries[i];
    free(old.entries);
}

struct interned *intern(struct intern_table *t, struct arena *a, const void *bytes, size_t n, uint32_t id,
                        bool *fresh)
{
    if (t->used * 2 >= t->size) intern_grow(t);
    size_t at = intern_probe(t, bytes, n);
    *fresh = !t->entries[at].bytes;
    if (*fresh) {
        t->entries[at] = (struct interned){arena_memdup(a, bytes, n), n, id};
        t->used++;
    }
    return &t->entries[at];
}

const struct interned *intern_find(const struct intern_table *t, const void *bytes, size_t n)
{
    const struct interned *e = t->size ? &t->entries[intern_probe(t, bytes, n)] : NULL;
    return e && e->bytes ? e : NULL;
}

void intern_free(struct intern_table *t)
{
    free(t->entries);
}
