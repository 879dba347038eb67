/* The contenders of a campaign that need no search: the naive implementation, number 0, and the plain ones,
 * numbers -1, -2, ... They are measured before anything is drawn, which makes the time to beat known whatever
 * agents are at; their results are stored like any other and are none of the evaluations that a budget
 * counts. In a run that an earlier version recorded there are none but the naive one: the others are measured
 * when it is resumed, after what it had drawn, and replay from there. */
#include <string.h>

#include "agent/evaluate.h"
#include "coordinator/solution.h"
#include "coordinator/tune_state.h"
#include "core/base/arena.h"
#include "core/base/strbuf.h"
#include "core/pipeline/code.h"

static struct job *new_job(int64_t number, struct space_action *actions, size_t n, uint64_t state_hash)
{
    struct job *job = base_calloc(1, sizeof *job);
    job->number = number;
    job->peer = JOB_QUEUED;
    job->actions = actions;
    job->n_actions = n;
    job->descent.hash = state_hash;
    return job;
}

/* Gives the hash of its text; 0: it has none, which its evaluation will say. */
static bool add_naive(struct tune *t, uint64_t *hash, struct diag *d)
{
    char why[EVAL_MESSAGE];
    struct pipeline_code code;
    struct space_state *leaf = problem_naive(t->problem, d);
    if (!leaf) return false;
    size_t n;
    struct space_action *actions = solution_actions(NULL, leaf, &n);
    t->report.naive_excluded = !contend_allowed(t->root, actions, n);
    t->report.naive_repeats = bb_naive_repeats(t->problem->backbone);
    tune_add_job(t, new_job(0, actions, n, space_state_hash(leaf)));
    *hash = pipeline_lower(t->problem, leaf, &code, why, sizeof why) ? code.hash : 0;
    pipeline_code_clear(&code);
    space_state_free(leaf);
    return true;
}

static void add_plain(struct tune *t, unsigned i)
{
    const struct contend_plain *c = &t->plain[i];
    if (t->recorded && !recorded_has(t->recorded, c->kernel_hash)) return;
    struct job *job = new_job(-1 - (int64_t)i, NULL, c->n_actions, c->state_hash);
    job->actions = base_calloc(c->n_actions + 1, sizeof *job->actions);
    memcpy(job->actions, c->actions, c->n_actions * sizeof *job->actions);
    job->kernel_hash = c->kernel_hash;
    job->lowered = true;
    tune_add_job(t, job);
}

bool tune_add_contenders(struct tune *t, struct diag *d)
{
    const struct tune_options *o = &t->options;
    uint64_t naive_hash;
    if (!add_naive(t, &naive_hash, d)) return false;
    struct mcts_prior *prior = tune_prior(t, d);
    if (!prior) return false;
    t->n_plain = contend_plain(t->problem, o->pins, o->n_pins, prior, naive_hash, t->plain);
    mcts_prior_free(prior);
    for (unsigned i = 0; i < t->n_plain; i++)
        add_plain(t, i);
    return true;
}

const char *tune_label(const struct tune *t, int64_t number)
{
    return number > 0 ? "search" : number == 0 ? "naive" : t->plain[-1 - number].label;
}

bool tune_contenders_done(const struct tune *t)
{
    for (const struct job *j = t->jobs; j; j = j->next)
        if (j->number <= 0) return false;
    return true;
}

/* Whether the search has to beat it: a naive implementation that the pins exclude is only compared. */
static bool is_rival(const struct tune *t, int64_t number)
{
    return number != 0 || !t->report.naive_excluded;
}

double tune_contenders_best(const struct tune *t)
{
    const struct tune_report *r = &t->report;
    double best = is_rival(t, 0) ? r->naive.search_ns : 0;
    for (unsigned i = 0; i < r->n_plain; i++)
        if (best <= 0 || r->plain[i].search_ns < best) best = r->plain[i].search_ns;
    return best;
}

static struct tune_pick pick_of(const struct job *job, const char *label, double ns)
{
    return (struct tune_pick){.label = label,
                              .number = job->number,
                              .actions = tune_copy_actions(job),
                              .n_actions = job->n_actions,
                              .search_ns = ns,
                              .figure = figure_of_search(ns)};
}

void tune_report_contender(struct tune *t, const struct job *job, const struct store_evaluation *e)
{
    struct tune_report *r = &t->report;
    bool ok = strcmp(e->status, "ok") == 0;
    if (job->number == 0) {
        t->naive_done = true;
        r->naive = pick_of(job, tune_label(t, 0), ok ? e->median_ns : 0);
        r->naive_why = ok ? NULL : eval_status_name(eval_status_find(e->status));
    } else if (ok) {
        r->plain[r->n_plain++] = pick_of(job, tune_label(t, job->number), e->median_ns);
    }
    if (ok && is_rival(t, job->number)) mcts_tree_known_time(t->tree, e->median_ns);
}
