/* Opening the lower bound for subcommands; see bounding.h. */
#include "coordinator/cli/bounding.h"

#include <math.h>
#include <stdio.h>

#include "coordinator/explanation.h"
#include "core/base/strbuf.h"

struct perfmodel *cli_model(const struct cli_args *a, const struct problem *p, const struct device *dev,
                            struct diag *d)
{
    struct strbuf notes = {0};
    struct perfmodel *m = explanation_model(a->value[CLI_DESCRIPTION], p, dev, &notes, d);
    if (notes.length > 0 && !cli_given(a, CLI_QUIET)) fputs(notes.text, stderr);
    strbuf_free(&notes);
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
