/* A session's set-up and its loop. The loop is a list of what may be due:
 *
 *     start what there is room for   lost candidates and contenders first, then one new draw
 *     take what was measured         for a turn at most; wait if there is nothing else to do
 *     show how far it is
 *
 * It ends when the budget, the time, the space or the patience ends, when the user interrupts, or after an
 * error. One new draw at a time: the evaluator is heard before the next is drawn.
 *
 * While the evaluator has more room than work, the search is what is waited for. Then a candidate is judged
 * after the next one is drawn, so that the subject may lower it meanwhile:
 *
 *     draw 7   draw 8    judge 7, start it   draw 9    judge 8, start it
 *              lower 7                       lower 8
 */
#include "coordinator/session.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "coordinator/session_state.h"
#include "core/base/arena.h"
#include "core/base/clock.h"
#include "core/base/cores.h"
#include "core/base/diag.h"
#include "core/base/stop.h"

/* ---- set-up and end ---- */

double session_elapsed(const struct session *s)
{
    return clock_s() - s->started_s + s->earlier_s;
}

bool session_stops(const struct session *s)
{
    return stop_requested(s->options.stop_fd);
}

bool session_time_is_over(const struct session *s)
{
    return s->searching && s->options.time_s > 0 && session_elapsed(s) >= s->options.time_s;
}

/* Whether the tree is to stop looking; the session is the context. */
static bool tree_stops(void *context)
{
    const struct session *s = context;
    return session_stops(s) || session_time_is_over(s);
}

unsigned session_threads(unsigned searches)
{
    unsigned cores = cores_available(), share = cores / (searches ? searches : 1);
    if (share > LIMIT_DRAW_THREADS) share = LIMIT_DRAW_THREADS;
    return share ? share : 1;
}

static bool make_tree(struct session *s, const struct session_setup *setup, struct diag *d)
{
    const struct session_options *o = &s->options;
    struct mcts_config config = setup->config;
    s->heuristic = mcts_heuristic_load(o->heuristic ? o->heuristic : "tag", d);
    if (!s->heuristic || !mcts_order_parse(space_of(setup->root), o->order, &s->order, d)) return false;
    mcts_heuristic_set_note(s->heuristic, store_note(o->store));
    config.seed = o->seed;
    config.threads = s->threads = o->threads ? o->threads : session_threads(1);
    config.branching.order = s->order.parts;
    config.branching.n_order = s->order.n;
    config.stop = tree_stops;
    config.stop_context = s;
    s->tree = mcts_tree_new(setup->root, s->heuristic, &config);
    return true;
}

static bool open_store(struct session *s, struct diag *d)
{
    const struct session_options *o = &s->options;
    if (o->replays) return (s->store = store_open_to_read(o->store, d)) != NULL;
    if (o->resume && !o->store) diag_plain(d, "--resume needs --store FILE");
    if (!o->store) return !o->resume;
    s->store = store_open(o->store, !o->resume, d);
    if (!s->store) return false;
    return o->resume ? store_run_resume(s->store, &s->run, d) : store_run_add(s->store, &s->run, d);
}

struct session *session_new(const struct session_setup *setup, struct diag *d)
{
    struct session *s = base_calloc(1, sizeof *s);
    *s = (struct session){.options = setup->options,
                          .progress = setup->progress,
                          .evaluator = setup->evaluator,
                          .evaluator_self = setup->evaluator_self,
                          .subject = setup->subject,
                          .subject_self = setup->subject_self,
                          .run = setup->run,
                          .diag = d,
                          .started_s = clock_s()};
    if (make_tree(s, setup, d) && open_store(s, d)) return s;
    session_free(s);
    return NULL;
}

void session_free(struct session *s)
{
    if (!s) return;
    HASH_CLEAR(hh, s->by_number);
    session_forget_losses(s);
    session_forget_results(s);
    for (struct session_job *j = s->jobs, *next; j; j = next) {
        next = j->next;
        mcts_descent_free(&j->descent);
        space_state_free(j->leaf);
        free(j->actions);
        free(j);
    }
    session_report_clear(&s->report);
    mcts_tree_free(s->tree);
    mcts_heuristic_free(s->heuristic);
    mcts_order_free(&s->order);
    store_close(s->store);
    free(s);
}

struct store *session_store(struct session *s, int64_t *run)
{
    *run = s->run.id;
    return s->store;
}

const struct session_report *session_report(struct session *s)
{
    struct mcts_stats stats = mcts_tree_stats(s->tree);
    s->report.nodes = mcts_tree_size(s->tree);
    memcpy(s->report.by_cause, stats.nodes, sizeof stats.nodes);
    s->report.dead_end_ratio = stats.dead_end_ratio;
    s->report.elapsed_s = session_elapsed(s);
    return &s->report;
}

struct session_report session_take_report(struct session *s)
{
    struct session_report r = *session_report(s);
    s->report = (struct session_report){0};
    return r;
}

void session_report_clear(struct session_report *r)
{
    for (unsigned i = 0; i < r->n_top; i++)
        session_pick_clear(&r->top[i]);
    *r = (struct session_report){0};
}

/* ---- for subjects ---- */

void session_known_time(struct session *s, double ns)
{
    if (s->known_ns <= 0 || ns < s->known_ns) s->known_ns = ns;
    mcts_tree_known_time(s->tree, ns);
}

void session_teach(struct session *s, const struct space_state *leaf, double ns)
{
    if (!s->knows_contenders) mcts_tree_teach(s->tree, leaf, ns);
}

uint32_t session_take_bounds(struct session *s)
{
    s->report.exhausted = s->report.stuck = false;
    s->stuck = 0;
    return mcts_tree_take_bounds(s->tree);
}

void session_note_cut(struct session *s, const struct store_cut *cut)
{
    if (s->store && !s->options.replays && !s->broken && !store_cut_add(s->store, s->run.id, cut, s->diag))
        s->broken = true;
}

/* ---- what may be started ---- */

static bool has_budget(const struct session *s)
{
    return s->options.evaluations == 0 || s->dispatched < s->options.evaluations;
}

static bool contenders_done(const struct session *s)
{
    return s->n_contenders == 0;
}

static bool may_draw(const struct session *s)
{
    return contenders_done(s) && has_budget(s) && !session_has_ended(s) && !s->report.barren &&
           !s->report.settled && !s->broken && !session_time_is_over(s);
}

/* The baseline, number 0, is measured even when the time is over: results are compared with it. The other
 * contenders wait for its time, which cuts them: some plain ones are hundreds of times slower. */
static bool may_start(const struct session *s, const struct session_job *job)
{
    if (job->started) return false;
    if (job->number == 0) return true;
    if (job->number < 0) return !session_find(s, 0) && !session_time_is_over(s);
    return !session_time_is_over(s) && (job->counted || has_budget(s));
}

/* With many agents nearly all jobs are at work: the others are not looked for among thousands. */
static bool all_started(const struct session *s)
{
    return s->n_started == s->n_jobs;
}

static bool any_may_start(const struct session *s)
{
    const struct session_job *j = all_started(s) ? NULL : s->jobs;
    while (j && !may_start(s, j))
        j = j->next;
    return j != NULL;
}

static bool at_work(const struct session *s)
{
    return s->n_started > 0;
}

double session_best(const struct session *s)
{
    double best = s->report.n_top ? s->report.top[0].search_ns : 0;
    return best > 0 && (s->known_ns <= 0 || best < s->known_ns) ? best : s->known_ns;
}

static unsigned room(const struct session *s)
{
    return s->evaluator->room(s->evaluator_self);
}

/* ---- starting ---- */

/* true: the job is to be measured; else it is settled. */
static bool prepare(struct session *s, struct session_job *job)
{
    enum { WHY = 512 };
    char why[WHY] = "";
    const char *verdict = NULL;
    if (s->subject->judge)
        verdict = s->subject->judge(s->subject_self, job, session_best(s), why, sizeof why);
    job->judged = true;
    job->counted = job->number > 0 && !(verdict && session_left_out(verdict));
    s->dispatched += job->counted;
    if (verdict) session_settle(s, job, (struct store_evaluation){.status = verdict, .message = why});
    return verdict == NULL;
}

/* Whether the judgement of a candidate is put off. Budget and evaluator must have room for another one, so
 * that none is drawn earlier than it would be. */
static bool judges_late(const struct session *s)
{
    bool another = s->options.evaluations == 0 || s->dispatched + 1 < s->options.evaluations;
    return s->subject->judge_later && s->threads > 1 && another && may_draw(s) && room(s) > 1 &&
           room(s) > s->n_started;
}

/* The first job that waits and is to be measured; NULL: none. */
static struct session_job *waiting_job(struct session *s)
{
    for (struct session_job *j = all_started(s) ? NULL : s->jobs, *next; j && !s->broken; j = next) {
        next = j->next;
        if (j != s->late && may_start(s, j) && (j->judged || prepare(s, j))) return j;
    }
    return NULL;
}

/* A new job that is not judged yet, or the one before it, whose judgement was put off; NULL: none now. A new
 * one that is not returned waits in the list. */
static struct session_job *draw_job(struct session *s)
{
    struct session_job *job = session_draw(s), *before = s->late;
    s->late = NULL;
    if (!job || !judges_late(s)) return before ? before : job;
    s->late = job;
    s->subject->judge_later(s->subject_self, job);
    return before;
}

/* The next job to measure: one that waits, else a new one. NULL: none now, or none within a turn. */
static struct session_job *next_job(struct session *s)
{
    if (!judges_late(s)) s->late = NULL;
    struct session_job *job = waiting_job(s);
    int64_t end = clock_ms() + LIMIT_TURN_MS;
    for (int i = 0; !job && i < LIMIT_DRAWS_PER_TURN && clock_ms() < end; i++) {
        if (!may_draw(s) || session_stops(s) || room(s) == 0) return NULL;
        job = draw_job(s);
        if (job && !prepare(s, job)) job = NULL;
    }
    return job;
}

void session_start_some(struct session *s)
{
    uint64_t drawn = s->draws;
    while (!s->broken && s->draws == drawn && room(s) > 0 && !session_stops(s)) {
        struct session_job *job = next_job(s);
        if (!job) return;
        if (session_give_up(s, job)) continue;
        if (!session_attempt(s, job)) return;
        session_set_started(s, job, true);
        s->evaluator->start(s->evaluator_self, job, session_best(s));
    }
}

/* ---- taking results ---- */

/* To be started again, or given up. */
static void lose(struct session *s, struct session_job *job, int64_t agent)
{
    session_set_started(s, job, false);
    session_attempt_ends(s, job, "lost", agent);
    job->lost++;
    if (!s->broken) session_give_up(s, job);
}

/* To be started again: nobody has begun to measure it. */
static void take_back(struct session *s, struct session_job *job, int64_t agent)
{
    session_set_started(s, job, false);
    session_attempt_ends(s, job, "returned", agent);
}

/* A result waits for session_flush(). */
static void hear(struct session *s, const struct session_event *event)
{
    struct session_job *job = session_find(s, event->number);
    switch (event->kind) {
    case SESSION_RESULT:
        if (job) session_take(s, job, &event->result);
        break;
    case SESSION_LOST:
        if (job && job->started && !job->taken) lose(s, job, event->result.agent);
        break;
    case SESSION_RETURNED:
        if (job && !job->taken) take_back(s, job, event->result.agent);
        break;
    case SESSION_BROKEN:
        diag_plain(s->diag, "%s", event->reason);
        s->broken = true;
        break;
    case SESSION_NOTHING:
    case SESSION_NEWS:
    case SESSION_ROUND:
        break;
    }
}

void session_handle(struct session *s, const struct session_event *event)
{
    hear(s, event);
    session_flush(s);
}

/* Takes what there is, for a turn at most; waits for it where there is nothing else to do. Results that are
 * there at the same time are stored together. */
static void take_results(struct session *s)
{
    bool busy = room(s) > 0 && (may_draw(s) || any_may_start(s));
    int wait_ms = busy ? 0 : LIMIT_TURN_MS;
    int64_t end = clock_ms() + LIMIT_TURN_MS;
    struct session_event event;
    do {
        event = s->evaluator->collect(s->evaluator_self, wait_ms);
        hear(s, &event);
        if (session_must_flush(s)) session_flush(s);
        wait_ms = 0;
    } while (!s->broken && event.kind != SESSION_NOTHING && clock_ms() < end);
    session_flush(s);
}

/* ---- the loop ---- */

/* Whether what is measured, or the lack of an agent, keeps the search longer than it may. */
static bool is_overdue(const struct session *s)
{
    bool waits = at_work(s) || any_may_start(s);
    return waits && s->options.time_s > 0 && session_elapsed(s) >= s->options.time_s + s->options.grace_s;
}

static bool is_finished(struct session *s)
{
    s->overdue = is_overdue(s);
    return s->broken || s->overdue || (!at_work(s) && !any_may_start(s) && !may_draw(s));
}

static void show_progress(struct session *s)
{
    const struct session_report *r = &s->report;
    progress_show(s->progress, &(struct progress_state){.done = r->evaluations,
                                                        .total = s->options.evaluations,
                                                        .failed = r->failed,
                                                        .cut = r->cut,
                                                        .elapsed_s = session_elapsed(s),
                                                        .limit_s = s->options.time_s,
                                                        .best_ns = r->n_top ? r->top[0].search_ns : 0});
}

bool session_search(struct session *s, struct diag *d)
{
    s->diag = d;
    s->searching = true;
    s->started_s = clock_s();
    s->snapshot_s = session_elapsed(s);
    s->snapshot_at = s->report.evaluations;
    while (!is_finished(s)) {
        s->report.interrupted = session_stops(s);
        if (s->report.interrupted) break;
        session_start_some(s);
        take_results(s);
        show_progress(s);
        session_keep(s, false);
    }
    session_keep(s, true);
    progress_end(s->progress);
    if (s->evaluator->abandon) s->evaluator->abandon(s->evaluator_self);
    session_attempts_end(s);
    return !s->broken;
}
