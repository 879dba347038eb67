/* Bump allocator: a list of blocks of 64 KiB or more; the newest is filled from its start.
 *
 *     block 2   [ used ######........ ]   next allocation: at the first dot, if it fits
 *     block 1   [ used ############## ]
 *
 * Nothing is freed but all of it; arena_reset() leaves one block to be filled again. */
#include "core/base/arena.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/panic.h"

enum { BLOCK = 64 * 1024, ALIGN = 16, LINE = 64 /* of the caches */ };

struct block {
    struct block *next;
    size_t used, size; /* bytes of data[] */
    _Alignas(LINE) unsigned char data[];
};

struct arena {
    struct block *blocks; /* newest first */
};

void *base_malloc(size_t bytes)
{
    void *p = malloc(bytes ? bytes : 1);
    if (!p) PANIC("out of memory (%zu bytes)", bytes);
    return p;
}

void *base_calloc(size_t n, size_t bytes)
{
    void *p = calloc(n ? n : 1, bytes ? bytes : 1);
    if (!p) PANIC("out of memory (%zu times %zu bytes)", n, bytes);
    return p;
}

void *base_realloc(void *old, size_t bytes)
{
    void *p = realloc(old, bytes ? bytes : 1);
    if (!p) PANIC("out of memory (%zu bytes)", bytes);
    return p;
}

char *base_strdup(const char *s)
{
    size_t n = strlen(s) + 1;
    return memcpy(base_malloc(n), s, n);
}

struct arena *arena_new(void)
{
    return base_calloc(1, sizeof(struct arena));
}

void arena_free(struct arena *a)
{
    if (!a) return;
    for (struct block *b = a->blocks; b;) {
        struct block *next = b->next;
        free(b);
        b = next;
    }
    free(a);
}

void arena_reset(struct arena *a)
{
    struct block *kept = NULL;
    for (struct block *b = a->blocks; b;) {
        struct block *next = b->next;
        if (!kept && b->size == BLOCK)
            kept = b;
        else
            free(b);
        b = next;
    }
    if (kept) kept->next = NULL;
    if (kept) kept->used = 0;
    a->blocks = kept;
}

static size_t round_up(size_t bytes, size_t to)
{
    return (bytes + to - 1) / to * to;
}

static struct block *add_block(struct arena *a, size_t bytes)
{
    size_t size = round_up(bytes > BLOCK ? bytes : BLOCK, LINE);
    struct block *b = aligned_alloc(LINE, sizeof(struct block) + size);
    if (!b) PANIC("out of memory (%zu bytes)", size);
    b->next = a->blocks;
    b->used = 0;
    b->size = size;
    a->blocks = b;
    return b;
}

void *arena_alloc(struct arena *a, size_t bytes)
{
    CHECK(bytes < SIZE_MAX / 2);
    size_t align = bytes < LINE ? ALIGN : LINE, rounded = round_up(bytes, ALIGN);
    struct block *b = a->blocks;
    size_t from = b ? round_up(b->used, align) : 0;
    if (!b || from > b->size || b->size - from < rounded) {
        b = add_block(a, rounded);
        from = 0;
    }
    b->used = from + rounded;
    return memset(b->data + from, 0, rounded);
}

void *arena_array(struct arena *a, size_t n, size_t bytes)
{
    CHECK(n <= SIZE_MAX / 2 / bytes);
    return arena_alloc(a, n * bytes);
}

void *arena_memdup(struct arena *a, const void *data, size_t bytes)
{
    void *p = arena_alloc(a, bytes);
    return bytes ? memcpy(p, data, bytes) : p;
}

char *arena_strndup(struct arena *a, const char *s, size_t n)
{
    char *p = arena_alloc(a, n + 1);
    memcpy(p, s, n);
    return p;
}

char *arena_strdup(struct arena *a, const char *s)
{
    return arena_strndup(a, s, strlen(s));
}

char *arena_printf(struct arena *a, const char *fmt, ...)
{
    va_list args, again;
    va_start(args, fmt);
    va_copy(again, args);
    int n = vsnprintf(NULL, 0, fmt, args);
    CHECK(n >= 0);
    char *p = arena_alloc(a, (size_t)n + 1);
    vsnprintf(p, (size_t)n + 1, fmt, again);
    va_end(again);
    va_end(args);
    return p;
}

void *arena_grow(struct arena *a, void *old, size_t *cap_p, size_t need, size_t element_bytes)
{
    if (need <= *cap_p) return old;
    size_t cap = *cap_p ? *cap_p * 2 : 8;
    if (cap < need) cap = need;
    void *p = arena_array(a, cap, element_bytes);
    if (*cap_p) memcpy(p, old, *cap_p * element_bytes);
    *cap_p = cap;
    return p;
}
