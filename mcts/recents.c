#include "mcts/recents.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/arena.h"

enum { KEPT = 64 };

struct kept {
    void *key;
    float *x;
    size_t n, capacity;
};

struct recents {
    pthread_mutex_t lock;
    size_t key_bytes;
    struct kept list[KEPT];
    unsigned next; /* the oldest */
};

struct recents *recents_new(size_t key_bytes)
{
    struct recents *r = base_calloc(1, sizeof *r);
    r->key_bytes = key_bytes;
    pthread_mutex_init(&r->lock, NULL);
    for (unsigned i = 0; i < KEPT; i++)
        r->list[i].key = base_malloc(key_bytes);
    return r;
}

void recents_free(struct recents *r)
{
    if (!r) return;
    for (unsigned i = 0; i < KEPT; i++) {
        free(r->list[i].key);
        free(r->list[i].x);
    }
    pthread_mutex_destroy(&r->lock);
    free(r);
}

void recents_clear(struct recents *r)
{
    pthread_mutex_lock(&r->lock);
    for (unsigned i = 0; i < KEPT; i++)
        r->list[i].n = 0;
    pthread_mutex_unlock(&r->lock);
}

void recents_keep(struct recents *r, const void *key, const factor_lanes *x, unsigned lane, size_t n)
{
    pthread_mutex_lock(&r->lock);
    struct kept *k = &r->list[r->next];
    r->next = (r->next + 1) % KEPT;
    memcpy(k->key, key, r->key_bytes);
    if (n > k->capacity) {
        k->capacity = n + n / 4;
        k->x = base_realloc(k->x, k->capacity * sizeof k->x[0]);
    }
    k->n = n;
    for (size_t i = 0; i < n; i++)
        k->x[i] = x[i][lane];
    pthread_mutex_unlock(&r->lock);
}

size_t recents_find(struct recents *r, const void *key, factor_lanes *x)
{
    size_t n = 0;
    pthread_mutex_lock(&r->lock);
    for (unsigned i = 0; i < KEPT && n == 0; i++) {
        const struct kept *k = &r->list[i];
        if (k->n == 0 || memcmp(k->key, key, r->key_bytes) != 0) continue;
        n = k->n;
        for (size_t e = 0; e < n; e++)
            x[e] = (factor_lanes){k->x[e]};
    }
    pthread_mutex_unlock(&r->lock);
    return n;
}
