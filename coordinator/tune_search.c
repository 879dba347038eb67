/* The search loop: draw implementations, leave out duplicates and the hopeless, send the others to agents
 * with credit, store each result and then report it to the tree. The naive implementation and the plain ones
 * go first, so that the search starts with a time to beat. After kill -9 the same loop is fed from the store:
 * with the seed, drawing and reporting in the recorded order rebuilds the tree exactly (search page, "What a
 * run must be able to say"). */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/device_lock.h"
#include "agent/evaluate.h"
#include "agent/wire.h"
#include "coordinator/solution.h"
#include "coordinator/tune_state.h"
#include "core/base/arena.h"
#include "core/base/clock.h"
#include "core/base/diag.h"
#include "core/base/pcg32.h"
#include "core/base/stats.h"
#include "core/base/strbuf.h"
#include "core/base/utf8.h"
#include "core/pipeline/code.h"
#include "perfmodel/floor.h"

enum { STUCK_LIMIT = 20, DRAWS_PER_TURN = 64, TURN_MS = 200, EMBEDDED_MS = INT32_MAX, RESOURCES_TEXT = 128 };
enum { GRACE_S = 60 }; /* how long what is at work when the time is over is waited for */
static const size_t most_text_bytes = 64 << 10;
static const uint64_t default_patience = 5000;
static const double batch_ns = 30e6, least_limit_ns = 20e6, first_limit_ns = 2e9;
static const char duplicate[] = "duplicate", oversized[] = "oversized";

/* Statuses of what is looked at and not evaluated: the budget is not of these. */
static bool left_out(const char *status)
{
    return strcmp(status, duplicate) == 0 || strcmp(status, oversized) == 0;
}

/* ---- jobs ---- */

void tune_add_job(struct tune *t, struct job *job)
{
    struct job **end = &t->jobs;
    while (*end)
        end = &(*end)->next;
    *end = job;
}

static struct job *find_job(struct tune *t, int64_t number)
{
    struct job *j = t->jobs;
    while (j && j->number != number)
        j = j->next;
    return j;
}

static void remove_job(struct tune *t, struct job *job)
{
    struct job **at = &t->jobs;
    while (*at != job)
        at = &(*at)->next;
    *at = job->next;
    mcts_descent_free(&job->descent);
    free(job->actions);
    free(job);
}

static bool in_flight(const struct tune *t)
{
    const struct job *j = t->jobs;
    while (j && j->peer == JOB_QUEUED)
        j = j->next;
    return j != NULL;
}

/* Draws the next implementation into the list; NULL: none now. A draw that was told to stop does not count:
 * nothing is drawn after it, and a resumed run draws it whole. */
static struct job *draw(struct tune *t, struct diag *d)
{
    struct mcts_descent descent = {0};
    bool audit;
    enum mcts_status status = tune_draw(t, &descent, &audit);
    t->draws += status == MCTS_OK || !tune_tree_stops(t);
    t->stuck = status == MCTS_STUCK ? t->stuck + 1 : 0;
    if (status == MCTS_ERROR) diag_plain(d, "%s", mcts_tree_error(t->tree));
    t->broken = t->broken || status == MCTS_ERROR;
    t->report.exhausted = status == MCTS_EXHAUSTED;
    t->report.stuck = t->stuck >= STUCK_LIMIT;
    if (status != MCTS_OK) {
        mcts_descent_free(&descent);
        return NULL;
    }
    struct job *job = base_calloc(1, sizeof *job);
    job->number = (int64_t)++t->drawn;
    job->peer = JOB_QUEUED;
    job->descent = descent;
    job->actions = solution_drawn(t->root, mcts_tree_state(t->tree), descent.actions, descent.n_actions,
                                  &job->n_actions);
    job->audited = audit;
    if (t->model) job->bound_ns = perfmodel_bound(t->model, mcts_tree_state(t->tree), NULL);
    tune_add_job(t, job);
    return job;
}

/* ---- results ---- */

struct space_action *tune_copy_actions(const struct job *job)
{
    struct space_action *copy = base_calloc(job->n_actions + 1, sizeof *copy);
    memcpy(copy, job->actions, job->n_actions * sizeof *copy);
    return copy;
}

/* Puts a time into the sorted list of the best. */
static void keep_top(struct tune *t, const struct job *job, double ns)
{
    struct tune_report *r = &t->report;
    unsigned at = 0;
    while (at < r->n_top && r->top[at].search_ns <= ns)
        at++;
    if (at == TUNE_TOP) return;
    if (r->n_top == TUNE_TOP) free(r->top[--r->n_top].actions);
    memmove(&r->top[at + 1], &r->top[at], (r->n_top - at) * sizeof r->top[0]);
    r->top[at] = (struct tune_pick){.label = tune_label(t, job->number),
                                    .number = job->number,
                                    .actions = tune_copy_actions(job),
                                    .n_actions = job->n_actions,
                                    .search_ns = ns,
                                    .figure = figure_of_search(ns),
                                    .found_at = r->evaluations};
    r->n_top++;
}

static void report_search(struct tune *t, const struct job *job, const struct store_evaluation *e)
{
    struct tune_report *r = &t->report;
    struct mcts_outcome outcome = {MCTS_FAILED, e->median_ns};
    r->evaluations += !left_out(e->status);
    t->unmeasured = left_out(e->status) ? t->unmeasured + 1 : 0;
    r->barren = t->unmeasured >= (t->options.patience ? t->options.patience : default_patience);
    if (strcmp(e->status, duplicate) == 0) {
        outcome.kind = MCTS_DUPLICATE;
        r->duplicates++;
    } else if (strcmp(e->status, oversized) == 0) {
        outcome.kind = MCTS_CUT;
        r->oversized++;
    } else if (strcmp(e->status, "ok") == 0) {
        outcome.kind = MCTS_TIMED;
        r->ok++;
        r->audited += job->audited;
        keep_top(t, job, e->median_ns);
    } else if (strcmp(e->status, "cut") == 0) {
        outcome.kind = MCTS_CUT;
        r->cut++;
    } else {
        r->failed++;
    }
    mcts_tree_report(t->tree, &job->descent, outcome);
    if (outcome.kind == MCTS_TIMED) tune_check_bound(t, job, outcome.time);
}

/* Counts a result that is in the store and ends its job. */
static void report(struct tune *t, struct job *job, const struct store_evaluation *e)
{
    if (job->number <= 0)
        tune_report_contender(t, job, e);
    else
        report_search(t, job, e);
    remove_job(t, job);
}

static void show(struct tune *t, const struct store_evaluation *e)
{
    const char *message = e->message && *e->message ? e->message : e->label;
    progress_evaluation(&t->progress, e->number, e->status, e->median_ns, e->found_at, message);
}

/* Stores a result, then counts it. */
static void settle(struct tune *t, struct job *job, struct store_evaluation e, struct diag *d)
{
    char *actions = store_actions_print(job->actions, job->n_actions);
    e.number = job->number;
    e.drawn = t->drawn;
    e.draws = t->draws;
    e.state_hash = job->descent.hash;
    e.actions = actions;
    e.label = job->number > 0 ? "" : tune_label(t, job->number);
    e.kernel_hash = job->kernel_hash;
    e.found_at = tune_elapsed(t);
    if (t->store && !store_add(t->store, t->run.id, &e, d))
        t->broken = true;
    else
        report(t, job, &e);
    if (t->options.verbose) show(t, &e);
    free(actions);
}

/* ---- before an agent is asked ---- */

static bool note_kernel(struct tune *t, uint64_t hash)
{
    struct seen_kernel *k;
    HASH_FIND(hh, t->seen, &hash, sizeof hash, k);
    if (k) return false;
    k = base_calloc(1, sizeof *k);
    k->hash = hash;
    HASH_ADD(hh, t->seen, hash, sizeof k->hash, k);
    return true;
}

static double best_known(const struct tune *t)
{
    double best = t->report.n_top ? t->report.top[0].search_ns : 0, known = tune_contenders_best(t);
    return best > 0 && (known <= 0 || best < known) ? best : known;
}

static double limit_ns(const struct tune *t)
{
    double best = best_known(t);
    return best > 0 ? fmax(CUT_FACTOR * best, least_limit_ns) : first_limit_ns;
}

/* The status of an implementation that is not worth measuring, with the reason in why (n bytes); else NULL.
 */
static const char *judge(struct tune *t, const struct pipeline_code *c, char *why, size_t n)
{
    double floor_ns = perfmodel_floor_ns(c->item_steps, c->items, t->device.compute_units, t->device.gpu);
    size_t bytes = strlen(c->kernel.source), most = t->options.most_text_bytes;
    if (!note_kernel(t, c->hash)) return duplicate;
    if (bytes > (most ? most : most_text_bytes)) {
        snprintf(why, n, "a text of %zu bytes: its code would overflow the caches for code", bytes);
        return oversized;
    }
    if (t->options.no_bound || floor_ns <= limit_ns(t)) return NULL;
    snprintf(why, n, "no launch is faster than %.3g ns, the limit is %.3g ns", floor_ns, limit_ns(t));
    return "cut";
}

/* Lowers a job's implementation. true: it is to be measured; else it is settled. */
static bool prepare(struct tune *t, struct job *job, struct diag *d)
{
    struct pipeline_code c;
    char why[EVAL_MESSAGE] = "";
    if (!pipeline_lower_actions(t->problem, job->actions, job->n_actions, &c, why, sizeof why)) {
        t->dispatched += job->number > 0;
        settle(t, job, (struct store_evaluation){.status = "build_error", .message = why}, d);
        return false;
    }
    const char *verdict = job->number > 0 ? judge(t, &c, why, sizeof why) : NULL;
    job->kernel_hash = c.hash;
    job->lowered = true;
    pipeline_code_clear(&c);
    t->dispatched += job->number > 0 && (!verdict || !left_out(verdict));
    if (verdict) settle(t, job, (struct store_evaluation){.status = verdict, .message = why}, d);
    return verdict == NULL;
}

static bool time_is_over(const struct tune *t)
{
    return t->options.time_s > 0 && tune_elapsed(t) >= t->options.time_s;
}

bool tune_tree_stops(void *context)
{
    const struct tune *t = context;
    return tune_stop_requested(t) || (t->searching && time_is_over(t));
}

/* Whether the tree will find no more. */
static bool has_ended(const struct tune *t)
{
    return t->report.exhausted || t->report.stuck;
}

static bool may_draw(const struct tune *t)
{
    bool budget = t->options.evaluations == 0 || t->dispatched < t->options.evaluations;
    return t->naive_done && tune_contenders_done(t) && budget && !has_ended(t) && !t->report.barren &&
           !t->broken && !time_is_over(t);
}

/* The first job of those that are queued that an agent must measure; NULL: none. */
static struct job *queued_job(struct tune *t, struct diag *d)
{
    for (struct job *j = t->jobs, *next; j && !t->broken; j = next) {
        next = j->next;
        if (j->peer != JOB_QUEUED) continue;
        if (j->lowered || prepare(t, j, d)) return j;
    }
    return NULL;
}

/* Whether drawing would disturb another process, which measures on the processors that it needs. */
static bool must_rest(const struct tune *t)
{
    return device_lock_busy_elsewhere(t->lock);
}

/* The next job that an agent must measure: one that is queued, else a new one. NULL: none now, or none within
 * a turn: agents must hear from us. */
static struct job *next_job(struct tune *t, struct diag *d)
{
    struct job *job = queued_job(t, d);
    int64_t end = clock_ms() + TURN_MS;
    for (int i = 0; !job && i < DRAWS_PER_TURN && clock_ms() < end; i++) {
        if (!may_draw(t) || tune_stop_requested(t) || must_rest(t)) return NULL;
        job = draw(t, d);
        if (job && !prepare(t, job, d)) job = NULL;
    }
    return job;
}

static void send_job(struct tune *t, struct job *job, unsigned peer)
{
    struct arena *a = arena_new();
    struct message m = {.kind = MESSAGE_JOB,
                        .job = {.id = (uint64_t)job->number,
                                .actions = wire_actions(job->actions, job->n_actions, a),
                                .best_ns = best_known(t),
                                .cut_factor = CUT_FACTOR,
                                .batch_ns = batch_ns,
                                .verify = true}};
    hub_take_credit(t->hub, peer);
    hub_send(t->hub, peer, &m);
    job->peer = (int)peer;
    job->answered = hub_results(t->hub, peer);
    job->due = clock_ms() + (int64_t)evaluator_longest_ms(&(struct eval_settings){
                                .best_ns = m.job.best_ns, .cut_factor = CUT_FACTOR, .batch_ns = batch_ns});
    arena_free(a);
}

void tune_feed(struct tune *t, struct diag *d)
{
    int peer;
    struct job *job;
    while (t->recorded && !tune_stop_requested(t) && (job = next_job(t, d)))
        settle(t, job, recorded_result(t->recorded, job->kernel_hash), d);
    for (uint64_t drawn = t->draws; t->draws == drawn; send_job(t, job, (unsigned)peer)) {
        peer = hub_idle_peer(t->hub);
        if (peer < 0 || tune_stop_requested(t) || !(job = next_job(t, d))) return;
    }
}

/* ---- what agents say ---- */

/* Its agent is lost: again, or given up. */
static void lose_job(struct tune *t, struct job *job, struct diag *d)
{
    job->peer = JOB_QUEUED;
    if (++job->lost <= JOB_RETRIES) return;
    settle(t, job, (struct store_evaluation){.status = "crashed", .message = "its agents were lost"}, d);
}

/* Every job that the agent had is queued again. */
static void lose_jobs(struct tune *t, unsigned peer, struct diag *d)
{
    for (struct job *j = t->jobs, *next; j; j = next) {
        next = j->next;
        if (j->peer == (int)peer) lose_job(t, j, d);
    }
}

void tune_expire(struct tune *t, struct diag *d)
{
    static const char reason[] = "no result within the limits of a job";
    for (struct job *j = t->jobs, *next; j && !t->embedded; j = next) {
        next = j->next;
        if (j->peer == JOB_QUEUED || clock_ms() < j->due) continue;
        unsigned peer = (unsigned)j->peer;
        bool answers = hub_results(t->hub, peer) != j->answered;
        tune_note_agent(t, peer, answers ? "lost a job" : "is refused", reason);
        if (answers) {
            lose_job(t, j, d);
            continue;
        }
        hub_refuse(t->hub, peer, reason);
        lose_jobs(t, peer, d);
        return;
    }
}

static void handle_gone(struct tune *t, unsigned peer, const char *reason, struct diag *d)
{
    lose_jobs(t, peer, d);
    if (t->embedded) {
        diag_plain(d, "the device's agent ended: %s", reason && *reason ? reason : "no reason given");
        t->broken = true;
    } else {
        tune_note_agent(t, peer, "left", reason);
    }
}

/* An agent in this process says when it ends; its silence only means that the machine is busy. */
static void handle_hello(struct tune *t, unsigned peer, const struct message_hello *hello)
{
    if (t->embedded) hub_excuse(t->hub, peer, EMBEDDED_MS, MESSAGE_BYE);
    const char *fault = hub_hello_fault(hello);
    if (!fault && strcmp(hello->device, t->device.name) != 0) fault = "this run measures on another device";
    if (fault) {
        tune_note_agent(t, peer, "is refused", fault);
        hub_refuse(t->hub, peer, fault);
        return;
    }
    if (!t->embedded) tune_note_agent(t, peer, "came", NULL);
    struct arena *a = arena_new();
    struct message program = tune_program_message(t, a);
    hub_send(t->hub, peer, &(struct message){.kind = MESSAGE_WELCOME, .welcome = {HUB_HEARTBEAT_MS}});
    hub_send(t->hub, peer, &program);
    arena_free(a);
}

/* The resources of a result as JSON; "" where there are none. */
static void resources_text(struct message_ints r, char *out, size_t n)
{
    out[0] = 0;
    if (r.n != EVAL_RESOURCES) return;
    snprintf(out, n, "{\"local_bytes\":%" PRId64 ",\"private_bytes\":%" PRId64 ",\"most_items\":%" PRId64 "}",
             r.items[0], r.items[1], r.items[2]);
}

static void handle_result(struct tune *t, unsigned peer, const struct message_result *m, struct diag *d)
{
    struct job *job = find_job(t, (int64_t)m->id);
    enum eval_status status = eval_status_find(m->status);
    bool late = job && job->lost > 0; /* another may be at it; the first result counts */
    if (!job || (job->peer != (int)peer && !late)) return;
    if (status == EVAL_DEVICE_LOST) {
        if (job->peer != (int)peer) return;
        lose_job(t, job, d);
        return;
    }
    char resources[RESOURCES_TEXT];
    resources_text(m->resources, resources, sizeof resources);
    struct store_evaluation e = {.status = m->status,
                                 .resources = resources,
                                 .median_ns = m->median_ns,
                                 .samples = m->samples.items,
                                 .n_samples = m->samples.n < EVAL_MAX_SAMPLES ? (unsigned)m->samples.n
                                                                              : EVAL_MAX_SAMPLES,
                                 .message = m->message};
    bool sound =
        status != EVAL_STATUS_COUNT && (status != EVAL_OK || (m->median_ns > 0 && isfinite(m->median_ns)));
    if (!sound || (m->kernel_hash != 0 && m->kernel_hash != job->kernel_hash)) {
        e = (struct store_evaluation){.status = "crashed",
                                      .message = sound ? "the agent made another kernel text"
                                                       : "the agent's result makes no sense"};
    }
    settle(t, job, e, d);
}

static int64_t counted(uint64_t n)
{
    return n < INT64_MAX ? (int64_t)n : INT64_MAX;
}

/* All agents have the same inputs; what one device makes infinite counts. Said at once: a search without
 * verification may not be wanted. */
static void handle_reference(struct tune *t, const struct message_reference *m)
{
    struct verify_doubt *x = &t->report.doubt;
    struct strbuf text = {0};
    bool told = x->outputs > 0;
    x->outputs = counted(m->outputs);
    if (counted(m->not_finite) > x->not_finite) x->not_finite = counted(m->not_finite);
    if (counted(m->loose) > x->loose) x->loose = counted(m->loose);
    verify_doubt_text(x, &text);
    if (!told && text.length > 0) progress_note(&t->progress, text.text);
    strbuf_free(&text);
}

bool tune_step(struct tune *t, int timeout_ms, struct hub_event *event, struct diag *d)
{
    *event = hub_poll(t->hub, timeout_ms, t->options.stop_fd);
    switch (event->kind) {
    case HUB_HELLO:
        handle_hello(t, event->peer, &event->message.hello);
        break;
    case HUB_GONE:
        handle_gone(t, event->peer, event->reason, d);
        break;
    case HUB_MESSAGE:
        if (event->message.kind == MESSAGE_RESULT) handle_result(t, event->peer, &event->message.result, d);
        if (event->message.kind == MESSAGE_REFERENCE) handle_reference(t, &event->message.reference);
        break;
    case HUB_CREDIT:
        break;
    case HUB_IDLE:
        return false;
    }
    return true;
}

/* ---- resuming ---- */

struct restoring {
    struct tune *tune;
    struct diag *diag;
    uint64_t rows, replayed;
    int64_t first_bad; /* number of the first evaluation that does not replay */
    int64_t turn_ends; /* ms: agents hear from us then */
    bool interrupted;
};

/* Agents leave a coordinator that is silent: they are listened to once a turn. false: the run is given up. */
static bool goes_on(struct restoring *r)
{
    struct tune *t = r->tune;
    struct hub_event event;
    r->interrupted = tune_stop_requested(t);
    if (r->interrupted || t->broken) return false;
    if (clock_ms() < r->turn_ends) return true;
    while (!t->broken && tune_step(t, 0, &event, r->diag))
        continue;
    r->turn_ends = clock_ms() + TURN_MS;
    return !t->broken;
}

static bool restore_row(void *context, const struct store_run *run, const struct store_evaluation *e)
{
    struct restoring *r = context;
    struct tune *t = r->tune;
    (void)run;
    if (!goes_on(r)) return false;
    if (r->rows++ > r->replayed) return true;
    while ((t->drawn < e->drawn || t->draws < e->draws) && !has_ended(t) && goes_on(r))
        draw(t, r->diag);
    if (r->interrupted || t->broken) return false;
    struct job *job = find_job(t, e->number);
    if (!job || job->descent.hash != e->state_hash) {
        r->first_bad = e->number;
        return true;
    }
    r->replayed++;
    bool first = strcmp(e->status, duplicate) != 0; /* whose original may not have been reported yet */
    if (e->number > 0 && e->kernel_hash && first) note_kernel(t, e->kernel_hash);
    t->dispatched += e->number > 0 && !left_out(e->status);
    t->earlier_s = e->found_at;
    report(t, job, e);
    return true;
}

static bool restore(struct tune *t, struct diag *d)
{
    struct restoring r = {.tune = t, .diag = d};
    if (!store_each(t->store, t->run.id, restore_row, &r, d)) return false;
    if (r.interrupted) diag_plain(d, "interrupted while the run was restored");
    if (r.interrupted || t->broken) return false;
    if (r.replayed == r.rows) return true;
    diag_plain(d,
               "%s: %" PRIu64 " of the run's %" PRIu64
               " evaluations do not replay, the first is number %" PRId64
               ": the file was edited, or made by another version of thresh",
               t->options.store, r.rows - r.replayed, r.rows, r.first_bad);
    return false;
}

bool tune_begin(struct tune *t, struct diag *d)
{
    t->diag = d;
    return tune_add_contenders(t, d) && (!t->options.resume || restore(t, d));
}

/* ---- the loop ---- */

/* Whether agents, or the lack of them, keep the campaign longer than they may. */
static bool is_overdue(const struct tune *t)
{
    bool waiting = in_flight(t) || !t->naive_done;
    return waiting && t->options.time_s > 0 && tune_elapsed(t) >= t->options.time_s + GRACE_S;
}

static bool finished(struct tune *t)
{
    t->overdue = is_overdue(t);
    if (t->broken || t->overdue) return true;
    if (in_flight(t)) return false;
    bool waiting = t->jobs != NULL && !time_is_over(t);
    return !waiting && !may_draw(t) && t->naive_done;
}

/* Whether somebody could take another implementation that may still be drawn. */
static bool wants_more(const struct tune *t)
{
    return (t->recorded || hub_idle_peer(t->hub) >= 0) && may_draw(t);
}

/* Takes what agents have said, for a turn at most; waits for it where there is nothing else to do. */
static void hear_agents(struct tune *t, struct diag *d)
{
    struct hub_event event;
    int wait_ms = !wants_more(t) ? TURN_MS : must_rest(t) ? DEVICE_LOCK_LOOK_MS : 0;
    int64_t end = clock_ms() + TURN_MS;
    while (!t->broken && tune_step(t, wait_ms, &event, d) && clock_ms() < end)
        wait_ms = 0;
    tune_expire(t, d);
}

/* An agent in this process measures on the processors that drawing needs: other processes' measurements are
 * left alone, as the agent does. */
static void open_lock(struct tune *t)
{
    char why[EVAL_MESSAGE];
    if (!t->embedded || t->device.gpu) return;
    t->lock = device_lock_open(&t->device, why, sizeof why);
    if (!t->lock) progress_note(&t->progress, why);
}

bool tune_search(struct tune *t, struct diag *d)
{
    t->diag = d;
    t->searching = true;
    open_lock(t);
    while (!finished(t)) {
        t->report.interrupted = tune_stop_requested(t);
        if (t->report.interrupted) break;
        tune_feed(t, d);
        hear_agents(t, d);
        progress_show(&t->progress,
                      &(struct progress_state){.done = t->report.evaluations,
                                               .total = t->options.evaluations,
                                               .failed = t->report.failed,
                                               .cut = t->report.cut,
                                               .elapsed_s = tune_elapsed(t),
                                               .limit_s = t->options.time_s,
                                               .best_ns = t->report.n_top ? t->report.top[0].search_ns : 0});
    }
    progress_end(&t->progress);
    device_lock_close(t->lock);
    t->lock = NULL;
    return !t->broken;
}
