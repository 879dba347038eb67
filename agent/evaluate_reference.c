/* The reference of a problem: inputs, the naive kernel's outputs on them, and their check against the Lift
 * interpreter (design page `distribution`, "The agent"). */
#include <stdlib.h>

#include "agent/evaluate_state.h"
#include "core/base/arena.h"
#include "core/base/diag.h"
#include "core/pipeline/code.h"
#include "core/space/space.h"

static bool fits(const struct backbone *bb, const struct device *dev, struct diag *d)
{
    for (unsigned i = 0; i < bb->n_buffers; i++) {
        const struct bb_buffer *b = &bb->buffers[i];
        if (b->elements <= dev->max_alloc_bytes / (int64_t)scalar_type_bytes(b->type)) continue;
        diag_plain(d, "%s: '%s' is larger than the device's largest buffer", dev->name, b->name);
        return false;
    }
    return true;
}

static bool naive_code(const struct problem *p, struct pipeline_code *out)
{
    struct diag *ignored = diag_new();
    char why[160];
    struct space_state *st = problem_naive(p, ignored);
    bool ok = st && pipeline_lower(p, st, out, why, sizeof why);
    if (st) space_state_free(st);
    diag_free(ignored);
    return ok;
}

/* The reference from the naive kernel, or, where the space has none and the problem is small, from the
 * interpreter. */
static bool fill_reference(struct evaluator *ev, const struct problem *p, const unsigned *input_of,
                           struct diag *d)
{
    struct pipeline_code naive;
    if (!naive_code(p, &naive)) {
        bool small = verify_interpretable(ev->task, p->program);
        if (small)
            verify_interpret(ev->task, input_of, p->program);
        else
            diag_plain(
                d, "no reference: the naive implementation is not in the space, and the problem is too large "
                   "for the interpreter");
        return small;
    }
    struct evaluation e;
    evaluate_alone(ev, RUNNER_REFERENCE, &naive.kernel, &(struct eval_settings){0}, &e);
    pipeline_code_clear(&naive);
    if (e.status != EVAL_OK)
        diag_plain(d, "the naive kernel fails: %s: %s", eval_status_name(e.status), e.message);
    return e.status == EVAL_OK;
}

static bool make_reference(struct evaluator *ev, const struct problem *p, const unsigned *input_of,
                           uint64_t seed, struct diag *d)
{
    return fill_reference(ev, p, input_of, d) &&
           verify_reference(ev->task, input_of, p->program, seed, ev->tolerance, d);
}

/* The evaluator of a task; frees it if it has no reference. */
static struct evaluator *start(struct verify_task *task, const struct problem *p, const struct device *dev,
                               unsigned runners, const unsigned *input_of, uint64_t seed, int stop_fd,
                               struct diag *d)
{
    static const struct verify_tolerance none[VERIFY_MOST_SETS] = {{.exact = true}};
    struct evaluator *ev = evaluator_start(&task, dev, runners, none, stop_fd, d);
    if (!ev || make_reference(ev, p, input_of, seed, d)) return ev;
    evaluator_free(ev);
    return NULL;
}

struct evaluator *evaluator_new_until(const struct problem *p, const struct device *dev, unsigned runners,
                                      uint64_t seed, int stop_fd, struct diag *d)
{
    const struct backbone *bb = p->backbone;
    if (!fits(bb, dev, d)) return NULL;
    unsigned *input_of = base_calloc(bb->n_buffers, sizeof *input_of);
    for (unsigned i = 0; i < bb->n_buffers; i++)
        input_of[i] = bb->buffers[i].input;
    struct verify_task *task = verify_task_of(bb, input_of, seed, d);
    struct evaluator *ev = task ? start(task, p, dev, runners, input_of, seed, stop_fd, d) : NULL;
    free(input_of);
    return ev;
}

struct evaluator *evaluator_new(const struct problem *p, const struct device *dev, unsigned runners,
                                uint64_t seed, struct diag *d)
{
    return evaluator_new_until(p, dev, runners, seed, -1, d);
}
