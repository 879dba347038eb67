/* The contenders of a campaign that need no search: the naive implementation, number 0, the plain ones,
 * numbers -1, -2, ..., and the learned ones, LEARN_NUMBER and below. They are measured before anything is
 * drawn, so that the search starts with a time to beat and policies with something to imitate:
 *
 *     number   0   "naive"                           the baseline
 *     number  -1   "plain: one work-item per row"
 *     number  -2   "plain: one work-item per vector"
 *     number -101  "learned 1"                       of another size, mapped by names (learn.h)
 *     number   1   the first candidate that is drawn
 *
 * Their results are stored like any other; the budget does not count them. A run that an earlier version
 * recorded has none but the naive one: the others are measured when it is resumed, after what it had drawn,
 * and replay from there. The learned ones of a resumed run are those that it has recorded. */
#include <stdlib.h>
#include <string.h>

#include "agent/evaluate.h"
#include "coordinator/solution.h"
#include "coordinator/store.h"
#include "coordinator/tune_state.h"
#include "core/base/arena.h"
#include "core/base/strbuf.h"
#include "core/pipeline/code.h"

static struct session_job *new_job(const struct tune *t, int64_t number, const char *label,
                                   struct space_state *leaf)
{
    struct session_job *job = base_calloc(1, sizeof *job);
    job->number = number;
    job->label = label;
    job->leaf = leaf;
    job->descent.hash = space_state_hash(leaf);
    if (t->model) job->bound_ns = perfmodel_bound(t->model, leaf, NULL);
    return job;
}

/* Gives the hash of its text; 0: it has none, which its evaluation will say. */
static bool add_naive(struct tune *t, uint64_t *hash, struct diag *d)
{
    char why[EVAL_MESSAGE];
    struct pipeline_code code;
    struct space_state *leaf = problem_naive(t->problem, d);
    if (!leaf) return false;
    struct session_job *job = new_job(t, 0, "naive", leaf);
    job->actions = solution_actions(NULL, leaf, &job->n_actions);
    job->judged = pipeline_lower(t->problem, leaf, &code, why, sizeof why);
    job->kernel_hash = *hash = job->judged ? code.hash : 0;
    t->report.naive_excluded = !contend_allowed(t->root, job->actions, job->n_actions);
    t->report.naive_repeats = bb_naive_repeats(t->problem->backbone);
    pipeline_code_clear(&code);
    session_add(t->session, job);
    return true;
}

/* The job takes its leaf. */
static void add_plain(struct tune *t, unsigned i)
{
    struct contend_plain *c = &t->plain[i];
    if (t->recorded && !recorded_has(t->recorded, c->kernel_hash)) return;
    struct session_job *job = new_job(t, -1 - (int64_t)i, c->label, c->leaf);
    c->leaf = NULL;
    job->actions = base_calloc(c->n_actions + 1, sizeof *job->actions);
    job->n_actions = c->n_actions;
    memcpy(job->actions, c->actions, c->n_actions * sizeof *job->actions);
    job->kernel_hash = c->kernel_hash;
    job->judged = true;
    session_add(t->session, job);
}

/* ---- learned ones ---- */

/* The job takes its leaf. */
static void add_learned(struct tune *t, unsigned i)
{
    struct learned *l = &t->learned[i];
    if (!l->label || (t->recorded && !recorded_has(t->recorded, l->kernel_hash))) return;
    struct session_job *job = new_job(t, LEARN_NUMBER - (int64_t)i, l->label, l->leaf);
    l->leaf = NULL;
    job->actions = solution_actions(NULL, job->leaf, &job->n_actions);
    job->kernel_hash = l->kernel_hash;
    job->judged = true;
    session_add(t->session, job);
}

/* Tells the user, and the store, which keeps where it comes from. */
static bool tell_learned(struct tune *t, const char *text, struct diag *d)
{
    int64_t run;
    struct store *store = session_store(t->session, &run);
    progress_note(&t->progress, text);
    return !store || store_event_add(store, run, 0, "learned", text, d);
}

static bool learn(struct tune *t, uint64_t naive_hash, struct diag *d)
{
    const struct tune_options *o = &t->options;
    uint64_t known[BB_MAX_PLAIN + 1] = {naive_hash};
    struct learn_wanted w = {.problem = t->problem,
                             .device = &t->device,
                             .sizes = o->sizes,
                             .root = t->root,
                             .prior = t->prior,
                             .most_text_bytes = tune_most_text(t),
                             .known = known,
                             .n_known = t->n_plain + 1,
                             .own_path = o->store};
    struct strbuf notes = {0};
    for (unsigned i = 0; i < t->n_plain; i++)
        known[i + 1] = t->plain[i].kernel_hash;
    struct store *store = session_store(t->session, &w.own_run);
    bool ok = !o->resume || learn_restore(store, w.own_run, t->problem, t->learned, d);
    ok = ok && learn_from(o->learn_from, o->n_learn_from, &w, t->learned, &notes, d);
    char *rest = notes.text;
    for (char *line; ok && rest && (line = strtok_r(rest, "\n", &rest));)
        ok = tell_learned(t, line, d);
    strbuf_free(&notes);
    return ok;
}

bool tune_add_contenders(struct tune *t, struct diag *d)
{
    const struct tune_options *o = &t->options;
    uint64_t naive_hash;
    if (!add_naive(t, &naive_hash, d)) return false;
    t->n_plain = contend_plain(t->problem, o->pins, o->n_pins, t->prior, naive_hash, t->plain);
    if (!learn(t, naive_hash, d)) return false;
    for (unsigned i = 0; i < LIMIT_LEARNED; i++)
        add_learned(t, i);
    for (unsigned i = 0; i < t->n_plain; i++)
        add_plain(t, i);
    return true;
}

/* Whether the search has to beat it: a naive implementation that the pins exclude is only compared. */
static bool is_rival(const struct tune *t, int64_t number)
{
    return number != 0 || !t->report.naive_excluded;
}

void tune_report_contender(struct tune *t, const struct session_job *job, const struct store_evaluation *e)
{
    struct tune_report *r = &t->report;
    bool ok = strcmp(e->status, "ok") == 0;
    if (job->number == 0) {
        r->naive = session_pick_of(job, e);
        if (!ok) r->naive.search_ns = 0;
        r->naive.figure = figure_of_search(r->naive.search_ns);
        r->naive_why = ok ? NULL : eval_status_name(eval_status_find(e->status));
    } else if (ok && job->number <= LEARN_NUMBER) {
        r->learned[r->n_learned++] = session_pick_of(job, e);
    } else if (ok) {
        r->plain[r->n_plain++] = session_pick_of(job, e);
    }
    if (!ok || !is_rival(t, job->number)) return;
    session_known_time(t->session, e->median_ns);
    session_teach(t->session, job->leaf, e->median_ns);
}
