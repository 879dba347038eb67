/* Reasons and gaps as text; corrections. */
#include <math.h>

#include "core/base/strbuf.h"
#include "perfmodel/model.h"

/* A measured rate can only be too low, by about as much as micro-benchmarks are. */
static const double MARGIN = 1.05;

static const struct {
    enum perfmodel_figure figure;
    const char *text;
} terms[PERFMODEL_TERM_COUNT] = {
#define X(id, figure, head, text) {PERFMODEL_##figure, text},
    PERFMODEL_TERMS(X)
#undef X
};

/* What of the statements a term counts. */
enum { COUNTS_OPERATIONS = 1, COUNTS_ACCESSES = 2 };
static const unsigned counts[PERFMODEL_TERM_COUNT] = {
    [PERFMODEL_OF_DRAM] = COUNTS_ACCESSES,
    [PERFMODEL_OF_DEVICE] = COUNTS_OPERATIONS,
    [PERFMODEL_OF_FP32] = COUNTS_OPERATIONS,
    [PERFMODEL_OF_ITEM] = COUNTS_OPERATIONS,
    [PERFMODEL_OF_ITEM_ISSUE] = COUNTS_OPERATIONS | COUNTS_ACCESSES,
    [PERFMODEL_OF_SPECIAL] = COUNTS_OPERATIONS,
    [PERFMODEL_OF_ISSUE] = COUNTS_OPERATIONS | COUNTS_ACCESSES,
    [PERFMODEL_OF_ACCESS] = COUNTS_ACCESSES,
    [PERFMODEL_OF_LOCAL] = COUNTS_ACCESSES,
    [PERFMODEL_OF_LINES] = COUNTS_ACCESSES,
    [PERFMODEL_OF_UNIT_L2] = COUNTS_ACCESSES,
    [PERFMODEL_OF_L2] = COUNTS_ACCESSES,
    [PERFMODEL_OF_CHAIN] = COUNTS_OPERATIONS,
};

enum perfmodel_figure perfmodel_term_figure(enum perfmodel_term term)
{
    return terms[term].figure;
}

static void explain_resource(const struct perfmodel *m, const struct perfmodel_reason *r, struct strbuf *out)
{
    enum perfmodel_figure f = terms[r->term].figure;
    strbuf_printf(out, "%.4g ns: %s\n", r->ns, terms[r->term].text);
    if (r->term == PERFMODEL_NOTHING) return;
    strbuf_indent(out, 1);
    strbuf_printf(out, "%s = %.6g %s (%s)", perfmodel_figure_name(f), m->dev.value[f],
                  perfmodel_figure_unit(f), perfmodel_source_name(m->dev.source[f]));
    strbuf_printf(out, ", amount %.6g\n", r->amount);
    if (r->launch_ns <= 0) return;
    strbuf_indent(out, 1);
    strbuf_printf(out, "after %s, %.4g ns: %s\n", perfmodel_figure_name(r->launch), r->launch_ns,
                  perfmodel_figure_meaning(r->launch));
}

static void explain_split(const struct perfmodel *m, unsigned l, const struct perfmodel_split *s,
                          struct strbuf *out)
{
    strbuf_indent(out, 2);
    strbuf_printf(out, "%s: ", m->bb->logicals[l].name);
    if (s->global)
        strbuf_printf(out, "%lld global work-items", (long long)(s->groups * s->items));
    else
        strbuf_printf(out, "%lld groups of %lld work-items", (long long)s->groups, (long long)s->items);
    strbuf_printf(out, " with %lld sequential iterations each\n", (long long)s->steps);
}

/* A statement, with the iterations of its loops, if the term counts what it does. */
static void explain_statement(const struct perfmodel *m, const struct perfmodel_reason *r,
                              const struct profile *p, struct strbuf *out)
{
    unsigned counted = counts[r->term];
    bool operations = p->multiplications + p->additions + p->special > 0, access = p->load || p->store;
    if (!(operations && counted & COUNTS_OPERATIONS) && !(access && counted & COUNTS_ACCESSES)) return;
    strbuf_indent(out, 2);
    strbuf_printf(out, "%s: %.6g times in each work-item", m->bb->insts[p->inst].name,
                  profile_product(p->logicals, p->n_logicals, r->split, PART_STEPS));
    if (access)
        strbuf_printf(out, ", %.6g elements of it, %.6g of its group",
                      profile_product(p->distinct, p->n_distinct, r->split, PART_STEPS),
                      profile_product(p->distinct, p->n_distinct, r->split, PART_BLOCK));
    strbuf_add(out, "\n");
}

void perfmodel_explain(const struct perfmodel *m, const struct perfmodel_reason *r, struct strbuf *out)
{
    if (isinf(r->ns)) {
        strbuf_add(out, "no mapping is left that the device can run\n");
        return;
    }
    explain_resource(m, r, out);
    if (r->n_logicals == 0 || r->term == PERFMODEL_NOTHING) return;
    strbuf_indent(out, 1);
    strbuf_add(out, "the cheapest mapping left is\n");
    for (unsigned l = 0; l < r->n_logicals; l++)
        explain_split(m, l, &r->split[l], out);
    if (counts[r->term] == 0) return;
    strbuf_indent(out, 1);
    strbuf_add(out, "which executes at least\n");
    for (unsigned i = 0; i < m->n_profiles; i++)
        explain_statement(m, r, &m->profiles[i], out);
}

static void add_gap(struct strbuf *out, const char *subject, const char *text)
{
    strbuf_printf(out, "%s%s: %s", out->length ? "; " : "lower bound: ", subject, text);
}

void perfmodel_gaps(const struct perfmodel *m, struct strbuf *out)
{
    unsigned unknown = 0;
    for (int f = 0; f < PERFMODEL_FIGURE_COUNT; f++)
        unknown += m->dev.source[f] == PERFMODEL_UNKNOWN;
    if (unknown == PERFMODEL_FIGURE_COUNT)
        add_gap(out, m->dev.name, "no description, every term is 0 (thresh device characterize makes one)");
    if (m->unmapped) add_gap(out, "no mappings", m->unmapped);
    for (uint32_t i = 0; i < m->bb->n_insts; i++)
        if (m->bb->insts[i].kind == BB_STEP && m->bb->insts[i].type != SCALAR_FLOAT)
            add_gap(out, m->bb->insts[i].name, "only float arithmetic counts");
}

void perfmodel_violated(struct perfmodel_device *dev, const struct perfmodel_reason *reason,
                        double measured_ns)
{
    double work_ns = measured_ns - reason->launch_ns;
    enum perfmodel_figure f = work_ns > 0 ? terms[reason->term].figure : reason->launch;
    double needed = MARGIN * reason->amount / work_ns;
    if (work_ns <= 0)
        needed = measured_ns / MARGIN;
    else if (perfmodel_figure_is_time(f))
        needed = dev->value[f] * work_ns / (reason->ns - reason->launch_ns) / MARGIN;
    if (reason->term == PERFMODEL_NOTHING ||
        (perfmodel_figure_is_time(f) ? needed >= dev->value[f] : needed <= dev->value[f]))
        return;
    dev->value[f] = needed;
    dev->source[f] = PERFMODEL_VIOLATED;
}
