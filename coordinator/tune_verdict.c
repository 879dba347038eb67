/* How good a result is: its rates, its share of what the lower bound allows, and, if it is hardly faster than
 * the naive implementation, advice. Lower bound and bandwidth come from the device's description; without one
 * only the rates of the program's work are known. */
#include <stdlib.h>

#include "coordinator/tune_state.h"
#include "core/base/strbuf.h"

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
    bool at_limit = v->share >= LIMIT_NEAR || v->memory_share >= LIMIT_NEAR;
    if (v->share >= LIMIT_NEAR)
        strbuf_printf(&b, "The lower bound is %.0f %% of this time: little is left to gain.", 100 * v->share);
    else if (v->memory_share >= LIMIT_NEAR)
        strbuf_printf(&b, "It moves its data at %.0f %% of the memory's bandwidth: little is left to gain.",
                      100 * v->memory_share);
    if (best_ns < LIMIT_SHORT_NS) sentence(&b, "A launch this short is mostly overhead: tune a larger size.");
    if (!at_limit && t->report.search.evaluations < LIMIT_FEW_EVALUATIONS && !t->report.search.exhausted)
        sentence(&b, "More evaluations may find a faster one: --evaluations 300.");
    else if (!at_limit && !t->report.search.exhausted)
        sentence(&b, "Another --seed or more evaluations may find a faster one.");
    if (t->report.search.exhausted)
        sentence(&b, "The space is fully explored: it has no faster implementation.");
    return strbuf_take(&b);
}

void tune_judge(struct tune *t)
{
    const struct session_report *r = &t->report.search;
    struct tune_verdict v = {.work = work_of(t->problem->backbone)};
    if (r->n_contenders > 0) {
        double best_ns = r->contenders[0].figure.median_ns;
        v.bound_ns = t->model ? perfmodel_bound(t->model, t->root, NULL) : 0;
        v.best_bound_ns = t->model ? perfmodel_bound(t->model, r->contenders[0].leaf, NULL) : 0;
        v.share = v.bound_ns / best_ns;
        v.memory_share = memory_share(t, &v.work, best_ns);
        v.gains_little = r->speedup.quotient > 0 && r->speedup.quotient < LIMIT_GAIN;
        if (v.gains_little) v.advice = advice(t, &v, best_ns);
    }
    free(t->report.verdict.advice);
    t->report.verdict = v;
}
