/* One job of a runner: build, first launch, growing prefixes, verification, measurement (README.md, "A
 * job").
 *
 *     build, make machine code     other runners build meanwhile
 *     READY, GO                    from here on the device is this runner's alone
 *     prefixes of the work-groups  a hopeless kernel is cut after a few of them
 *     runs on the sets of inputs   runner_verify.c
 *     a batch of 3 to 40 launches  near the best a second one, after another READY and GO
 *     runs on the extreme sets     of what is not far from the best, where one is known
 *
 * A launch over 200 ms on the timing inputs is the batch. */
#include "agent/limits.h"
#include "agent/runner_foreign.h"

#include <stdlib.h>
#include <string.h>

#include "agent/opencl.h"
#include "agent/pocl_folder.h"
#include "core/base/arena.h"
#include "core/base/stats.h"
#include "core/base/strbuf.h"

/* ---- build ---- */

static void explain_build(struct job *j, cl_int error)
{
    size_t bytes = 0;
    char *log = NULL;
    cl_device_id device = j->runner->device;
    clGetProgramBuildInfo(j->program, device, CL_PROGRAM_BUILD_LOG, 0, NULL, &bytes);
    if (bytes > 0 && bytes <= AGENT_LOG_BYTES) {
        log = base_calloc(bytes + 1, 1);
        clGetProgramBuildInfo(j->program, device, CL_PROGRAM_BUILD_LOG, bytes, log, NULL);
    }
    runner_fail(j, runner_status(error, EVAL_BUILD_ERROR), "%s: %s", opencl_error_name(error),
                log ? log : "no build log");
    if (!j->runner->gpu)
        j->result.full = pocl_folder_explain(NULL, j->result.evaluation.message, EVAL_MESSAGE);
    free(log);
}

static bool build_program(struct job *j, const char *options)
{
    cl_int error;
    j->program = clCreateProgramWithSource(j->runner->context, 1, &j->source, NULL, &error);
    if (error) return runner_fail(j, EVAL_BUILD_ERROR, "%s", opencl_error_name(error));
    error = clBuildProgram(j->program, 1, &j->runner->device, options, NULL, NULL);
    if (error) explain_build(j, error);
    return !error;
}

/* Builds the program, or takes the one of an earlier round. */
static bool find_program(struct job *j)
{
    struct runner_programs *kept = &j->runner->programs;
    struct strbuf options = {0};
    bool round = j->set.mode == RUNNER_ROUND, ok = true;
    strbuf_printf(&options, "%s%s", j->set.foreign ? j->options : "-cl-std=CL1.2",
                  j->set.unoptimized ? " -cl-opt-disable" : "");
    j->program = round ? runner_programs_find(kept, options.text, j->source) : NULL;
    if (!j->program) {
        ok = build_program(j, options.text);
        if (ok && round) runner_programs_keep(kept, j->program, options.text, j->source);
    }
    j->kept = ok && round;
    strbuf_free(&options);
    return ok;
}

static bool build(struct job *j)
{
    cl_int error;
    if (!find_program(j)) return false;
    for (unsigned i = 0; i < j->set.n_steps; i++) {
        j->kernels[i].kernel = clCreateKernel(j->program, j->names[i], &error);
        if (error)
            return runner_fail(j, EVAL_BUILD_ERROR, "cannot create kernel %s: %s", j->names[i],
                               opencl_error_name(error));
    }
    j->launch.kernel = j->kernels[0].kernel;
    return !j->set.foreign || runner_check_arguments(j);
}

/* Once the first launch has made the machine code. */
static void ask_resources(struct job *j)
{
    struct eval_resources *r = &j->result.evaluation.resources;
    cl_device_id device = j->runner->device;
    cl_ulong local = 0, private_bytes = 0;
    size_t items = 0;
    clGetKernelWorkGroupInfo(j->launch.kernel, device, CL_KERNEL_LOCAL_MEM_SIZE, sizeof local, &local, NULL);
    clGetKernelWorkGroupInfo(j->launch.kernel, device, CL_KERNEL_PRIVATE_MEM_SIZE, sizeof private_bytes,
                             &private_bytes, NULL);
    clGetKernelWorkGroupInfo(j->launch.kernel, device, CL_KERNEL_WORK_GROUP_SIZE, sizeof items, &items, NULL);
    *r = (struct eval_resources){local, private_bytes, items};
}

/* The temporary of a sequence that an earlier argument is, too; NULL: there is none. */
static const struct guarded *known_temporary(const struct job *j, unsigned arg)
{
    for (unsigned i = 0; j->args[arg].buffer != BB_NONE && i < arg; i++)
        if (j->args[i].buffer == j->args[arg].buffer) return &j->temporaries[i];
    return NULL;
}

static bool make_temporaries(struct job *j)
{
    for (unsigned i = 0; i < j->set.n_args; i++) {
        if (j->args[i].buffer < j->runner->task->n_buffers) continue;
        const struct guarded *known = known_temporary(j, i);
        if (known) {
            j->temporaries[i].view = known->view;
            continue;
        }
        cl_int error = guarded_new(j->runner->context, j->args[i].bytes, 1, &j->temporaries[i]);
        if (error)
            return runner_fail(j, runner_status(error, EVAL_LAUNCH_ERROR),
                               "cannot allocate a temporary of %zu bytes: %s", j->args[i].bytes,
                               opencl_error_name(error));
    }
    return true;
}

/* ---- launches ---- */

/* Sets the result of a launch that failed or took longer than limit_ns; returns false. `what` begins the
 * message. */
static bool explain(struct job *j, struct measure_result m, double limit_ns, const char *what)
{
    if (m.end == MEASURE_FAILED)
        return runner_fail(j, runner_status(m.error, EVAL_LAUNCH_ERROR), "%s: %s", what,
                           opencl_error_name(m.error));
    enum eval_status status = j->set.settings.best_ns > 0 ? EVAL_CUT : EVAL_TIMEOUT;
    if (m.of > 0)
        runner_fail(j, status, "time limit exceeded: %zu of %zu work-groups take more than %.3g ms", m.groups,
                    m.of, limit_ns * 1e-6);
    else
        runner_fail(j, status, "time limit exceeded: %s takes more than %.3g ms", what, limit_ns * 1e-6);
    j->result.retire = m.end == MEASURE_OVERDUE;
    return false;
}

/* The host's patience with one launch. */
static double patience(const struct job *j)
{
    for (int i = 0; i < 3; i++)
        if (!j->launch.free_local && j->launch.global[i] / j->launch.local[i] > 65535)
            return j->set.limit_ns + AGENT_WIDE_GRID_NS;
    return j->set.limit_ns;
}

bool runner_launch(struct job *j)
{
    struct measure_result m = measure_once(&j->launch, j->launch.global, patience(j));
    if (m.end != MEASURE_DONE || m.ns > j->set.limit_ns) return explain(j, m, j->set.limit_ns, "the launch");
    j->launch_ns = m.ns;
    runner_say_alive(j->runner);
    return true;
}

static size_t count_groups(const struct measure_launch *l)
{
    size_t n = 1;
    for (int i = 0; i < 3; i++)
        n *= l->global[i] / l->local[i];
    return n;
}

/* The launches of the kernels that follow in a sequence, one work-group of each; a device that chooses the
 * size of a group is given the whole. */
static bool warm_up_more(struct job *j, double limit_ns)
{
    for (unsigned i = 1; i < j->set.n_steps; i++) {
        const struct measure_step *s = &j->kernels[i];
        struct measure_launch l = j->launch;
        l.kernel = s->kernel;
        l.free_local = s->free_local;
        l.n_more = 0;
        memcpy(l.local, s->local, sizeof l.local);
        struct measure_result m = measure_first(&l, s->free_local ? s->global : s->local, limit_ns);
        if (m.end != MEASURE_DONE) return explain(j, m, limit_ns, "the first launch");
    }
    return true;
}

/* The launch that some drivers make machine code at, before the device lock: one work-group. Where the device
 * chooses the size of a group it would choose another for a part; there it is the whole, on a CPU, but not in
 * rounds, in which such a launch may take long and nothing else builds. A user's text may ask how many groups
 * there are, and is launched as a whole, too. Others build meanwhile. A kernel of one work-group, as naive
 * sums are, may take long as a whole: in rounds, and as the reference, it has no launch before those that
 * count; making machine code is no part of a launch by the device's clock. */
static bool warm_up(struct job *j)
{
    const struct measure_launch *l = &j->launch;
    bool whole = l->free_local || j->set.foreign;
    if (whole && (j->runner->gpu || j->set.mode == RUNNER_ROUND)) return true;
    if (!whole && count_groups(l) == 1 && j->set.n_steps == 1 && j->set.mode != RUNNER_EVALUATE) return true;
    double limit = AGENT_DISTURBED * j->set.limit_ns, with_code = j->set.limit_ns + AGENT_WARM_UP_NS;
    struct measure_launch first = *l;
    first.n_more = 0;
    struct measure_result m = measure_first(&first, whole ? l->global : l->local, with_code);
    if (m.end == MEASURE_OVERDUE)
        return explain(j, m, with_code, "the first launch, with code generation by the driver,");
    m.groups = 1;
    m.of = whole ? 0 : count_groups(l);
    if (m.end != MEASURE_DONE || m.ns > limit) return explain(j, m, limit, "the first launch");
    return warm_up_more(j, with_code);
}

/* ---- measuring ---- */

/* The time of a round, or of one launch. */
static void set_span(struct evaluation *e, double ns)
{
    e->n_samples = 1;
    e->samples_ns[0] = e->median_ns = ns;
}

static bool take_batch(struct job *j, struct evaluation *e)
{
    const struct eval_settings *s = &j->set.settings;
    unsigned n = measure_batch_size(j->launch_ns, s->batch_ns, s->best_ns);
    double limit = 4 * n * (j->launch_ns > 1e6 ? j->launch_ns : 1e6) + 1e9;
    if (!runner_bind_timed(j)) return false;
    j->launch.expected_ns = j->runner->gpu ? 0 : j->launch_ns; /* a GPU is not slower for looks */
    j->launch.hold = j->launch_ns < AGENT_HELD_NS ? &j->runner->hold : NULL;
    struct measure_result m = measure_batch(&j->launch, n, limit, e->samples_ns);
    if (m.end != MEASURE_DONE) return explain(j, m, limit, "a batch");
    e->n_samples = n;
    e->median_ns = stats_median(e->samples_ns, n);
    if (j->set.mode == RUNNER_ROUND) set_span(e, m.ns);
    return true;
}

/* A second batch in a later window for what is within 2x of the best; the lower median counts. A long launch
 * has its time from the launch that sizes the batch. */
static bool measure(struct job *j)
{
    struct evaluation *e = &j->result.evaluation;
    if (j->launch_ns >= AGENT_LONG_NS) {
        set_span(e, j->launch_ns);
        return true;
    }
    if (!take_batch(j, e)) return false;
    double best = j->set.settings.best_ns;
    if (j->set.mode != RUNNER_EVALUATE || !(best > 0) || e->median_ns > AGENT_NEAR_BEST * best) return true;
    j->launch_ns = e->median_ns;
    runner_await_lock(j->runner);
    struct evaluation again = {.status = EVAL_OK, .resources = e->resources};
    if (!take_batch(j, &again)) return false;
    if (again.median_ns < e->median_ns) *e = again;
    return true;
}

/* ---- the job ---- */

static bool make_reference(struct job *j)
{
    verify_protect(j->runner->task, true);
    bool ok = runner_verify(j);
    verify_protect(j->runner->task, false);
    return ok;
}

static bool verify_and_measure(struct job *j)
{
    struct evaluation *e = &j->result.evaluation;
    if (!runner_verify(j)) return false;
    if (j->set.settings.untimed) return true;
    if (measure(j) && runner_verify_timed(j)) return true;
    e->n_samples = 0;
    e->median_ns = 0;
    return false;
}

static bool run(struct job *j)
{
    if (j->set.mode == RUNNER_REFERENCE) return make_reference(j);
    if (j->set.foreign || j->set.n_steps > 1) return verify_and_measure(j);
    struct measure_result m = measure_prefixes(&j->launch, j->set.limit_ns);
    if (m.end != MEASURE_DONE || m.ns > j->set.limit_ns)
        return explain(j, m, j->set.limit_ns, "a launch of some of the work-groups");
    return verify_and_measure(j);
}

void runner_work(struct job *j)
{
    bool ok = build(j) && make_temporaries(j) && runner_bind(j, VERIFY_EXACT) && warm_up(j);
    if (!ok) return;
    ask_resources(j);
    runner_await_lock(j->runner);
    run(j);
}
