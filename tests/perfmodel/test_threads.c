/* Models of several threads, which share what takes long to compute: all have the bounds of a model alone,
 * also after one of them was corrected. */
#include <criterion/criterion.h>
#include <pthread.h>

#include "core/base/pcg32.h"
#include "tests/perfmodel/fixture.h"

enum { THREADS = 4, DESCENTS = 12, BOUNDS_MAX = 4096 };

/* A thread's model, and the bounds along its descents: the same descents on each thread. */
struct threads_worker {
    pthread_t thread;
    const struct bound_fixture *fixture;
    struct perfmodel *model;
    double bounds[BOUNDS_MAX];
    unsigned n;
};

static void *threads_descend(void *arg)
{
    struct threads_worker *w = arg;
    w->n = 0;
    for (uint64_t seed = 1; seed <= DESCENTS && w->n < BOUNDS_MAX; seed++) {
        struct pcg32 rng = pcg32_seed(seed, 0);
        struct space_state *st = kernel_root(w->fixture->kernel.space);
        do
            w->bounds[w->n++] = perfmodel_bound(w->model, st, NULL);
        while (w->n < BOUNDS_MAX && kernel_step(st, &rng));
        space_state_free(st);
    }
    return NULL;
}

/* n threads at once; then their bounds are compared with those of a model of its own. */
static void threads_compare(struct threads_worker *w, unsigned n)
{
    static struct threads_worker alone;
    const struct bound_fixture *f = w[0].fixture;
    alone.fixture = f;
    alone.model = perfmodel_new(f->kernel.bb, f->kernel.space, perfmodel_described(w[0].model));
    threads_descend(&alone);
    cr_assert_lt(alone.n, BOUNDS_MAX);
    for (unsigned i = 0; i < n; i++)
        cr_assert_eq(pthread_create(&w[i].thread, NULL, threads_descend, &w[i]), 0);
    for (unsigned i = 0; i < n; i++) {
        pthread_join(w[i].thread, NULL);
        cr_assert_eq(w[i].n, alone.n);
        for (unsigned k = 0; k < alone.n; k++)
            cr_assert_eq(w[i].bounds[k], alone.bounds[k], "thread %u, bound %u: %g, alone %g", i, k,
                         w[i].bounds[k], alone.bounds[k]);
    }
    perfmodel_free(alone.model);
}

Test(bound_threads, models_beside_each_other_have_the_bounds_of_one_alone)
{
    static struct threads_worker w[THREADS];
    struct bound_fixture f;
    struct pcg32 rng = pcg32_seed(7, 0);
    bound_open(&f, &(struct kernel_case){"matmul", "M=64,N=64,K=64"}, BOUND_H200);
    for (unsigned i = 0; i < THREADS; i++)
        w[i] = (struct threads_worker){.fixture = &f, .model = i ? perfmodel_new_beside(f.model) : f.model};
    threads_compare(w, THREADS);
    struct space_state *st = kernel_root(f.kernel.space);
    while (kernel_step(st, &rng))
        continue;
    double before = perfmodel_bound(f.model, st, NULL);
    cr_assert(perfmodel_correct(f.model, st, 0.1 * before));
    for (unsigned i = 1; i < THREADS; i++)
        perfmodel_take(w[i].model, perfmodel_described(f.model));
    threads_compare(w, THREADS);
    cr_assert_leq(perfmodel_bound(w[1].model, st, NULL), 0.11 * before);
    perfmodel_free(f.model); /* the others still have their tables */
    f.model = NULL;
    threads_compare(w + 1, THREADS - 1);
    for (unsigned i = 1; i < THREADS; i++)
        perfmodel_free(w[i].model);
    space_state_free(st);
    bound_close(&f);
}
