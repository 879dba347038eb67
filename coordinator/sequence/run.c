/* From the plan to the winning variant (run.h). */
#include "coordinator/sequence/run.h"

#include <stdio.h>
#include <stdlib.h>

#include "core/base/arena.h"
#include "core/base/clock.h"
#include "core/base/diag.h"

/* ---- kernels ---- */

/* The chain of a variant's best or naive kernels; false: one of them is not known. */
static bool chain_of(const struct sequence_search *s, const struct sequence_variant *v, bool naive,
                     struct sequence_chain *out)
{
    const struct cg_kernel **parts = base_calloc(v->n_parts + 1, sizeof *parts);
    bool known = true;
    for (unsigned i = 0; i < v->n_parts; i++) {
        const struct sequence_found *f = &s->found[v->programs[i]];
        parts[i] = naive ? &f->naive.kernel : &f->best.kernel;
        known = known && parts[i]->source;
    }
    if (known) sequence_chain_make(v->sequence, parts, out);
    free(parts);
    return known;
}

/* The variant whose naive kernels do the least work: they make the reference. */
static const struct sequence_variant *cheapest(const struct sequence_plan *plan)
{
    const struct sequence_variant *least = &plan->variants[0];
    for (unsigned i = 1; i < plan->n_variants; i++)
        if (plan->variants[i].cost < least->cost) least = &plan->variants[i];
    return least;
}

/* The program as one kernel; NULL: it was not tried. */
static const struct sequence_found *one_kernel(const struct sequence_search *s)
{
    for (unsigned i = 0; i < s->plan->n_variants; i++) {
        const struct sequence_variant *v = &s->plan->variants[i];
        if (!v->sequence && s->found[v->programs[0]].known) return &s->found[v->programs[0]];
    }
    return NULL;
}

/* A search that is measured as a whole. */
struct measuring {
    struct sequence_search *search;
    struct sequence_report *report;
    struct evaluator *evaluator;
    struct diag *diag;
};

/* Opens the evaluator of the whole, whose reference is made by naive kernels. */
static bool open_whole(struct measuring *m)
{
    const struct sequence_search *s = m->search;
    const struct sequence_variant *v = cheapest(s->plan);
    const struct cg_kernel *single = v->sequence ? NULL : &s->found[v->programs[0]].naive.kernel;
    struct sequence_chain chain = {0};
    if (v->sequence && !chain_of(s, v, true, &chain)) {
        diag_plain(m->diag, "no reference to verify a sequence against: a part has no naive implementation");
        return false;
    }
    const struct cg_kernel *naive = single ? single : chain.kernels;
    const struct eval_inputs inputs = {.seed = s->options->seed,
                                       .data = s->data,
                                       .rounds_factors = bb_options_allow_tf32(&s->options->lowering) &&
                                                         s->device.limits.matrix};
    m->evaluator = sequence_whole_open(s->plan->program, naive, &s->device, &inputs, m->diag);
    sequence_chain_clear(&chain);
    return m->evaluator != NULL;
}

/* ---- choosing ---- */

/* Measures all variants as a whole; NULL after errors. */
static const struct sequence_variant *choose(struct measuring *m)
{
    const struct sequence_plan *plan = m->search->plan;
    struct sequence_contender *c = base_calloc(plan->n_variants, sizeof *c);
    struct sequence_chain *chains = base_calloc(plan->n_variants, sizeof *chains);
    const struct sequence_variant *best = NULL;
    bool ok = true;
    for (unsigned i = 0; ok && i < plan->n_variants; i++) {
        const struct sequence_variant *v = &plan->variants[i];
        if (v->sequence) chain_of(m->search, v, false, &chains[i]);
        c[i].label = v->label;
        c[i].kernel = v->sequence ? chains[i].kernels : &m->search->found[v->programs[0]].best.kernel;
        ok = sequence_whole_verify(m->evaluator, &c[i], m->diag);
    }
    if (ok) sequence_whole_rounds(m->evaluator, c, plan->n_variants, m->search->options->seed);
    double least = 0;
    for (unsigned i = 0; ok && i < plan->n_variants; i++) {
        char text[FIGURE_TEXT];
        if (!m->search->options->quiet)
            fprintf(stderr, "%s: %s\n", c[i].label, figure_print(&c[i].figure, text));
        if (!figure_known(&c[i].figure) || (best && c[i].figure.median_ns >= least)) continue;
        best = &plan->variants[i];
        least = c[i].figure.median_ns;
    }
    if (ok && !best) diag_plain(m->diag, "no variant of the program could be timed");
    for (unsigned i = 0; i < plan->n_variants; i++)
        sequence_chain_clear(&chains[i]);
    free(chains);
    free(c);
    return best;
}

/* ---- the end ---- */

static void compare(struct measuring *m)
{
    struct sequence_report *r = m->report;
    const struct sequence_found *one = one_kernel(m->search);
    struct sequence_contender *c = r->contenders, *naive = &c[SEQUENCE_NAIVE];
    c[SEQUENCE_NAIVE_PARTS] = (struct sequence_contender){.label = "naive parts"};
    c[SEQUENCE_NAIVE] = (struct sequence_contender){.label = "naive"};
    c[SEQUENCE_ONE] = (struct sequence_contender){.label = "one kernel"};
    if (chain_of(m->search, r->variant, true, &r->naive_parts))
        c[SEQUENCE_NAIVE_PARTS].kernel = r->naive_parts.kernels;
    if (one && one->naive.kernel.source) c[SEQUENCE_NAIVE].kernel = &one->naive.kernel;
    if (one) c[SEQUENCE_ONE].kernel = &one->best.kernel;
    sequence_whole_rounds(m->evaluator, c, SEQUENCE_CONTENDERS, m->search->options->seed + 2);
    if (!figure_known(&naive->figure)) naive = &c[SEQUENCE_NAIVE_PARTS];
    unsigned rounds = naive->rounds < c[SEQUENCE_BEST].rounds ? naive->rounds : c[SEQUENCE_BEST].rounds;
    r->speedup =
        figure_ratio(&naive->figure, &c[SEQUENCE_BEST].figure, naive->times, c[SEQUENCE_BEST].times, rounds);
}

/* Searches the parts of the winner to the end, and measures it beside what it is compared with. */
static bool conclude(struct measuring *m)
{
    struct sequence_report *r = m->report;
    if (!sequence_search_rest(m->search, r->variant, m->diag)) return false;
    if (!m->evaluator && !open_whole(m)) return false;
    chain_of(m->search, r->variant, false, &r->best);
    r->contenders[SEQUENCE_BEST] =
        (struct sequence_contender){.label = r->variant->label, .kernel = r->best.kernels};
    if (!sequence_whole_verify(m->evaluator, &r->contenders[SEQUENCE_BEST], m->diag)) return false;
    compare(m);
    r->doubt = evaluator_doubt(m->evaluator);
    return true;
}

static bool run(struct measuring *m)
{
    const struct sequence_plan *plan = m->search->plan;
    m->report->variant = &plan->variants[0];
    bool decided = plan->n_variants == 1;
    if (decided && plan->variants[0].n_parts == 1) return !plan->variants[0].sequence || conclude(m);
    if (!sequence_search_first(m->search, m->diag)) return false;
    if (!decided && !(open_whole(m) && (m->report->variant = choose(m)))) return false;
    return !m->report->variant->sequence || conclude(m);
}

bool sequence_run(struct sequence_search *s, struct sequence_report *r, struct diag *d)
{
    double start = clock_now_ms();
    *r = (struct sequence_report){0};
    struct measuring m = {.search = s, .report = r, .diag = d};
    bool ok = run(&m);
    r->elapsed_s = (clock_now_ms() - start) / 1000;
    evaluator_free(m.evaluator);
    return ok;
}

void sequence_report_clear(struct sequence_report *r)
{
    sequence_chain_clear(&r->best);
    sequence_chain_clear(&r->naive_parts);
}
