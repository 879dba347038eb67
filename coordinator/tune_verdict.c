/* What a result is worth: how close it is to what the device could do at most, and, where it hardly gains
 * over the naive implementation, what would help. The lower bound and the bandwidth are those of the device's
 * description; without one only the counts of the program's work are known. */
#include <stdlib.h>

#include "coordinator/tune_state.h"
#include "core/base/strbuf.h"

enum { FEW_EVALUATIONS = 300 };
static const double near_limit = 0.7; /* of the bandwidth, or of the lower bound: little is left to gain */
static const double short_ns = 20e3;  /* a launch is mostly overhead */

/* The bound of the winner itself; 0: unknown. */
static double best_bound(struct tune *t, const struct tune_pick *best)
{
    const char *why;
    if (!t->model) return 0;
    struct space_state *leaf = problem_replay(t->problem, best->actions, best->n_actions, &why);
    double ns = leaf ? perfmodel_bound(t->model, leaf, NULL) : 0;
    space_state_free(leaf);
    return ns;
}

/* Share of the memory's bandwidth; 0: unknown, or the data stay in a cache. */
static double memory_share(const struct tune *t, const struct work *w, double ns)
{
    const double *value = t->model ? perfmodel_described(t->model)->value : NULL;
    bool known = value && value[PERFMODEL_DRAM] > 0 && value[PERFMODEL_CACHE_BYTES] > 0;
    return known && w->bytes > value[PERFMODEL_CACHE_BYTES] ? w->bytes / ns / value[PERFMODEL_DRAM] : 0;
}

static void sentence(struct strbuf *b, const char *text)
{
    strbuf_printf(b, "%s%s", b->length ? " " : "", text);
}

static char *advice(const struct tune *t, const struct tune_verdict *v, double best_ns)
{
    struct strbuf b = {0};
    bool at_limit = v->share >= near_limit || v->memory_share >= near_limit;
    if (v->share >= near_limit)
        strbuf_printf(&b, "The lower bound is %.0f %% of this time: little is left to gain.", 100 * v->share);
    else if (v->memory_share >= near_limit)
        strbuf_printf(&b, "It moves its data at %.0f %% of the memory's bandwidth: little is left to gain.",
                      100 * v->memory_share);
    if (best_ns < short_ns) sentence(&b, "A launch this short is mostly overhead: tune a larger size.");
    if (!at_limit && t->report.evaluations < FEW_EVALUATIONS && !t->report.exhausted)
        sentence(&b, "More evaluations may find a faster one: --evaluations 300.");
    else if (!at_limit && !t->report.exhausted)
        sentence(&b, "Another --seed or more evaluations may find a faster one.");
    if (t->report.exhausted) sentence(&b, "The space is exhausted: it has no faster one.");
    return strbuf_take(&b);
}

void tune_judge(struct tune *t)
{
    const struct tune_report *r = &t->report;
    struct tune_verdict v = {.work = work_of(t->problem->backbone)};
    if (r->n_contenders > 0) {
        double best_ns = r->contenders[0].figure.median_ns;
        v.bound_ns = t->model ? perfmodel_bound(t->model, t->root, NULL) : 0;
        v.best_bound_ns = best_bound(t, &r->contenders[0]);
        v.share = v.bound_ns / best_ns;
        v.memory_share = memory_share(t, &v.work, best_ns);
        v.gains_little = r->speedup.quotient > 0 && r->speedup.quotient < TUNE_GAIN;
        if (v.gains_little) v.advice = advice(t, &v, best_ns);
    }
    free(t->report.verdict.advice);
    t->report.verdict = v;
}
