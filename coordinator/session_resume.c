/* Takes up a run that the store has. Rows are in the order in which results were reported, and each says how
 * many candidates had been drawn by then, and in how many draws:
 *
 *     row    number  drawn  draws  rollouts
 *      1          1      2      2         0    draw 1, draw 2, report 1
 *      2          3      3      4         2    draw 3 (the second try found one), report 3; from here on
 *                                              two rollouts for each candidate
 *
 * With the seed, drawing and reporting in that order rebuilds the tree exactly. Rows that a snapshot covers
 * are left out (session_snapshot.c). Candidate 2 had been drawn
 * and has no row: its measurement was interrupted, and it is measured first.
 *
 * session_replay() does the same with all rows, to see whether each is of the candidate that is drawn now. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
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
    struct session_replayed *compared; /* is told the first difference; NULL: nobody is */
};

/* Agents leave a coordinator that is silent: they are heard once a turn. false: the run is given up. */
static bool goes_on(struct restoring *r)
{
    struct session *s = r->session;
    struct session_event event = {.kind = SESSION_NEWS};
    r->interrupted = session_stops(s);
    if (r->interrupted || s->broken) return false;
    if (s->options.replays || clock_ms() < r->turn_ends) return true;
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

/* "size(m.0)=8"; "nothing" behind the last action. */
static void print_action(const struct space *space, const struct space_action *actions, size_t n, size_t i,
                         char *out, size_t room)
{
    enum { NAME = 160 };
    char slot[NAME], value[NAME];
    snprintf(out, room, "nothing");
    if (i >= n || actions[i].slot >= space_slot_count(space)) return;
    space_slot_name(space, actions[i].slot, slot, sizeof slot);
    space_value_name(space, actions[i].slot, actions[i].value, value, sizeof value);
    snprintf(out, room, "%s=%s", slot, value);
}

/* The first decision that is another one. */
static void compare_actions(const struct session_job *job, const struct space_action *recorded, size_t n,
                            char *out, size_t room)
{
    enum { ACTION = 330 };
    char was[ACTION], is[ACTION];
    const struct space *space = space_of(job->leaf);
    size_t n_drawn, i = 0;
    const struct space_action *drawn = session_job_actions(job, &n_drawn);
    while (i < n && i < n_drawn && recorded[i].slot == drawn[i].slot && recorded[i].value == drawn[i].value)
        i++;
    print_action(space, recorded, n, i, was, sizeof was);
    print_action(space, drawn, n_drawn, i, is, sizeof is);
    if (i == n && i == n_drawn)
        snprintf(out, room, "its decisions are the same, the candidate's hash is not");
    else
        snprintf(out, room, "decision %zu was %.250s and is %.250s now", i + 1, was, is);
}

static void note_difference(const struct session *s, const struct session_job *job,
                            const struct store_evaluation *e, struct session_replayed *out)
{
    struct space_action *recorded;
    size_t n;
    out->number = e->number;
    if (!job)
        snprintf(out->difference, sizeof out->difference, "no such candidate is drawn now%s",
                 session_has_ended(s) ? ": the search ends before" : "");
    else if (!store_actions_parse(e->actions, &recorded, &n))
        snprintf(out->difference, sizeof out->difference, "its decisions are malformed");
    else {
        compare_actions(job, recorded, n, out->difference, sizeof out->difference);
        free(recorded);
    }
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
        if (r->compared) note_difference(s, job, e, r->compared);
        return true;
    }
    r->replayed++;
    if (s->subject->restored) s->subject->restored(s->subject_self, job, e);
    s->dispatched += e->number > 0 && !session_left_out(e->status);
    if (e->found_at > s->earlier_s) s->earlier_s = e->found_at;
    session_count(s, job, e);
    session_limit_rollouts(s, e->rollouts);
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
               " evaluations cannot be replayed; the first is number %" PRId64
               ": the file was edited, or made by another version of thresh",
               s->options.store, r.rows - r.replayed, r.rows, r.first_bad);
    return false;
}

bool session_replay(struct session *s, struct session_replayed *out, struct diag *d)
{
    struct restoring r = {.session = s, .compared = out};
    *out = (struct session_replayed){0};
    s->diag = d;
    bool read = store_each(s->store, s->run.id, restore_row, &r, d);
    if (r.interrupted) diag_plain(d, "interrupted");
    out->rows = r.rows;
    out->same = r.replayed;
    out->drawn = s->drawn;
    return read && !r.interrupted && !s->broken;
}
