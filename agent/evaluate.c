/* The evaluator's interface: jobs in, results out, quoted rounds, start and end. evaluate_slots.c does the
 * work in steps:
 *
 *     evaluator_submit()  ->  waiting  ->  a slot (runner)  ->  done  ->  evaluator_poll()
 *
 * No call blocks without a time limit but the final wait for a killed child. */
#include "agent/evaluate.h"

#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "agent/cache.h"
#include "agent/confine.h"
#include "agent/evaluate_state.h"
#include "agent/limits.h"
#include "core/base/arena.h"
#include "core/base/clock.h"
#include "core/base/cores.h"
#include "core/base/diag.h"
#include "core/base/panic.h"
#include "core/base/pcg32.h"

static const char *const status_names[EVAL_STATUS_COUNT] = {
    [EVAL_OK] = "ok",
    [EVAL_BUILD_ERROR] = "build_error",
    [EVAL_LAUNCH_ERROR] = "launch_error",
    [EVAL_WRONG_RESULT] = "wrong_result",
    [EVAL_TIMEOUT] = "timeout",
    [EVAL_CRASHED] = "crashed",
    [EVAL_OUT_OF_MEMORY] = "out_of_memory",
    [EVAL_CUT] = "cut",
    [EVAL_DEVICE_LOST] = "device_lost",
};

const char *eval_status_name(enum eval_status s)
{
    return s < EVAL_STATUS_COUNT ? status_names[s] : "unknown";
}

enum eval_status eval_status_find(const char *name)
{
    unsigned s = 0;
    while (s < EVAL_STATUS_COUNT && strcmp(status_names[s], name))
        s++;
    return (enum eval_status)s;
}

/* ---- queues ---- */

static void queue_init(struct queue *q)
{
    q->first = NULL;
    q->end = &q->first;
}

static void pending_free(struct pending *j)
{
    if (!j) return;
    free(j->message);
    free(j);
}

/* ---- evaluations ---- */

static struct eval_settings with_defaults(const struct eval_settings *s)
{
    struct eval_settings out = *s;
    if (!(out.cut_factor > 0)) out.cut_factor = AGENT_CUT_FACTOR;
    if (!(out.batch_ns > 0)) out.batch_ns = AGENT_BATCH_NS;
    return out;
}

/* The naive kernel, as the reference and in rounds, may be as slow as it likes. */
static double limit_of(const struct eval_settings *s, enum runner_mode mode)
{
    if (mode != RUNNER_EVALUATE) return AGENT_PATIENT_NS;
    if (s->limit_ns > 0) return s->limit_ns;
    if (s->untimed) return AGENT_UNTIMED_NS;
    return s->best_ns > 0 ? fmax(s->cut_factor * s->best_ns, AGENT_LEAST_NS) : AGENT_FIRST_NS;
}

double evaluator_longest_ms(const struct eval_settings *s)
{
    const struct eval_settings all = with_defaults(s);
    return AGENT_BUILD_MS + AGENT_LAUNCHES_MOST * AGENT_LAUNCH_MS(limit_of(&all, RUNNER_EVALUATE));
}

/* Whether a kernel of the sequence that begins with `first` has the temporary before argument i of k. */
static bool is_counted(const struct cg_kernel *first, const struct cg_kernel *k, unsigned arg)
{
    for (const struct cg_kernel *s = first; s && k->args[arg].buffer != BB_NONE; s = s == k ? NULL : s->next)
        for (unsigned i = 0; i < (s == k ? arg : s->n_args); i++)
            if (s->args[i].buffer == k->args[arg].buffer) return true;
    return false;
}

/* A kernel may ask for more than there is; what follows then is a failed launch. n: buffers of the task. */
static long temporaries_kib(const struct cg_kernel *kernel, unsigned n)
{
    double bytes = 0;
    for (const struct cg_kernel *k = kernel; k; k = k->next)
        for (unsigned i = 0; i < k->n_args; i++)
            if (k->args[i].buffer >= n && !is_counted(kernel, k, i))
                bytes += (double)runner_bytes((int64_t)k->args[i].bytes, false, true, 1);
    return (long)fmin(bytes / 1024, (double)(INT32_MAX));
}

static void submit(struct evaluator *ev, uint64_t id, enum runner_mode mode, const struct cg_kernel *k,
                   const struct eval_settings *s)
{
    struct runner_job job = {.mode = mode, .settings = with_defaults(s), .turn = ev->submitted++};
    job.limit_ns = limit_of(&job.settings, mode);
    memcpy(job.tolerance, ev->tolerance, sizeof job.tolerance);
    struct pending *j = base_calloc(1, sizeof *j);
    j->id = id;
    j->limit_ns = job.limit_ns;
    j->arrays_kib = temporaries_kib(k, ev->task->n_buffers);
    j->message = runner_pack(&job, k, &j->bytes);
    evaluate_push(&ev->waiting, j);
    ev->in_flight++;
    if (ev->lost) evaluate_lose(ev);
    evaluate_step(ev, 0);
}

void evaluator_submit(struct evaluator *ev, uint64_t job, const struct cg_kernel *k,
                      const struct eval_settings *s)
{
    submit(ev, job, RUNNER_EVALUATE, k, s);
}

bool evaluator_poll(struct evaluator *ev, int timeout_ms, uint64_t *job, struct evaluation *out)
{
    double end = timeout_ms < 0 ? INFINITY : clock_now_ms() + timeout_ms;
    if (!ev->done.first) evaluate_step(ev, 0);
    while (!ev->done.first && ev->in_flight > 0) {
        double left = end - clock_now_ms();
        if (left <= 0) break;
        evaluate_step(ev, isinf(left) ? -1 : (int)ceil(left));
    }
    struct pending *j = evaluate_pop(&ev->done);
    if (!j) return false;
    *job = j->id;
    *out = j->result;
    ev->in_flight--;
    pending_free(j);
    return true;
}

bool evaluator_withdraw(struct evaluator *ev, uint64_t *job)
{
    struct pending *j = evaluate_pop(&ev->waiting);
    if (!j) return false;
    *job = j->id;
    ev->in_flight--;
    pending_free(j);
    return true;
}

void evaluate_alone(struct evaluator *ev, enum runner_mode mode, const struct cg_kernel *k,
                    const struct eval_settings *s, struct evaluation *out)
{
    CHECK(ev->in_flight == 0);
    uint64_t job;
    submit(ev, 0, mode, k, s);
    CHECK(evaluator_poll(ev, -1, &job, out));
}

void evaluator_run(struct evaluator *ev, const struct cg_kernel *k, const struct eval_settings *s,
                   struct evaluation *out)
{
    evaluate_alone(ev, RUNNER_EVALUATE, k, s, out);
}

void evaluator_rounds(struct evaluator *ev, const struct cg_kernel *const *kernels, unsigned n,
                      unsigned rounds, uint64_t seed, double *out_ns)
{
    const struct eval_settings settings = {.verify = false};
    struct pcg32 rng = pcg32_seed(seed, 0x80);
    unsigned *order = base_calloc(n ? n : 1, sizeof *order);
    ev->keeps = true;
    for (unsigned r = 0; r < rounds; r++) {
        pcg32_shuffle(&rng, order, n);
        for (unsigned i = 0; i < n; i++) {
            struct evaluation e;
            evaluate_alone(ev, RUNNER_ROUND, kernels[order[i]], &settings, &e);
            out_ns[order[i] * rounds + r] = e.status == EVAL_OK ? e.median_ns : (double)NAN;
        }
    }
    free(order);
    ev->keeps = false;
    device_lock_release(ev->lock);
}

unsigned evaluate_default_runners(bool gpu, unsigned cores, long memory_mib, uint64_t builds)
{
    long n = cores, most = memory_mib / 2 / AGENT_MEMORY_LEAST_MIB;
    if (!gpu) return AGENT_RUNNERS_CPU;
    if (n > most) n = most;
    if (builds && (uint64_t)n > builds / AGENT_RUNNER_BUILDS) n = (long)(builds / AGENT_RUNNER_BUILDS);
    return n > AGENT_RUNNERS_GPU ? (unsigned)n : AGENT_RUNNERS_GPU;
}

unsigned evaluator_runners_for(const struct device *dev, uint64_t builds)
{
    unsigned n = evaluate_default_runners(dev->gpu, cores_available(), evaluate_machine_mib(), builds);
    return n < AGENT_RUNNERS_MOST ? n : AGENT_RUNNERS_MOST;
}

static unsigned runners_on(const struct device *dev, unsigned wanted)
{
    if (!wanted) return evaluator_runners_for(dev, 0);
    return wanted < AGENT_RUNNERS_MOST ? wanted : AGENT_RUNNERS_MOST;
}

/* So many of the runners as the device's memory takes, where it is known; one is tried in any case. */
static unsigned fitting(const struct device *dev, const struct verify_task *t, unsigned runners)
{
    int64_t bytes = dev->gpu ? (int64_t)AGENT_CONTEXT_MIB << 20 : 0;
    for (unsigned i = 0; i < t->n_buffers; i++)
        bytes += runner_bytes((int64_t)t->buffers[i].bytes, verify_is_input(&t->buffers[i]),
                              t->buffers[i].output, t->n_sets);
    if (dev->global_bytes <= 0 || bytes <= 0) return runners;
    int64_t most = dev->global_bytes / bytes;
    if (most >= runners) return runners;
    return most > 0 ? (unsigned)most : 1;
}

struct verify_doubt evaluator_doubt(const struct evaluator *ev)
{
    return verify_doubt(ev->task, ev->tolerance);
}

unsigned evaluator_capacity_on(const struct device *dev, unsigned runners)
{
    return runners_on(dev, runners) * AGENT_RUNNER_JOBS;
}

unsigned evaluator_capacity(const struct evaluator *ev)
{
    return ev->n_slots * AGENT_RUNNER_JOBS;
}

unsigned evaluator_fds(const struct evaluator *ev, int *fds, unsigned n)
{
    unsigned count = 0;
    for (unsigned i = 0; i < ev->n_slots && count < n; i++)
        if (ev->slots[i].fd >= 0) fds[count++] = ev->slots[i].fd;
    if (count < n) fds[count++] = ev->timer;
    return count;
}

const char *evaluator_note(const struct evaluator *ev)
{
    return ev->note;
}

const char *evaluator_lost(const struct evaluator *ev)
{
    return ev->lost ? ev->start_error : NULL;
}

double evaluator_processor_ms(const struct evaluator *ev)
{
    double ms = 0;
    for (unsigned i = 0; i < ev->n_slots; i++)
        if (ev->slots[i].pid > 0) ms += child_processor_ms(ev->slots[i].pid);
    return ms;
}

/* ---- life ---- */

static double transfer_ms(const struct verify_task *t)
{
    double bytes = 0;
    for (unsigned i = 0; i < t->n_buffers; i++)
        if (t->buffers[i].output) bytes += (double)t->buffers[i].bytes;
    return bytes * AGENT_TRANSFER_NS * 1e-6;
}

struct evaluator *evaluator_start(struct verify_task **task_p, const struct device *dev, unsigned runners,
                                  const struct verify_tolerance *tolerance, const struct eval_caller *caller,
                                  struct diag *d)
{
    struct evaluator *ev = base_calloc(1, sizeof *ev);
    ev->task = *task_p;
    *task_p = NULL;
    ev->transfer_ms = transfer_ms(ev->task);
    ev->caller = caller ? *caller : (struct eval_caller){.stop_fd = -1};
    ev->looked_at = clock_now_ms();
    ev->setup = (struct runner_setup){.task = ev->task, .device = dev->index};
    if (!dev->gpu) cache_make(ev->setup.cache, sizeof ev->setup.cache);
    ev->gpu = dev->gpu;
    memcpy(ev->tolerance, tolerance, verify_outputs(ev->task) * ev->task->n_sets * sizeof *tolerance);
    queue_init(&ev->waiting);
    queue_init(&ev->done);
    ev->timer = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
    if (ev->timer < 0) {
        diag_plain(d, "cannot create a timer: %s", strerror(errno));
        evaluator_free(ev);
        return NULL;
    }
    ev->lock = device_lock_open(dev, ev->note, sizeof ev->note);
    ev->n_slots = fitting(dev, ev->task, runners_on(dev, runners));
    evaluate_limit(ev);
    if (!ev->note[0]) confine_refuses(ev->note, sizeof ev->note);
    for (unsigned i = 0; i < ev->n_slots; i++)
        ev->slots[i].fd = -1;
    evaluate_start_more(ev);
    while (!evaluate_any_ready(ev) && !ev->lost)
        evaluate_step(ev, -1);
    if (!ev->lost) return ev;
    diag_plain(d, "%s: %s", dev->name, ev->start_error);
    evaluator_free(ev);
    return NULL;
}

/* All of them, before the first is waited for: the driver of a GPU takes long to end a process. */
static void kill_all(const struct evaluator *ev)
{
    for (unsigned i = 0; i < ev->n_slots; i++)
        if (ev->slots[i].pid > 0) kill(ev->slots[i].pid, SIGKILL);
}

void evaluator_free(struct evaluator *ev)
{
    if (!ev) return;
    kill_all(ev);
    for (unsigned i = 0; i < ev->n_slots; i++) {
        pending_free(ev->slots[i].job);
        if (ev->slots[i].pid > 0) child_kill(ev->slots[i].pid, ev->slots[i].fd);
    }
    for (struct pending *j; (j = evaluate_pop(&ev->waiting));)
        pending_free(j);
    for (struct pending *j; (j = evaluate_pop(&ev->done));)
        pending_free(j);
    if (ev->timer >= 0) close(ev->timer);
    device_lock_close(ev->lock);
    cache_remove(ev->setup.cache);
    verify_task_free(ev->task);
    free(ev);
}
