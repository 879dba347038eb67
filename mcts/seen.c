/* Linear probing from the hash's low bits; the hash 0 stands as 1. */
#include "mcts/seen.h"

#include <stdlib.h>

#include "core/base/archive.h"
#include "core/base/arena.h"

enum { FIRST_CAPACITY = 1024 };

/* The place of the key, or the empty place where it belongs. */
static size_t find(const struct mcts_seen *s, uint64_t key)
{
    size_t i = (size_t)key & (s->capacity - 1);
    while (s->slots[i] && s->slots[i] != key)
        i = (i + 1) & (s->capacity - 1);
    return i;
}

static void grow(struct mcts_seen *s)
{
    struct mcts_seen larger = {.capacity = s->capacity ? 2 * s->capacity : FIRST_CAPACITY, .count = s->count};
    larger.slots = base_calloc(larger.capacity, sizeof larger.slots[0]);
    for (size_t i = 0; i < s->capacity; i++)
        if (s->slots[i]) larger.slots[find(&larger, s->slots[i])] = s->slots[i];
    free(s->slots);
    *s = larger;
}

bool mcts_seen_has(const struct mcts_seen *s, uint64_t hash)
{
    return s->capacity && s->slots[find(s, hash ? hash : 1)];
}

void mcts_seen_add(struct mcts_seen *s, uint64_t hash)
{
    uint64_t key = hash ? hash : 1;
    if (2 * (s->count + 1) > s->capacity) grow(s);
    size_t i = find(s, key);
    s->count += s->slots[i] == 0;
    s->slots[i] = key;
}

void mcts_seen_free(struct mcts_seen *s)
{
    free(s->slots);
    *s = (struct mcts_seen){0};
}

void mcts_seen_archive(struct mcts_seen *s, struct archive *a)
{
    s->slots = archive_array(a, s->slots, &s->capacity, sizeof s->slots[0]);
    ARCHIVE(a, s->count);
}
