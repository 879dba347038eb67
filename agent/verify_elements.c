/* Many outputs by the interpreter, on several threads: a sample of a reference is 0.4 s of processor time for
 * each set of inputs, in which all runners wait. An element depends on nothing but the inputs, which nobody
 * changes meanwhile, so that each thread takes its share of them:
 *
 *     thread 0   at[0]  at[4]  at[8]      out[0]  out[4]  out[8]
 *     thread 1   at[1]  at[5]  at[9]      ...
 *
 * What is known already is not interpreted again, and what is new is noted afterwards, in order. */
#include <pthread.h>
#include <stdlib.h>

#include "agent/verify_interpret.h"
#include "core/base/arena.h"
#include "core/base/cores.h"

enum { MOST_THREADS = 16 };
static const double SHARED_WORK = 2e5; /* operations, 20 ms: for less no thread is started */

/* The elements of one thread: `first`, and each step-th after it. */
struct share {
    const struct verify_inputs *in;
    unsigned buffer, n, first, step;
    const int64_t *at;
    const bool *known;
    struct lift_value_bound *out;
    pthread_t thread;
    bool started;
};

static void *interpret_share(void *ctx)
{
    const struct share *s = ctx;
    for (unsigned i = s->first; i < s->n; i += s->step)
        if (!s->known[i]) s->out[i] = verify_interpret_element(s->in, s->buffer, s->at[i]);
    return NULL;
}

/* A share whose thread does not start is done here. */
static void interpret_shares(const struct share *all, unsigned n_threads)
{
    struct share shares[MOST_THREADS];
    for (unsigned t = 0; t < n_threads; t++) {
        shares[t] = *all;
        shares[t].first = t;
        shares[t].step = n_threads;
        shares[t].started = t > 0 && !pthread_create(&shares[t].thread, NULL, interpret_share, &shares[t]);
    }
    for (unsigned t = 0; t < n_threads; t++)
        if (!shares[t].started) interpret_share(&shares[t]);
    for (unsigned t = 0; t < n_threads; t++)
        if (shares[t].started) pthread_join(shares[t].thread, NULL);
}

static unsigned threads_for(unsigned n, double work)
{
    unsigned cores = cores_available(), most = cores < MOST_THREADS ? cores : MOST_THREADS;
    if (n * work < SHARED_WORK) return 1;
    return n < most ? n : most;
}

void verify_elements(const struct verify_inputs *in, unsigned buffer, double work, const int64_t *at,
                     unsigned n, struct lift_value_bound *out)
{
    bool *known = base_calloc(n, sizeof *known);
    for (unsigned i = 0; i < n; i++)
        known[i] = verify_recall_element(in, buffer, at[i], &out[i]);
    const struct share all = {.in = in, .buffer = buffer, .n = n, .at = at, .known = known, .out = out};
    interpret_shares(&all, threads_for(n, work));
    for (unsigned i = 0; i < n; i++)
        if (!known[i]) verify_note_element(in, buffer, at[i], out[i]);
    free(known);
}
