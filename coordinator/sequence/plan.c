/* Variants of a program (plan.h). */
#include "coordinator/sequence/plan.h"

#include <string.h>

#include "coordinator/limits.h"
#include "coordinator/work.h"
#include "core/base/arena.h"
#include "core/base/diag.h"

struct planner {
    struct sequence_plan *plan;
    const struct bb_options *lowering;
    struct lift_cuts cuts;
    unsigned n_computing; /* cuts that compute */
    bool uncosted;        /* nothing is to be compared */
    size_t cap_programs, cap_variants, cap_notes;
    struct diag *diag;
};

/* ---- programs ---- */

/* Operations of the naive implementation, about; negative after an error: it cannot be one kernel. */
static double cost_of(struct planner *p, const struct lift_program *program)
{
    struct arena *a = arena_new();
    const struct backbone *bb = bb_lower(program, p->lowering, a, p->diag);
    double cost = bb ? work_naive_operations(bb) : -1;
    arena_free(a);
    return cost;
}

/* The number of a program, new or known; LIFT_NONE after an error. */
static unsigned add_program(struct planner *p, const char *path, const char *text,
                            const struct lift_program *program)
{
    struct sequence_plan *plan = p->plan;
    for (unsigned i = 0; i < plan->n_programs; i++)
        if (!strcmp(plan->programs[i].text, text)) return i;
    double cost = p->uncosted ? 0 : cost_of(p, program);
    if (cost < 0) return LIFT_NONE;
    plan->programs = arena_grow(plan->arena, plan->programs, &p->cap_programs, plan->n_programs + 1,
                                sizeof *plan->programs);
    plan->programs[plan->n_programs] = (struct sequence_program){path, text, program, cost};
    return plan->n_programs++;
}

/* ---- variants ---- */

unsigned sequence_steps_of(const struct sequence_variant *v, unsigned part)
{
    unsigned n = 0;
    for (unsigned i = 0; v->sequence && i < v->sequence->n_steps; i++)
        n += v->sequence->steps[i].part == part;
    return v->sequence ? n : 1;
}

/* "y,z" of the chosen cuts. */
static const char *names_of(struct planner *p, const bool *chosen)
{
    const char *names = "";
    for (unsigned i = 0; i < p->cuts.n; i++)
        if (chosen[i])
            names = arena_printf(p->plan->arena, "%s%s%s", names, *names ? "," : "", p->cuts.items[i].name);
    return names;
}

static bool is_planned(const struct sequence_plan *plan, const char *cuts)
{
    for (unsigned i = 0; i < plan->n_variants; i++)
        if (!strcmp(plan->variants[i].cuts, cuts)) return true;
    return false;
}

/* Adds the programs of a variant. false after an error: one of them cannot be a kernel. */
static bool add_parts(struct planner *p, struct sequence_variant *v)
{
    const struct sequence_plan *plan = p->plan;
    bool ok = true;
    v->n_parts = v->sequence ? v->sequence->n_parts : 1;
    v->programs = ARENA_ARRAY(plan->arena, unsigned, v->n_parts);
    for (unsigned i = 0; ok && i < v->n_parts; i++) {
        struct lift_program *one = plan->named & LIFT_CUT_SCANS ? plan->program : plan->unnamed;
        const struct lift_part whole = {NULL, plan->source.path, one->source->text, one};
        const struct lift_part *part = v->sequence ? &v->sequence->parts[i] : &whole;
        v->programs[i] = add_program(p, part->path, part->text, part->program);
        ok = v->programs[i] != LIFT_NONE;
        if (ok) v->cost += sequence_steps_of(v, i) * plan->programs[v->programs[i]].cost;
    }
    return ok;
}

/* "cut at y,z"; of many cuts their number. */
static const char *label_of(struct planner *p, const bool *chosen, const char *cuts, bool apart)
{
    unsigned n = 0;
    for (unsigned i = 0; i < p->cuts.n; i++)
        n += chosen[i];
    if (n > LIMIT_SINGLE_CUTS) return arena_printf(p->plan->arena, "cut at %u values", n);
    if (n > 0) return arena_printf(p->plan->arena, "cut at %s", cuts);
    return apart ? "outputs apart" : "one kernel";
}

/* Adds the variant with the chosen cuts, unless there is one. false after an error. */
static bool add_variant(struct planner *p, const bool *chosen)
{
    struct sequence_plan *plan = p->plan;
    struct sequence_variant v = {.cuts = names_of(p, chosen)};
    bool apart = *v.cuts || lift_cut_forced(plan->program) > 1;
    if (is_planned(plan, v.cuts)) return true;
    if (apart) v.sequence = lift_cut(plan->program, &p->cuts, chosen, plan->arena, p->diag);
    v.label = label_of(p, chosen, v.cuts, apart);
    if ((apart && !v.sequence) || !add_parts(p, &v)) return false;
    plan->variants = arena_grow(plan->arena, plan->variants, &p->cap_variants, plan->n_variants + 1,
                                sizeof *plan->variants);
    plan->variants[plan->n_variants++] = v;
    return true;
}

static bool *no_cuts(struct planner *p)
{
    return ARENA_ARRAY(p->plan->arena, bool, p->cuts.n + 1);
}

static const bool *all_cuts(struct planner *p)
{
    bool *chosen = no_cuts(p);
    for (unsigned i = 0; i < p->cuts.n; i++)
        chosen[i] = p->cuts.items[i].computes;
    return chosen;
}

/* The second, the fourth, ... of those that compute: of time steps, two in a kernel. */
static const bool *every_second_cut(struct planner *p)
{
    bool *chosen = no_cuts(p);
    unsigned n = 0;
    for (unsigned i = 0; i < p->cuts.n; i++)
        chosen[i] = p->cuts.items[i].computes && n++ % 2;
    return chosen;
}

/* ---- auto ---- */

static void add_note(struct planner *p, const char *text)
{
    struct sequence_plan *plan = p->plan;
    plan->notes = arena_grow(plan->arena, plan->notes, &p->cap_notes, plan->n_notes + 1, sizeof *plan->notes);
    plan->notes[plan->n_notes++] = text;
}

/* Adds a variant whose errors leave it out. */
static void try_variant(struct planner *p, const bool *chosen)
{
    struct diag *d = p->diag;
    p->diag = diag_new();
    unsigned before = p->plan->n_variants;
    bool added = add_variant(p, chosen);
    if (!added && p->plan->n_variants == before)
        add_note(p,
                 arena_printf(p->plan->arena, "%s is left out: %s",
                              label_of(p, chosen, names_of(p, chosen), lift_cut_forced(p->plan->program) > 1),
                              diag_message(p->diag, 0)));
    diag_free(p->diag);
    p->diag = d;
}

static double least_cost(const struct sequence_plan *plan)
{
    double least = plan->variants[0].cost;
    for (unsigned i = 1; i < plan->n_variants; i++)
        least = plan->variants[i].cost < least ? plan->variants[i].cost : least;
    return least;
}

/* Whether even the naive implementation, the first that is run, would take long, and far longer than that of
 * another variant. */
static bool is_hopeless(const struct sequence_variant *v, double least)
{
    return v->cost > LIMIT_VARIANT_OPERATIONS && v->cost > LIMIT_VARIANT_RATIO * least;
}

static void leave_out_hopeless(struct planner *p)
{
    struct sequence_plan *plan = p->plan;
    double least = least_cost(plan);
    unsigned kept = 0;
    for (unsigned i = 0; i < plan->n_variants; i++) {
        const struct sequence_variant v = plan->variants[i];
        if (!is_hopeless(&v, least))
            plan->variants[kept++] = v;
        else
            add_note(p, arena_printf(plan->arena,
                                     "%s is left out: naive kernels would do %.3g times the operations of "
                                     "other cuts, %.3g; '--cut %s' tries it all the same",
                                     v.label, v.cost / least, v.cost, *v.cuts ? v.cuts : "none"));
    }
    plan->n_variants = kept;
}

/* Whether a cut is one of the program without names for arrays of its maps. */
static bool is_own_cut(const struct planner *p, const char *name)
{
    const struct lift_cuts own = lift_cut_find(p->plan->unnamed, p->plan->arena);
    for (unsigned i = 0; i < own.n; i++)
        if (!strcmp(own.items[i].name, name)) return true;
    return false;
}

/* false after errors: nothing can be a kernel; they are those of the program as it is. */
static bool plan_auto(struct planner *p)
{
    p->uncosted = p->n_computing == 0 && lift_cut_forced(p->plan->program) == 1;
    if (p->uncosted) return add_variant(p, no_cuts(p));
    if (!(p->plan->named & LIFT_CUT_SCANS)) try_variant(p, no_cuts(p));
    if (p->n_computing > 0) try_variant(p, all_cuts(p));
    bool lets = p->plan->named & LIFT_CUT_LETS;
    for (unsigned i = 0; p->n_computing <= LIMIT_SINGLE_CUTS && i < p->cuts.n; i++) {
        bool *one = no_cuts(p);
        one[i] = true;
        if (p->cuts.items[i].computes && (!lets || is_own_cut(p, p->cuts.items[i].name))) try_variant(p, one);
    }
    if (p->n_computing > LIMIT_SINGLE_CUTS && !lets) try_variant(p, every_second_cut(p));
    if (p->plan->n_variants == 0) return add_variant(p, no_cuts(p));
    leave_out_hopeless(p);
    return true;
}

static void use_named(struct sequence_plan *plan, struct lift_program *named, unsigned which)
{
    plan->program = named;
    plan->named = which;
}

/* A program that cannot be one kernel is tried with its scans as cuts; a note says why. */
static void name_scans(struct planner *p)
{
    struct sequence_plan *plan = p->plan;
    struct lift_program *named = lift_cut_name(plan->program, LIFT_CUT_SCANS, plan->arena);
    if (!named) return;
    try_variant(p, no_cuts(p));
    if (plan->n_variants == 0) use_named(plan, named, LIFT_CUT_SCANS);
}

/* Operations of a program: of the naive implementation, and of one that repeats no sum of a row; negative: it
 * cannot be one kernel. */
struct operations {
    double naive, least;
};

static struct operations operations_of(struct planner *p, const struct lift_program *program)
{
    struct arena *a = arena_new();
    struct diag *ignored = diag_new();
    const struct backbone *bb = bb_lower(program, p->lowering, a, ignored);
    struct operations n = {-1, -1};
    if (bb) n = (struct operations){work_naive_operations(bb), work_of(bb).operations};
    diag_free(ignored);
    arena_free(a);
    return n;
}

/* Operations of all steps of a program that is cut at all its cuts that compute; negative: it cannot be cut
 * so, or has a temporary that many devices have no room for. */
static struct operations operations_cut(struct planner *p, const struct lift_program *program)
{
    const struct operations none = {-1, -1};
    struct diag *ignored = diag_new();
    struct operations sum = {0};
    p->cuts = lift_cut_find(program, p->plan->arena);
    const struct lift_sequence *s = lift_cut(program, &p->cuts, all_cuts(p), p->plan->arena, ignored);
    diag_free(ignored);
    for (unsigned i = 0; s && i < s->n_temporaries; i++)
        if ((double)lift_type_bytes(s->temporaries[i].type) > LIMIT_TEMPORARY_BYTES) return none;
    for (unsigned i = 0; s && i < s->n_steps; i++) {
        struct operations part = operations_of(p, s->parts[s->steps[i].part].program);
        if (part.naive < 0) return none;
        sum.naive += part.naive;
        sum.least += part.least;
    }
    return s ? sum : none;
}

/* Whether the program has far fewer operations if it is cut at arrays of its maps, too. Either measure tells:
 * the sums of rows, which both repeat, may be most of what naive implementations do; an array that is read in
 * one other dimension is repeated in them only. */
static bool cuts_pay(struct planner *p, const struct lift_program *named)
{
    struct operations without = operations_cut(p, p->plan->unnamed), with = operations_cut(p, named);
    return with.naive >= 0 && (without.naive < 0 || without.naive > LIMIT_CUT_RATIO * with.naive ||
                               without.least > LIMIT_CUT_RATIO * with.least);
}

/* Whether all names of a list are cuts of the program as it is. */
static bool has_cuts(struct planner *p, const char *names)
{
    struct diag *ignored = diag_new();
    p->cuts = lift_cut_find(p->plan->unnamed, p->plan->arena);
    bool has = lift_cut_choose(p->plan->unnamed, &p->cuts, names, no_cuts(p), ignored);
    diag_free(ignored);
    return has;
}

/* The arrays of functions of maps are cuts, too: if they are asked for, or pay. */
static void name_lets(struct planner *p, const char *cut)
{
    struct sequence_plan *plan = p->plan;
    struct lift_program *named = lift_cut_name(plan->program, LIFT_CUT_LETS, plan->arena);
    bool automatic = !strcmp(cut, "auto"), all = !strcmp(cut, "all");
    if (named && (automatic ? cuts_pay(p, named) : all || !has_cuts(p, cut)))
        use_named(plan, named, LIFT_CUT_LETS);
}

/* Errors show names where the source has them. */
static bool plan_named(struct planner *p, const char *names)
{
    bool *chosen = no_cuts(p);
    return lift_cut_choose(p->plan->unnamed, &p->cuts, names, chosen, p->diag) && add_variant(p, chosen);
}

static bool plan_variants(struct planner *p, const char *cut)
{
    bool none = !strcmp(cut, "none");
    if (!none) name_scans(p);
    if (strcmp(cut, "auto") != 0) p->plan->n_programs = p->plan->n_variants = 0;
    if (!none && !p->plan->named) name_lets(p, cut);
    p->cuts = lift_cut_find(p->plan->program, p->plan->arena);
    for (unsigned i = 0; i < p->cuts.n; i++)
        p->n_computing += p->cuts.items[i].computes;
    if (!strcmp(cut, "auto")) return plan_auto(p);
    p->uncosted = none && lift_cut_forced(p->plan->program) == 1;
    if (none) return add_variant(p, no_cuts(p));
    return strcmp(cut, "all") ? plan_named(p, cut) : add_variant(p, all_cuts(p));
}

/* ---- the plan ---- */

struct sequence_plan *sequence_plan_new(const char *path, const char *text, const char *sizes,
                                        const char *cut, const struct bb_options *lowering, struct diag *d)
{
    struct arena *a = arena_new();
    struct sequence_plan *plan = ARENA_NEW(a, struct sequence_plan);
    struct planner p = {.plan = plan, .lowering = lowering, .diag = d};
    plan->arena = a;
    plan->source = (struct source){arena_strdup(a, path), arena_strdup(a, text), strlen(text)};
    plan->program = plan->unnamed = lift_parse_bound(&plan->source, sizes, a, d);
    if (plan->program && plan_variants(&p, cut)) return plan;
    sequence_plan_free(plan);
    return NULL;
}

void sequence_plan_free(struct sequence_plan *p)
{
    if (p) arena_free(p->arena);
}

bool sequence_plan_is_single(const struct sequence_plan *p)
{
    return p->n_variants == 1 && !p->variants[0].sequence;
}
