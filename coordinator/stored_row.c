/* A row of a store as a best_file; see stored_row.h. */
#include "coordinator/stored_row.h"

#include <inttypes.h>

#include "coordinator/store.h"
#include "core/base/arena.h"

/* The quoted time of an evaluation, else its time of the search. */
static struct figure figure_of(const struct store_evaluation *e)
{
    return figure_quoted(&e->quoted) ? e->quoted : figure_of_search(e->median_ns);
}

/* The naive time of the same kind as the implementation's time, quoted or of the search. */
static bool load_naive(void *context, const struct store_run *run, const struct store_evaluation *e)
{
    struct best_file *out = context;
    (void)run;
    out->naive = figure_quoted(&out->figure) ? figure_of(e) : figure_of_search(e->median_ns);
    return false;
}

struct loading {
    struct best_file *out;
    bool ok;
};

static bool load_contender(void *context, const struct store_figure *f)
{
    struct loading *l = context;
    struct best_file *out = l->out;
    struct best_contender c = {.label = base_strdup(f->label), .number = f->number, .figure = f->figure};
    l->ok = store_actions_parse(f->actions, &c.actions, &c.n_actions);
    out->contenders = base_realloc(out->contenders, (out->n_contenders + 1) * sizeof *out->contenders);
    out->contenders[out->n_contenders++] = c;
    return l->ok;
}

bool stored_row_take(struct store *s, const struct store_run *run, const struct store_evaluation *e,
                     struct best_file *out, struct diag *d)
{
    bool found;
    struct loading l = {out, store_actions_parse(e->actions, &out->actions, &out->n_actions)};
    out->figure = figure_of(e);
    out->kernel_hash = e->kernel_hash;
    if (!l.ok) diag_plain(d, "the actions of evaluation %" PRId64 " are malformed", e->number);
    return l.ok && store_naive(s, run->id, load_naive, out, &found, d) &&
           store_each_figure(s, run->id, load_contender, &l, d) && l.ok;
}
