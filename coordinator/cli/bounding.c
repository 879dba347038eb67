/* Opening the lower bound for subcommands; see bounding.h. */
#include "coordinator/cli/bounding.h"

#include <math.h>
#include <stdio.h>

#include "core/base/strbuf.h"
#include "core/base/units.h"
#include "core/space/def.h"
#include "core/space/space.h"

struct perfmodel *cli_model(const struct cli_args *a, const struct problem *p, const struct device *dev,
                            struct diag *d)
{
    struct perfmodel_device description;
    struct strbuf gaps = {0}, left_out = {0};
    bool loaded =
        perfmodel_device_load(a->value[CLI_DESCRIPTION], dev->name, dev->gpu, &description, &left_out, d);
    if (left_out.length > 0 && !cli_given(a, CLI_QUIET)) fprintf(stderr, "%s\n", left_out.text);
    strbuf_free(&left_out);
    if (!loaded) return NULL;
    struct perfmodel *m = perfmodel_new(p->backbone, p->space, &description);
    perfmodel_gaps(m, &gaps);
    if (gaps.length > 0 && !cli_given(a, CLI_QUIET)) fprintf(stderr, "%s\n", gaps.text);
    strbuf_free(&gaps);
    return m;
}

bool cli_bounding_open(const struct cli_args *a, const struct cli_problem *p, struct cli_bounding *out,
                       struct diag *d)
{
    uint64_t depth;
    *out = (struct cli_bounding){.branching = {.order = p->order.parts, .n_order = p->order.n}};
    if (!cli_number(a, CLI_CUT, INFINITY, &out->cut, d) || !cli_positive(a, CLI_DEPTH, UINT32_MAX, &depth, d))
        return false;
    out->depth = depth < UINT32_MAX ? (uint32_t)depth : UINT32_MAX;
    if (!cli_given(a, CLI_CUT)) return true;
    out->model = cli_model(a, p->problem, &p->device, d);
    out->branching.bound = perfmodel_hook;
    out->branching.bound_context = out->model;
    return out->model != NULL;
}

void cli_bounding_close(struct cli_bounding *b)
{
    perfmodel_free(b->model);
}

static void add_rise(const struct space_state *st, struct space_action action, double from, double to,
                     struct strbuf *out)
{
    char slot[CLI_NAME_BYTES], value[CLI_NAME_BYTES], before[UNITS_BYTES], after[UNITS_BYTES];
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

double cli_explain_bound(struct perfmodel *m, struct space_state *root, const struct space_action *actions,
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
