/* Takes up a run that the store has. Rows are in the order in which results were reported, and each says how
 * many candidates had been drawn by then, and in how many draws:
 *
 *     row    number  drawn  draws
 *      1          1      2      2     draw 1, draw 2, report 1
 *      2          3      3      4     draw 3 (the second try found one), report 3
 *
 * With the seed, drawing and reporting in that order rebuilds the tree exactly. Rows that a snapshot covers
 * are left out (session_snapshot.c). Candidate 2 had been drawn
 * and has no row: its measurement was interrupted, and it is measured first. */
#include <inttypes.h>
#include <string.h>

#include "coordinator/session_state.h"
#include "core/base/clock.h"
#include "core/base/diag.h"

struct restoring {
    struct session *session;
    uint64_t rows, replayed;
    int64_t first_bad; /* number of the first evaluation that does not replay */
    int64_t turn_ends; /* ms: the evaluator is heard then */
    bool interrupted;
};

/* Agents leave a coordinator that is silent: they are heard once a turn. false: the run is given up. */
static bool goes_on(struct restoring *r)
{
    struct session *s = r->session;
    struct session_event event = {.kind = SESSION_NEWS};
    r->interrupted = session_stops(s);
    if (r->interrupted || s->broken) return false;
    if (clock_ms() < r->turn_ends) return true;
    while (!s->broken && event.kind != SESSION_NOTHING) {
        event = s->evaluator->collect(s->evaluator_self, 0);
        session_handle(s, &event);
    }
    r->turn_ends = clock_ms() + LIMIT_TURN_MS;
    return !s->broken;
}

/* Draws until the run had drawn as much when the row was written. */
static void draw_until(struct restoring *r, const struct store_evaluation *e)
{
    struct session *s = r->session;
    while ((s->drawn < e->drawn || s->draws < e->draws) && !session_has_ended(s) && goes_on(r))
        session_draw(s);
}

static bool restore_row(void *context, const struct store_run *run, const struct store_evaluation *e)
{
    struct restoring *r = context;
    struct session *s = r->session;
    (void)run;
    if (!goes_on(r)) return false;
    if (r->rows++ > r->replayed) return true;
    draw_until(r, e);
    if (r->interrupted || s->broken) return false;
    struct session_job *job = session_find(s, e->number);
    if (!job || job->descent.hash != e->state_hash) {
        r->first_bad = e->number;
        return true;
    }
    r->replayed++;
    if (s->subject->restored) s->subject->restored(s->subject_self, job, e);
    s->dispatched += e->number > 0 && !session_left_out(e->status);
    if (e->found_at > s->earlier_s) s->earlier_s = e->found_at;
    session_count(s, job, e);
    return true;
}

bool session_restore(struct session *s, struct diag *d)
{
    struct restoring r = {.session = s};
    s->diag = d;
    uint64_t kept = session_take_up(s);
    if (s->broken || !store_each_after(s->store, s->run.id, kept, restore_row, &r, d)) return false;
    if (r.interrupted) diag_plain(d, "interrupted while the run was restored");
    if (r.interrupted || s->broken) return false;
    if (r.replayed == r.rows) return session_recall(s);
    diag_plain(d,
               "%s: %" PRIu64 " of the run's %" PRIu64
               " evaluations do not replay, the first is number %" PRId64
               ": the file was edited, or made by another version of thresh",
               s->options.store, r.rows - r.replayed, r.rows, r.first_bad);
    return false;
}
