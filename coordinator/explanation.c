/* Making an explanation; see explanation.h. */
#include "coordinator/explanation.h"

#include <math.h>
#include <stdio.h>

#include "coordinator/portrait.h"
#include "coordinator/rival.h"
#include "coordinator/solution.h"
#include "core/base/units.h"
#include "core/space/def.h"
#include "core/space/space.h"
#include "perfmodel/device.h"

enum { NAME_BYTES = 512 /* longer names are cut off */, WHY_BYTES = 512 };

/* ---- the lower bound ---- */

static void add_line(struct strbuf *out, const struct strbuf *line)
{
    if (line->length > 0) strbuf_printf(out, "%s\n", line->text);
}

struct perfmodel *explanation_model(const char *description, const struct problem *p,
                                    const struct device *dev, struct strbuf *notes, struct diag *d)
{
    struct perfmodel_device found;
    struct strbuf gaps = {0}, left_out = {0};
    bool loaded = perfmodel_device_load(description, dev->name, dev->gpu, &found, &left_out, d);
    add_line(notes, &left_out);
    strbuf_free(&left_out);
    if (!loaded) return NULL;
    struct perfmodel *m = perfmodel_new(p->backbone, p->space, &found);
    perfmodel_gaps(m, &gaps);
    add_line(notes, &gaps);
    strbuf_free(&gaps);
    return m;
}

static void add_rise(const struct space_state *st, struct space_action action, double from, double to,
                     struct strbuf *out)
{
    char slot[NAME_BYTES], value[NAME_BYTES], before[UNITS_BYTES], after[UNITS_BYTES];
    space_slot_name(space_of(st), action.slot, slot, sizeof slot);
    space_value_name(space_of(st), action.slot, action.value, value, sizeof value);
    units_time(from, before, sizeof before);
    units_time(to, after, sizeof after);
    strbuf_printf(out, "%s = %s: from %s to %s\n", slot, value, before, after);
}

/* Takes a decision of a choice that may become live only by later ones. */
static bool decide(struct space_state *st, struct space_action a)
{
    struct space_failure why;
    uint64_t allowed[SPACE_MAX_VALUES / 64] = {0};
    allowed[a.value / 64] = UINT64_C(1) << a.value % 64;
    return space_restrict(st, a.slot, allowed, SPACE_MAX_VALUES / 64, &why);
}

/* Applies the actions one after the other to a root candidate. Appends to `out` each action that raises the
 * bound, then the reason of the final bound, which is also stored in *reason. Returns the bound in ns. */
static double explain_bound(struct perfmodel *m, struct space_state *root, const struct space_action *actions,
                            size_t n, struct perfmodel_reason *reason, struct strbuf *out)
{
    char start[UNITS_BYTES];
    double last = perfmodel_bound(m, root, reason);
    units_time(last, start, sizeof start);
    strbuf_printf(out, "no decision: %s\n", start);
    for (size_t i = 0; i < n && decide(root, actions[i]); i++) {
        double ns = perfmodel_bound(m, root, reason);
        if (ns > last) add_rise(root, actions[i], last, ns, out);
        last = ns;
    }
    perfmodel_explain(m, reason, out);
    return last;
}

/* ---- making it ---- */

static bool lower(struct explanation *e, struct diag *d)
{
    const struct best_file *b = e->best;
    char why[WHY_BYTES] = "";
    if (pipeline_lower_actions(b->problem, b->actions, b->n_actions, &e->code, why, sizeof why)) return true;
    diag_plain(d, "%s: %s", b->problem->source.path, why);
    return false;
}

bool explanation_make(struct explanation *out, const struct best_file *b, struct perfmodel *m, struct diag *d)
{
    struct space_failure why;
    *out = (struct explanation){.best = b, .work = work_of(b->problem->backbone)};
    if (!lower(out, d)) return false;
    struct space_state *leaf = space_root(b->problem->space, &why);
    out->bound_of_all_ns = perfmodel_bound(m, leaf, NULL);
    out->bound_ns = explain_bound(m, leaf, b->actions, b->n_actions, &out->reason, &out->bound);
    perfmodel_explain_limit(m, &out->reason, &out->limit);
    out->decisions = solution_actions_json(b->problem->space, b->actions, b->n_actions);
    pipeline_print_loops(b->problem, leaf, &out->loops);
    out->portrait = portrait_json(b->problem, leaf);
    out->rival = rival_json(b, leaf, out->portrait);
    space_state_free(leaf);
    return true;
}

void explanation_clear(struct explanation *e)
{
    pipeline_code_clear(&e->code);
    strbuf_free(&e->loops);
    strbuf_free(&e->bound);
    strbuf_free(&e->limit);
    json_decref(e->decisions);
    json_decref(e->portrait);
    json_decref(e->rival);
    *e = (struct explanation){0};
}

/* ---- figures ---- */

double explanation_per_ns(const struct explanation *e, double x)
{
    return figure_known(&e->best->figure) && isfinite(x) ? x / e->best->figure.median_ns : 0;
}

double explanation_naive_ratio(const struct explanation *e)
{
    if (!figure_comparable(&e->best->naive, &e->best->figure)) return 0;
    return figure_ratio(&e->best->naive, &e->best->figure, NULL, NULL, 0).quotient;
}

void explanation_print_rate(const struct explanation *e, struct strbuf *out)
{
    if (explanation_per_ns(e, e->work.bytes) <= 0) return;
    if (e->work.operations > 0)
        strbuf_printf(out, "%.3g GFLOP/s, ", explanation_per_ns(e, e->work.operations));
    strbuf_printf(out, "%.3g GB/s", explanation_per_ns(e, e->work.bytes));
}

void explanation_print_bound(const struct explanation *e, struct strbuf *out)
{
    char own[UNITS_BYTES], all[UNITS_BYTES];
    double share = explanation_per_ns(e, e->bound_of_all_ns);
    units_time(e->bound_ns, own, sizeof own);
    units_time(e->bound_of_all_ns, all, sizeof all);
    strbuf_add(out, all);
    if (share > 0)
        strbuf_printf(out, share < 0.1 ? ", %.2g %% of the time" : ", %.0f %% of the time", 100 * share);
    if (e->bound_ns > 0) strbuf_printf(out, "; bound of this implementation %s", own);
}
