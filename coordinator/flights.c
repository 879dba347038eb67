/* A ring of flights; the number of a job is its place in it. See flights.h. */
#include "coordinator/flights.h"

#include <stdlib.h>

#include "core/base/arena.h"
#include "core/base/panic.h"

struct flights {
    struct evaluator *evaluator;
    unsigned first, n, in_air;
    struct flight ring[FLIGHTS_MOST];
};

struct flights *flights_new(struct evaluator *ev)
{
    struct flights *f = base_calloc(1, sizeof *f);
    f->evaluator = ev;
    return f;
}

void flights_free(struct flights *f)
{
    struct flight left;
    while (f && flights_pop(f, &left))
        space_state_free(left.leaf);
    free(f);
}

unsigned flights_count(const struct flights *f)
{
    return f->n;
}

unsigned flights_in_air(const struct flights *f)
{
    return f->in_air;
}

void flights_submit(struct flights *f, const struct space_state *leaf, const struct cg_kernel *kernel,
                    const struct eval_settings *settings)
{
    CHECK(f->n < FLIGHTS_MOST);
    unsigned i = (f->first + f->n++) % FLIGHTS_MOST;
    f->in_air++;
    f->ring[i] = (struct flight){.leaf = space_state_clone(leaf)};
    evaluator_submit(f->evaluator, i, kernel, settings);
}

void flights_hear(struct flights *f, int timeout_ms)
{
    struct evaluation e;
    for (uint64_t job; evaluator_poll(f->evaluator, timeout_ms, &job, &e); timeout_ms = 0) {
        f->ring[job].landed = true;
        f->ring[job].result = e;
        f->in_air--;
    }
}

bool flights_take(struct flights *f, struct flight *out)
{
    return f->n > 0 && f->ring[f->first].landed && flights_pop(f, out);
}

bool flights_pop(struct flights *f, struct flight *out)
{
    if (f->n == 0) return false;
    *out = f->ring[f->first];
    f->in_air -= !out->landed;
    f->first = (f->first + 1) % FLIGHTS_MOST;
    f->n--;
    return true;
}
