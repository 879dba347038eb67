/* A runner process: context, buffers, and one job after the other: build, verify, measure (design page
 * `distribution`, "The agent"). Single-threaded but for what the driver starts.
 *
 * Output buffers and temporaries lie between guard zones. Before each verified run outputs are filled with
 * bytes that no result has, temporaries with NaN or, on the extreme sets, with large numbers, which a maximum
 * or minimum does not pass over as it does NaN. Zones and outputs are compared after the run. A run that ends
 * badly retires the process: a wild store may have damaged the heap or an input. */
#include "agent/runner.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/cache.h"
#include "agent/child.h"
#include "agent/guarded.h"
#include "agent/measure.h"
#include "agent/opencl.h"
#include "agent/pocl_folder.h"
#include "agent/retire.h"
#include "core/base/arena.h"
#include "core/base/attr.h"
#include "core/base/stats.h"

enum { FIXED_EXTREMES = 4 }; /* sets on which every kernel is verified */
enum { MAX_ARGS = 64, BUILD_LOG = 1 << 20 /* bytes of a log that is looked at, at most */ };
static const double WARM_UP_NS = 3e9;   /* of processor time, for making machine code at the first launch */
static const double DISTURBED = 3;      /* how much longer a launch may take while others build */
static const double WIDE_GRID_NS = 1e9; /* some drivers make it again for very many groups */
static const double EXTREMES_NS =
    100e6;                          /* for launches on the extreme sets; the first four run in any case */
static const double HELD_NS = 50e3; /* shorter launches may be over before the host has the next one */

struct runner {
    int fd;
    const struct verify_task *task;
    cl_device_id device;
    bool gpu;
    size_t resident; /* work-groups that run at once, at most */
    cl_context context;
    cl_command_queue queue;
    struct measure_hold hold;           /* on a GPU: while a CPU is held, its host enqueues nothing */
    cl_mem (*inputs)[VERIFY_MOST_SETS]; /* [n_buffers] */
    struct guarded *outputs;            /* [n_buffers] */
    unsigned char *scratch;             /* the largest output, or a guard zone */
    struct retire retire;
};

struct job {
    struct runner *runner;
    struct runner_job set;
    struct cg_arg args[MAX_ARGS];
    const char *name, *source;
    struct guarded temporaries[MAX_ARGS];
    cl_program program;
    struct measure_launch launch;
    double launch_ns; /* of the whole kernel */
    struct runner_result result;
};

BASE_PRINTF(3, 4) static bool fail(struct job *j, enum eval_status status, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    vsnprintf(j->result.evaluation.message, EVAL_MESSAGE, fmt, args);
    va_end(args);
    j->result.evaluation.status = status;
    j->result.retire = status != EVAL_BUILD_ERROR && status != EVAL_CUT;
    return false;
}

/* ---- buffers ---- */

int64_t runner_bytes(int64_t bytes, bool output, unsigned sets)
{
    return output ? bytes + 2 * GUARDED_ZONE : sets * bytes;
}

static cl_int make_inputs(struct runner *r, unsigned b)
{
    cl_int error = CL_SUCCESS;
    const struct verify_buffer *v = &r->task->buffers[b];
    for (unsigned set = 0; !error && set < r->task->n_sets; set++)
        r->inputs[b][set] = clCreateBuffer(r->context, CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR, v->bytes,
                                           v->data[set], &error);
    return error;
}

static cl_int make_buffers(struct runner *r)
{
    size_t largest = GUARDED_ZONE;
    cl_int error = CL_SUCCESS;
    r->inputs = base_calloc(r->task->n_buffers, sizeof *r->inputs);
    r->outputs = base_calloc(r->task->n_buffers, sizeof *r->outputs);
    for (unsigned b = 0; !error && b < r->task->n_buffers; b++) {
        const struct verify_buffer *v = &r->task->buffers[b];
        if (v->bytes > largest) largest = v->bytes;
        error = v->output ? guarded_new(r->context, v->bytes, scalar_type_bytes(v->type), &r->outputs[b])
                          : make_inputs(r, b);
    }
    r->scratch = base_malloc(largest);
    return error;
}

/* ---- build ---- */

static void explain_build(struct job *j, cl_int error)
{
    size_t bytes = 0;
    char *log = NULL;
    cl_device_id device = j->runner->device;
    clGetProgramBuildInfo(j->program, device, CL_PROGRAM_BUILD_LOG, 0, NULL, &bytes);
    if (bytes > 0 && bytes <= BUILD_LOG) {
        log = base_calloc(bytes + 1, 1);
        clGetProgramBuildInfo(j->program, device, CL_PROGRAM_BUILD_LOG, bytes, log, NULL);
    }
    fail(j, EVAL_BUILD_ERROR, "%s: %s", opencl_error_name(error), log ? log : "no build log");
    if (!j->runner->gpu) pocl_folder_explain(NULL, j->result.evaluation.message, EVAL_MESSAGE);
    free(log);
}

static bool build(struct job *j)
{
    struct runner *r = j->runner;
    cl_int error;
    j->program = clCreateProgramWithSource(r->context, 1, &j->source, NULL, &error);
    if (error) return fail(j, EVAL_BUILD_ERROR, "%s", opencl_error_name(error));
    error = clBuildProgram(j->program, 1, &r->device, "-cl-std=CL1.2", NULL, NULL);
    if (error) {
        explain_build(j, error);
        return false;
    }
    j->launch.kernel = clCreateKernel(j->program, j->name, &error);
    return !error || fail(j, EVAL_BUILD_ERROR, "no kernel %s: %s", j->name, opencl_error_name(error));
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

static bool make_temporaries(struct job *j)
{
    for (unsigned i = 0; i < j->set.n_args; i++) {
        if (j->args[i].buffer != BB_NONE) continue;
        cl_int error = guarded_new(j->runner->context, j->args[i].bytes, 1, &j->temporaries[i]);
        if (error)
            return fail(j, EVAL_LAUNCH_ERROR, "a temporary of %zu bytes: %s", j->args[i].bytes,
                        opencl_error_name(error));
    }
    return true;
}

static bool bind(struct job *j, unsigned set)
{
    struct runner *r = j->runner;
    for (unsigned i = 0; i < j->set.n_args; i++) {
        uint32_t b = j->args[i].buffer;
        cl_mem m = b == BB_NONE                 ? j->temporaries[i].view
                   : r->task->buffers[b].output ? r->outputs[b].view
                                                : r->inputs[b][set];
        cl_int error = clSetKernelArg(j->launch.kernel, i, sizeof m, &m);
        if (error) return fail(j, EVAL_LAUNCH_ERROR, "argument %u: %s", i, opencl_error_name(error));
    }
    return true;
}

/* ---- running ---- */

static void say_alive(void *ctx)
{
    child_send(((struct runner *)ctx)->fd, RUNNER_ALIVE, NULL, 0);
}

static void await_lock(struct runner *r)
{
    struct child_frame go;
    child_send(r->fd, RUNNER_READY, NULL, 0);
    if (!child_read(r->fd, &go, sizeof go) || go.kind != RUNNER_GO || go.length) _exit(0);
}

/* A launch that ended badly, or took longer than limit_ns. */
static bool explain(struct job *j, struct measure_result m, double limit_ns, const char *what)
{
    if (m.end == MEASURE_FAILED)
        return fail(j, EVAL_LAUNCH_ERROR, "%s: %s", what, opencl_error_name(m.error));
    enum eval_status status = j->set.settings.best_ns > 0 ? EVAL_CUT : EVAL_TIMEOUT;
    if (m.of > 0)
        fail(j, status, "%zu of %zu work-groups take more than %.3g ms", m.groups, m.of, limit_ns * 1e-6);
    else
        fail(j, status, "%s takes more than %.3g ms", what, limit_ns * 1e-6);
    j->result.retire = m.end == MEASURE_OVERDUE;
    return false;
}

/* The host's patience with one launch. */
static double patience(const struct job *j)
{
    for (int i = 0; i < 3; i++)
        if (!j->launch.free_local && j->launch.global[i] / j->launch.local[i] > 65535)
            return j->set.limit_ns + WIDE_GRID_NS;
    return j->set.limit_ns;
}

static bool run_whole(struct job *j)
{
    struct measure_result m = measure_once(&j->launch, j->launch.global, patience(j));
    if (m.end != MEASURE_DONE || m.ns > j->set.limit_ns) return explain(j, m, j->set.limit_ns, "the launch");
    j->launch_ns = m.ns;
    say_alive(j->runner);
    return true;
}

static size_t count_groups(const struct measure_launch *l)
{
    size_t n = 1;
    for (int i = 0; i < 3; i++)
        n *= l->global[i] / l->local[i];
    return n;
}

/* The launch that some drivers make machine code at, before the device lock: one work-group. Where the device
 * chooses the size of a group it would choose another for a part; there it is the whole, on a CPU, but not in
 * rounds, in which such a launch may take long and nothing else builds. Others build meanwhile. */
static bool warm_up(struct job *j)
{
    const struct measure_launch *l = &j->launch;
    if (l->free_local && (j->runner->gpu || j->set.mode == RUNNER_ROUND)) return true;
    double limit = DISTURBED * j->set.limit_ns, with_code = j->set.limit_ns + WARM_UP_NS;
    struct measure_result m = measure_first(l, l->free_local ? l->global : l->local, with_code);
    if (m.end == MEASURE_OVERDUE)
        return explain(j, m, with_code, "the first launch, with making machine code,");
    m.groups = 1;
    m.of = l->free_local ? 0 : count_groups(l);
    return (m.end == MEASURE_DONE && m.ns <= limit) || explain(j, m, limit, "the first launch");
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
    return !error || fail(j, EVAL_LAUNCH_ERROR, "filling the outputs: %s", opencl_error_name(error));
}

static bool check_zones(struct job *j)
{
    struct runner *r = j->runner;
    for (unsigned b = 0; b < r->task->n_buffers; b++)
        if (r->task->buffers[b].output && !guarded_intact(r->queue, &r->outputs[b], r->scratch))
            return fail(j, EVAL_WRONG_RESULT, "a store outside the output (buffer %u)", b);
    for (unsigned i = 0; i < j->set.n_args; i++)
        if (j->temporaries[i].whole && !guarded_intact(r->queue, &j->temporaries[i], r->scratch))
            return fail(j, EVAL_WRONG_RESULT, "a store outside the temporary (argument %u)", i);
    return true;
}

static bool read_output(struct job *j, unsigned b, void *to)
{
    struct runner *r = j->runner;
    cl_int error =
        clEnqueueReadBuffer(r->queue, r->outputs[b].view, CL_TRUE, 0, r->outputs[b].bytes, to, 0, NULL, NULL);
    return !error || fail(j, EVAL_LAUNCH_ERROR, "reading the output: %s", opencl_error_name(error));
}

static bool explain_wrong(struct job *j, const struct verify_buffer *v, unsigned set, int64_t at)
{
    const char *inputs = set == VERIFY_EXACT ? "exact" : set == VERIFY_TIMING ? "timing" : "extreme";
    const void *got = j->runner->scratch;
    if (verify_unwritten(v->type, got, at))
        return fail(j, EVAL_WRONG_RESULT, "output %lld is not written (%s inputs)", (long long)at, inputs);
    return fail(j, EVAL_WRONG_RESULT, "output %lld is %.9g, the reference %.9g (%s inputs)", (long long)at,
                verify_get(v->type, got, at), verify_get(v->type, v->data[set], at), inputs);
}

static bool check_output(struct job *j, unsigned b, unsigned set)
{
    const struct verify_buffer *v = &j->runner->task->buffers[b];
    if (!read_output(j, b, j->runner->scratch)) return false;
    int64_t at = verify_compare(v, set, j->runner->scratch, j->set.tolerance[set]);
    return at < 0 || explain_wrong(j, v, set, at);
}

static bool run_set(struct job *j, unsigned set)
{
    const struct verify_task *t = j->runner->task;
    if (!bind(j, set) || !fill_outputs(j, set) || !run_whole(j) || !check_zones(j)) return false;
    for (unsigned b = 0; b < t->n_buffers; b++) {
        if (!t->buffers[b].output) continue;
        bool keep = j->set.mode == RUNNER_REFERENCE;
        if (!(keep ? read_output(j, b, t->buffers[b].data[set]) : check_output(j, b, set))) return false;
    }
    return true;
}

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
    j->launch.hold = j->launch_ns < HELD_NS ? &j->runner->hold : NULL;
    struct measure_result m = measure_batch(&j->launch, n, limit, e->samples_ns);
    if (m.end != MEASURE_DONE) return explain(j, m, limit, "a batch");
    e->n_samples = n;
    e->median_ns = stats_median(e->samples_ns, n);
    if (j->set.mode == RUNNER_ROUND) set_span(e, m.ns);
    return true;
}

/* A second batch in a later window for what is within 2x of the best; the lower median counts. A long launch
 * of a round has its time from the launch that sizes the batch. */
static bool measure(struct job *j)
{
    struct evaluation *e = &j->result.evaluation;
    if (j->set.mode == RUNNER_ROUND && j->launch_ns >= EVAL_LONG_NS) {
        set_span(e, j->launch_ns);
        return true;
    }
    if (!take_batch(j, e)) return false;
    double best = j->set.settings.best_ns;
    if (j->set.mode != RUNNER_EVALUATE || !(best > 0) || e->median_ns > 2 * best) return true;
    await_lock(j->runner);
    struct evaluation again = {.status = EVAL_OK, .resources = e->resources};
    if (!take_batch(j, &again)) return false;
    if (again.median_ns < e->median_ns) *e = again;
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
static bool verify(struct job *j)
{
    bool only_run = j->set.mode != RUNNER_REFERENCE && !j->set.settings.verify;
    if (only_run) return bind(j, VERIFY_TIMING) && run_whole(j);
    return run_set(j, VERIFY_EXACT) && run_extremes(j) && run_set(j, VERIFY_TIMING);
}

static bool run(struct job *j)
{
    if (j->set.mode == RUNNER_REFERENCE) return verify(j);
    struct measure_result m = measure_prefixes(&j->launch, j->set.limit_ns);
    if (m.end != MEASURE_DONE || m.ns > j->set.limit_ns)
        return explain(j, m, j->set.limit_ns, "a part of the work-groups");
    if (!verify(j)) return false;
    return j->set.settings.untimed || measure(j);
}

static void work(struct job *j)
{
    bool ok = build(j) && make_temporaries(j) && bind(j, VERIFY_EXACT) && warm_up(j);
    if (!ok) return;
    ask_resources(j);
    await_lock(j->runner);
    run(j);
}

static void job_clean(struct job *j)
{
    for (unsigned i = 0; i < j->set.n_args; i++)
        guarded_free(&j->temporaries[i]);
    if (j->launch.kernel) clReleaseKernel(j->launch.kernel);
    if (j->program) clReleaseProgram(j->program);
}

/* ---- messages ---- */

void *runner_pack(const struct runner_job *settings, const struct cg_kernel *k, size_t *bytes)
{
    struct runner_job job = *settings;
    memcpy(job.global, k->global, sizeof job.global);
    memcpy(job.local, k->local, sizeof job.local);
    job.n_args = k->n_args;
    job.name_bytes = (uint32_t)strlen(k->name) + 1;
    job.source_bytes = (uint32_t)strlen(k->source) + 1;
    size_t args = k->n_args * sizeof *k->args;
    *bytes = sizeof job + args + job.name_bytes + job.source_bytes;
    char *message = base_malloc(*bytes), *p = message;
    memcpy(p, &job, sizeof job);
    p += sizeof job;
    if (args) memcpy(p, k->args, args);
    memcpy(p += args, k->name, job.name_bytes);
    memcpy(p + job.name_bytes, k->source, job.source_bytes);
    return message;
}

/* Whether the numbers of a job agree with its length and with the task. */
static bool job_valid(const struct runner *r, const struct job *j)
{
    for (unsigned i = 0; i < j->set.n_args; i++) {
        uint32_t b = j->args[i].buffer;
        if (b != BB_NONE && (b >= r->task->n_buffers || j->args[i].bytes != r->task->buffers[b].bytes))
            return false;
        if (j->args[i].bytes == 0) return false;
    }
    if (j->set.local[0] == 0) return j->set.global[0] > 0;
    for (int i = 0; i < 3; i++)
        if (!j->set.local[i] || !j->set.global[i] || j->set.global[i] % j->set.local[i]) return false;
    return true;
}

/* Points into the message. false: lengths do not add up. */
static bool unpack(struct job *j, const char *message, size_t bytes)
{
    if (bytes < sizeof j->set) return false;
    memcpy(&j->set, message, sizeof j->set);
    size_t args = j->set.n_args * sizeof *j->args;
    if (j->set.n_args > MAX_ARGS || j->set.name_bytes == 0 || j->set.source_bytes == 0 ||
        bytes != sizeof j->set + args + j->set.name_bytes + j->set.source_bytes) {
        j->set.n_args = 0;
        return false;
    }
    memcpy(j->args, message + sizeof j->set, args);
    j->name = message + sizeof j->set + args;
    j->source = j->name + j->set.name_bytes;
    return j->name[j->set.name_bytes - 1] == '\0' && j->source[j->set.source_bytes - 1] == '\0';
}

static bool serve_job(struct runner *r, const char *message, size_t bytes)
{
    struct job *j = base_calloc(1, sizeof *j);
    j->runner = r;
    j->result.evaluation.status = EVAL_OK;
    if (!unpack(j, message, bytes) || !job_valid(r, j))
        fail(j, EVAL_LAUNCH_ERROR, "the kernel's arguments or NDRange do not fit the problem");
    else {
        j->launch.queue = r->queue;
        j->launch.free_local = j->set.local[0] == 0;
        j->launch.resident = r->resident;
        memcpy(j->launch.global, j->set.global, sizeof j->set.global);
        memcpy(j->launch.local, j->set.local, sizeof j->set.local);
        j->launch.alive = say_alive;
        j->launch.ctx = r;
        work(j);
    }
    bool grown = retire_after(&r->retire, retire_resident_kib());
    bool retire = j->result.retire = j->result.retire || grown;
    bool sent = child_send(r->fd, RUNNER_RESULT, &j->result, sizeof j->result);
    if (retire || !sent) _exit(0);
    job_clean(j);
    free(j);
    return true;
}

static bool serve_next(struct runner *r)
{
    struct child_frame frame;
    if (!child_read(r->fd, &frame, sizeof frame)) return false;
    if (frame.kind != RUNNER_JOB || frame.length > RUNNER_MAX_JOB) return false;
    char *message = base_malloc(frame.length + 1u);
    bool ok = child_read(r->fd, message, frame.length) && serve_job(r, message, frame.length);
    free(message);
    return ok;
}

/* ---- start ---- */

static cl_int open_device(struct runner *r)
{
    cl_int error;
    r->context = clCreateContext(NULL, 1, &r->device, NULL, NULL, &error);
    if (!error) r->queue = clCreateCommandQueue(r->context, r->device, CL_QUEUE_PROFILING_ENABLE, &error);
    if (!error && r->gpu) measure_hold_open(&r->hold, r->context, r->device);
    return error ? error : make_buffers(r);
}

static bool uses(const struct verify_task *t, enum scalar_type type)
{
    for (unsigned b = 0; b < t->n_buffers; b++)
        if (t->buffers[b].type == type) return true;
    return false;
}

/* Whether the device has no numbers of a type of the task; says so. */
static bool lacks_numbers(const struct runner *r, char *why, size_t n)
{
    static const struct {
        enum scalar_type type;
        const char *name, *extension;
    } optional[] = {{SCALAR_DOUBLE, "double", "cl_khr_fp64"}, {SCALAR_HALF, "half", "cl_khr_fp16"}};
    for (size_t i = 0; i < sizeof optional / sizeof *optional; i++) {
        if (!uses(r->task, optional[i].type) || opencl_has(r->device, optional[i].extension)) continue;
        snprintf(why, n, "the device cannot calculate with %s (%s)", optional[i].name, optional[i].extension);
        return true;
    }
    return false;
}

/* A CPU runs a group on each unit; no GPU holds more than 64 groups in a unit. */
static void ask_device(struct runner *r)
{
    cl_device_type type = 0;
    cl_uint units = 1;
    clGetDeviceInfo(r->device, CL_DEVICE_TYPE, sizeof type, &type, NULL);
    clGetDeviceInfo(r->device, CL_DEVICE_MAX_COMPUTE_UNITS, sizeof units, &units, NULL);
    r->gpu = (type & CL_DEVICE_TYPE_GPU) != 0;
    r->resident = (r->gpu ? 64 : 1) * (size_t)units;
}

static void start(struct runner *r, unsigned device, char *why, size_t n)
{
    r->device = opencl_device(device);
    if (!r->device) {
        snprintf(why, n, "device %u is gone", device);
        return;
    }
    ask_device(r);
    if (lacks_numbers(r, why, n)) return;
    cl_int error = open_device(r);
    if (error)
        snprintf(why, n, "%s while preparing the device's buffers", opencl_error_name(error));
    else if (!opencl_probe(r->context, r->queue, r->device, why, n) && !r->gpu)
        pocl_folder_explain(NULL, why, n);
}

void runner_main(int fd, void *ctx)
{
    const struct runner_setup *setup = ctx;
    char cache[CACHE_PATH];
    cache_part(setup->cache, getpid(), cache);
    if (cache[0] && mkdir(cache, 0700) == 0) setenv("POCL_CACHE_DIR", cache, 0);
    struct runner r = {.fd = fd, .task = setup->task};
    char why[EVAL_MESSAGE] = "";
    start(&r, setup->device, why, sizeof why);
    child_send(fd, RUNNER_HELLO, why, sizeof why);
    if (why[0]) return;
    while (serve_next(&r))
        continue;
}
