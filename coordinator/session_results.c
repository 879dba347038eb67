/* Results on their way to the tree. They are stored together and count afterwards, in the order in which they
 * came, so that nothing counts that the store has not:
 *
 *     session_take(s, job 17, ...)     waits in memory:   17
 *     session_take(s, job 12, ...)                        17 12
 *     session_flush(s)                 one transaction:   rows 17 and 12; then 17 counts, then 12
 *
 * A session takes what has arrived and flushes it before it draws, sends or waits: a result waits for others
 * that are there already, and never for one to come. Most of what a row costs is its transaction, so that a
 * coordinator with many agents, which has many results at a time, records each of them for less.
 *
 * What a result decides at once is how many rollouts the next draws make. With more than 8 evaluators that
 * wait the search is what they wait for, and it makes fewer:
 *
 *     waiting     8   16   40   1,000
 *     rollouts    8    4    2       2     for a candidate, of 8 that the policies wish, on two threads
 *
 * There are no fewer than threads, which make theirs at the same time. A batch serves as many of those that
 * wait as it has evaluations, if it does not end early: with batches of 8 rollouts are fewer from 72 on. The
 * row records it, so that a resumed run draws the same.
 *
 * After kill -9 a job whose result was waiting is drawn again, as if its result had not arrived. */
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "coordinator/session_state.h"
#include "coordinator/solution.h"
#include "core/base/arena.h"
#include "core/base/clock.h"
#include "core/base/diag.h"
#include "core/base/strbuf.h"

/* All of it is in the arena of session.results, but for the job. */
struct session_result {
    struct session_job *job;
    struct store_evaluation row;
    struct session_result *next;
};

/* ---- writing ---- */

/* Said even if little is to be said: the search stands still. */
static void say(struct session *s, const char *text)
{
    progress_end(s->progress);
    fprintf(stderr, "%s\n", text);
}

/* After a write that failed: waits a moment if the disk is full. Whether to try again: false if it is not
 * full, or the user interrupts. */
static bool wait_for_room(struct session *s, bool *paused)
{
    struct pollfd stop = {.fd = s->options.stop_fd, .events = POLLIN};
    if (!store_is_full(s->store)) return false;
    if (!*paused) say(s, "the disk of the store is full: the search pauses until there is room");
    *paused = true;
    poll(&stop, 1, LIMIT_FULL_MS);
    return !session_stops(s);
}

bool session_write(struct session *s, session_writer *write, const void *what)
{
    bool paused = false, stored, again = true;
    while (again) {
        struct diag *d = diag_new();
        stored = write(s, what, d);
        again = !stored && wait_for_room(s, &paused);
        for (size_t i = 0; !stored && !again && i < diag_count(d); i++)
            diag_plain(s->diag, "%s", diag_message(d, i));
        diag_free(d);
    }
    if (stored && paused) say(s, "there is room again: the search goes on");
    if (!stored) s->broken = true;
    return stored;
}

static bool write_results(struct session *s, const void *first, struct diag *d)
{
    const struct session_result *r = first;
    if (!r->next) return store_add(s->store, s->run.id, &r->row, d);
    if (!store_begin(s->store, s->run.id, d)) return false;
    for (bool ok = true; ok && r; r = r->next)
        ok = store_add(s->store, s->run.id, &r->row, d);
    return store_commit(s->store, d);
}

/* ---- waiting ---- */

/* A copy of what the evaluator found, as a row: the evaluator's own is valid until its next call. */
static struct store_evaluation row_of(struct session *s, const struct session_job *job,
                                      const struct store_evaluation *e)
{
    struct arena *a = s->results.arena;
    struct store_evaluation row = *e;
    size_t n;
    const struct space_action *list = session_job_actions(job, &n);
    bool read = s->store || s->options.verbose;
    char *actions = store_actions_print(list, read ? n : 0);
    char *decisions = read && s->options.names_decisions ? solution_text(job->leaf) : base_strdup("");
    row.number = job->number;
    row.drawn = s->drawn;
    row.draws = s->draws;
    row.rollouts = s->rollouts;
    row.state_hash = job->descent.hash;
    row.actions = arena_strdup(a, actions);
    row.decisions = arena_strdup(a, decisions);
    row.label = job->label ? job->label : "";
    row.kernel_hash = job->kernel_hash;
    row.found_at = session_elapsed(s);
    row.status = arena_strdup(a, e->status);
    row.message = arena_strdup(a, e->message ? e->message : "");
    row.resources = arena_strdup(a, e->resources ? e->resources : "");
    row.numbers = arena_strdup(a, e->numbers ? e->numbers : "");
    if (e->n_samples) row.samples = arena_memdup(a, e->samples, e->n_samples * sizeof *e->samples);
    free(decisions);
    free(actions);
    return row;
}

/* Rollouts for a candidate; 0: as many as the policies wish. */
static unsigned rollouts_now(const struct session *s)
{
    unsigned waiting = s->evaluator->room(s->evaluator_self) / mcts_tree_batch(s->tree);
    if (waiting <= LIMIT_FEW_WAITING) return 0;
    unsigned wish = mcts_tree_rollouts(s->tree), n = wish * LIMIT_FEW_WAITING / waiting;
    if (n < s->threads) n = s->threads;
    return n < wish ? n : 0;
}

void session_limit_rollouts(struct session *s, unsigned most)
{
    s->rollouts = most;
    mcts_tree_limit_rollouts(s->tree, most);
}

void session_take(struct session *s, struct session_job *job, const struct store_evaluation *e)
{
    struct session_results *all = &s->results;
    if (job->taken) return;
    if (!all->arena) all->arena = arena_new();
    if (all->n == 0) all->since_ms = clock_ms();
    if (s->searching) session_limit_rollouts(s, rollouts_now(s));
    struct session_result *r = ARENA_NEW(all->arena, struct session_result);
    *r = (struct session_result){.job = job, .row = row_of(s, job, e)};
    *(all->last ? &all->last->next : &all->first) = r;
    all->last = r;
    all->n++;
    job->taken = true;
}

bool session_must_flush(const struct session *s)
{
    const struct session_results *all = &s->results;
    return all->n >= LIMIT_BATCH_ROWS || (all->n > 0 && clock_ms() - all->since_ms >= LIMIT_BATCH_MS);
}

void session_forget_results(struct session *s)
{
    arena_free(s->results.arena);
    s->results = (struct session_results){0};
}

/* ---- counting ---- */

/* --verbose: why it failed and what it is, in a line. */
static void show(struct session *s, const struct store_evaluation *e)
{
    struct strbuf text = {0};
    const char *message = e->message, *what = *e->decisions ? e->decisions : e->label;
    strbuf_printf(&text, "%.*s", (int)strcspn(message, "\n"), message);
    if (!*message || *e->decisions) strbuf_printf(&text, "%s%s", *message && *what ? "  " : "", what);
    progress_evaluation(s->progress, e->number, e->status, e->median_ns, e->found_at, text.text);
    strbuf_free(&text);
}

void session_flush(struct session *s)
{
    struct session_result *first = s->results.first;
    if (!first) return;
    bool stored = !s->store || session_write(s, write_results, first);
    for (struct session_result *r = first; r; r = r->next) {
        if (stored) session_count(s, r->job, &r->row);
        if (s->options.verbose) show(s, &r->row);
    }
    session_forget_results(s);
}

void session_settle(struct session *s, struct session_job *job, struct store_evaluation e)
{
    session_take(s, job, &e);
    session_flush(s);
}
