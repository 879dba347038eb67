/* The reason of a bound as text, what the model leaves out as text, and corrections: a measured time below
 * the bound shows that the figure which the reason names is wrong, and by how much. A bound of 10 us from 100
 * G operations/s, measured as 8 us, gives 125 G operations/s and 5 % more. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "core/base/strbuf.h"
#include "core/base/units.h"
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

const char *perfmodel_term_text(enum perfmodel_term term)
{
    return terms[term].text;
}

static void add_time(struct strbuf *out, double ns)
{
    char text[UNITS_BYTES];
    units_time(ns, text, sizeof text);
    strbuf_add(out, text);
}

static void add_count(struct strbuf *out, const char *before, double count, const char *after)
{
    char text[UNITS_BYTES];
    units_count(count, text, sizeof text);
    strbuf_printf(out, "%s%s%s", before, text, after);
}

/* The figure that a term rests on, with its origin. */
static void add_figure(struct strbuf *out, const struct perfmodel_device *dev, enum perfmodel_figure f)
{
    char value[PERFMODEL_TEXT], origin[PERFMODEL_TEXT];
    perfmodel_figure_print(f, dev->value[f], value, sizeof value);
    perfmodel_figure_origin(dev, f, origin, sizeof origin);
    strbuf_printf(out, "%s = %s (%s)", perfmodel_figure_name(f), value, origin);
}

/* What there is to do, in what the rate's unit counts: "262 k operations"; of a time, how often. */
static void add_amount(struct strbuf *out, enum perfmodel_figure f, double amount)
{
    const char *unit = perfmodel_figure_unit(f), *per_ns = strstr(unit, "/ns");
    char text[UNITS_BYTES];
    if (!per_ns) {
        if (amount != 1) add_count(out, ", ", amount, " times");
    } else if (strncmp(unit, "bytes", 5) == 0) {
        units_bytes(amount, text, sizeof text);
        strbuf_printf(out, ", for %s", text);
    } else {
        add_count(out, ", for ", amount, " ");
        strbuf_addn(out, unit, (size_t)(per_ns - unit));
    }
}

void perfmodel_explain_limit(const struct perfmodel *m, const struct perfmodel_reason *r, struct strbuf *out)
{
    strbuf_add(out, terms[r->term].text);
    if (r->term == PERFMODEL_NOTHING) return;
    strbuf_add(out, ": ");
    add_figure(out, &m->dev, terms[r->term].figure);
    add_amount(out, terms[r->term].figure, r->amount);
}

static void explain_resource(const struct perfmodel *m, const struct perfmodel_reason *r, struct strbuf *out)
{
    add_time(out, r->ns);
    strbuf_add(out, ": ");
    perfmodel_explain_limit(m, r, out);
    strbuf_add(out, "\n");
    if (r->launch_ns <= 0) return;
    strbuf_indent(out, 1);
    strbuf_printf(out, "after %s, ", perfmodel_figure_name(r->launch));
    add_time(out, r->launch_ns);
    strbuf_printf(out, ": %s\n", perfmodel_figure_meaning(r->launch));
}

/* "4 groups", "1 group" */
static void add_number(struct strbuf *out, int64_t n, const char *what)
{
    strbuf_printf(out, "%" PRId64 " %s%s", n, what, n == 1 ? "" : "s");
}

static void explain_split(const struct perfmodel *m, unsigned l, const struct perfmodel_split *s,
                          struct strbuf *out)
{
    strbuf_indent(out, 2);
    strbuf_printf(out, "%s: ", m->bb->logicals[l].name);
    if (s->global) {
        add_number(out, s->groups * s->items, "global work-item");
    } else if (s->any) {
        strbuf_add(out, "any number of work-items");
    } else {
        add_number(out, s->groups, "group");
        strbuf_add(out, " of ");
        add_number(out, s->items, "work-item");
    }
    strbuf_add(out, " with ");
    add_number(out, s->steps, "sequential iteration");
    strbuf_add(out, s->any ? " in all\n" : " each\n");
}

/* A statement, with the iterations of its loops, if the term counts what it does. */
static void explain_statement(const struct perfmodel *m, const struct perfmodel_reason *r,
                              const struct profile *p, struct strbuf *out)
{
    unsigned counted = counts[r->term];
    bool operations = p->multiplications + p->additions + p->special > 0;
    bool access = (p->load && !p->shared) || p->store;
    if (!(operations && counted & COUNTS_OPERATIONS) && !(access && counted & COUNTS_ACCESSES)) return;
    strbuf_indent(out, 2);
    strbuf_printf(out, "%s: ", m->bb->insts[p->inst].name);
    add_count(out, "", profile_product(p->logicals, p->n_logicals, r->split, PART_STEPS),
              " times in each work-item");
    if (access) {
        add_count(out, ", accessing ", profile_product(p->distinct, p->n_distinct, r->split, PART_STEPS), "");
        add_count(out, " elements, its work-group ",
                  profile_product(p->distinct, p->n_distinct, r->split, PART_BLOCK), "");
    }
    strbuf_add(out, "\n");
}

void perfmodel_explain(const struct perfmodel *m, const struct perfmodel_reason *r, struct strbuf *out)
{
    if (isinf(r->ns)) {
        strbuf_add(out, "the device can run none of the remaining mappings\n");
        return;
    }
    explain_resource(m, r, out);
    if (r->n_logicals == 0 || r->term == PERFMODEL_NOTHING) return;
    strbuf_indent(out, 1);
    strbuf_add(out, "the cheapest remaining mapping is\n");
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
        add_gap(out, m->dev.name,
                "no description, so every bound is 0 ('thresh device characterize' makes one)");
    if (m->unmapped) add_gap(out, "mappings are not bounded", m->unmapped);
    for (uint32_t i = 0; i < m->bb->n_insts; i++)
        if (m->bb->insts[i].kind == BB_STEP && m->bb->insts[i].type != SCALAR_FLOAT)
            add_gap(out, m->bb->insts[i].name, "only operations on float are counted");
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
    dev->dated[f] = (struct perfmodel_date){0};
}
