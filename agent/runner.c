/* A runner's life: it opens the device, makes the buffers, and takes one job after the other. runner_job.c
 * does a job. Single-threaded but for what the driver starts.
 *
 *     HELLO ""                              the device works
 *     <- JOB  READY  <- GO  ALIVE  RESULT   one candidate
 *
 * A run that ends badly retires the process: a wild store may have damaged the heap or an input. */
#include "agent/limits.h"
#include "agent/runner_state.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/cache.h"
#include "agent/child.h"
#include "agent/confine.h"
#include "agent/opencl.h"
#include "agent/pocl_folder.h"
#include "agent/verify_known.h"
#include "core/base/arena.h"

bool runner_fail(struct job *j, enum eval_status status, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    vsnprintf(j->result.evaluation.message, EVAL_MESSAGE, fmt, args);
    va_end(args);
    j->result.evaluation.status = status;
    j->result.retire = status != EVAL_BUILD_ERROR && status != EVAL_CUT;
    return false;
}

enum eval_status runner_status(cl_int error, enum eval_status other)
{
    bool memory = error == CL_MEM_OBJECT_ALLOCATION_FAILURE || error == CL_OUT_OF_HOST_MEMORY;
    return memory ? EVAL_OUT_OF_MEMORY : other;
}

void runner_say_alive(void *ctx)
{
    child_send(((struct runner *)ctx)->fd, RUNNER_ALIVE, NULL, 0);
}

void runner_await_lock(struct runner *r)
{
    struct child_frame go;
    child_send(r->fd, RUNNER_READY, NULL, 0);
    if (!child_read(r->fd, &go, sizeof go) || go.kind != RUNNER_GO || go.length) _exit(0);
}

/* ---- buffers ---- */

int64_t runner_bytes(int64_t bytes, bool input, bool output, unsigned sets)
{
    return (output ? bytes + 2 * GUARDED_ZONE : 0) + (input ? sets * bytes : 0);
}

static cl_int make_inputs(struct runner *r, unsigned b)
{
    cl_int error = CL_SUCCESS;
    const struct verify_buffer *v = &r->task->buffers[b];
    for (unsigned set = 0; !error && !v->by_value && set < r->task->n_sets; set++)
        r->inputs[b][set] = clCreateBuffer(r->context, CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR, v->bytes,
                                           verify_values(v, set), &error);
    return error;
}

/* The output's memory is taken now: its first use would look like growth (retire.h). */
static cl_int make_output(struct runner *r, unsigned b)
{
    static const unsigned char fill[GUARDED_FILL] = {0};
    const struct verify_buffer *v = &r->task->buffers[b];
    cl_int error = guarded_new(r->context, v->bytes, scalar_type_bytes(v->type), &r->outputs[b]);
    if (!error) error = guarded_fill(r->queue, &r->outputs[b], fill);
    return error ? error : clFinish(r->queue);
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
        if (v->output) error = make_output(r, b);
        if (!error && verify_is_input(v)) error = make_inputs(r, b);
    }
    r->scratch = memset(base_malloc(GUARDED_ZONE), 0, GUARDED_ZONE);
    if (!error) download_open(&r->download, r->context, r->queue, largest);
    return error;
}

/* ---- jobs ---- */

/* Appends n bytes; returns where the next ones go. */
static char *put(char *to, const void *from, size_t n)
{
    if (n) memcpy(to, from, n);
    return to + n;
}

void *runner_pack(const struct runner_job *settings, const struct cg_kernel *k, size_t *bytes)
{
    struct runner_job job = *settings;
    const char *options = k->options ? k->options : "";
    job.foreign = k->options != NULL;
    job.n_steps = job.n_args = job.names_bytes = 0;
    for (const struct cg_kernel *s = k; s; s = s->next) {
        job.n_steps++;
        job.n_args += s->n_args;
        job.names_bytes += (uint32_t)strlen(s->name) + 1;
    }
    job.options_bytes = (uint32_t)strlen(options) + 1;
    job.source_bytes = (uint32_t)strlen(k->source) + 1;
    *bytes = sizeof job + job.n_steps * sizeof(struct runner_step) + job.n_args * sizeof *k->args +
             job.options_bytes + job.source_bytes + job.names_bytes;
    char *message = base_malloc(*bytes), *p = put(message, &job, sizeof job);
    for (const struct cg_kernel *s = k; s; s = s->next) {
        struct runner_step step = {.n_args = s->n_args};
        memcpy(step.global, s->global, sizeof step.global);
        memcpy(step.local, s->local, sizeof step.local);
        p = put(p, &step, sizeof step);
    }
    for (const struct cg_kernel *s = k; s; s = s->next)
        p = put(p, s->args, s->n_args * sizeof *s->args);
    p = put(p, options, job.options_bytes);
    p = put(p, k->source, job.source_bytes);
    for (const struct cg_kernel *s = k; s; s = s->next)
        p = put(p, s->name, strlen(s->name) + 1);
    return message;
}

static bool step_valid(const struct runner_step *s)
{
    if (s->local[0] == 0) return s->global[0] > 0;
    for (int i = 0; i < 3; i++)
        if (!s->local[i] || !s->global[i] || s->global[i] % s->local[i]) return false;
    return true;
}

/* Whether the numbers of a job agree with the task. Buffers beyond the task's are temporaries of a sequence.
 */
static bool job_valid(const struct runner *r, const struct job *j)
{
    uint32_t n = r->task->n_buffers + (j->set.n_steps > 1 ? RUNNER_MAX_ARGS : 0);
    for (unsigned i = 0; i < j->set.n_args; i++) {
        uint32_t b = j->args[i].buffer;
        if (b != BB_NONE && b >= n) return false;
        if (b < r->task->n_buffers && j->args[i].bytes != r->task->buffers[b].bytes) return false;
        if (j->args[i].bytes == 0) return false;
    }
    for (unsigned i = 0; i < j->set.n_steps; i++)
        if (!step_valid(&j->steps[i])) return false;
    return true;
}

/* The names of the kernels, in `bytes` bytes. false: there are fewer. */
static bool unpack_names(struct job *j, const char *at, size_t bytes)
{
    for (unsigned i = 0; i < j->set.n_steps; i++) {
        size_t n = strnlen(at, bytes);
        if (n == bytes) return false;
        j->names[i] = at;
        at += n + 1;
        bytes -= n + 1;
    }
    return bytes == 0;
}

/* Bytes of a message with the counts of a job; 0: more steps or arguments than there may be, or no texts. */
static size_t message_bytes(const struct runner_job *s)
{
    bool empty = s->names_bytes == 0 || s->options_bytes == 0 || s->source_bytes == 0;
    if (s->n_steps == 0 || s->n_steps > RUNNER_MAX_STEPS || s->n_args > RUNNER_MAX_ARGS || empty) return 0;
    return sizeof *s + s->n_steps * sizeof(struct runner_step) + s->n_args * sizeof(struct cg_arg) +
           (size_t)s->names_bytes + s->options_bytes + s->source_bytes;
}

/* Points into the message. false: lengths do not add up. */
static bool unpack(struct job *j, const char *message, size_t bytes)
{
    if (bytes < sizeof j->set) return false;
    memcpy(&j->set, message, sizeof j->set);
    if (message_bytes(&j->set) != bytes) {
        j->set.n_args = 0;
        return false;
    }
    const char *at = message + sizeof j->set;
    size_t steps = j->set.n_steps * sizeof *j->steps, args = j->set.n_args * sizeof *j->args, n_args = 0;
    memcpy(j->steps, at, steps);
    memcpy(j->args, at + steps, args);
    for (unsigned i = 0; i < j->set.n_steps; i++)
        n_args += j->steps[i].n_args;
    j->options = at + steps + args;
    j->source = j->options + j->set.options_bytes;
    return n_args == j->set.n_args && j->options[j->set.options_bytes - 1] == '\0' &&
           j->source[j->set.source_bytes - 1] == '\0' &&
           unpack_names(j, j->source + j->set.source_bytes, j->set.names_bytes);
}

static void free_temporaries(struct job *j)
{
    for (unsigned i = 0; i < j->set.n_args; i++)
        if (j->temporaries[i].whole) guarded_free(&j->temporaries[i]);
}

static void job_clean(struct job *j)
{
    for (unsigned i = 0; i < j->set.n_steps; i++)
        if (j->kernels[i].kernel) clReleaseKernel(j->kernels[i].kernel);
    if (j->program && !j->kept) clReleaseProgram(j->program);
}

/* What the job's own buffers took is no growth. Of a runner that retires nothing is released: a kernel may
 * still use it. */
static void count_growth(struct job *j)
{
    if (j->result.retire) return;
    free_temporaries(j);
    j->result.retire = retire_after(&j->runner->retire, retire_own_kib());
}

/* Everything about the launches but the kernels themselves, which are not built yet. */
static void prepare_launch(struct job *j)
{
    for (unsigned i = 0; i < j->set.n_steps; i++) {
        struct measure_step *s = &j->kernels[i];
        memcpy(s->global, j->steps[i].global, sizeof s->global);
        memcpy(s->local, j->steps[i].local, sizeof s->local);
        s->free_local = s->local[0] == 0;
    }
    j->launch = (struct measure_launch){.queue = j->runner->queue,
                                        .free_local = j->kernels[0].free_local,
                                        .n_more = j->set.n_steps - 1,
                                        .more = j->kernels + 1,
                                        .resident = j->runner->resident,
                                        .alive = runner_say_alive,
                                        .ctx = j->runner};
    memcpy(j->launch.global, j->kernels[0].global, sizeof j->launch.global);
    memcpy(j->launch.local, j->kernels[0].local, sizeof j->launch.local);
}

static bool serve_job(struct runner *r, const char *message, size_t bytes)
{
    struct job *j = base_calloc(1, sizeof *j);
    j->runner = r;
    j->result.evaluation.status = EVAL_OK;
    if (!unpack(j, message, bytes) || !job_valid(r, j))
        runner_fail(j, EVAL_LAUNCH_ERROR, "the kernel's arguments or NDRange do not match the problem");
    else {
        prepare_launch(j);
        runner_work(j);
    }
    count_growth(j);
    bool sent = child_send(r->fd, RUNNER_RESULT, &j->result, sizeof j->result);
    if (j->result.retire || !sent) _exit(0);
    job_clean(j);
    free(j);
    return true;
}

static bool serve_next(struct runner *r)
{
    struct child_frame frame;
    if (!child_read(r->fd, &frame, sizeof frame)) return false;
    if (frame.kind != RUNNER_JOB || frame.length > AGENT_JOB_BYTES) return false;
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

/* Whether the device has no numbers of a type of the task; says so. Half numbers it has in memory at least.
 */
static bool lacks_numbers(const struct runner *r, char *why, size_t n)
{
    if (!uses(r->task, SCALAR_DOUBLE) || opencl_has(r->device, "cl_khr_fp64")) return false;
    snprintf(why, n, "the device does not support double (cl_khr_fp64)");
    return true;
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
        snprintf(why, n, "device %u is no longer available", device);
        return;
    }
    ask_device(r);
    verify_protect(r->task, false);
    if (lacks_numbers(r, why, n)) return;
    cl_int error = open_device(r);
    if (error)
        snprintf(why, n, "%s while allocating the device's buffers", opencl_error_name(error));
    else if (!opencl_probe(r->context, r->queue, r->device, why, n) && !r->gpu)
        pocl_folder_explain(NULL, why, n);
}

void runner_main(int fd, void *ctx)
{
    const struct runner_setup *setup = ctx;
    verify_known_release(setup->task->known); /* held by evaluate_start_runner() */
    confine_self();
    char cache[CACHE_PATH];
    cache_part(setup->cache, getpid(), cache);
    if (cache[0] && mkdir(cache, 0700) == 0) setenv("POCL_CACHE_DIR", cache, 0);
    struct runner r = {.fd = fd,
                       .task = setup->task,
                       .retire = {.most_jobs = setup->retire_jobs, .kept_kib = AGENT_KEPT_KIB}};
    char why[EVAL_MESSAGE] = "";
    start(&r, setup->device, why, sizeof why);
    child_send(fd, RUNNER_HELLO, why, sizeof why);
    if (why[0]) return;
    while (serve_next(&r))
        continue;
}
