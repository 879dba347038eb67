/* Implementations by their values, kernels by their hashes; see gather.h. */
#include "experiments/search/gather.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <uthash.h>

#include "core/base/arena.h"
#include "core/base/hash.h"
#include "core/base/stats.h"

struct kernel {
    uint64_t hash;
    double *times;
    size_t n;
    bool measured;
    enum pool_status status; /* the best one */
    uint32_t number;         /* in the pool, if it is there */
    UT_hash_handle hh;
};

struct implementation {
    uint16_t *values;
    double bound_ns, *features;
    struct kernel *kernel;
    UT_hash_handle hh;
};

struct gather {
    struct arena *arena;
    size_t n_choices;
    unsigned n_features;
    struct implementation *all; /* in order of appearance */
    struct kernel *kernels;
};

struct gather *gather_new(size_t n_choices, unsigned n_features)
{
    struct gather *g = base_calloc(1, sizeof *g);
    *g = (struct gather){.arena = arena_new(), .n_choices = n_choices, .n_features = n_features};
    return g;
}

void gather_free(struct gather *g)
{
    if (!g) return;
    for (struct kernel *k = g->kernels; k; k = k->hh.next)
        free(k->times);
    HASH_CLEAR(hh, g->all);
    HASH_CLEAR(hh, g->kernels);
    arena_free(g->arena);
    free(g);
}

static struct kernel *kernel_of(struct gather *g, uint64_t hash)
{
    struct kernel *k;
    HASH_FIND(hh, g->kernels, &hash, sizeof hash, k);
    if (k) return k;
    k = ARENA_NEW(g->arena, struct kernel);
    *k = (struct kernel){.hash = hash, .status = POOL_OVERSIZED};
    HASH_ADD(hh, g->kernels, hash, sizeof k->hash, k);
    return k;
}

static void take_result(struct kernel *k, const struct gather_result *r)
{
    if (r->duplicate) return;
    k->measured = true;
    if (r->status < k->status) k->status = r->status;
    if (r->status != POOL_OK) return;
    k->times = base_realloc(k->times, (k->n + 1) * sizeof *k->times);
    k->times[k->n++] = r->time_ns;
}

void gather_add(struct gather *g, const uint16_t *values, struct gather_result r)
{
    size_t bytes = g->n_choices * sizeof *values;
    struct implementation *x;
    HASH_FIND(hh, g->all, values, bytes, x);
    if (!x) {
        uint64_t own = hash_finish(hash_bytes(HASH_START, values, bytes));
        x = ARENA_NEW(g->arena, struct implementation);
        *x = (struct implementation){.values = arena_memdup(g->arena, values, bytes),
                                     .bound_ns = r.bound_ns,
                                     .kernel = kernel_of(g, r.kernel ? r.kernel : own)};
        if (g->n_features)
            x->features = arena_memdup(g->arena, r.features, g->n_features * sizeof r.features[0]);
        HASH_ADD_KEYPTR(hh, g->all, x->values, bytes, x);
    }
    take_result(x->kernel, &r);
}

/* A hash of the values, numbered by appearance; those of a choice without any differences are all 0, or all
 * absent, which is the same. */
uint64_t gather_division(const struct gather *g, size_t choice)
{
    uint16_t *numbers = base_calloc(UINT16_MAX + 1, sizeof *numbers), n = 0;
    uint64_t h = HASH_START;
    for (const struct implementation *x = g->all; x; x = x->hh.next) {
        uint16_t *number = &numbers[x->values[choice]];
        if (!*number) *number = ++n;
        h = hash_bytes(h, number, sizeof *number);
    }
    free(numbers);
    return h;
}

static void number_kernels(struct gather *g)
{
    uint32_t n = 0;
    for (struct kernel *k = g->kernels; k; k = k->hh.next)
        if (k->measured) k->number = n++;
}

void gather_finish(struct gather *g, const uint32_t *kept, size_t n_kept, struct pool *p)
{
    uint16_t *values = base_malloc((n_kept + 1) * sizeof *values);
    number_kernels(g);
    p->n_features = g->n_features;
    for (struct implementation *x = g->all; x; x = x->hh.next) {
        const struct kernel *k = x->kernel;
        if (!k->measured) continue;
        struct pool_row row = {
            .status = k->status, .bound_ns = x->bound_ns, .kernel = k->number, .features = x->features};
        if (k->n) row.time_ns = stats_median(k->times, k->n);
        if (k->n) row.bound_ns = fmin(row.bound_ns, row.time_ns);
        for (size_t i = 0; i < n_kept; i++)
            values[i] = x->values[kept[i]];
        pool_add_row(p, row, values);
    }
    free(values);
}
