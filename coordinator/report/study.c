/* A study: one pass over the rows of a run. A replay takes a millisecond, so that of many rows a part, evenly
 * spread, goes into the forest; visits are counted in all. */
#include "coordinator/report/study.h"

#include <stdlib.h>
#include <string.h>

#include "coordinator/decided.h"
#include "coordinator/report/importance.h"
#include "coordinator/report/tally.h"
#include "coordinator/store.h"
#include "coordinator/stored_row.h"
#include "core/base/arena.h"
#include "core/base/diag.h"
#include "core/base/stop.h"

enum {
    NAME_BYTES = 512,
    FIRST = 16,      /* of the decisions of a row that are counted */
    VISITS_KEPT = 6, /* choices */
    LEAST_SHARE = 4  /* a choice is kept if one in so many rows decides it */
};

struct studying {
    struct report_study *out;
    const struct report_search *search;
    struct store *store;
    struct diag *diag;
    const struct report_opener *opener;
    struct problem *problem; /* NULL: of `tune --space`, or it cannot be opened */
    struct decided *decided; /* NULL: without names */
    struct importance *importance;
    struct tally tally;
    int64_t best;                  /* number of the best evaluation */
    size_t visited, valid, stride; /* drawn rows; valid ones; one in `stride` is learnt from */
};

/* ---- rows ---- */

static void count_actions(struct studying *s, const char *text)
{
    struct space_action *actions;
    size_t n;
    if (!store_actions_parse(text, &actions, &n)) return;
    for (unsigned i = 0; i < n && i < FIRST; i++)
        tally_add(&s->tally, actions[i].slot, actions[i].value, i);
    free(actions);
}

static void count_values(struct studying *s, const uint16_t *values, uint32_t n)
{
    for (uint32_t i = 0; i < n && i < FIRST; i++)
        if (values[i] != DECIDED_ABSENT) tally_add(&s->tally, i, values[i], i);
}

/* Whether this valid row is one of those that are learnt from. */
static bool is_learnt_from(struct studying *s, const struct store_evaluation *e)
{
    return strcmp(e->status, "ok") == 0 && e->median_ns > 0 && s->valid++ % s->stride == 0;
}

static void study_drawn(struct studying *s, const struct store_evaluation *e)
{
    bool learn = is_learnt_from(s, e);
    uint32_t n = 0;
    const uint16_t *values = learn || !s->problem ? decided_values(s->decided, e, &n) : NULL;
    s->visited++;
    if (s->problem)
        count_actions(s, e->actions);
    else if (values)
        count_values(s, values, n);
    if (values && learn) importance_add(s->importance, e->median_ns, values, n);
}

static void take_best(struct studying *s, const struct store_run *run, const struct store_evaluation *e)
{
    struct report_study *out = s->out;
    struct diag *d = diag_new();
    out->best.problem = s->problem;
    struct strbuf notes = {0};
    struct perfmodel *m = explanation_model(s->opener->description, s->problem, &out->best.device, &notes, d);
    out->explained_best = m && stored_row_take(s->store, run, e, &out->best, d) &&
                          explanation_make(&out->explanation, &out->best, m, d);
    if (out->explained_best) out->bound_ns = out->explanation.bound_of_all_ns;
    if (diag_failed(d)) out->trouble = base_strdup(diag_message(d, 0));
    out->notes = strbuf_take(&notes);
    perfmodel_free(m);
    diag_free(d);
}

/* The decisions of a space, one a line. */
static char *print_decisions(const char *text)
{
    json_t *o = json_loads(text, 0, NULL);
    char *lines = json_is_object(o) ? json_dumps(o, JSON_INDENT(2)) : NULL;
    json_decref(o);
    return lines;
}

static bool study_row(void *context, const struct store_run *run, const struct store_evaluation *e)
{
    struct studying *s = context;
    if (stop_requested(s->opener->stop_fd)) return false;
    if (e->number > 0 && s->decided) study_drawn(s, e);
    if (e->number != s->best || strcmp(e->status, "ok") != 0) return true;
    if (s->problem)
        take_best(s, run, e);
    else
        s->out->best_decisions = print_decisions(e->decisions);
    return true;
}

/* ---- visits ---- */

static struct report_choice visit_of(const struct studying *s, const struct tally_choice *c)
{
    char name[NAME_BYTES];
    decided_choice_name(s->decided, c->choice, name, sizeof name);
    struct report_choice v = {.name = base_strdup(name), .count = c->count, .n_values = c->n_values};
    v.values = base_calloc(c->n_values + 1u, sizeof *v.values);
    for (unsigned i = 0; i < c->n_values; i++) {
        decided_value_name(s->decided, c->choice, (uint16_t)c->values[i].value, name, sizeof name);
        v.values[i] = (struct report_value){.name = base_strdup(name), .count = c->values[i].count};
    }
    return v;
}

static void take_visits(struct studying *s)
{
    struct report_study *out = s->out;
    out->visited = s->visited;
    tally_finish(&s->tally, s->visited / LEAST_SHARE);
    out->visits = base_calloc(VISITS_KEPT, sizeof *out->visits);
    for (unsigned i = 0; i < s->tally.n && i < VISITS_KEPT; i++)
        out->visits[out->n_visits++] = visit_of(s, &s->tally.choices[i]);
}

/* ---- all ---- */

static bool open_program(struct studying *s)
{
    const struct report_search *search = s->search;
    const struct store_run run = {.id = search->run,
                                  .path = search->path,
                                  .text = search->text,
                                  .sizes = search->sizes,
                                  .device = search->device,
                                  .driver = search->driver,
                                  .libraries = search->libraries,
                                  .settings = search->settings,
                                  .fingerprint = search->fingerprint,
                                  .seed = strtoull(search->seed, NULL, 16)};
    struct diag *d = diag_new();
    s->problem = s->opener->open(s->opener->context, &run, &s->out->best.device, d);
    if (!s->problem) s->out->trouble = base_strdup(diag_failed(d) ? diag_message(d, 0) : "unknown");
    diag_free(d);
    return s->problem != NULL;
}

struct report_study *report_study_make(const char *store, const struct report_search *s,
                                       const struct report_opener *opener)
{
    struct report_study *out = base_calloc(1, sizeof *out);
    struct studying x = {.out = out, .search = s, .opener = opener, .diag = diag_new()};
    out->run = s->run;
    out->version = s->version;
    report_best(s, &x.best, NULL);
    x.stride = 1 + s->n_times / IMPORTANCE_ROWS;
    x.store = store_open_to_read(store, x.diag);
    if (x.store && (report_is_space(s) || open_program(&x))) {
        x.decided = decided_new(x.problem);
        x.importance = importance_new();
        if (store_each(x.store, s->run, study_row, &x, x.diag)) {
            take_visits(&x);
            importance_report(x.importance, x.decided, out);
        }
    }
    if (!out->trouble && diag_failed(x.diag)) out->trouble = base_strdup(diag_message(x.diag, 0));
    store_close(x.store);
    importance_free(x.importance);
    decided_free(x.decided);
    tally_clear(&x.tally);
    diag_free(x.diag);
    if (!out->best.problem) problem_free(x.problem);
    return out;
}

static void clear_choices(struct report_choice *choices, unsigned n)
{
    for (unsigned i = 0; i < n; i++) {
        for (unsigned k = 0; k < choices[i].n_values; k++)
            free(choices[i].values[k].name);
        free(choices[i].values);
        free(choices[i].name);
    }
    free(choices);
}

void report_study_free(struct report_study *s)
{
    if (!s) return;
    explanation_clear(&s->explanation);
    best_file_clear(&s->best);
    clear_choices(s->visits, s->n_visits);
    clear_choices(s->choices, s->n_choices);
    free(s->trouble);
    free(s->notes);
    free(s->best_decisions);
    free(s);
}
