/* What a runner may use, and how it has ended: kill times, processor time, memory, and builds that stand
 * still.
 *
 *     STARTING   120 s
 *     BUILDING   60 s of processor time, 600 s by the clock, 20 s without using the processor
 *     RUNNING    until the launch must be over, from each sign of life anew
 *     any job    memory: what its arrays take and a share of the machine's
 *
 * The system enforces each limit too, in case the evaluator itself stands still: the runner's limit of
 * processor time is raised for each job (SIGXCPU ends it then), and where memory runs out it is the first
 * that the system kills. A kernel in OpenCL C cannot allocate, but its compiler may take any amount: builds
 * are watched ten times a second, runs once. */
#define _GNU_SOURCE /* sigabbrev_np */
#include <inttypes.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "agent/confine.h"
#include "agent/evaluate_state.h"
#include "agent/limits.h"
#include "core/base/clock.h"

/* ---- the machine ---- */

/* The first number of a file, or -1. */
static int64_t number_in(const char *path)
{
    int64_t n;
    FILE *in = fopen(path, "r");
    if (!in) return -1;
    if (fscanf(in, "%" SCNd64, &n) != 1) n = -1;
    fclose(in);
    return n;
}

long evaluate_machine_mib(void)
{
    long mib = (long)((double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE) / (1 << 20));
    int64_t container = number_in("/sys/fs/cgroup/memory.max");
    return container > 0 && container >> 20 < mib ? (long)(container >> 20) : mib;
}

/* How many processes the system has killed since it had no memory; 0: it does not count them. */
static long count_oom_kills(void)
{
    char line[128];
    long n = 0;
    FILE *in = fopen("/proc/vmstat", "r");
    while (in && fgets(line, sizeof line, in))
        if (sscanf(line, "oom_kill %ld", &n) == 1) break;
    if (in) fclose(in);
    return n;
}

void evaluate_limit(struct evaluator *ev)
{
    long share = evaluate_machine_mib() / 2 / (ev->n_slots ? ev->n_slots : 1);
    ev->most_kib = 1024 * (share < AGENT_MEMORY_LEAST_MIB  ? AGENT_MEMORY_LEAST_MIB
                           : share > AGENT_MEMORY_MOST_MIB ? AGENT_MEMORY_MOST_MIB
                                                           : share);
    ev->silent_ms = AGENT_SILENT_MS;
    ev->oom_kills = count_oom_kills();
}

/* ---- times ---- */

static double processors(void)
{
    long n = sysconf(_SC_NPROCESSORS_ONLN);
    return n > 0 ? (double)n : 1;
}

void evaluate_begin_start(struct slot *s)
{
    s->state = STARTING;
    s->kill_at = clock_now_ms() + AGENT_START_MS;
    if (s->pid > 0) confine_processor(s->pid, processors() * (AGENT_START_MS + AGENT_PROCESSOR_SLACK_MS));
}

void evaluate_begin_idle(struct slot *s)
{
    s->state = IDLE;
    s->kill_at = INFINITY;
}

void evaluate_begin_build(struct slot *s)
{
    s->state = BUILDING;
    s->built_from = s->busy_at = clock_now_ms();
    s->used = s->progress = child_processor_ms(s->pid);
    s->kill_at = s->built_from + AGENT_BUILD_PROCESSOR_MS;
    confine_processor(s->pid, s->used + AGENT_BUILD_PROCESSOR_MS + processors() * AGENT_PROCESSOR_SLACK_MS);
}

/* A launch, or what is done with the outputs after it: the runner says nothing meanwhile. */
void evaluate_begin_launch(const struct evaluator *ev, struct slot *s)
{
    double patience = AGENT_LAUNCH_MS(s->job->limit_ns) + ev->transfer_ms;
    s->state = RUNNING;
    s->kill_at = clock_now_ms() + patience;
    confine_processor(s->pid,
                      child_processor_ms(s->pid) + processors() * (patience + AGENT_PROCESSOR_SLACK_MS));
}

void evaluate_excuse(struct slot *s, double ms)
{
    s->kill_at += ms;
    s->built_from += ms;
    s->busy_at += ms;
}

/* ---- looking ---- */

/* Moves the kill time of a build that has had less of the processor than it may: others build too. */
static bool may_build_on(struct slot *s, double now)
{
    if (s->state != BUILDING) return false;
    double left = fmin(AGENT_BUILD_PROCESSOR_MS - (child_processor_ms(s->pid) - s->used),
                       s->built_from + AGENT_BUILD_MS - now);
    if (left > 0) s->kill_at = now + left;
    return left > 0;
}

/* Whether a build waits for something that does not come. One that only gets no processor is not silent. */
static bool is_silent(const struct evaluator *ev, struct slot *s, double now)
{
    double used = child_processor_ms(s->pid);
    if (used - s->progress >= AGENT_PROGRESS_MS) {
        s->progress = used;
        s->busy_at = now;
    }
    if (now - s->busy_at < ev->silent_ms) return false;
    if (!child_runnable(s->pid)) return true;
    s->busy_at = now;
    return false;
}

static bool takes_too_much(const struct evaluator *ev, const struct slot *s)
{
    return s->base_kib > 0 && child_memory_kib(s->pid) > s->base_kib + s->job->arrays_kib + ev->most_kib;
}

enum evaluate_end evaluate_watch(const struct evaluator *ev, struct slot *s, double now)
{
    if (s->kill_at <= now && !may_build_on(s, now)) return END_OVERDUE;
    if (!s->job || now - s->watched_at < AGENT_BUILD_LOOK_MS) return END_NONE;
    s->watched_at = now;
    if (takes_too_much(ev, s)) return END_MEMORY;
    return s->state == BUILDING && is_silent(ev, s, now) ? END_SILENT : END_NONE;
}

/* At the next kill time, and every second until then, so that a stop of this process is distinguished from
 * its waiting. */
double evaluate_next_watch(const struct evaluator *ev)
{
    double at = INFINITY, now = clock_now_ms();
    for (unsigned i = 0; i < ev->n_slots; i++) {
        const struct slot *s = &ev->slots[i];
        if (s->pid <= 0 || s->stopped_at > 0 || isinf(s->kill_at)) continue;
        at = fmin(at,
                  fmin(s->kill_at, now + (s->state == BUILDING ? AGENT_BUILD_LOOK_MS : AGENT_RUN_LOOK_MS)));
    }
    return at;
}

/* ---- names ---- */

static void say(struct evaluation *e, enum eval_status status, const char *what, const char *phase)
{
    e->status = status;
    snprintf(e->message, EVAL_MESSAGE, "%s while %s", what, phase);
}

/* SIGKILL comes from the system where memory has run out, else from a person. */
static void name_kill(struct evaluator *ev, const char *phase, struct evaluation *e)
{
    long kills = count_oom_kills();
    if (kills > ev->oom_kills)
        say(e, EVAL_OUT_OF_MEMORY, "the system had no memory left and killed the runner process", phase);
    else
        say(e, EVAL_CRASHED, "another process killed the runner process (SIGKILL)", phase);
    ev->oom_kills = kills;
}

static void name_signal(struct evaluator *ev, int number, const char *phase, struct evaluation *e)
{
    char what[EVAL_MESSAGE / 2];
    const char *name = sigabbrev_np(number);
    snprintf(what, sizeof what, "the runner process crashed (%s%s: %s)", name ? "SIG" : "",
             name ? name : "signal", strsignal(number));
    if (number == SIGKILL)
        name_kill(ev, phase, e);
    else if (number == SIGXCPU)
        say(e, EVAL_TIMEOUT, "the runner process has used more processor time than it may (SIGXCPU)", phase);
    else
        say(e, EVAL_CRASHED, what, phase);
}

static void name_death(struct evaluator *ev, int wait_status, const char *phase, struct evaluation *e)
{
    char what[EVAL_MESSAGE / 2];
    if (WIFSIGNALED(wait_status)) {
        name_signal(ev, WTERMSIG(wait_status), phase, e);
        return;
    }
    snprintf(what, sizeof what, "the driver ended the runner process (status %d)", WEXITSTATUS(wait_status));
    say(e, EVAL_CRASHED, what, phase);
}

void evaluate_name_end(struct evaluator *ev, enum evaluate_end end, int wait_status, bool building,
                       struct evaluation *e)
{
    const char *phase = building ? "building" : "running";
    char what[EVAL_MESSAGE / 2];
    switch (end) {
    case END_OVERDUE:
        say(e, EVAL_TIMEOUT, "killed: the kernel or driver did not respond", phase);
        break;
    case END_SILENT:
        snprintf(what, sizeof what, "killed: the compiler used no processor time for %g s",
                 ev->silent_ms * 1e-3);
        say(e, EVAL_TIMEOUT, what, phase);
        break;
    case END_MEMORY:
        snprintf(what, sizeof what, "killed: the runner process took more than %ld MiB beside its arrays",
                 ev->most_kib / 1024);
        say(e, EVAL_OUT_OF_MEMORY, what, phase);
        break;
    case END_NONSENSE:
        say(e, EVAL_CRASHED, "killed: the runner process sent a malformed message", phase);
        break;
    case END_NONE:
    case END_DIED:
        name_death(ev, wait_status, phase, e);
        break;
    }
}
