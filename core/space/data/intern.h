/* Equal runs of bytes are kept once, and found again by a hash. Each has the number that the first one got:
 *
 *     intern(&t, a, "abc", 3, 7, &fresh)     a new entry: id 7, fresh
 *     intern(&t, a, "abc", 3, 9, &fresh)     the same entry: id 7, not fresh */
#ifndef THRESH_SPACE_DATA_INTERN_H
#define THRESH_SPACE_DATA_INTERN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena;

struct interned {
    const void *bytes;
    size_t n;
    uint32_t id;
};

/* Zero-initialise. The bytes belong to the arena. */
struct intern_table {
    struct interned *entries; /* open addressing; bytes NULL: free */
    size_t size, used;
};

/* The entry of equal bytes; a new one copies them and gets `id`. Good until the next call. */
struct interned *intern(struct intern_table *t, struct arena *a, const void *bytes, size_t n, uint32_t id,
                        bool *fresh);
/* The entry of equal bytes, or NULL. */
const struct interned *intern_find(const struct intern_table *t, const void *bytes, size_t n);
void intern_free(struct intern_table *t);

#endif
