/* Runners and their jobs: processes that build and launch, and that are killed when one of them hangs
 * (README.md, "A job").
 *
 * A runner is STARTING, IDLE, BUILDING, WAITING for the device or RUNNING on it (evaluate_lock.c). Every
 * state but IDLE and WAITING has a kill time (evaluate_watch.c); a runner that dies or is killed costs its
 * candidate, and another is forked in its place, which first runs a probe kernel. Where that does not start,
 * the other runners do without it. Three failed starts in a row without another runner mean that the device
 * is lost, and so do three runners that die while none has anything to do. The first runner starts alone;
 * the others start while it works. */
#include <errno.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <sys/wait.h>

#include "agent/cache.h"
#include "agent/evaluate_state.h"
#include "agent/limits.h"
#include "agent/pocl_folder.h"
#include "agent/verify_known.h"
#include "core/base/clock.h"
#include "core/base/utf8.h"

/* ---- queues ---- */

void evaluate_push(struct queue *q, struct pending *j)
{
    j->next = NULL;
    *q->end = j;
    q->end = &j->next;
}

static void push_first(struct queue *q, struct pending *j)
{
    if (!q->first) q->end = &j->next;
    j->next = q->first;
    q->first = j;
}

struct pending *evaluate_pop(struct queue *q)
{
    struct pending *j = q->first;
    if (j && !(q->first = j->next)) q->end = &q->first;
    return j;
}

/* ---- runners ---- */

/* What came of a job that no runner has any more. */
static void conclude(struct evaluator *ev, struct pending *j, const struct evaluation *e)
{
    if (evaluate_again(ev, j, e))
        push_first(&ev->waiting, j);
    else
        evaluate_push(&ev->done, j);
}

static void finish(struct evaluator *ev, struct slot *s, const struct evaluation *e)
{
    struct pending *j = s->job;
    s->job = NULL;
    conclude(ev, j, e);
}

void evaluate_lose(struct evaluator *ev)
{
    struct evaluation e = {.status = EVAL_DEVICE_LOST};
    snprintf(e.message, EVAL_MESSAGE, "%s", ev->start_error);
    ev->lost = true;
    for (struct pending *j; (j = evaluate_pop(&ev->waiting));)
        conclude(ev, j, &e);
}

static void lose(struct evaluator *ev, const char *why)
{
    snprintf(ev->start_error, sizeof ev->start_error, "%.*s", EVAL_MESSAGE - 1, why);
    evaluate_lose(ev);
}

static void count_failed_start(struct evaluator *ev, const char *why)
{
    snprintf(ev->start_error, sizeof ev->start_error, "%.*s", EVAL_MESSAGE - 1, why);
    if (++ev->failed_starts >= AGENT_FAILED_STARTS) evaluate_lose(ev);
}

static bool any_runner(const struct evaluator *ev)
{
    for (unsigned i = 0; i < ev->n_slots; i++)
        if (ev->slots[i].pid > 0) return true;
    return false;
}

void evaluate_start_runner(struct evaluator *ev, struct slot *s)
{
    char why[EVAL_MESSAGE];
    *s = (struct slot){.fd = -1};
    verify_known_hold(ev->task->known); /* the thread that checks the reference notes there */
    s->pid = child_fork(&s->fd, runner_main, &ev->setup);
    verify_known_release(ev->task->known);
    evaluate_begin_start(s);
    if (s->pid > 0 || any_runner(ev)) return;
    snprintf(why, sizeof why, "cannot start a runner process: %s", strerror(errno));
    lose(ev, why);
}

bool evaluate_any_ready(const struct evaluator *ev)
{
    for (unsigned i = 0; i < ev->n_slots; i++)
        if (ev->slots[i].state != STARTING) return true;
    return false;
}

void evaluate_start_more(struct evaluator *ev)
{
    unsigned starting = 0, most = evaluate_any_ready(ev) ? AGENT_STARTS : 1;
    for (unsigned i = 0; i < ev->n_begun; i++)
        starting += ev->slots[i].pid > 0 && ev->slots[i].state == STARTING;
    bool quiet = !ev->gpu && ev->holder;
    for (; ev->n_begun < ev->n_slots && starting < most && !quiet && !ev->lost; starting++)
        evaluate_start_runner(ev, &ev->slots[ev->n_begun++]);
}

/* Kills a runner and leaves its slot without one. Returns the wait status. */
static int remove_runner(struct evaluator *ev, struct slot *s)
{
    s->stopped_at = 0;
    char cache[CACHE_PATH];
    cache_part(ev->setup.cache, s->pid, cache);
    int status = child_kill(s->pid, s->fd);
    cache_remove(cache);
    s->pid = 0;
    s->fd = -1;
    evaluate_unlock(ev, s);
    return status;
}

/* Kills a runner and starts another, unless the device is lost. Returns the wait status. */
static int replace(struct evaluator *ev, struct slot *s)
{
    int status = remove_runner(ev, s);
    if (!ev->lost) evaluate_start_runner(ev, s);
    return status;
}

/* A runner has not started: others do without it, the device may have no room for more; else it is tried
 * again. */
static void fail_start(struct evaluator *ev, struct slot *s, const char *why)
{
    remove_runner(ev, s);
    if (any_runner(ev)) return;
    count_failed_start(ev, why);
    if (!ev->lost) evaluate_start_runner(ev, s);
}

/* A driver that ended its process while it started. */
static void on_dead_start(struct evaluator *ev, struct slot *s, bool overdue)
{
    char why[EVAL_MESSAGE];
    snprintf(why, sizeof why, "%s",
             overdue ? "the OpenCL driver does not respond" : "the OpenCL driver crashed");
    if (!ev->gpu) pocl_folder_explain(ev->setup.cache, why, sizeof why);
    fail_start(ev, s, why);
}

/* Whether the compiler died since what it writes has no room. */
static bool has_no_room(const struct evaluator *ev, const struct slot *s, enum evaluate_end end)
{
    char why[EVAL_MESSAGE];
    return s->job && s->state == BUILDING && end == END_DIED && !ev->gpu &&
           pocl_folder_fault(ev->setup.cache, why, sizeof why);
}

/* The compiler's folder is full. What this runner has written goes with it; the job is done again if that
 * makes room, once. Else nothing can be built, and the device is lost. */
static void on_full(struct evaluator *ev, struct slot *s, const struct evaluation *e)
{
    char why[EVAL_MESSAGE];
    struct pending *job = s->job;
    s->job = NULL;
    remove_runner(ev, s);
    bool still = pocl_folder_fault(ev->setup.cache, why, sizeof why), again = !still && !job->again;
    job->again = true;
    struct evaluation end = *e;
    if (still) {
        lose(ev, why);
        end = (struct evaluation){.status = EVAL_DEVICE_LOST};
        memcpy(end.message, why, sizeof why);
    } else {
        evaluate_start_runner(ev, s);
    }
    if (again)
        push_first(&ev->waiting, job);
    else
        conclude(ev, job, &end);
}

/* The runner is gone, or is to be ended. */
static void on_end(struct evaluator *ev, struct slot *s, enum evaluate_end end)
{
    struct evaluation e = {.status = EVAL_CRASHED};
    if (s->state == STARTING) {
        on_dead_start(ev, s, end == END_OVERDUE);
        return;
    }
    if (has_no_room(ev, s, end)) {
        snprintf(e.message, EVAL_MESSAGE, "the compiler ended: there is no room for its files");
        on_full(ev, s, &e);
        return;
    }
    struct pending *job = s->job;
    s->job = NULL;
    if (!job && ++ev->idle_deaths >= AGENT_IDLE_DEATHS)
        lose(ev, "runner processes crash while idle; check the OpenCL driver");
    bool building = s->state == BUILDING;
    int status = replace(ev, s);
    if (!job) return;
    evaluate_name_end(ev, end, status, building, &e);
    conclude(ev, job, &e);
}

static void on_hello(struct evaluator *ev, struct slot *s, const char *why)
{
    if (why[0]) {
        fail_start(ev, s, why);
        return;
    }
    ev->failed_starts = 0;
    evaluate_begin_idle(s);
    s->base_kib = child_memory_kib(s->pid);
}

static void on_result(struct evaluator *ev, struct slot *s, const struct runner_result *r)
{
    evaluate_unlock(ev, s);
    ev->idle_deaths = 0;
    if (r->full) {
        on_full(ev, s, &r->evaluation);
        return;
    }
    evaluate_begin_idle(s);
    finish(ev, s, &r->evaluation);
    if (r->retire) replace(ev, s);
}

static void on_ready(struct evaluator *ev, struct slot *s)
{
    evaluate_unlock(ev, s);
    s->state = WAITING;
    s->kill_at = INFINITY;
    s->ticket = ev->tickets++;
}

/* Handles one frame; false: it makes no sense. */
static bool on_frame(struct evaluator *ev, struct slot *s, uint32_t kind, void *payload, size_t bytes)
{
    if (kind == RUNNER_HELLO && s->state == STARTING && bytes == EVAL_MESSAGE) {
        ((char *)payload)[bytes - 1] = '\0';
        utf8_clean(payload);
        on_hello(ev, s, payload);
    } else if (kind == RUNNER_RESULT && s->job && bytes == sizeof(struct runner_result)) {
        struct runner_result r;
        memcpy(&r, payload, sizeof r);
        r.evaluation.message[EVAL_MESSAGE - 1] = '\0';
        utf8_clean(r.evaluation.message); /* compilers' messages, cut off */
        if (r.evaluation.n_samples > EVAL_MAX_SAMPLES) return false;
        on_result(ev, s, &r);
    } else if (kind == RUNNER_READY && s->job && bytes == 0) {
        on_ready(ev, s);
    } else if (kind == RUNNER_ALIVE && s->state == RUNNING && bytes == 0) {
        evaluate_begin_launch(ev, s);
    } else if (kind == RUNNER_ALIVE && s->state == BUILDING) {
        s->busy_at = clock_now_ms();
    } else {
        return false;
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
        on_end(ev, s, END_DIED);
        return;
    }
    s->length += (size_t)n;
    pid_t pid = s->pid;
    int taken = 1;
    while (taken == 1 && s->pid == pid)
        taken = take_frame(ev, s);
    if (taken < 0 && s->pid == pid) on_end(ev, s, END_NONSENSE);
}

/* ---- the loop ---- */

/* Sends the first waiting job to an idle runner; one that has died since it was last heard of leaves the job
 * to the others. */
static void hand_out(struct evaluator *ev, struct slot *s)
{
    const struct pending *job = ev->waiting.first;
    if (!child_send(s->fd, RUNNER_JOB, job->message, job->bytes)) {
        on_end(ev, s, END_DIED);
        return;
    }
    s->job = evaluate_pop(&ev->waiting);
    evaluate_begin_build(s);
}

static void dispatch(struct evaluator *ev)
{
    for (unsigned i = 0; i < ev->n_slots && ev->waiting.first; i++) {
        struct slot *s = &ev->slots[i];
        if (s->state == IDLE && s->pid > 0 && !(s->stopped_at > 0)) hand_out(ev, s);
    }
}

/* Moves the kill times on by what this process stood still, or was busy elsewhere, since the last look: a
 * Ctrl-Z stops the runners too, and nobody has heard of them. */
static void excuse_stop(struct evaluator *ev)
{
    double now = clock_now_ms(), stood = now - ev->looked_at - AGENT_LOOK_MS;
    ev->looked_at = now;
    for (unsigned i = 0; stood > 0 && i < ev->n_slots; i++) {
        struct slot *s = &ev->slots[i];
        if (!(s->stopped_at > 0)) evaluate_excuse(s, stood);
    }
}

static void watch_all(struct evaluator *ev)
{
    double now = clock_now_ms();
    for (unsigned i = 0; i < ev->n_slots; i++) {
        struct slot *s = &ev->slots[i];
        if (s->pid <= 0 || s->stopped_at > 0) continue;
        enum evaluate_end end = evaluate_watch(ev, s, now);
        if (end != END_NONE) on_end(ev, s, end);
    }
}

static void arm_timer(const struct evaluator *ev)
{
    double ms = fmin(evaluate_next_watch(ev), evaluate_next_look(ev)) - clock_now_ms();
    struct itimerspec t = {0};
    if (ms < 1e9) {
        ms = fmax(ms, 1);
        t.it_value.tv_sec = (time_t)(ms / 1e3);
        t.it_value.tv_nsec = (long)(fmod(ms, 1e3) * 1e6);
    }
    timerfd_settime(ev->timer, 0, &t, NULL);
}

/* Ends every job and runner. */
static void stop(struct evaluator *ev)
{
    ev->caller.stop_fd = -1;
    lose(ev, "interrupted");
    for (unsigned i = 0; i < ev->n_slots; i++) {
        struct slot *s = &ev->slots[i];
        if (s->job) finish(ev, s, &(struct evaluation){.status = EVAL_DEVICE_LOST, .message = "interrupted"});
        if (s->pid > 0) replace(ev, s);
    }
}

/* Starts runners, hands out jobs and the device, and sets the clock. */
static void assign(struct evaluator *ev)
{
    evaluate_start_more(ev);
    evaluate_heed(ev);
    dispatch(ev);
    evaluate_grant(ev);
    arm_timer(ev);
}

void evaluate_step(struct evaluator *ev, int wait_ms)
{
    struct pollfd p[EVAL_MAX_FDS + 1];
    excuse_stop(ev);
    assign(ev);
    for (unsigned i = 0; i < ev->n_slots; i++)
        p[i] = (struct pollfd){.fd = ev->slots[i].fd, .events = POLLIN};
    p[ev->n_slots] = (struct pollfd){.fd = ev->timer, .events = POLLIN};
    p[ev->n_slots + 1] = (struct pollfd){.fd = ev->caller.stop_fd, .events = POLLIN};
    bool any = poll(p, ev->n_slots + 2, wait_ms) > 0;
    excuse_stop(ev);
    if (ev->caller.alive) ev->caller.alive(ev->caller.ctx);
    if (any && p[ev->n_slots + 1].revents) {
        stop(ev);
        return;
    }
    if (any)
        for (unsigned i = 0; i < ev->n_slots; i++)
            if (p[i].revents && ev->slots[i].fd == p[i].fd) receive(ev, &ev->slots[i]);
    watch_all(ev);
    assign(ev);
}
