/* What a campaign does about its lower bound: every cut of the tree is recorded with its reason, a share of
 * the draws looks below cuts, and a time below its bound corrects the figure of the description that the
 * bound rests on and reopens what it had cut (design page `performance-model`, "What makes a term a bound").
 * All of it follows from the seed and the recorded results, so that a resumed campaign does the same. */
#include <math.h>

#include "core/base/pcg32.h"
#include "core/base/strbuf.h"
#include "core/base/units.h"
#include "coordinator/tune_state.h"

enum { LAST_AUDITS = 3 };
static const double CLOCK_NOISE = 0.02;

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
           t->last_audits++ < LAST_AUDITS;
}

enum mcts_status tune_draw(struct tune *t, struct mcts_descent *descent, bool *audit)
{
    *audit = audits(t, t->drawn + 1) && mcts_tree_next_below_cut(t->tree, descent) == MCTS_OK;
    if (*audit) return MCTS_OK;
    enum mcts_status status = mcts_tree_next(t->tree, descent);
    while (!*audit && audits_last(t, status))
        *audit = mcts_tree_next_below_cut(t->tree, descent) == MCTS_OK;
    return *audit ? MCTS_OK : status;
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
    struct store_cut cut = {path.text, bound, mcts_tree_cut(tree), text.text};
    if (!t->broken && !store_cut_add(t->store, t->run.id, &cut, t->diag)) t->broken = true;
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
    uint32_t reopened = corrected ? mcts_tree_take_bounds(t->tree) : 0;
    t->report.reopened += reopened;
    t->report.exhausted = t->report.stuck = false;
    t->stuck = 0;
    t->last_audits = 0;
    units_time(measured_ns, measured, sizeof measured);
    units_time(bound_ns, bound, sizeof bound);
    strbuf_printf(&text, "%s is below the lower bound of %s: %s is corrected, %u nodes are open again",
                  measured, bound, perfmodel_figure_name(perfmodel_term_figure(reason.term)), reopened);
    progress_note(&t->progress, text.text);
    strbuf_free(&text);
}

void tune_check_bound(struct tune *t, const struct job *job, double measured_ns)
{
    const char *why;
    if (!t->model || measured_ns >= (1 - CLOCK_NOISE) * job->bound_ns) return;
    struct space_state *leaf = problem_replay(t->problem, job->actions, job->n_actions, &why);
    double bound = leaf ? perfmodel_bound(t->model, leaf, NULL) : 0;
    if (measured_ns < (1 - CLOCK_NOISE) * bound) correct(t, leaf, bound, measured_ns);
    space_state_free(leaf);
}
