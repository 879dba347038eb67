/* What a campaign does about its lower bound. Three things:
 *
 *     cut         the tree leaves out nodes whose bound is too high: each is recorded with its reason
 *     audit       a share of the draws looks below cuts, to find out whether they were right
 *     violation   12 us were measured where the bound is 15 us: the figure of the device's description that
 *                 the bound rests on is corrected, and what it had cut is open again
 *
 * All of it follows from the seed and the recorded results, so that a resumed campaign does the same. */
#include "core/base/archive.h"
#include "core/base/pcg32.h"
#include "core/base/strbuf.h"
#include "core/base/units.h"
#include "coordinator/tune_state.h"

/* ---- draws ---- */

/* Whether a draw looks below a cut: a share of them, chosen by seed and number. */
static bool audits(const struct tune *t, uint64_t number)
{
    struct pcg32 rng = pcg32_seed(t->options.seed, number);
    return t->model && pcg32_unit(&rng) < t->options.audit_cuts;
}

/* A tree that cuts have exhausted is looked below a few times before it is believed. */
static bool audits_last(struct tune *t, enum mcts_status status)
{
    return status == MCTS_EXHAUSTED && t->model && t->options.audit_cuts > 0 &&
           t->last_audits++ < LIMIT_LAST_AUDITS;
}

enum mcts_status tune_draw(struct tune *t, struct mcts_tree *tree, uint64_t number,
                           struct mcts_descent *descent, bool *audited)
{
    *audited = audits(t, number) && mcts_tree_next_below_cut(tree, descent) == MCTS_OK;
    if (*audited) return MCTS_OK;
    enum mcts_status status = mcts_tree_next(tree, descent);
    while (!*audited && audits_last(t, status))
        *audited = mcts_tree_next_below_cut(tree, descent) == MCTS_OK;
    return *audited ? MCTS_OK : status;
}

/* A model keeps bounds that it has computed, so that each thread has one. Corrections reach it here: no
 * thread draws meanwhile. */
void *tune_thread_bound(void *context, unsigned thread)
{
    struct tune *t = context;
    struct perfmodel **m = &t->thread_models[thread];
    const struct perfmodel_device *figures = perfmodel_described(t->model);
    if (!*m) *m = perfmodel_new_beside(t->model);
    perfmodel_take(*m, figures);
    return *m;
}

/* ---- cuts ---- */

/* The decisions from the root to a node, as text. */
static void add_path(const struct mcts_tree *tree, const struct space *s, uint32_t node, struct strbuf *out)
{
    char slot[256], value[256];
    struct mcts_node_info n = mcts_tree_node(tree, node);
    if (n.parent == MCTS_NO_NODE) return;
    add_path(tree, s, n.parent, out);
    space_slot_name(s, n.action.slot, slot, sizeof slot);
    space_value_name(s, n.action.slot, n.action.value, value, sizeof value);
    strbuf_printf(out, "%s%s=%s", out->length ? " " : "", slot, value);
}

void tune_note_cut(void *context, const struct mcts_tree *tree, uint32_t node, struct space_state *candidate)
{
    struct tune *t = context;
    struct perfmodel_reason reason;
    struct strbuf path = {0}, text = {0};
    double bound = perfmodel_bound(t->model, candidate, &reason);
    perfmodel_explain(t->model, &reason, &text);
    add_path(tree, space_of(candidate), node, &path);
    session_note_cut(t->session, &(struct store_cut){path.text, bound, mcts_tree_cut(tree), text.text});
    strbuf_free(&path);
    strbuf_free(&text);
}

/* ---- violations ---- */

static void correct(struct tune *t, const struct space_state *leaf, double bound_ns, double measured_ns)
{
    struct perfmodel_reason reason;
    struct strbuf text = {0};
    char measured[UNITS_BYTES], bound[UNITS_BYTES];
    perfmodel_bound(t->model, leaf, &reason);
    t->report.violations++;
    bool corrected = perfmodel_correct(t->model, leaf, measured_ns);
    uint32_t reopened = corrected ? session_take_bounds(t->session) : 0;
    t->report.reopened += reopened;
    t->last_audits = 0;
    units_time(measured_ns, measured, sizeof measured);
    units_time(bound_ns, bound, sizeof bound);
    strbuf_printf(&text, "%s is below the lower bound of %s: %s corrected, %u pruned nodes reopened",
                  measured, bound, perfmodel_figure_name(perfmodel_term_figure(reason.term)), reopened);
    progress_note(&t->progress, text.text);
    strbuf_free(&text);
}

/* The bound of the job may be of figures that were corrected since. */
void tune_check_bound(struct tune *t, const struct session_job *job, double measured_ns)
{
    if (!t->model || measured_ns >= (1 - LIMIT_BOUND_NOISE) * job->bound_ns) return;
    double bound = perfmodel_bound(t->model, job->leaf, NULL);
    if (measured_ns < (1 - LIMIT_BOUND_NOISE) * bound) correct(t, job->leaf, bound, measured_ns);
}

void tune_archive_bound(struct tune *t, struct archive *a)
{
    ARCHIVE(a, t->last_audits);
    ARCHIVE(a, t->report.violations);
    ARCHIVE(a, t->report.reopened);
    if (!t->model) return;
    struct perfmodel_device figures = *perfmodel_described(t->model);
    ARCHIVE(a, figures.value);
    ARCHIVE(a, figures.source);
    ARCHIVE(a, figures.dated);
    perfmodel_take(t->model, &figures);
}
