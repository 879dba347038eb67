/* Verification in a runner: the kernel is run once on each set of inputs, and each output is compared with
 * the reference.
 *
 *     | zone | 5a ff 5a ff ... the output, no result has these bytes ... | zone |
 *
 * Output buffers and temporaries lie between guard zones. Before each run outputs are filled with bytes that
 * no result has, temporaries with NaN or, on the extreme sets, with large numbers, which a maximum or minimum
 * does not pass over as it does NaN, and counters with 0. After it the zones must be as they were and every
 * output written. */
#include "agent/runner_foreign.h"

#include <stdio.h>
#include <string.h>

#include "agent/opencl.h"
#include "agent/verify_judge.h"

enum { FIXED_EXTREMES = 4 }; /* sets on which every kernel is verified */
static const double EXTREMES_NS =
    100e6; /* for launches on the extreme sets; the first four run in any case */

/* Argument i of the job is `number` of a kernel. */
static cl_int bind_argument(struct job *j, cl_kernel kernel, unsigned number, unsigned i, unsigned set)
{
    struct runner *r = j->runner;
    uint32_t b = j->args[i].buffer;
    const struct verify_buffer *v = b < r->task->n_buffers ? &r->task->buffers[b] : NULL;
    if (v && v->by_value) return clSetKernelArg(kernel, number, v->bytes, verify_values(v, set));
    cl_mem m = !v ? j->temporaries[i].view : v->output ? r->outputs[b].view : r->inputs[b][set];
    return clSetKernelArg(kernel, number, sizeof m, &m);
}

/* values: the set of the scalars. */
static bool bind_arguments(struct job *j, unsigned set, unsigned values)
{
    unsigned step = 0, number = 0;
    for (unsigned i = 0; i < j->set.n_args; i++, number++) {
        for (; number == j->steps[step].n_args; step++)
            number = 0;
        cl_int error =
            bind_argument(j, j->kernels[step].kernel, number, i, j->args[i].by_value ? values : set);
        if (error)
            return runner_fail(j, EVAL_LAUNCH_ERROR, "cannot set argument %u: %s", number,
                               opencl_error_name(error));
    }
    return true;
}

bool runner_bind(struct job *j, unsigned set)
{
    return bind_arguments(j, set, set);
}

/* ---- outputs before a run ---- */

/* Enqueues the values that an updated array has before a run. */
static cl_int restore(struct runner *r, unsigned b, unsigned set)
{
    return clEnqueueCopyBuffer(r->queue, r->inputs[b][set], r->outputs[b].view, 0, 0, r->outputs[b].bytes, 0,
                               NULL, NULL);
}

bool runner_bind_timed(struct job *j)
{
    struct runner *r = j->runner;
    cl_int error = CL_SUCCESS;
    bool updates = false;
    for (unsigned b = 0; !error && b < r->task->n_buffers; b++) {
        if (!r->task->buffers[b].updated) continue;
        updates = true;
        error = restore(r, b, VERIFY_EXACT);
    }
    if (updates && !error) error = clFinish(r->queue);
    if (error)
        return runner_fail(j, runner_status(error, EVAL_LAUNCH_ERROR), "cannot restore an input: %s",
                           opencl_error_name(error));
    return bind_arguments(j, VERIFY_TIMING, updates ? VERIFY_EXACT : VERIFY_TIMING);
}

/* Bytes that make a NaN of every type, or a large number of either sign. */
static int temporary_fill(unsigned set)
{
    if (set < VERIFY_EXTREME) return 0xff;
    return set % 2 ? 0xfb : 0x7b;
}

/* Launches of some of the groups leave counters at other numbers than 0. */
static bool clear_counters(struct job *j)
{
    static const unsigned char zeros[GUARDED_FILL] = {0};
    cl_int error = CL_SUCCESS;
    for (unsigned i = 0; !error && i < j->set.n_args; i++)
        if (j->args[i].zero && j->temporaries[i].whole)
            error = guarded_fill(j->runner->queue, &j->temporaries[i], zeros);
    if (!error) error = clFinish(j->runner->queue);
    return !error || runner_fail(j, runner_status(error, EVAL_LAUNCH_ERROR), "cannot clear counters: %s",
                                 opencl_error_name(error));
}

static bool fill_outputs(struct job *j, unsigned set)
{
    struct runner *r = j->runner;
    cl_int error = CL_SUCCESS;
    unsigned char fill[GUARDED_FILL];
    for (unsigned b = 0; !error && b < r->task->n_buffers; b++) {
        if (!r->task->buffers[b].output) continue;
        verify_fill(r->task->buffers[b].type, set, fill);
        error = guarded_fill(r->queue, &r->outputs[b], fill);
        if (!error && r->task->buffers[b].updated) error = restore(r, b, set);
    }
    for (unsigned i = 0; !error && i < j->set.n_args; i++) {
        memset(fill, j->args[i].zero ? 0 : temporary_fill(set), sizeof fill);
        if (j->temporaries[i].whole) error = guarded_fill(r->queue, &j->temporaries[i], fill);
    }
    if (!error) error = clFinish(r->queue);
    return !error || runner_fail(j, runner_status(error, EVAL_LAUNCH_ERROR), "cannot fill the outputs: %s",
                                 opencl_error_name(error));
}

static bool check_zones(struct job *j)
{
    struct runner *r = j->runner;
    for (unsigned b = 0; b < r->task->n_buffers; b++)
        if (r->task->buffers[b].output && !guarded_intact(r->queue, &r->outputs[b], r->scratch))
            return runner_fail(j, EVAL_WRONG_RESULT, "the kernel writes outside the output (buffer %u)", b);
    for (unsigned i = 0; i < j->set.n_args; i++)
        if (j->temporaries[i].whole && !guarded_intact(r->queue, &j->temporaries[i], r->scratch))
            return runner_fail(j, EVAL_WRONG_RESULT, "the kernel writes outside a temporary (argument %u)",
                               i);
    return true;
}

static bool cannot_read(struct job *j, cl_int error)
{
    return runner_fail(j, EVAL_LAUNCH_ERROR, "cannot read the output: %s", opencl_error_name(error));
}

static bool read_output(struct job *j, unsigned b, void *to)
{
    struct runner *r = j->runner;
    cl_int error =
        clEnqueueReadBuffer(r->queue, r->outputs[b].view, CL_TRUE, 0, r->outputs[b].bytes, to, 0, NULL, NULL);
    return !error || cannot_read(j, error);
}

static bool explain_wrong(struct job *j, const struct verify_check *c)
{
    const struct verify_buffer *v = c->b;
    const unsigned set = c->set;
    const int64_t at = c->at;
    const char *inputs = set == VERIFY_EXACT ? "exact" : set == VERIFY_TIMING ? "timing" : "extreme";
    char element[80];
    if (v->name && verify_outputs(j->runner->task) > 1)
        snprintf(element, sizeof element, "output %.40s[%lld]", v->name, (long long)at);
    else
        snprintf(element, sizeof element, "output %lld", (long long)at);
    if (verify_unwritten(v->type, c->got, 0))
        return runner_fail(j, EVAL_WRONG_RESULT, "%s is not written (%s inputs)", element, inputs);
    return runner_fail(j, EVAL_WRONG_RESULT, "%s is %.9g, expected %.9g (%s inputs)", element,
                       verify_get(v->type, c->got, 0), verify_get(v->type, v->data[set], at), inputs);
}

static bool take_part(void *ctx, const void *part, size_t bytes)
{
    struct verify_check *c = ctx;
    return verify_check_part(c, part, (int64_t)(bytes / scalar_type_bytes(c->b->type)));
}

/* k: which of the outputs buffer b is. */
static bool check_output(struct job *j, unsigned k, unsigned b, unsigned set)
{
    struct runner *r = j->runner;
    const struct verify_tolerance tolerance = j->set.tolerance[k * r->task->n_sets + set];
    struct verify_check c = verify_check_of(r->task, b, set, tolerance, runner_say_alive, r);
    cl_int error = download(&r->download, r->outputs[b].view, r->outputs[b].bytes, take_part, &c);
    bool ok = !error && c.at < 0 && verify_check_end(&c);
    verify_check_free(&c);
    if (error) return cannot_read(j, error);
    return ok || explain_wrong(j, &c);
}

static bool run_set(struct job *j, unsigned set)
{
    const struct verify_task *t = j->runner->task;
    if (!runner_bind(j, set) || !fill_outputs(j, set) || !runner_launch(j) || !check_zones(j)) return false;
    if (j->set.foreign && !runner_check_inputs(j, set)) return false;
    for (unsigned k = 0; k < verify_outputs(t); k++) {
        unsigned b = verify_output(t, k);
        bool keep = j->set.mode == RUNNER_REFERENCE;
        if (!(keep ? read_output(j, b, t->buffers[b].data[set]) : check_output(j, k, b, set))) return false;
    }
    return true;
}

/* How many of the n extreme sets there is time for: all of them where a launch takes a few ms or the job asks
 * for them. */
static unsigned affordable(const struct job *j, unsigned n)
{
    double most = EXTREMES_NS / j->launch_ns;
    if (j->set.mode == RUNNER_REFERENCE || j->set.settings.thorough || most >= n) return n;
    return most < FIXED_EXTREMES ? FIXED_EXTREMES : (unsigned)most;
}

/* The first four extreme sets, and as many of the others as there is time for, from job to job other ones. */
static bool run_extremes(struct job *j)
{
    unsigned n = j->runner->task->n_sets - VERIFY_EXTREME;
    for (unsigned i = 0, most = n ? affordable(j, n) : 0; i < most; i++) {
        unsigned k = i < FIXED_EXTREMES
                         ? i
                         : FIXED_EXTREMES +
                               (unsigned)((j->set.turn * (most - FIXED_EXTREMES) + i) % (n - FIXED_EXTREMES));
        if (!run_set(j, VERIFY_EXTREME + k)) return false;
    }
    return true;
}

/* Whether a job is timed before it runs on the extreme sets: these tell nothing of a kernel that is far from
 * the best. */
static bool is_timed_first(const struct job *j)
{
    const struct eval_settings *s = &j->set.settings;
    return j->set.mode == RUNNER_EVALUATE && s->verify && s->best_ns > 0 && !s->untimed && !s->thorough;
}

/* The timing inputs come last: their launch is the one that a batch is sized by. */
bool runner_verify(struct job *j)
{
    bool only_run = j->set.mode != RUNNER_REFERENCE && !j->set.settings.verify;
    if (only_run) return clear_counters(j) && runner_bind_timed(j) && runner_launch(j);
    return run_set(j, VERIFY_EXACT) && (is_timed_first(j) || run_extremes(j)) && run_set(j, VERIFY_TIMING);
}

bool runner_verify_timed(struct job *j)
{
    bool far = j->result.evaluation.median_ns > AGENT_FAR * j->set.settings.best_ns;
    return !is_timed_first(j) || far || run_extremes(j);
}
