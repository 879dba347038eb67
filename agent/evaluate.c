/* The evaluator: runners, their jobs, the device lock and the clock that kills (design page `distribution`,
 * "Runners" and "Hopeless candidates").
 *
 * One thread, no blocking call but the final wait for a killed child. A runner is STARTING, IDLE, BUILDING,
 * WAITING for the lock or RUNNING with it. On a CPU device the others are stopped while one holds the lock.
 * Every state but IDLE and WAITING has a kill time; a runner that dies or is killed costs its candidate, and
 * another is forked in its place. Three failed starts in a row mean that the device is lost. */
#include "agent/evaluate.h"

#include <errno.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "agent/cache.h"
#include "agent/child.h"
#include "agent/runner.h"
#include "core/base/arena.h"
#include "core/base/diag.h"
#include "core/base/panic.h"
#include "core/base/pcg32.h"
#include "core/base/stats.h"
#include "core/space/space.h"

enum { MAX_RUNNERS = 16, MAX_FAILED_STARTS = 3, JOBS_PER_RUNNER = 2 };
static const double START_MS = 120e3, BUILD_MS = 60e3; /* kill times */
static const double LEAST_LIMIT_NS = 20e6, FIRST_LIMIT_NS = 2e9, PATIENT_LIMIT_NS = 600e9,
                    UNTIMED_LIMIT_NS = 30e9;
static const double DEFAULT_CUT_FACTOR = 10, DEFAULT_BATCH_NS = 30e6;

static const char *const status_names[EVAL_STATUS_COUNT] = {
    [EVAL_OK] = "ok",
    [EVAL_BUILD_ERROR] = "build_error",
    [EVAL_LAUNCH_ERROR] = "launch_error",
    [EVAL_WRONG_RESULT] = "wrong_result",
    [EVAL_TIMEOUT] = "timeout",
    [EVAL_CRASHED] = "crashed",
    [EVAL_CUT] = "cut",
    [EVAL_DEVICE_LOST] = "device_lost",
};

/* A job from its submission until its result is taken. */
struct pending {
    struct pending *next;
    uint64_t id;
    double limit_ns;
    void *message;
    size_t bytes;
    struct evaluation result;
};

struct queue {
    struct pending *first, **end;
};

enum slot_state { STARTING, IDLE, BUILDING, WAITING, RUNNING };

struct slot {
    pid_t pid;
    int fd;
    enum slot_state state;
    struct pending *job;
    double kill_at, stopped_at; /* ms; INFINITY: none. stopped_at 0: not stopped */
    uint64_t ticket;            /* place in the line for the lock */
    size_t length;              /* bytes of `in` */
    unsigned char in[sizeof(struct child_frame) + RUNNER_MAX_REPLY];
};

struct evaluator {
    struct verify_task *task;
    struct runner_setup setup;
    bool gpu, lost;
    struct verify_tolerance tolerance[VERIFY_SETS];
    unsigned n_slots;
    struct slot slots[MAX_RUNNERS];
    struct slot *holder; /* of the device lock */
    uint64_t tickets;
    unsigned failed_starts;
    char start_error[EVAL_MESSAGE];
    struct queue waiting, done;
    unsigned in_flight; /* submitted, result not taken */
    int timer;          /* timerfd at the next kill time */
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

static void queue_push(struct queue *q, struct pending *j)
{
    j->next = NULL;
    *q->end = j;
    q->end = &j->next;
}

static struct pending *queue_pop(struct queue *q)
{
    struct pending *j = q->first;
    if (j && !(q->first = j->next)) q->end = &q->first;
    return j;
}

static void pending_free(struct pending *j)
{
    if (!j) return;
    free(j->message);
    free(j);
}

/* ---- the device lock ---- */

static void stop_others(struct evaluator *ev)
{
    for (unsigned i = 0; i < ev->n_slots; i++) {
        struct slot *s = &ev->slots[i];
        if (s == ev->holder || s->pid <= 0 || s->stopped_at > 0) continue;
        kill(s->pid, SIGSTOP);
        s->stopped_at = child_now_ms();
    }
}

static void continue_all(struct evaluator *ev)
{
    for (unsigned i = 0; i < ev->n_slots; i++) {
        struct slot *s = &ev->slots[i];
        if (!(s->stopped_at > 0)) continue;
        kill(s->pid, SIGCONT);
        s->kill_at += child_now_ms() - s->stopped_at;
        s->stopped_at = 0;
    }
}

static void unlock(struct evaluator *ev, const struct slot *s)
{
    if (ev->holder != s) return;
    ev->holder = NULL;
    continue_all(ev);
}

static void running_alive(struct slot *s)
{
    s->kill_at = child_now_ms() + 3e-6 * s->job->limit_ns + 1e3;
}

/* Gives the lock to the runner that has waited longest. */
static void grant(struct evaluator *ev)
{
    struct slot *next = NULL;
    for (unsigned i = 0; i < ev->n_slots && !ev->holder; i++) {
        struct slot *s = &ev->slots[i];
        if (s->state == WAITING && (!next || s->ticket < next->ticket)) next = s;
    }
    if (!next) return;
    ev->holder = next;
    if (!ev->gpu) stop_others(ev);
    next->state = RUNNING;
    running_alive(next);
    child_send(next->fd, RUNNER_GO, NULL, 0);
}

/* ---- runners ---- */

static void start_runner(struct evaluator *ev, struct slot *s)
{
    *s = (struct slot){.fd = -1, .state = STARTING, .kill_at = child_now_ms() + START_MS};
    s->pid = child_fork(&s->fd, runner_main, &ev->setup);
}

static void finish(struct evaluator *ev, struct slot *s, const struct evaluation *e)
{
    s->job->result = *e;
    queue_push(&ev->done, s->job);
    s->job = NULL;
}

static void lose(struct evaluator *ev)
{
    ev->lost = true;
    for (struct pending *j; (j = queue_pop(&ev->waiting));) {
        j->result = (struct evaluation){.status = EVAL_DEVICE_LOST};
        snprintf(j->result.message, EVAL_MESSAGE, "%s", ev->start_error);
        queue_push(&ev->done, j);
    }
}

static void count_failed_start(struct evaluator *ev, const char *why)
{
    if (why[0]) snprintf(ev->start_error, sizeof ev->start_error, "%.*s", EVAL_MESSAGE - 1, why);
    if (++ev->failed_starts >= MAX_FAILED_STARTS) lose(ev);
}

/* Kills a runner and starts another, unless the device is lost. Returns the wait status. */
static int replace(struct evaluator *ev, struct slot *s)
{
    s->stopped_at = 0;
    int status = child_kill(s->pid, s->fd);
    s->pid = 0;
    s->fd = -1;
    unlock(ev, s);
    if (!ev->lost) start_runner(ev, s);
    return status;
}

/* The runner is gone, or silent beyond its kill time. */
static void on_death(struct evaluator *ev, struct slot *s, bool overdue)
{
    struct evaluation e = {.status = overdue ? EVAL_TIMEOUT : EVAL_CRASHED};
    struct pending *job = s->job;
    s->job = NULL;
    if (!job && s->state == STARTING)
        count_failed_start(ev, overdue ? "the driver does not answer" : "the driver crashed");
    bool building = s->state == BUILDING;
    int status = replace(ev, s);
    if (!job) return;
    const char *phase = building ? "building" : "running";
    if (overdue)
        snprintf(e.message, EVAL_MESSAGE, "killed: no sign of life while %s", phase);
    else if (WIFSIGNALED(status) && WTERMSIG(status) != SIGKILL)
        snprintf(e.message, EVAL_MESSAGE, "the process died of signal %d while %s", WTERMSIG(status), phase);
    else
        snprintf(e.message, EVAL_MESSAGE, "the process ended while %s", phase);
    job->result = e;
    queue_push(&ev->done, job);
}

static void on_hello(struct evaluator *ev, struct slot *s, const char *why)
{
    if (why[0]) {
        count_failed_start(ev, why);
        replace(ev, s);
        return;
    }
    ev->failed_starts = 0;
    s->state = IDLE;
    s->kill_at = INFINITY;
}

static void on_result(struct evaluator *ev, struct slot *s, const struct runner_result *r)
{
    unlock(ev, s);
    s->state = IDLE;
    s->kill_at = INFINITY;
    finish(ev, s, &r->evaluation);
    if (r->retire) replace(ev, s);
}

static void on_ready(struct evaluator *ev, struct slot *s)
{
    unlock(ev, s);
    s->state = WAITING;
    s->kill_at = INFINITY;
    s->ticket = ev->tickets++;
}

/* Handles one frame; false: it makes no sense. */
static bool on_frame(struct evaluator *ev, struct slot *s, uint32_t kind, void *payload, size_t bytes)
{
    if (kind == RUNNER_HELLO && s->state == STARTING && bytes == EVAL_MESSAGE) {
        ((char *)payload)[bytes - 1] = '\0';
        on_hello(ev, s, payload);
    } else if (kind == RUNNER_RESULT && s->job && bytes == sizeof(struct runner_result)) {
        struct runner_result r;
        memcpy(&r, payload, sizeof r);
        r.evaluation.message[EVAL_MESSAGE - 1] = '\0';
        if (r.evaluation.n_samples > EVAL_MAX_SAMPLES) return false;
        on_result(ev, s, &r);
    } else if (kind == RUNNER_READY && s->job && bytes == 0) {
        on_ready(ev, s);
    } else if (kind == RUNNER_ALIVE && s->state == RUNNING && bytes == 0) {
        running_alive(s);
    } else {
        return kind == RUNNER_ALIVE && s->state == BUILDING;
    }
    return true;
}

/* Takes one whole frame out of the input. 1: handled, 0: incomplete, -1: nonsense. */
static int take_frame(struct evaluator *ev, struct slot *s)
{
    struct child_frame frame;
    if (s->length < sizeof frame) return 0;
    memcpy(&frame, s->in, sizeof frame);
    if (frame.length > RUNNER_MAX_REPLY) return -1;
    size_t whole = sizeof frame + frame.length;
    if (s->length < whole) return 0;
    unsigned char payload[RUNNER_MAX_REPLY];
    memcpy(payload, s->in + sizeof frame, frame.length);
    memmove(s->in, s->in + whole, s->length -= whole);
    return on_frame(ev, s, frame.kind, payload, frame.length) ? 1 : -1;
}

static void receive(struct evaluator *ev, struct slot *s)
{
    ssize_t n = recv(s->fd, s->in + s->length, sizeof s->in - s->length, MSG_DONTWAIT);
    if (n < 0 && (errno == EAGAIN || errno == EINTR)) return;
    if (n <= 0) {
        on_death(ev, s, false);
        return;
    }
    s->length += (size_t)n;
    pid_t pid = s->pid;
    int taken = 1;
    while (taken == 1 && s->pid == pid)
        taken = take_frame(ev, s);
    if (taken < 0 && s->pid == pid) on_death(ev, s, false);
}

/* ---- the loop ---- */

static void dispatch(struct evaluator *ev)
{
    for (unsigned i = 0; i < ev->n_slots; i++) {
        struct slot *s = &ev->slots[i];
        if (s->state != IDLE || s->pid <= 0 || s->stopped_at > 0) continue;
        if (!(s->job = queue_pop(&ev->waiting))) return;
        s->state = BUILDING;
        s->kill_at = child_now_ms() + BUILD_MS;
        child_send(s->fd, RUNNER_JOB, s->job->message, s->job->bytes);
    }
}

static double next_kill(const struct evaluator *ev)
{
    double at = INFINITY;
    for (unsigned i = 0; i < ev->n_slots; i++)
        if (ev->slots[i].pid > 0 && !(ev->slots[i].stopped_at > 0)) at = fmin(at, ev->slots[i].kill_at);
    return at;
}

static void kill_overdue(struct evaluator *ev)
{
    double now = child_now_ms();
    for (unsigned i = 0; i < ev->n_slots; i++) {
        struct slot *s = &ev->slots[i];
        if (s->pid > 0 && !(s->stopped_at > 0) && s->kill_at <= now) on_death(ev, s, true);
    }
}

static void arm_timer(const struct evaluator *ev)
{
    double ms = next_kill(ev) - child_now_ms();
    struct itimerspec t = {0};
    if (ms < 1e9) {
        ms = fmax(ms, 1);
        t.it_value.tv_sec = (time_t)(ms / 1e3);
        t.it_value.tv_nsec = (long)(fmod(ms, 1e3) * 1e6);
    }
    timerfd_settime(ev->timer, 0, &t, NULL);
}

/* One step: hand out jobs and the lock, wait for the runners at most wait_ms (-1: until something happens),
 * serve them. */
static void step(struct evaluator *ev, int wait_ms)
{
    struct pollfd p[MAX_RUNNERS + 1];
    dispatch(ev);
    grant(ev);
    arm_timer(ev);
    for (unsigned i = 0; i < ev->n_slots; i++)
        p[i] = (struct pollfd){.fd = ev->slots[i].fd, .events = POLLIN};
    p[ev->n_slots] = (struct pollfd){.fd = ev->timer, .events = POLLIN};
    if (poll(p, ev->n_slots + 1, wait_ms) > 0)
        for (unsigned i = 0; i < ev->n_slots; i++)
            if (p[i].revents && ev->slots[i].fd == p[i].fd) receive(ev, &ev->slots[i]);
    kill_overdue(ev);
    dispatch(ev);
    grant(ev);
    arm_timer(ev);
}

/* ---- evaluations ---- */

static struct eval_settings with_defaults(const struct eval_settings *s)
{
    struct eval_settings out = *s;
    if (!(out.cut_factor > 0)) out.cut_factor = DEFAULT_CUT_FACTOR;
    if (!(out.batch_ns > 0)) out.batch_ns = DEFAULT_BATCH_NS;
    return out;
}

/* The naive kernel, as the reference and in rounds, may be as slow as it likes. */
static double limit_of(const struct eval_settings *s, enum runner_mode mode)
{
    if (mode != RUNNER_EVALUATE) return PATIENT_LIMIT_NS;
    if (s->untimed) return UNTIMED_LIMIT_NS;
    return s->best_ns > 0 ? fmax(s->cut_factor * s->best_ns, LEAST_LIMIT_NS) : FIRST_LIMIT_NS;
}

static void submit(struct evaluator *ev, uint64_t id, enum runner_mode mode, const struct cg_kernel *k,
                   const struct eval_settings *s)
{
    struct runner_job job = {.mode = mode, .settings = with_defaults(s)};
    job.limit_ns = limit_of(&job.settings, mode);
    memcpy(job.tolerance, ev->tolerance, sizeof job.tolerance);
    struct pending *j = base_calloc(1, sizeof *j);
    j->id = id;
    j->limit_ns = job.limit_ns;
    j->message = runner_pack(&job, k, &j->bytes);
    queue_push(&ev->waiting, j);
    ev->in_flight++;
    if (ev->lost) lose(ev);
    step(ev, 0);
}

void evaluator_submit(struct evaluator *ev, uint64_t job, const struct cg_kernel *k,
                      const struct eval_settings *s)
{
    submit(ev, job, RUNNER_EVALUATE, k, s);
}

bool evaluator_poll(struct evaluator *ev, int timeout_ms, uint64_t *job, struct evaluation *out)
{
    double end = timeout_ms < 0 ? INFINITY : child_now_ms() + timeout_ms;
    if (!ev->done.first) step(ev, 0);
    while (!ev->done.first && ev->in_flight > 0) {
        double left = end - child_now_ms();
        if (left <= 0) break;
        step(ev, isinf(left) ? -1 : (int)ceil(left));
    }
    struct pending *j = queue_pop(&ev->done);
    if (!j) return false;
    *job = j->id;
    *out = j->result;
    ev->in_flight--;
    pending_free(j);
    return true;
}

static void run_alone(struct evaluator *ev, enum runner_mode mode, const struct cg_kernel *k,
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
    run_alone(ev, RUNNER_EVALUATE, k, s, out);
}

static void shuffle(unsigned *order, unsigned n, struct pcg32 *rng)
{
    for (unsigned i = 0; i < n; i++) {
        unsigned j = pcg32_below(rng, i + 1);
        order[i] = order[j];
        order[j] = i;
    }
}

void evaluator_rounds(struct evaluator *ev, const struct cg_kernel *const *kernels, unsigned n,
                      unsigned rounds, uint64_t seed, double *out_ns)
{
    const struct eval_settings settings = {.verify = false};
    struct pcg32 rng = pcg32_seed(seed, 0x80);
    unsigned *order = base_calloc(n ? n : 1, sizeof *order);
    for (unsigned r = 0; r < rounds; r++) {
        shuffle(order, n, &rng);
        for (unsigned i = 0; i < n; i++) {
            struct evaluation e;
            run_alone(ev, RUNNER_ROUND, kernels[order[i]], &settings, &e);
            out_ns[order[i] * rounds + r] = e.status == EVAL_OK ? e.median_ns : (double)NAN;
        }
    }
    free(order);
}

unsigned evaluator_capacity(const struct evaluator *ev)
{
    return ev->n_slots * JOBS_PER_RUNNER;
}

unsigned evaluator_fds(const struct evaluator *ev, int *fds, unsigned n)
{
    unsigned count = 0;
    for (unsigned i = 0; i < ev->n_slots && count < n; i++)
        if (ev->slots[i].fd >= 0) fds[count++] = ev->slots[i].fd;
    if (count < n) fds[count++] = ev->timer;
    return count;
}

/* ---- life ---- */

static bool any_ready(const struct evaluator *ev)
{
    for (unsigned i = 0; i < ev->n_slots; i++)
        if (ev->slots[i].state != STARTING) return true;
    return false;
}

struct evaluator *evaluator_start(struct verify_task **task_p, const struct device *dev, unsigned runners,
                                  const struct verify_tolerance tolerance[VERIFY_SETS], struct diag *d)
{
    struct evaluator *ev = base_calloc(1, sizeof *ev);
    ev->task = *task_p;
    *task_p = NULL;
    ev->setup = (struct runner_setup){.task = ev->task, .device = dev->index};
    if (!dev->gpu) cache_make(ev->setup.cache, sizeof ev->setup.cache);
    ev->gpu = dev->gpu;
    memcpy(ev->tolerance, tolerance, sizeof ev->tolerance);
    queue_init(&ev->waiting);
    queue_init(&ev->done);
    ev->timer = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
    ev->n_slots = runners ? runners : dev->gpu ? 4 : 2;
    if (ev->n_slots > MAX_RUNNERS) ev->n_slots = MAX_RUNNERS;
    for (unsigned i = 0; i < ev->n_slots; i++)
        start_runner(ev, &ev->slots[i]);
    while (!any_ready(ev) && !ev->lost)
        step(ev, -1);
    if (!ev->lost) return ev;
    diag_plain(d, "%s: %s", dev->name, ev->start_error);
    evaluator_free(ev);
    return NULL;
}

void evaluator_free(struct evaluator *ev)
{
    if (!ev) return;
    for (unsigned i = 0; i < ev->n_slots; i++) {
        pending_free(ev->slots[i].job);
        if (ev->slots[i].pid > 0) child_kill(ev->slots[i].pid, ev->slots[i].fd);
    }
    for (struct pending *j; (j = queue_pop(&ev->waiting));)
        pending_free(j);
    for (struct pending *j; (j = queue_pop(&ev->done));)
        pending_free(j);
    if (ev->timer >= 0) close(ev->timer);
    cache_remove(ev->setup.cache);
    verify_task_free(ev->task);
    free(ev);
}

/* ---- the reference ---- */

static struct verify_task *task_of(const struct problem *p, const struct device *dev, uint64_t seed,
                                   struct diag *d)
{
    const struct backbone *bb = p->backbone;
    struct verify_buffer *shape = base_calloc(bb->n_buffers, sizeof *shape);
    struct verify_task *t = NULL;
    bool fits = true;
    for (unsigned i = 0; i < bb->n_buffers; i++) {
        const struct bb_buffer *b = &bb->buffers[i];
        shape[i] = (struct verify_buffer){.type = b->type, .elements = b->elements, .output = b->output};
        if (fits && b->elements > dev->max_alloc_bytes / (int64_t)scalar_type_bytes(b->type)) {
            fits = false;
            diag_plain(d, "%s: '%s' is larger than the device's largest buffer", dev->name, b->name);
        }
    }
    if (fits) t = verify_task_new(shape, bb->n_buffers, seed, d);
    free(shape);
    return t;
}

static bool naive_kernel(const struct problem *p, struct cg_kernel *out)
{
    struct diag *ignored = diag_new();
    char why[160];
    struct space_state *st = problem_naive(p, ignored);
    bool ok = st && problem_kernel(p, st, NULL, out, why, sizeof why);
    if (st) space_state_free(st);
    diag_free(ignored);
    return ok;
}

/* The reference from the naive kernel, or, where the space has none and the problem is small, from the
 * interpreter. */
static bool fill_reference(struct evaluator *ev, const struct problem *p, const unsigned *input_of,
                           struct diag *d)
{
    struct cg_kernel naive;
    if (!naive_kernel(p, &naive)) {
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
    run_alone(ev, RUNNER_REFERENCE, &naive, &(struct eval_settings){0}, &e);
    cg_kernel_free(&naive);
    if (e.status != EVAL_OK)
        diag_plain(d, "the naive kernel fails: %s: %s", eval_status_name(e.status), e.message);
    return e.status == EVAL_OK;
}

static bool make_reference(struct evaluator *ev, const struct problem *p, uint64_t seed, struct diag *d)
{
    const struct backbone *bb = p->backbone;
    unsigned *input_of = base_calloc(bb->n_buffers, sizeof *input_of);
    for (unsigned i = 0; i < bb->n_buffers; i++)
        input_of[i] = bb->buffers[i].input;
    bool ok = fill_reference(ev, p, input_of, d) &&
              verify_reference(ev->task, input_of, p->program, seed, ev->tolerance, d);
    free(input_of);
    return ok;
}

struct evaluator *evaluator_new(const struct problem *p, const struct device *dev, unsigned runners,
                                uint64_t seed, struct diag *d)
{
    static const struct verify_tolerance none[VERIFY_SETS] = {{.exact = true}, {.absolute = 0}};
    struct verify_task *task = task_of(p, dev, seed, d);
    if (!task) return NULL;
    struct evaluator *ev = evaluator_start(&task, dev, runners, none, d);
    if (!ev || make_reference(ev, p, seed, d)) return ev;
    evaluator_free(ev);
    return NULL;
}
