/* Snapshots: a file beside the store, with the session as it was when so many rows of the run were counted.
 *
 *     runs.db                 rows 1 to 81,230 of run 3
 *     runs.db-3.snapshot      the session after row 80,117
 *
 * A resumed run reads the snapshot and replays the rows that follow, so that it takes seconds instead of
 * drawing all candidates again. Without a snapshot, or with one that does not fit, all rows are replayed; it
 * may be deleted at any time. What is drawn and not recorded is in the snapshot without having been judged,
 * as a replay leaves it. It is written once all contenders are measured: what they taught is in it, and their
 * rows, which are replayed nevertheless because the subject forgets them, teach nothing. States of spaces are
 * kept as the actions that lead to them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <utlist.h>

#include "coordinator/session_state.h"
#include "core/base/archive.h"
#include "core/base/arena.h"
#include "core/base/clock.h"
#include "core/base/diag.h"
#include "core/base/hash.h"
#include "core/base/strbuf.h"

enum { SNAPSHOT_VERSION = 7 };

/* What the snapshot is of. */
struct header {
    uint64_t version, run, fingerprint, seed, settings, sizes, rows, row_hash;
};

static char *file_name(const struct session *s)
{
    struct strbuf b = {0};
    strbuf_printf(&b, "%s-%lld.snapshot", s->options.store, (long long)s->run.id);
    return strbuf_take(&b);
}

/* The sizes of what is archived byte by byte stand for the layout of this build. */
static uint64_t layout(void)
{
    return sizeof(struct session_report) ^ sizeof(struct mcts_stats) << 12 ^
           sizeof(struct mcts_rollout_stats) << 24 ^ sizeof(struct space_action) << 36;
}

static struct header header_of(const struct session *s, uint64_t rows, uint64_t row_hash)
{
    return (struct header){.version = SNAPSHOT_VERSION,
                           .run = (uint64_t)s->run.id,
                           .fingerprint = s->run.fingerprint,
                           .seed = s->run.seed,
                           .settings = hash_finish(hash_string(HASH_START, s->run.settings)),
                           .sizes = layout(),
                           .rows = rows,
                           .row_hash = row_hash};
}

/* ---- what is in it ---- */

static void archive_pick(struct session *s, struct archive *a, struct session_pick *p)
{
    ARCHIVE(a, p->number);
    ARCHIVE(a, p->search_ns);
    ARCHIVE(a, p->found_at);
    p->actions = archive_array(a, p->actions, &p->n_actions, sizeof p->actions[0]);
    p->numbers = archive_string(a, p->numbers);
    if (!archive_reads(a)) return;
    p->label = "search";
    p->figure = figure_of_search(p->search_ns);
    p->leaf = mcts_tree_replay(s->tree, p->actions, p->n_actions);
    if (!p->leaf) archive_fail(a);
}

static void archive_report(struct session *s, struct archive *a)
{
    struct session_report *r = &s->report;
    ARCHIVE(a, r->evaluations);
    ARCHIVE(a, r->ok);
    ARCHIVE(a, r->failed);
    ARCHIVE(a, r->cut);
    ARCHIVE(a, r->duplicates);
    ARCHIVE(a, r->oversized);
    ARCHIVE(a, r->audited);
    ARCHIVE(a, r->exhausted);
    ARCHIVE(a, r->stuck);
    ARCHIVE(a, r->barren);
    ARCHIVE(a, r->settled);
    ARCHIVE(a, r->last_failure);
    ARCHIVE(a, r->n_top);
    if (r->n_top > LIMIT_TOP) {
        r->n_top = 0;
        archive_fail(a);
    }
    for (unsigned i = 0; i < r->n_top; i++)
        archive_pick(s, a, &r->top[i]);
}

/* Candidates of the budget that are not settled are counted again when they are judged again. */
static void archive_counts(struct session *s, struct archive *a)
{
    uint64_t dispatched = s->dispatched;
    const struct session_job *job;
    DL_FOREACH(s->jobs, job) dispatched -= job->counted;
    ARCHIVE(a, dispatched);
    if (archive_reads(a)) s->dispatched = dispatched;
    ARCHIVE(a, s->drawn);
    ARCHIVE(a, s->draws);
    ARCHIVE(a, s->rollouts);
    if (archive_reads(a)) session_limit_rollouts(s, s->rollouts);
    ARCHIVE(a, s->stuck);
    ARCHIVE(a, s->unmeasured);
    ARCHIVE(a, s->known_ns);
    ARCHIVE(a, s->settled_ns);
    ARCHIVE(a, s->settled_since);
}

static void archive_job(struct session *s, struct archive *a, struct session_job *job)
{
    bool own_actions = job->actions != NULL;
    ARCHIVE(a, job->number);
    ARCHIVE(a, job->bound_ns);
    ARCHIVE(a, job->kernel_hash);
    ARCHIVE(a, job->audited);
    ARCHIVE(a, job->judged);
    ARCHIVE(a, own_actions);
    mcts_descent_archive(s->tree, &job->descent, a);
    if (own_actions) job->actions = archive_array(a, job->actions, &job->n_actions, sizeof job->actions[0]);
}

static void take_job(struct session *s, struct archive *a)
{
    struct session_job *job = base_calloc(1, sizeof *job);
    archive_job(s, a, job);
    job->leaf = mcts_tree_replay(s->tree, job->descent.actions, job->descent.n_actions);
    if (!job->leaf || job->number < 1 || session_find(s, job->number)) archive_fail(a);
    if (job->judged && s->subject->unjudge) s->subject->unjudge(s->subject_self, job);
    job->judged = false;
    job->kernel_hash = 0;
    session_add(s, job);
}

/* Contenders are the subject's: it adds them again. */
static void archive_jobs(struct session *s, struct archive *a)
{
    unsigned n = s->n_jobs - s->n_contenders;
    struct session_job *job;
    ARCHIVE(a, n);
    if (archive_reads(a)) {
        for (unsigned i = 0; i < n && !archive_failed(a); i++)
            take_job(s, a);
        return;
    }
    DL_FOREACH(s->jobs, job)
    {
        if (job->number > 0) archive_job(s, a, job);
    }
}

static void archive_session(struct session *s, struct archive *a)
{
    double elapsed_s = session_elapsed(s);
    ARCHIVE(a, elapsed_s);
    if (archive_reads(a)) s->earlier_s = elapsed_s;
    mcts_tree_archive(s->tree, a);
    archive_counts(s, a);
    archive_report(s, a);
    if (s->subject->archive) s->subject->archive(s->subject_self, a);
    archive_jobs(s, a);
}

/* ---- writing ---- */

static void write_snapshot(struct session *s)
{
    uint64_t rows, hash;
    struct diag *d = diag_new();
    char *path = file_name(s);
    struct archive *a = NULL;
    if (store_run_rows(s->store, s->run.id, 0, &rows, &hash, d) && rows > 0 &&
        store_run_rows(s->store, s->run.id, rows, &rows, &hash, d))
        a = archive_write(path, d);
    if (a) {
        struct header h = header_of(s, rows, hash);
        ARCHIVE(a, h);
        archive_session(s, a);
        archive_close(a, d);
    }
    if (diag_failed(d)) progress_note(s->progress, diag_message(d, 0)); /* the search does not need it */
    free(path);
    diag_free(d);
}

/* Drawing is what a replay repeats: a search that mostly measures needs no snapshot. */
static bool is_due(const struct session *s, bool ends)
{
    double least = s->options.snapshot_s > 0 ? s->options.snapshot_s : LIMIT_SNAPSHOT_S;
    double since = session_elapsed(s) - s->snapshot_s;
    return s->drawing_s - s->snapshot_drawing_s >= least &&
           (ends || since >= LIMIT_SNAPSHOT_SHARE * s->snapshot_cost_s);
}

void session_keep(struct session *s, bool ends)
{
    if (!s->store || s->broken || s->n_contenders > 0 || s->report.evaluations == s->snapshot_at ||
        !is_due(s, ends) || !mcts_tree_can_archive(s->tree))
        return;
    double started = clock_s();
    write_snapshot(s);
    s->snapshot_at = s->report.evaluations;
    s->snapshot_cost_s = clock_s() - started;
    s->snapshot_s = session_elapsed(s);
    s->snapshot_drawing_s = s->drawing_s;
}

/* ---- reading ---- */

static bool fits(struct session *s, const struct header *h)
{
    uint64_t rows, hash;
    struct diag *d = diag_new();
    const struct header expected = header_of(s, h->rows, h->row_hash);
    bool ok = memcmp(h, &expected, sizeof *h) == 0 &&
              store_run_rows(s->store, s->run.id, h->rows, &rows, &hash, d) && rows >= h->rows &&
              hash == h->row_hash;
    diag_free(d);
    return ok;
}

uint64_t session_take_up(struct session *s)
{
    char *path = file_name(s);
    struct archive *a = mcts_tree_can_archive(s->tree) ? archive_read(path) : NULL;
    struct header h = {0};
    if (a) ARCHIVE(a, h);
    bool taken = a && !archive_failed(a) && fits(s, &h);
    if (taken) {
        archive_session(s, a);
        if (archive_failed(a)) {
            diag_plain(s->diag,
                       "%s does not fit the run: delete it, and the run is replayed from its beginning",
                       path);
            s->broken = true;
        }
    }
    s->knows_contenders = taken;
    archive_close(a, s->diag);
    free(path);
    return taken ? h.rows : 0;
}
