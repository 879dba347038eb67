/* The reference of a problem: inputs are drawn, the naive kernel computes the outputs for them, and the Lift
 * interpreter checks a sample of these. Every candidate's outputs are compared with this reference. */
#include "agent/evaluate_state.h"
#include "agent/fits.h"
#include "core/base/diag.h"
#include "core/pipeline/code.h"
#include "core/space/space.h"

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
static bool fill_reference(struct evaluator *ev, const struct problem *p, struct diag *d)
{
    struct pipeline_code naive;
    if (!naive_code(p, &naive)) {
        bool small = verify_interpretable(ev->task);
        if (small)
            verify_interpret(ev->task);
        else
            diag_plain(d, "no reference to verify against: the space has no naive implementation, and the "
                          "problem is too large "
                          "for the interpreter; choose smaller sizes");
        return small;
    }
    struct evaluation e;
    evaluate_alone(ev, RUNNER_REFERENCE, &naive.kernel, &(struct eval_settings){0}, &e);
    pipeline_code_clear(&naive);
    if (e.status != EVAL_OK)
        diag_plain(d, "the naive kernel failed: %s: %s", eval_status_name(e.status), e.message);
    return e.status == EVAL_OK;
}

/* The checked reference and the tolerances; with the user's data, what the user expects. */
static bool make_reference(struct evaluator *ev, const struct problem *p, const struct given *data,
                           uint64_t seed, struct diag *d)
{
    if (!fill_reference(ev, p, d) || !verify_reference(ev->task, seed, ev->tolerance, d)) return false;
    verify_state(ev->task, data, ev->tolerance);
    return verify_expected(ev->task, data, ev->tolerance, d);
}

/* The evaluator of a task; frees it if it has no reference. */
static struct evaluator *start(struct verify_task *task, const struct problem *p, const struct device *dev,
                               const struct eval_inputs *inputs, unsigned runners,
                               const struct eval_caller *caller, struct diag *d)
{
    static const struct verify_tolerance none[VERIFY_MOST_TOLERANCES] = {{.exact = true}};
    struct evaluator *ev = evaluator_start(&task, dev, runners, none, caller, d);
    if (!ev || make_reference(ev, p, inputs->data, inputs->seed, d)) return ev;
    evaluator_free(ev);
    return NULL;
}

struct evaluator *evaluator_new_for(const struct problem *p, const struct device *dev, unsigned runners,
                                    const struct eval_inputs *inputs, const struct eval_caller *caller,
                                    struct diag *d)
{
    if (!fits_device(p, dev, d)) return NULL;
    struct verify_task *task = verify_task_of(p->backbone, inputs->data, inputs->seed, d);
    return task ? start(task, p, dev, inputs, runners, caller, d) : NULL;
}

struct evaluator *evaluator_new(const struct problem *p, const struct device *dev, unsigned runners,
                                uint64_t seed, struct diag *d)
{
    return evaluator_new_for(p, dev, runners, &(struct eval_inputs){.seed = seed}, NULL, d);
}
