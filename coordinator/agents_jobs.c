/* The evaluator of agents: jobs, results and final rounds as messages. For example
 *
 *     start(job 17)          JOB 17      -> agent with a credit
 *     collect() = RESULT 17  RESULT 17   <- agent, READY 1
 *     collect() = LOST 18    no sign of life of the agent that has job 18
 *     collect() = RESULT 18  ... which answers all the same: the first result counts
 *
 * Every function is called from the session's thread; collect() waits in roster_poll(). */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/device_lock.h"
#include "agent/limits.h"
#include "coordinator/agents_state.h"
#include "coordinator/limits.h"
#include "coordinator/progress.h"
#include "coordinator/session.h"
#include "core/base/arena.h"
#include "core/base/clock.h"
#include "core/base/stats.h"
#include "core/base/strbuf.h"

enum { EMBEDDED_MS = INT32_MAX };
#define ROUNDING 1e-12 /* of a median that was computed elsewhere */

static const struct session_event nothing = {.kind = SESSION_NOTHING}, news = {.kind = SESSION_NEWS};

/* Whether drawing would disturb another process, which measures on the processors that it needs. */
static bool must_rest(const struct agents *a)
{
    return device_lock_busy_elsewhere(a->lock);
}

static unsigned agents_room(void *self)
{
    const struct agents *a = self;
    unsigned idle = roster_idle_peers(a->roster);
    return idle > 0 && !must_rest(a) ? idle : 0;
}

/* ---- jobs ---- */

static struct agents_job *find_job(const struct agents *a, int64_t number)
{
    struct agents_job *j;
    HASH_FIND(hh, a->jobs, &number, sizeof number, j);
    return j;
}

static void forget_job(struct agents *a, struct agents_job *job)
{
    a->n_tell -= job->tell;
    HASH_DEL(a->jobs, job);
    free(job);
}

/* The record of a job, which is there already if it was lost before. */
static struct agents_job *record(struct agents *a, const struct session_job *job)
{
    struct agents_job *r = find_job(a, job->number);
    if (!r) {
        r = base_calloc(1, sizeof *r);
        r->number = job->number;
        r->peer = AGENTS_NOBODY;
        HASH_ADD(hh, a->jobs, number, sizeof r->number, r);
    }
    r->kernel_hash = job->kernel_hash;
    r->bound_ns = job->bound_ns;
    return r;
}

static void lose_job(struct agents *a, struct agents_job *job, bool blameless)
{
    job->blameless = blameless;
    job->agent = job->peer == AGENTS_NOBODY ? 0 : agents_peer_id(a, (unsigned)job->peer);
    job->peer = AGENTS_NOBODY;
    a->n_tell += !job->tell;
    job->tell = job->ever_lost = true;
}

static void agents_start(void *self, const struct session_job *job, double best_ns)
{
    struct agents *a = self;
    const struct eval_settings settings = {
        .best_ns = best_ns, .cut_factor = LIMIT_CUT_FACTOR, .batch_ns = LIMIT_BATCH_NS};
    struct agents_job *r = record(a, job);
    int peer = roster_take_credit(a->roster);
    if (peer < 0) { /* the agent has just left */
        lose_job(a, r, true);
        return;
    }
    struct arena *arena = arena_new();
    size_t n;
    const struct space_action *actions = session_job_actions(job, &n);
    struct message m = {.kind = MESSAGE_JOB,
                        .job = {.id = (uint64_t)job->number,
                                .actions = wire_actions(actions, n, arena),
                                .best_ns = best_ns,
                                .cut_factor = settings.cut_factor,
                                .batch_ns = settings.batch_ns,
                                .verify = true}};
    roster_send(a->roster, (unsigned)peer, &m);
    r->peer = peer;
    r->answered = roster_results(a->roster, (unsigned)peer);
    r->due = clock_ms() + (int64_t)evaluator_longest_ms(&settings);
    if (r->due < a->look_at) a->look_at = r->due;
    arena_free(arena);
}

/* Says how to start an agent where none is left: the search waits for one. */
static void note_absence(const struct agents *a)
{
    struct strbuf text = {0};
    if (roster_live_peers(a->roster) > 0) return;
    strbuf_printf(&text, "no agent is left; start one: thresh agent --connect %s",
                  roster_endpoint(a->roster));
    progress_note(a->options.progress, text.text);
    strbuf_free(&text);
}

static void lose_jobs(struct agents *a, unsigned peer, bool blameless)
{
    for (struct agents_job *j = a->jobs; j; j = j->hh.next)
        if (j->peer == (int)peer) lose_job(a, j, blameless);
}

/* A job that the session is still to hear of. */
static struct session_event next_lost(struct agents *a)
{
    for (struct agents_job *j = a->n_tell ? a->jobs : NULL; j; j = j->hh.next) {
        if (!j->tell) continue;
        j->tell = false;
        a->n_tell--;
        return (struct session_event){.kind = j->blameless ? SESSION_RETURNED : SESSION_LOST,
                                      .number = j->number,
                                      .result = {.agent = j->agent}};
    }
    return nothing;
}

/* Jobs of agents that live but do not answer within the limits of a job are lost. An agent that has answered
 * nothing since it was given such a job is refused. */
static void expire(struct agents *a)
{
    static const char reason[] = "no result within the time limit of a job";
    int64_t now = roster_heard_ms(a->roster);
    if (a->embedded || now < a->look_at) return;
    a->look_at = INT64_MAX;
    for (struct agents_job *j = a->jobs; j; j = j->hh.next) {
        if (j->peer == AGENTS_NOBODY) continue;
        if (now < j->due) {
            if (j->due < a->look_at) a->look_at = j->due;
            continue;
        }
        unsigned peer = (unsigned)j->peer;
        bool answers = roster_results(a->roster, peer) != j->answered;
        agents_note(a, peer, answers ? "did not finish a job" : "disconnected", reason);
        if (answers) {
            lose_job(a, j, false);
            continue;
        }
        roster_refuse(a->roster, peer, reason);
        agents_peer_goes(a, peer, "refused");
        lose_jobs(a, peer, false);
        note_absence(a);
    }
}

/* ---- results ---- */

/* The resources of a result as JSON; "" where there are none. */
static const char *resources_text(struct agents *a, struct message_ints r)
{
    a->resources[0] = 0;
    if (r.n == EVAL_RESOURCES)
        snprintf(a->resources, sizeof a->resources,
                 "{\"local_bytes\":%" PRId64 ",\"private_bytes\":%" PRId64 ",\"most_items\":%" PRId64 "}",
                 r.items[0], r.items[1], r.items[2]);
    return a->resources;
}

static bool are_times(struct message_doubles samples)
{
    for (size_t i = 0; i < samples.n; i++)
        if (!(samples.items[i] > 0) || !isfinite(samples.items[i])) return false;
    return samples.n <= EVAL_MAX_SAMPLES;
}

/* Whether the median is that of the samples. */
static bool is_timed(const struct message_result *m)
{
    return m->samples.n > 0 &&
           fabs(m->median_ns - stats_median(m->samples.items, m->samples.n)) <= ROUNDING * m->median_ns;
}

/* What is wrong with a result, whatever its status says; NULL: nothing. A time below its bound is the
 * session's to judge, unless no error in the device's description explains it. */
static const char *result_fault(const struct agents *a, const struct agents_job *job,
                                const struct message_result *m)
{
    enum eval_status status = eval_status_find(m->status);
    if (status == EVAL_STATUS_COUNT || !are_times(m->samples) || (status == EVAL_OK && !is_timed(m)))
        return "malformed result from the agent";
    double least = fmax(LIMIT_SHORTEST_NS, LIMIT_BELOW_BOUND * job->bound_ns);
    if (status == EVAL_OK && !a->embedded && m->median_ns < least)
        return "implausible result: no device is as fast";
    bool same = m->kernel_hash == 0 || m->kernel_hash == job->kernel_hash;
    return same ? NULL : "agent and coordinator generated different code";
}

static struct session_event take_result(struct agents *a, unsigned peer, const struct message_result *m)
{
    struct agents_job *job = find_job(a, (int64_t)m->id);
    if (!job || (job->peer != (int)peer && !job->ever_lost)) {
        agents_late_result(a, peer, (int64_t)m->id, !job);
        return news;
    }
    if (eval_status_find(m->status) == EVAL_DEVICE_LOST) {
        if (job->peer == (int)peer) lose_job(a, job, false);
        return news;
    }
    struct session_event e = {.kind = SESSION_RESULT, .number = job->number};
    agents_peer_answers(a, peer);
    const char *fault = result_fault(a, job, m);
    bool timed = eval_status_find(m->status) == EVAL_OK;
    e.result = (struct store_evaluation){.status = m->status,
                                         .resources = resources_text(a, m->resources),
                                         .median_ns = timed ? m->median_ns : 0,
                                         .samples = m->samples.items,
                                         .n_samples = (unsigned)m->samples.n,
                                         .message = m->message};
    if (fault) e.result = (struct store_evaluation){.status = "crashed", .message = fault};
    e.result.agent = agents_peer_id(a, peer);
    if (fault) agents_note(a, peer, "sent a result that does not count", fault);
    forget_job(a, job);
    return e;
}

/* An agent that leaves has not begun the job: another one gets it, and the candidate is not to blame. */
static struct session_event take_returned(struct agents *a, unsigned peer, const struct message_returned *m)
{
    struct agents_job *job = find_job(a, (int64_t)m->id);
    if (!job || job->peer != (int)peer) return news;
    struct session_event e = {.kind = SESSION_RETURNED, .number = job->number};
    e.result.agent = agents_peer_id(a, peer);
    forget_job(a, job);
    return e;
}

static int64_t counted(uint64_t n)
{
    return n < INT64_MAX ? (int64_t)n : INT64_MAX;
}

/* Counts that the program's outputs cannot have: they are ignored, as a malformed message is. */
static bool is_absurd(const struct agents *a, const struct message_reference *m)
{
    return counted(m->outputs) != a->program.outputs || m->not_finite > m->outputs || m->loose > m->outputs;
}

/* All agents have the same inputs; what one device makes infinite counts. Said at once: a search without
 * verification may not be wanted. */
static void take_reference(struct agents *a, const struct message_reference *m)
{
    if (is_absurd(a, m)) return;
    struct verify_doubt *x = &a->doubt;
    struct strbuf text = {0};
    bool told = x->outputs > 0;
    x->outputs = counted(m->outputs);
    if (counted(m->not_finite) > x->not_finite) x->not_finite = counted(m->not_finite);
    if (counted(m->loose) > x->loose) x->loose = counted(m->loose);
    verify_doubt_text(x, &text);
    if (!told && text.length > 0) progress_note(a->options.progress, text.text);
    strbuf_free(&text);
}

/* Only the agent in this process has kernels of the user. */
static void take_trial(struct agents *a, const struct message_baseline *m)
{
    struct agents_trial *t = m->index < LIMIT_BASELINES ? &a->trials[m->index] : NULL;
    if (!t || !a->embedded) return;
    *t = (struct agents_trial){
        .known = true, .status = eval_status_find(m->status), .median_ns = m->median_ns};
    snprintf(t->message, sizeof t->message, "%s", m->message);
}

/* ---- final rounds ---- */

/* Appends the length of a kernel's actions and the actions; of the user's own kernel its place. */
static size_t append(int64_t *to, const struct session_pick *pick, struct arena *arena)
{
    if (store_is_baseline(pick->number)) {
        to[0] = -1 - (STORE_BASELINE - pick->number);
        return 1;
    }
    struct message_ints ints = wire_actions(pick->actions, pick->n_actions, arena);
    to[0] = (int64_t)ints.n;
    if (ints.n) memcpy(to + 1, ints.items, ints.n * sizeof *to);
    return ints.n + 1;
}

static struct message_ints kernels(const struct session_pick *const *picks, unsigned n, struct arena *arena)
{
    size_t room = 0, used = 0;
    for (unsigned i = 0; i < n; i++)
        room += 2 * picks[i]->n_actions + 1;
    int64_t *items = ARENA_ARRAY(arena, int64_t, room);
    for (unsigned i = 0; i < n; i++)
        used += append(items + used, picks[i], arena);
    return (struct message_ints){items, used};
}

static bool agents_start_round(void *self, const struct session_pick *const *picks, unsigned n, uint64_t seed)
{
    struct agents *a = self;
    int peer = roster_idle_peer(a->roster);
    if (peer < 0 || a->rounds_fail) return false;
    struct arena *arena = arena_new();
    const struct message m = {
        .kind = MESSAGE_ROUNDS,
        .rounds = {.id = ++a->round_id, .kernels = kernels(picks, n, arena), .rounds = 1, .seed = seed}};
    roster_send(a->roster, (unsigned)peer, &m);
    a->round_peer = peer;
    a->round_n = n;
    a->round_ends = clock_ms() + LIMIT_ROUND_MS;
    arena_free(arena);
    return true;
}

static struct session_event end_round(struct agents *a, const double *times)
{
    a->round_peer = AGENTS_NOBODY;
    return (struct session_event){.kind = SESSION_ROUND, .times = times};
}

/* An answer of another length than was asked for is none. */
static struct session_event take_figures(struct agents *a, unsigned peer, const struct message_figures *m)
{
    if (a->round_peer != (int)peer || m->id != a->round_id) return news;
    if (m->times.n != a->round_n) return end_round(a, NULL);
    free(a->round_times);
    a->round_times = base_calloc(a->round_n + 1, sizeof *a->round_times);
    for (unsigned i = 0; i < a->round_n; i++) {
        double ns = m->times.items[i];
        a->round_times[i] = ns > 0 && isfinite(ns) ? ns : (double)NAN;
    }
    return end_round(a, a->round_times);
}

/* The round took too long: another agent is asked, if there is one. */
static struct session_event expire_round(struct agents *a)
{
    static const char reason[] = "no result of a final round within its time limit";
    unsigned peer = (unsigned)a->round_peer;
    agents_note(a, peer, "disconnected", reason);
    a->rounds_fail = a->embedded;
    if (!a->embedded) {
        roster_refuse(a->roster, peer, reason);
        agents_peer_goes(a, peer, "refused");
        note_absence(a);
    }
    return end_round(a, NULL);
}

/* ---- what agents say ---- */

static struct session_event take_gone(struct agents *a, unsigned peer, const char *reason)
{
    bool in_order = !reason || !*reason;
    lose_jobs(a, peer, in_order);
    agents_peer_goes(a, peer, in_order ? "left" : "lost");
    if (a->embedded) {
        snprintf(a->failure, sizeof a->failure, "the device's agent ended: %s",
                 reason && *reason ? reason : "no reason given");
        return (struct session_event){.kind = SESSION_BROKEN, .reason = a->failure};
    }
    agents_note(a, peer, "disconnected", reason);
    note_absence(a);
    return a->round_peer == (int)peer ? end_round(a, NULL) : news;
}

/* An agent in this process says when it ends; its silence only means that the machine is busy. */
static void take_hello(struct agents *a, unsigned peer, const struct message_hello *hello)
{
    if (a->embedded) roster_excuse(a->roster, peer, EMBEDDED_MS, MESSAGE_BYE);
    const char *fault = hub_hello_fault(hello);
    if (!fault && strcmp(hello->device, a->device.name) != 0)
        fault = "its device is not the device of this run";
    if (fault) {
        agents_note(a, peer, "refused", fault);
        roster_refuse(a->roster, peer, fault);
        return;
    }
    if (!a->embedded) agents_note(a, peer, "connected", NULL);
    agents_peer_comes(a, peer, hello);
    agents_greet(a, peer);
}

/* The agent serves another search now. It had no job, or has given its jobs up. */
static struct session_event take_moved(struct agents *a, unsigned peer)
{
    lose_jobs(a, peer, true);
    agents_peer_goes(a, peer, "left");
    return a->round_peer == (int)peer ? end_round(a, NULL) : news;
}

/* Whether an answer is to this search. */
static bool is_ours(const struct agents *a, const struct message *m)
{
    uint64_t serial = roster_serial(a->roster);
    if (m->kind == MESSAGE_RESULT) return m->result.search == serial;
    if (m->kind == MESSAGE_RETURNED) return m->returned.search == serial;
    return m->kind != MESSAGE_FIGURES || m->figures.search == serial;
}

static struct session_event take_message(struct agents *a, unsigned peer, const struct message *m)
{
    if (!is_ours(a, m)) return news;
    if (m->kind == MESSAGE_RESULT) return take_result(a, peer, &m->result);
    if (m->kind == MESSAGE_RETURNED) return take_returned(a, peer, &m->returned);
    if (m->kind == MESSAGE_FIGURES) return take_figures(a, peer, &m->figures);
    if (m->kind == MESSAGE_REFERENCE) take_reference(a, &m->reference);
    if (m->kind == MESSAGE_BASELINE) take_trial(a, &m->baseline);
    return news;
}

static struct session_event listen(struct agents *a, int timeout_ms)
{
    a->event = roster_poll(a->roster, timeout_ms, a->options.stop_fd);
    const struct hub_event *e = &a->event;
    switch (e->kind) {
    case HUB_HELLO:
        take_hello(a, e->peer, &e->message.hello);
        return news;
    case HUB_GONE:
        return take_gone(a, e->peer, e->reason);
    case HUB_REFUSED:
        agents_connection_refused(a, e->reason);
        return news;
    case HUB_MOVED:
        return take_moved(a, e->peer);
    case HUB_MESSAGE:
        return take_message(a, e->peer, &e->message);
    case HUB_CREDIT:
        return news;
    case HUB_IDLE:
        break;
    }
    return nothing;
}

/* Nothing waits to be heard: what is late now is late because its agent is, not because this process was
 * stopped or busy. */
static struct session_event expire_all(struct agents *a)
{
    expire(a);
    if (a->round_peer != AGENTS_NOBODY && roster_heard_ms(a->roster) >= a->round_ends) return expire_round(a);
    return next_lost(a);
}

/* While another process measures it is looked often whether it has ended, if an agent waits for a job. */
static struct session_event agents_collect(void *self, int timeout_ms)
{
    struct agents *a = self;
    agents_peers_store(a);
    struct session_event event = next_lost(a);
    if (event.kind != SESSION_NOTHING) return event;
    bool rests = timeout_ms > AGENT_LOCK_LOOK_MS && roster_idle_peer(a->roster) >= 0 && must_rest(a);
    event = listen(a, rests ? AGENT_LOCK_LOOK_MS : timeout_ms);
    return event.kind == SESSION_NOTHING ? expire_all(a) : event;
}

/* Agents finish their jobs; nobody waits for the results. */
static void agents_abandon(void *self)
{
    struct agents *a = self;
    a->round_peer = AGENTS_NOBODY;
}

const struct session_evaluator agents_evaluator = {.room = agents_room,
                                                   .start = agents_start,
                                                   .collect = agents_collect,
                                                   .start_round = agents_start_round,
                                                   .abandon = agents_abandon};
