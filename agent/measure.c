/* Launches, batches, and growing prefixes: a candidate that is hopeless is given up after a few work-groups
 * (README.md, "A job" and "What a time means").
 *
 * Events are polled, never waited for: clFinish on an endless kernel does not return. A sample is the
 * device's own start and end of a launch, within a batch that is enqueued at once. A host takes longer for an
 * enqueue than a short kernel takes; launches that wait for it are longer by the device's own clock too, and
 * differ by as much. A hold in front of the batch keeps the device from its launches until it has them all;
 * and since an NVIDIA H200 that has more than some nine launches ahead of it is 0.6 us slower with each, a
 * long batch is cut into parts, each behind a hold of its own. */
#include "agent/measure.h"

#include <math.h>
#include <string.h>
#include <time.h>

#include "agent/child.h"
#include "agent/limits.h"
#include "core/base/clock.h"
#include "core/base/panic.h"

enum { GROW_FAST = 8 }; /* times as many work-groups, while a launch is short beside its limit */
enum { FIRST_HOLD = 1 << 15, MOST_HOLD = 1 << 21 }; /* rounds of two to three ns */

/* Each look takes processor time from the launches of a CPU device: sixty of them made a batch of 30 ms 5 to
 * 10 % longer (experiments/results/2026-11-28-openblas.md). So there is none, but for signs of life, before
 * the time has passed that the launches are expected to take. */
static void nap(double waited_ms, double expected_ms)
{
    double ms = waited_ms < expected_ms ? expected_ms - waited_ms : fmin(waited_ms / 16, 2);
    ms = fmin(fmax(ms, 0.02), AGENT_ALIVE_MS);
    nanosleep(&(struct timespec){.tv_nsec = (long)(ms * 1e6)}, NULL);
}

static double processor_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

/* Limits of a wait: of wall time, and of processor time. */
struct patience {
    double wall_ns, processor_ns;
};

/* For the last of n launches. awake: since before the first. */
static struct measure_result wait_for(const struct measure_launch *l, unsigned n, cl_event event,
                                      struct patience most, struct clock_awake *awake)
{
    double told = 0, used = processor_ms();
    for (;;) {
        cl_int status = CL_QUEUED;
        cl_int error = clGetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status, NULL);
        if (error || status < 0)
            return (struct measure_result){.end = MEASURE_FAILED, .error = error ? error : status};
        double passed = clock_awake_ms(awake, AGENT_RUNNER_LOOK_MS);
        if (status == CL_COMPLETE) return (struct measure_result){.end = MEASURE_DONE};
        if (passed * 1e6 > most.wall_ns || (processor_ms() - used) * 1e6 > most.processor_ns)
            return (struct measure_result){.end = MEASURE_OVERDUE};
        if (passed - told > AGENT_ALIVE_MS) {
            l->alive(l->ctx);
            told = passed;
        }
        nap(passed, l->expected_ns * n * 1e-6);
    }
}

/* Device time from the start of one launch to the end of another, ns. Stamps are of the epoch on some
 * devices: a double holds them in steps of 256 ns, their difference exactly. */
static double span(cl_event first, cl_event last)
{
    cl_ulong start = 0, end = 0;
    clGetEventProfilingInfo(first, CL_PROFILING_COMMAND_START, sizeof start, &start, NULL);
    clGetEventProfilingInfo(last, CL_PROFILING_COMMAND_END, sizeof end, &end, NULL);
    return end > start ? (double)(end - start) : 0;
}

/* Whether the process stood still during launches of so many ns by the device's clock: on its processors they
 * did, too. A long enqueue, in which a driver makes machine code, is no part of them. */
static bool is_disturbed(double start_ms, const struct clock_awake *awake, double launches_ns)
{
    double stood = clock_now_ms() - start_ms - awake->passed_ms;
    return stood > AGENT_STOOD_MS && launches_ns * 1e-6 > stood / 2;
}

/* A launch: of one kernel both are its event, of a sequence those of its first and its last kernel. */
struct launched {
    cl_event first, last;
};

static void release(const struct launched *e)
{
    if (e->last != e->first) clReleaseEvent(e->last);
    clReleaseEvent(e->first);
}

static cl_int enqueue_one(const struct measure_launch *l, const struct measure_step *s, cl_event *event)
{
    return clEnqueueNDRangeKernel(l->queue, s->kernel, 3, NULL, s->global, s->free_local ? NULL : s->local, 0,
                                  NULL, event);
}

static cl_int enqueue(const struct measure_launch *l, const size_t global[3], struct launched *e)
{
    struct measure_step first = {.kernel = l->kernel, .free_local = l->free_local};
    memcpy(first.global, global, sizeof first.global);
    memcpy(first.local, l->local, sizeof first.local);
    cl_int error = enqueue_one(l, &first, &e->first);
    if (error) return error;
    e->last = e->first;
    for (unsigned i = 0; !error && i < l->n_more; i++)
        error = enqueue_one(l, &l->more[i], i + 1 == l->n_more ? &e->last : NULL);
    if (error) clReleaseEvent(e->first);
    return error;
}

static unsigned enqueue_all(const struct measure_launch *l, const size_t global[3], unsigned n,
                            struct launched *events, cl_int *error)
{
    unsigned done = 0;
    for (*error = CL_SUCCESS; done < n; done++)
        if ((*error = enqueue(l, global, &events[done]))) break;
    clFlush(l->queue);
    return done;
}

/* ---- holds ---- */

/* Operations that wait for each other, and a store of what they never come to. */
static const char hold_source[] = "kernel void hold(global float *out, int rounds) {\n"
                                  "    float x = rounds;\n"
                                  "    for (int i = 0; i < rounds; i++) x = x * 0.5f + 1;\n"
                                  "    if (x < 0) out[0] = x;\n"
                                  "}\n";

void measure_hold_open(struct measure_hold *h, cl_context context, cl_device_id device)
{
    const char *source = hold_source;
    cl_int error;
    *h = (struct measure_hold){.rounds = FIRST_HOLD};
    cl_program program = clCreateProgramWithSource(context, 1, &source, NULL, &error);
    if (error) return;
    if (!clBuildProgram(program, 1, &device, "-cl-std=CL1.2", NULL, NULL))
        h->kernel = clCreateKernel(program, "hold", &error);
    clReleaseProgram(program);
    if (h->kernel && clSetKernelArg(h->kernel, 0, sizeof(cl_mem), NULL)) measure_hold_close(h);
}

void measure_hold_close(struct measure_hold *h)
{
    if (h->kernel) clReleaseKernel(h->kernel);
    h->kernel = NULL;
}

/* NULL: there is none. */
static cl_event start_hold(const struct measure_launch *l)
{
    const size_t one = 1;
    cl_event event = NULL;
    if (!l->hold || !l->hold->kernel) return NULL;
    clSetKernelArg(l->hold->kernel, 1, sizeof l->hold->rounds, &l->hold->rounds);
    if (clEnqueueNDRangeKernel(l->queue, l->hold->kernel, 1, NULL, &one, &one, 0, NULL, &event)) return NULL;
    clFlush(l->queue);
    return event;
}

/* Releases the event. true: the hold was over too soon, and the next one is longer. */
static bool lengthen_hold(const struct measure_launch *l, cl_event event)
{
    cl_int status = CL_QUEUED;
    if (!event) return false;
    clGetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status, NULL);
    clReleaseEvent(event);
    if (status != CL_COMPLETE || l->hold->rounds >= MOST_HOLD) return false;
    l->hold->rounds *= 2;
    return true;
}

/* ---- batches ---- */

/* Enqueues n launches and waits for each; the limits are those of all together. `hold` is the event of the
 * one in front of them, or NULL; *again: it was over too soon. */
static struct measure_result run_part(const struct measure_launch *l, const size_t global[3], unsigned n,
                                      struct patience most, cl_event hold, double *samples, bool *again)
{
    CHECK(n >= 1 && n <= AGENT_BATCH_MOST);
    struct launched events[AGENT_BATCH_MOST];
    cl_int error;
    double start = clock_now_ms();
    struct clock_awake awake = clock_awake_start();
    unsigned queued = enqueue_all(l, global, n, events, &error);
    *again = lengthen_hold(l, hold);
    struct measure_result r = {.end = MEASURE_DONE};
    if (queued > 0) r = wait_for(l, queued, events[queued - 1].last, most, &awake);
    if (r.end == MEASURE_DONE && error) r = (struct measure_result){.end = MEASURE_FAILED, .error = error};
    if (r.end == MEASURE_DONE) {
        double whole = span(events[0].first, events[n - 1].last);
        r.ns = whole / n;
        r.disturbed = is_disturbed(start, &awake, whole);
        for (unsigned i = 0; i < n; i++)
            samples[i] = span(events[i].first, events[i].last);
    }
    for (unsigned i = 0; i < queued; i++)
        release(&events[i]);
    return r;
}

static struct measure_result run_one(const struct measure_launch *l, const size_t global[3],
                                     struct patience most)
{
    double sample;
    bool again;
    struct measure_result r;
    unsigned tries = 0;
    do
        r = run_part(l, global, 1, most, NULL, &sample, &again);
    while (r.end == MEASURE_DONE && r.disturbed && ++tries < AGENT_REPEATS);
    return r;
}

struct measure_result measure_once(const struct measure_launch *l, const size_t global[3], double limit_ns)
{
    return run_one(l, global, (struct patience){limit_ns + AGENT_SLACK_NS, INFINITY});
}

struct measure_result measure_first(const struct measure_launch *l, const size_t global[3], double limit_ns)
{
    return run_one(l, global, (struct patience){3 * limit_ns + AGENT_SLACK_NS, limit_ns + AGENT_SLACK_NS});
}

/* Launches behind a hold: so many kernels at most. */
static unsigned held_most(const struct measure_launch *l)
{
    unsigned n = AGENT_HELD_MOST / (l->n_more + 1);
    return n > 0 ? n : 1;
}

struct measure_result measure_batch(const struct measure_launch *l, unsigned n, double limit_ns,
                                    double *samples)
{
    struct patience most = {limit_ns + AGENT_SLACK_NS, INFINITY};
    bool held = l->hold && l->hold->kernel, again;
    unsigned tries = 0, done = 0, most_held = held_most(l), part = held && n > most_held ? most_held : n;
    double sum = 0;
    while (done < n) {
        if (part > n - done) part = n - done;
        struct measure_result r = run_part(l, l->global, part, most, start_hold(l), samples + done, &again);
        if (r.end != MEASURE_DONE) return r;
        if (again || (r.disturbed && ++tries < AGENT_REPEATS)) continue;
        sum += r.ns * part;
        done += part;
    }
    return (struct measure_result){.end = MEASURE_DONE, .ns = sum / n};
}

unsigned measure_batch_size(double launch_ns, double batch_ns, double best_ns)
{
    bool near_best = best_ns > 0 && launch_ns < AGENT_NEAR_BEST * best_ns;
    bool far = best_ns > 0 && launch_ns > AGENT_FAR * best_ns;
    if (launch_ns > batch_ns && !near_best) return 2;
    if (far) return AGENT_BATCH_FAR;
    if (best_ns > 0 && !near_best) return AGENT_BATCH_LEAST;
    double n = launch_ns > 0 ? batch_ns / launch_ns : AGENT_BATCH_MOST;
    return (unsigned)fmin(fmax(n, AGENT_BATCH_LEAST), AGENT_BATCH_MOST);
}

/* ---- growing prefixes ---- */

static size_t count_groups(const size_t groups[3])
{
    return groups[0] * groups[1] * groups[2];
}

/* Multiplies the number of groups along the first axis that is not complete. */
static void grow(size_t groups[3], const size_t whole[3], size_t factor)
{
    for (int axis = 0; axis < 3; axis++) {
        if (groups[axis] == whole[axis]) continue;
        groups[axis] = groups[axis] * factor < whole[axis] ? groups[axis] * factor : whole[axis];
        return;
    }
}

/* The least time of the whole, from that of a prefix: its groups ran at once, as far as the device can. */
static double least_whole(const struct measure_launch *l, const struct measure_result *prefix)
{
    size_t wave = prefix->groups > l->resident ? prefix->groups : l->resident;
    return l->resident > 0 && prefix->of > wave ? prefix->ns * (double)prefix->of / (double)wave : prefix->ns;
}

struct measure_result measure_prefixes(const struct measure_launch *l, double limit_ns)
{
    struct measure_result worst = {.end = MEASURE_DONE};
    if (l->free_local) return worst;
    size_t whole[3], groups[3] = {1, 1, 1};
    for (int i = 0; i < 3; i++)
        whole[i] = l->global[i] / l->local[i];
    while (count_groups(groups) < count_groups(whole)) {
        size_t global[3];
        for (int i = 0; i < 3; i++)
            global[i] = groups[i] * l->local[i];
        struct measure_result r = measure_once(l, global, limit_ns);
        r.groups = count_groups(groups);
        r.of = count_groups(whole);
        if (r.end != MEASURE_DONE || r.ns > limit_ns) return r;
        if (least_whole(l, &r) > 2 * limit_ns) {
            r.ns = least_whole(l, &r);
            return r;
        }
        if (r.ns > worst.ns) worst = r;
        if (r.ns * (double)r.of / (double)r.groups < limit_ns) return worst;
        grow(groups, whole, r.ns * 16 < limit_ns ? GROW_FAST : 2);
    }
    return worst;
}
