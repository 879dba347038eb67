/* The result of a search as best.json has it: the winner with the contenders of its final rounds. */
#include "coordinator/best.h"
#include "coordinator/tune_state.h"
#include "core/base/diag.h"

/* The winner, in which `contenders` are borrowed; false: there is none. */
static bool describe(struct tune *t, struct best_contender contenders[SESSION_CONTENDERS], struct best *out)
{
    const struct tune_report *r = tune_report(t);
    const struct session_pick *picks = r->search.contenders;
    if (r->search.n_contenders == 0) return false;
    for (unsigned i = 0; i < r->search.n_contenders; i++)
        contenders[i] = (struct best_contender){.label = picks[i].label,
                                                .number = picks[i].number,
                                                .figure = picks[i].figure,
                                                .actions = picks[i].actions,
                                                .n_actions = picks[i].n_actions};
    *out = (struct best){.problem = t->problem,
                         .device = &t->device,
                         .lowering = &t->options.lowering,
                         .sizes = t->options.sizes,
                         .store = t->options.private_store ? NULL : t->options.store,
                         .data = t->data_text,
                         .actions = picks[0].actions,
                         .n_actions = picks[0].n_actions,
                         .figure = picks[0].figure,
                         .naive = r->naive.figure,
                         .contenders = contenders,
                         .n_contenders = r->search.n_contenders};
    return true;
}

static bool report_none(struct tune *t, struct diag *d)
{
    if (!tune_report(t)->search.interrupted) diag_plain(d, "no valid implementation was found");
    return false;
}

bool tune_write(struct tune *t, const char *dir, struct diag *d)
{
    struct best_contender contenders[SESSION_CONTENDERS];
    struct best b;
    return describe(t, contenders, &b) ? best_write(dir, &b, d) : report_none(t, d);
}

json_t *tune_result(struct tune *t, struct diag *d)
{
    struct best_contender contenders[SESSION_CONTENDERS];
    struct best b;
    return describe(t, contenders, &b) ? best_json(&b, d) : (report_none(t, d), NULL);
}
