/* A thread with one place for a leaf; see lowering.h. */
#include "coordinator/lowering.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/arena.h"
#include "core/base/panic.h"
#include "core/pipeline/code.h"

struct lowering {
    const struct problem *problem;
    pthread_t thread;
    bool has_thread;
    struct lowered result;

    /* ---- under the lock ---- */
    pthread_mutex_t lock;
    pthread_cond_t asked, done;
    const struct space_state *leaf; /* NULL: none was asked for */
    bool is_done;                   /* the result is that of the leaf */
    bool closes;
};

static void lower(const struct problem *p, const struct space_state *leaf, struct lowered *out)
{
    struct pipeline_code c;
    *out = (struct lowered){0};
    out->ok = pipeline_lower(p, leaf, &c, out->why, sizeof out->why);
    if (!out->ok) return;
    out->hash = c.hash;
    out->bytes = c.kernel.unrolled;
    out->item_steps = c.item_steps;
    out->items = c.items;
    pipeline_code_clear(&c);
}

static void *lowering_main(void *arg)
{
    struct lowering *l = arg;
    pthread_mutex_lock(&l->lock);
    while (!l->closes) {
        const struct space_state *leaf = l->is_done ? NULL : l->leaf;
        if (!leaf) {
            pthread_cond_wait(&l->asked, &l->lock);
            continue;
        }
        pthread_mutex_unlock(&l->lock);
        lower(l->problem, leaf, &l->result);
        pthread_mutex_lock(&l->lock);
        l->is_done = true;
        pthread_cond_signal(&l->done);
    }
    pthread_mutex_unlock(&l->lock);
    return NULL;
}

struct lowering *lowering_new(const struct problem *p)
{
    struct lowering *l = base_calloc(1, sizeof *l);
    l->problem = p;
    pthread_mutex_init(&l->lock, NULL);
    pthread_cond_init(&l->asked, NULL);
    pthread_cond_init(&l->done, NULL);
    return l;
}

void lowering_free(struct lowering *l)
{
    if (!l) return;
    pthread_mutex_lock(&l->lock);
    l->closes = true;
    pthread_cond_signal(&l->asked);
    pthread_mutex_unlock(&l->lock);
    if (l->has_thread) pthread_join(l->thread, NULL);
    pthread_cond_destroy(&l->asked);
    pthread_cond_destroy(&l->done);
    pthread_mutex_destroy(&l->lock);
    free(l);
}

void lowering_ask(struct lowering *l, const struct space_state *leaf)
{
    pthread_mutex_lock(&l->lock);
    if (!l->leaf) {
        l->leaf = leaf;
        l->is_done = false;
        pthread_cond_signal(&l->asked);
    }
    pthread_mutex_unlock(&l->lock);
    if (l->has_thread) return;
    CHECK(pthread_create(&l->thread, NULL, lowering_main, l) == 0);
    l->has_thread = true;
}

void lowering_take(struct lowering *l, const struct space_state *leaf, struct lowered *out)
{
    pthread_mutex_lock(&l->lock);
    bool was_asked = l->leaf == leaf;
    if (was_asked) {
        while (!l->is_done)
            pthread_cond_wait(&l->done, &l->lock);
        *out = l->result;
        l->leaf = NULL;
    }
    pthread_mutex_unlock(&l->lock);
    if (!was_asked) lower(l->problem, leaf, out);
}
