/* Bump allocator tied to one run: compiler passes allocate here and free everything at once.
 *
 *     struct arena *a = arena_new();
 *     char *text = arena_printf(a, "%s_%d", name, 2);      no free: arena_free(a) releases all of it
 *
 * Memory is zeroed and aligned to 16 bytes, that of 64 and more to cache lines. Running out of memory is
 * fatal (it is the host's own memory; sizes chosen by a file or a peer are checked before they get here). */
#ifndef THRESH_BASE_ARENA_H
#define THRESH_BASE_ARENA_H

#include <stdarg.h>
#include <stddef.h>

#include "core/base/attr.h"

struct arena;

struct arena *arena_new(void);
void arena_free(struct arena *a); /* NULL is allowed */
/* Releases all of it but room for a little, for an arena that is filled again. */
void arena_reset(struct arena *a);

void *arena_alloc(struct arena *a, size_t bytes);
/* Room for n elements of `bytes` bytes. */
void *arena_array(struct arena *a, size_t n, size_t bytes);
void *arena_memdup(struct arena *a, const void *data, size_t bytes);
char *arena_strdup(struct arena *a, const char *s);
char *arena_strndup(struct arena *a, const char *s, size_t n);
char *arena_printf(struct arena *a, const char *fmt, ...) BASE_PRINTF(2, 3);

/* Grows an array of `*cap_p` elements to hold at least `need`; copies the old ones. Returns the new array. */
void *arena_grow(struct arena *a, void *old, size_t *cap_p, size_t need, size_t element_bytes);

#define ARENA_NEW(a, type) ((type *)arena_alloc((a), sizeof(type)))
#define ARENA_ARRAY(a, type, n) ((type *)arena_array((a), (size_t)(n), sizeof(type)))

/* malloc and realloc that cannot fail; release with free(). */
void *base_malloc(size_t bytes);
void *base_calloc(size_t n, size_t bytes);
void *base_realloc(void *p, size_t bytes);
char *base_strdup(const char *s);

#endif
