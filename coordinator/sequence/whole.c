/* Sequences measured as a whole (whole.h). */
#include "coordinator/sequence/whole.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/arena.h"
#include "core/base/diag.h"

enum { LEAST_ROUNDS = 3, LAUNCHES = 12 /* of a round, about, with those that size it */ };
static const double slow = 4; /* times the fastest: three rounds are enough */

struct evaluator *sequence_whole_open(const struct lift_program *p, const struct cg_kernel *naive,
                                      const struct device *dev, const struct eval_inputs *inputs,
                                      struct diag *d)
{
    return evaluator_new_of_sequence(p, naive, dev, inputs, NULL, d);
}

bool sequence_whole_verify(struct evaluator *ev, struct sequence_contender *c, struct diag *d)
{
    struct evaluation e;
    const struct eval_settings settings = {.verify = true, .second_look = true, .limit_ns = AGENT_UNTIMED_NS};
    evaluator_run(ev, c->kernel, &settings, &e);
    if (e.status == EVAL_OK)
        c->about_ns = e.median_ns;
    else
        diag_plain(d, "%s does not compute the program: %s: %s", c->label, eval_status_name(e.status),
                   e.message);
    return e.status == EVAL_OK;
}

/* Measures those of them that are known and, if only_fast, not slow, in so many more rounds. */
static void add_rounds(struct evaluator *ev, struct sequence_contender *contenders, unsigned n,
                       double most_ns, unsigned rounds, uint64_t seed)
{
    const struct cg_kernel **kernels = base_calloc(n + 1, sizeof *kernels);
    struct sequence_contender **measured = base_calloc(n + 1, sizeof *measured);
    unsigned k = 0;
    for (unsigned i = 0; i < n; i++) {
        if (!contenders[i].kernel || contenders[i].about_ns > most_ns) continue;
        kernels[k] = contenders[i].kernel;
        measured[k++] = &contenders[i];
    }
    double *times = base_calloc((size_t)k * rounds + 1, sizeof *times);
    evaluator_rounds(ev, kernels, k, rounds, seed, times);
    for (unsigned i = 0; i < k; i++) {
        struct sequence_contender *c = measured[i];
        memcpy(c->times + c->rounds, times + i * rounds, rounds * sizeof *times);
        c->rounds += rounds;
        c->figure = figure_of_rounds(c->times, c->rounds);
    }
    free(times);
    free(measured);
    free(kernels);
}

void sequence_whole_rounds(struct evaluator *ev, struct sequence_contender *contenders, unsigned n,
                           uint64_t seed)
{
    double all = 0, least = INFINITY;
    add_rounds(ev, contenders, n, INFINITY, LEAST_ROUNDS, seed);
    for (unsigned i = 0; i < n; i++)
        if (figure_known(&contenders[i].figure)) least = fmin(least, contenders[i].figure.median_ns);
    for (unsigned i = 0; i < n; i++) {
        contenders[i].about_ns = contenders[i].figure.median_ns;
        if (contenders[i].about_ns <= slow * least) all += contenders[i].about_ns;
    }
    double rounds = fmin(LIMIT_ROUNDS - LEAST_ROUNDS, LIMIT_ROUNDS_S * 1e9 / (LAUNCHES * all + 1));
    if (rounds >= 1) add_rounds(ev, contenders, n, slow * least, (unsigned)rounds, seed + 1);
}
