/* The reference of a problem: inputs are drawn, the naive kernel computes the outputs for them, and the Lift
 * interpreter checks a sample of these. Every candidate's outputs are compared with this reference. */
#include <pthread.h>
#include <stdatomic.h>

#include "agent/evaluate_state.h"
#include "agent/fits.h"
#include "agent/verify_interpret.h"
#include "core/backbone/matrix.h"
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

/* The reference from a kernel, or a sequence of kernels. */
static bool run_reference(struct evaluator *ev, const struct cg_kernel *naive, struct diag *d)
{
    struct evaluation e;
    evaluate_alone(ev, RUNNER_REFERENCE, naive, &(struct eval_settings){0}, &e);
    if (e.status != EVAL_OK)
        diag_plain(d, "the naive kernel failed: %s: %s", eval_status_name(e.status), e.message);
    return e.status == EVAL_OK;
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
    bool ok = run_reference(ev, &naive.kernel, d);
    pipeline_code_clear(&naive);
    return ok;
}

/* The thread that checks. It reads the task with its reference, which nobody writes meanwhile, and writes the
 * tolerances, which nobody reads before it is done, the diagnostics, and what the interpreter notes: while a
 * runner is forked, it notes nothing (verify_known_hold()). */
struct checking {
    struct evaluator *ev;
    const struct eval_inputs *inputs;
    struct diag *diag;
    bool ok;
    atomic_bool done;
};

static void *check_body(void *ctx)
{
    struct checking *c = ctx;
    const struct given *data = c->inputs->data;
    struct verify_tolerance *tolerance = c->ev->tolerance;
    c->ok = verify_reference(c->ev->task, c->inputs->seed, tolerance, c->diag);
    if (c->ok) {
        verify_state(c->ev->task, data, tolerance);
        c->ok = verify_expected(c->ev->task, data, tolerance, c->diag);
    }
    atomic_store(&c->done, true);
    return NULL;
}

/* Whether the interpreter takes long for one element. Runners are then started afterwards: they inherit what
 * it has found out, and need not do it again. */
static bool has_long_elements(const struct verify_task *t)
{
    bool any = false;
    for (unsigned k = 0; !any && k < verify_outputs(t); k++)
        any = verify_work(t, verify_output(t, k)) > AGENT_LONG_ELEMENT;
    return any;
}

/* Checks the reference and sets the tolerances; with the user's data, what the user expects. That takes a
 * second or two of large programs; meanwhile the other runners start. */
static bool check_reference(struct evaluator *ev, const struct eval_inputs *inputs, struct diag *d)
{
    struct checking c = {.ev = ev, .inputs = inputs, .diag = d};
    pthread_t thread;
    bool apart = !has_long_elements(ev->task) && !pthread_create(&thread, NULL, check_body, &c);
    if (!apart) check_body(&c);
    while (!atomic_load(&c.done))
        evaluate_step(ev, AGENT_CHECK_LOOK_MS);
    if (apart) pthread_join(thread, NULL);
    return c.ok;
}

/* The evaluator of a task, which is consumed; it has no reference yet. */
static struct evaluator *start(struct verify_task *task, const struct device *dev, unsigned runners,
                               const struct eval_caller *caller, struct diag *d)
{
    static const struct verify_tolerance none[VERIFY_MOST_TOLERANCES] = {{.exact = true}};
    return task ? evaluator_start(&task, dev, runners, none, caller, d) : NULL;
}

struct evaluator *evaluator_new_for(const struct problem *p, const struct device *dev, unsigned runners,
                                    const struct eval_inputs *inputs, const struct eval_caller *caller,
                                    struct diag *d)
{
    if (!fits_device(p, dev, d)) return NULL;
    bool rounds = bb_may_round_factors(p->backbone, &p->limits);
    struct verify_task *task = verify_task_of(p->backbone, rounds, inputs->data, inputs->seed, d);
    struct evaluator *ev = start(task, dev, runners, caller, d);
    if (!ev || (fill_reference(ev, p, d) && check_reference(ev, inputs, d))) return ev;
    evaluator_free(ev);
    return NULL;
}

struct evaluator *evaluator_new_of_sequence(const struct lift_program *p, const struct cg_kernel *naive,
                                            const struct device *dev, const struct eval_inputs *inputs,
                                            const struct eval_caller *caller, struct diag *d)
{
    struct verify_task *task =
        verify_task_of_program(p, inputs->rounds_factors, inputs->data, inputs->seed, d);
    struct evaluator *ev = start(task, dev, 1, caller, d);
    if (!ev || (run_reference(ev, naive, d) && check_reference(ev, inputs, d))) return ev;
    evaluator_free(ev);
    return NULL;
}

struct evaluator *evaluator_new(const struct problem *p, const struct device *dev, unsigned runners,
                                uint64_t seed, struct diag *d)
{
    return evaluator_new_for(p, dev, runners, &(struct eval_inputs){.seed = seed}, NULL, d);
}
