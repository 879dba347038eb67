/* A ring of the outputs that were interpreted last and took long. See verify_known.h. */
#include "agent/verify_known.h"

#include <pthread.h>
#include <stdlib.h>

#include "core/base/arena.h"

enum { MOST = 128 };
static const double LONG_WORK = 1e5; /* operations, 10 ms: less is not worth remembering */

struct known {
    struct verify_known_key key;
    struct lift_value_bound v;
};

struct verify_known {
    unsigned n, next; /* next: the oldest, once there are MOST */
    struct known ring[MOST];
    double work;
    pthread_mutex_t noting;
};

struct verify_known *verify_known_new(void)
{
    struct verify_known *k = base_calloc(1, sizeof *k);
    pthread_mutex_init(&k->noting, NULL);
    return k;
}

void verify_known_free(struct verify_known *k)
{
    if (k) pthread_mutex_destroy(&k->noting);
    free(k);
}

void verify_known_hold(struct verify_known *k)
{
    pthread_mutex_lock(&k->noting);
}

void verify_known_release(struct verify_known *k)
{
    pthread_mutex_unlock(&k->noting);
}

static bool same(const struct verify_known_key *a, const struct verify_known_key *b)
{
    return a->set == b->set && a->domain == b->domain && a->units == b->units && a->buffer == b->buffer &&
           a->at == b->at;
}

bool verify_recall(const struct verify_known *k, const struct verify_known_key *key,
                   struct lift_value_bound *out)
{
    unsigned i = 0;
    while (i < k->n && !same(&k->ring[i].key, key))
        i++;
    if (i < k->n) *out = k->ring[i].v;
    return i < k->n;
}

void verify_note(struct verify_known *k, const struct verify_known_key *key, struct lift_value_bound v)
{
    k->work += v.work;
    if (v.work < LONG_WORK) return;
    verify_known_hold(k);
    k->ring[k->next] = (struct known){*key, v};
    k->next = (k->next + 1) % MOST;
    if (k->n < MOST) k->n++;
    verify_known_release(k);
}

double verify_known_work(const struct verify_known *k)
{
    return k->work;
}
