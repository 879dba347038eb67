/* Verification in a runner: the kernel is run once on each set of inputs, and each output is compared with
 * the reference.
 *
 *     | zone | 5a ff 5a ff ... the output, no result has these bytes ... | zone |
 *
 * Output buffers and temporaries lie between guard zones. Before each run outputs are filled with bytes that
 * no result has, temporaries with NaN or, on the extreme sets, with large numbers, which a maximum or minimum
 * does not pass over as it does NaN. After it the zones must be as they were and every output written. */
#include "agent/runner_state.h"

#include <string.h>

#include "agent/opencl.h"

enum { FIXED_EXTREMES = 4 }; /* sets on which every kernel is verified */
static const double EXTREMES_NS =
    100e6; /* for launches on the extreme sets; the first four run in any case */

bool runner_bind(struct job *j, unsigned set)
{
    struct runner *r = j->runner;
    for (unsigned i = 0; i < j->set.n_args; i++) {
        uint32_t b = j->args[i].buffer;
        cl_mem m = b == BB_NONE                 ? j->temporaries[i].view
                   : r->task->buffers[b].output ? r->outputs[b].view
                                                : r->inputs[b][set];
        cl_int error = clSetKernelArg(j->launch.kernel, i, sizeof m, &m);
        if (error)
            return runner_fail(j, EVAL_LAUNCH_ERROR, "cannot set argument %u: %s", i,
                               opencl_error_name(error));
    }
    return true;
}

/* Bytes that make a NaN of every type, or a large number of either sign. */
static int temporary_fill(unsigned set)
{
    if (set < VERIFY_EXTREME) return 0xff;
    return set % 2 ? 0xfb : 0x7b;
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
    }
    memset(fill, temporary_fill(set), sizeof fill);
    for (unsigned i = 0; !error && i < j->set.n_args; i++)
        if (j->temporaries[i].whole) error = guarded_fill(r->queue, &j->temporaries[i], fill);
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

static bool read_output(struct job *j, unsigned b, void *to)
{
    struct runner *r = j->runner;
    cl_int error =
        clEnqueueReadBuffer(r->queue, r->outputs[b].view, CL_TRUE, 0, r->outputs[b].bytes, to, 0, NULL, NULL);
    return !error ||
           runner_fail(j, EVAL_LAUNCH_ERROR, "cannot read the output: %s", opencl_error_name(error));
}

static bool explain_wrong(struct job *j, const struct verify_buffer *v, unsigned set, int64_t at)
{
    const char *inputs = set == VERIFY_EXACT ? "exact" : set == VERIFY_TIMING ? "timing" : "extreme";
    const void *got = j->runner->scratch;
    if (verify_unwritten(v->type, got, at))
        return runner_fail(j, EVAL_WRONG_RESULT, "output %lld is not written (%s inputs)", (long long)at,
                           inputs);
    return runner_fail(j, EVAL_WRONG_RESULT, "output %lld is %.9g, expected %.9g (%s inputs)", (long long)at,
                       verify_get(v->type, got, at), verify_get(v->type, v->data[set], at), inputs);
}

static bool check_output(struct job *j, unsigned b, unsigned set)
{
    const struct verify_buffer *v = &j->runner->task->buffers[b];
    if (!read_output(j, b, j->runner->scratch)) return false;
    const struct verify_tolerance tolerance = j->set.tolerance[set];
    int64_t at = verify_compare(v, set, j->runner->scratch, tolerance);
    if (at < 0)
        at = verify_judge(j->runner->task, set, j->runner->scratch, tolerance, runner_say_alive, j->runner);
    return at < 0 || explain_wrong(j, v, set, at);
}

static bool run_set(struct job *j, unsigned set)
{
    const struct verify_task *t = j->runner->task;
    if (!runner_bind(j, set) || !fill_outputs(j, set) || !runner_launch(j) || !check_zones(j)) return false;
    for (unsigned b = 0; b < t->n_buffers; b++) {
        if (!t->buffers[b].output) continue;
        bool keep = j->set.mode == RUNNER_REFERENCE;
        if (!(keep ? read_output(j, b, t->buffers[b].data[set]) : check_output(j, b, set))) return false;
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

/* All sets of inputs, the timing inputs last: their launch is the one that a batch is sized by. */
bool runner_verify(struct job *j)
{
    bool only_run = j->set.mode != RUNNER_REFERENCE && !j->set.settings.verify;
    if (only_run) return runner_bind(j, VERIFY_TIMING) && runner_launch(j);
    return run_set(j, VERIFY_EXACT) && run_extremes(j) && run_set(j, VERIFY_TIMING);
}
