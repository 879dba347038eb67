/* From a draw to a counted result: the jobs of a session. A job is in the list from its draw until its
 * result counts:
 *
 *     drawn -> judged (not worth measuring: settled at once) -> started -> stored (session_results.c) ->
 * counted
 *
 * To count a result is to report it to the tree, to keep it if it is among the best, and to tell the subject.
 * A resumed run counts what the store has in the same way. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <utlist.h>

#include "coordinator/session_state.h"
#include "core/base/arena.h"
#include "core/base/clock.h"
#include "core/base/diag.h"

static const char duplicate[] = "duplicate", oversized[] = "oversized";

bool session_left_out(const char *status)
{
    return strcmp(status, duplicate) == 0 || strcmp(status, oversized) == 0;
}

const struct space_action *session_job_actions(const struct session_job *job, size_t *n)
{
    *n = job->actions ? job->n_actions : job->descent.n_actions;
    return job->actions ? job->actions : job->descent.actions;
}

/* ---- the list ---- */

void session_add(struct session *s, struct session_job *job)
{
    DL_APPEND(s->jobs, job);
    HASH_ADD(hh, s->by_number, number, sizeof job->number, job);
    s->n_jobs++;
    s->n_contenders += job->number <= 0;
}

void session_set_started(struct session *s, struct session_job *job, bool started)
{
    s->n_started += started;
    s->n_started -= job->started;
    job->started = started;
}

struct session_job *session_find(const struct session *s, int64_t number)
{
    struct session_job *j;
    HASH_FIND(hh, s->by_number, &number, sizeof number, j);
    return j;
}

static void remove_job(struct session *s, struct session_job *job)
{
    session_set_started(s, job, false);
    DL_DELETE(s->jobs, job);
    HASH_DEL(s->by_number, job);
    s->n_jobs--;
    s->n_contenders -= job->number <= 0;
    mcts_descent_free(&job->descent);
    space_state_free(job->leaf);
    free(job->actions);
    free(job);
}

/* ---- drawing ---- */

bool session_has_ended(const struct session *s)
{
    return s->report.exhausted || s->report.stuck;
}

static enum mcts_status next_descent(struct session *s, struct mcts_descent *descent, bool *audited)
{
    *audited = false;
    if (!s->subject->draw) return mcts_tree_next(s->tree, descent);
    return s->subject->draw(s->subject_self, s->tree, s->drawn + 1, descent, audited);
}

/* A draw that was told to stop does not count: nothing is drawn after it, and a resumed run draws it whole.
 */
static void note_draw(struct session *s, enum mcts_status status)
{
    s->draws += status == MCTS_OK || !(session_stops(s) || session_time_is_over(s));
    s->stuck = status == MCTS_STUCK ? s->stuck + 1 : 0;
    s->report.exhausted = status == MCTS_EXHAUSTED;
    s->report.stuck = s->stuck >= LIMIT_STUCK;
    s->broken = s->broken || status == MCTS_ERROR;
    if (status == MCTS_ERROR) diag_plain(s->diag, "%s", mcts_tree_error(s->tree));
}

struct session_job *session_draw(struct session *s)
{
    struct mcts_descent descent = {0};
    bool audited;
    double started = clock_s();
    enum mcts_status status = next_descent(s, &descent, &audited);
    s->drawing_s += clock_s() - started;
    note_draw(s, status);
    if (status != MCTS_OK) {
        mcts_descent_free(&descent);
        return NULL;
    }
    struct session_job *job = base_calloc(1, sizeof *job);
    job->number = (int64_t)++s->drawn;
    job->descent = descent;
    job->leaf = space_state_clone(mcts_tree_state(s->tree));
    job->audited = audited;
    if (s->subject->drawn) s->subject->drawn(s->subject_self, job);
    session_add(s, job);
    return job;
}

/* ---- counting ---- */

struct session_pick session_pick_of(const struct session_job *job, const struct store_evaluation *e)
{
    struct session_pick p = {.label = job->label ? job->label : "search",
                             .number = job->number,
                             .leaf = job->leaf ? space_state_clone(job->leaf) : NULL,
                             .search_ns = e->median_ns,
                             .numbers = base_strdup(e->numbers ? e->numbers : ""),
                             .figure = figure_of_search(e->median_ns)};
    const struct space_action *actions = session_job_actions(job, &p.n_actions);
    p.actions = base_calloc(p.n_actions + 1, sizeof *p.actions);
    if (p.n_actions) memcpy(p.actions, actions, p.n_actions * sizeof *p.actions);
    return p;
}

void session_pick_clear(struct session_pick *p)
{
    space_state_free(p->leaf);
    free(p->actions);
    free(p->numbers);
    *p = (struct session_pick){0};
}

/* Keeps it if it is among the best; of equal times the first is the better. */
static void keep_top(struct session *s, const struct session_job *job, const struct store_evaluation *e)
{
    struct session_report *r = &s->report;
    unsigned at = 0;
    while (at < r->n_top && r->top[at].search_ns <= e->median_ns)
        at++;
    if (at == LIMIT_TOP) return;
    if (r->n_top == LIMIT_TOP) session_pick_clear(&r->top[--r->n_top]);
    memmove(&r->top[at + 1], &r->top[at], (r->n_top - at) * sizeof r->top[0]);
    r->top[at] = session_pick_of(job, e);
    r->top[at].found_at = r->evaluations;
    r->n_top++;
}

static void keep_failure(struct session_report *r, const struct store_evaluation *e)
{
    snprintf(r->last_failure, sizeof r->last_failure, "%s: %s", e->status, e->message ? e->message : "");
}

static enum mcts_outcome_kind outcome_of(const char *status)
{
    if (strcmp(status, "ok") == 0) return MCTS_TIMED;
    if (strcmp(status, duplicate) == 0) return MCTS_DUPLICATE;
    if (strcmp(status, oversized) == 0 || strcmp(status, "cut") == 0) return MCTS_CUT;
    return MCTS_FAILED;
}

static uint64_t *counter_of(struct session_report *r, const char *status)
{
    if (strcmp(status, "ok") == 0) return &r->ok;
    if (strcmp(status, duplicate) == 0) return &r->duplicates;
    if (strcmp(status, oversized) == 0) return &r->oversized;
    return strcmp(status, "cut") == 0 ? &r->cut : &r->failed;
}

/* Counts a drawn candidate. */
static void tally(struct session *s, const struct session_job *job, const struct store_evaluation *e,
                  enum mcts_outcome_kind kind)
{
    struct session_report *r = &s->report;
    bool left_out = session_left_out(e->status);
    ++*counter_of(r, e->status);
    r->evaluations += !left_out;
    s->unmeasured = left_out ? s->unmeasured + 1 : 0;
    r->barren = s->unmeasured >= (s->options.patience ? s->options.patience : LIMIT_PATIENCE);
    r->audited += kind == MCTS_TIMED && job->audited;
    if (kind == MCTS_TIMED) keep_top(s, job, e);
    if (kind == MCTS_FAILED) keep_failure(r, e);
}

/* options.until: whether the best has stayed the same, within a share, for long enough. */
static void note_improvement(struct session *s)
{
    const struct session_until *u = &s->options.until;
    double best = session_best(s);
    if (u->evaluations == 0 || best <= 0) return;
    if (s->settled_ns <= 0 || best < s->settled_ns * (1 - u->within)) {
        s->settled_ns = best;
        s->settled_since = s->report.evaluations;
    }
    s->report.settled = s->report.evaluations - s->settled_since >= u->evaluations;
}

void session_count(struct session *s, struct session_job *job, const struct store_evaluation *e)
{
    if (job->number > 0) {
        enum mcts_outcome_kind kind = outcome_of(e->status);
        tally(s, job, e, kind);
        note_improvement(s);
        mcts_tree_report(s->tree, &job->descent, (struct mcts_outcome){kind, e->median_ns});
    }
    if (s->subject->reported) s->subject->reported(s->subject_self, job, e);
    remove_job(s, job);
}
