/* From the rows of a store to each choice's share of the variance of log-times.
 *
 *     row -> decided_values(), ns -> insight_add() -> insight_report() -> JSON -> text */
#include "coordinator/cli/learnt.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "coordinator/decided.h"
#include "coordinator/insight.h"
#include "coordinator/store.h"
#include "core/base/arena.h"
#include "core/base/strbuf.h"
#include "core/base/units.h"

enum { SHOWN = 10, SHOWN_VALUES = 8, SHOWN_SAME = 3 };

struct learning {
    const struct cli_args *args;
    struct diag *diag;
    struct insight *insight;
    uint64_t fingerprint; /* of the last run with a valid evaluation */
    char *device;         /* of that run; NULL: there is none */
    int64_t last_run;
    unsigned runs;
    struct problem *problem; /* NULL: of `tune --space` */
    struct decided *decided; /* NULL: no row was read yet */
    bool failed;
};

static bool is_of_space(const struct learning *l)
{
    return strcmp(l->device, STORE_NO_DEVICE) == 0;
}

static bool counts(const struct store_evaluation *e)
{
    return e->number > 0 && strcmp(e->status, "ok") == 0 && e->median_ns > 0;
}

static bool find_last(void *context, const struct store_run *run, const struct store_evaluation *e)
{
    struct learning *l = context;
    if (!counts(e) || (l->device && run->id == l->last_run)) return true;
    free(l->device);
    l->device = base_strdup(run->device);
    l->fingerprint = run->fingerprint;
    l->last_run = run->id;
    return true;
}

/* ---- all rows ---- */

/* Opens the program of the first row. */
static bool open_rows(struct learning *l, const struct store_run *run)
{
    struct device dev;
    if (!is_of_space(l)) l->problem = cli_run_problem(l->args, run, &dev, l->diag);
    l->failed = !is_of_space(l) && !l->problem;
    if (!l->failed) l->decided = decided_new(l->problem);
    return !l->failed;
}

static bool add_row(void *context, const struct store_run *run, const struct store_evaluation *e)
{
    struct learning *l = context;
    uint32_t n;
    if (!counts(e) || run->fingerprint != l->fingerprint || strcmp(run->device, l->device) != 0) return true;
    if (!l->decided && !open_rows(l, run)) return false;
    l->runs += l->runs == 0 || run->id != l->last_run;
    l->last_run = run->id;
    const uint16_t *values = decided_values(l->decided, e, &n);
    if (values) insight_add(l->insight, e->median_ns, values, n);
    return true;
}

/* ---- JSON ---- */

static json_t *choice_name(const struct learning *l, uint32_t choice)
{
    char name[CLI_NAME_BYTES];
    decided_choice_name(l->decided, choice, name, sizeof name);
    return json_string(name);
}

static json_t *value_name(const struct learning *l, uint32_t choice, uint16_t value)
{
    char name[CLI_NAME_BYTES];
    decided_value_name(l->decided, choice, value, name, sizeof name);
    return json_string(name);
}

static json_t *value_json(const struct learning *l, uint32_t choice, const struct insight_value *v)
{
    return json_pack("{s:o,s:I,s:f,s:f,s:b}", "value", value_name(l, choice, v->value), "evaluations",
                     (json_int_t)v->count, "mean_log_ns", v->mean_log_ns, "geometric_mean_ns",
                     exp(v->mean_log_ns), "few", v->count < INSIGHT_FEW);
}

static json_t *effect_json(const struct learning *l, const struct insight_effect *e)
{
    json_t *values = json_array(), *same = json_array();
    for (unsigned i = 0; i < e->n_values; i++)
        json_array_append_new(values, value_json(l, e->choice, &e->values[i]));
    for (uint32_t i = 0; i < e->n_same; i++)
        json_array_append_new(same, choice_name(l, e->same[i]));
    return json_pack("{s:o,s:o,s:I,s:f,s:f,s:o}", "choice", choice_name(l, e->choice), "same", same,
                     "evaluations", (json_int_t)e->count, "share", e->share, "by_chance", e->chance, "values",
                     values);
}

static json_t *report_json(const struct learning *l)
{
    struct insight_report r;
    json_t *choices = json_array();
    insight_report(l->insight, &r);
    for (uint32_t i = 0; i < r.n_effects; i++)
        json_array_append_new(choices, effect_json(l, &r.effects[i]));
    json_t *o = json_pack("{s:I,s:I,s:f,s:f,s:f,s:f,s:o}", "evaluations", (json_int_t)r.evaluations, "runs",
                          (json_int_t)l->runs, "geometric_mean_ns", exp(r.mean_log_ns), "least_ns",
                          r.least_ns, "most_ns", r.most_ns, "variance_log", r.variance, "choices", choices);
    insight_report_clear(&r);
    return o;
}

json_t *cli_learnt(const struct cli_args *a, struct diag *d)
{
    struct learning l = {.args = a, .diag = d, .insight = insight_new()};
    struct store *s = store_open_to_read(a->positional[0], d);
    bool read = s && store_each(s, 0, find_last, &l, d);
    if (read && !l.device) diag_plain(d, "%s: the store has no valid evaluation", a->positional[0]);
    l.last_run = 0;
    bool ok = read && l.device && store_each(s, 0, add_row, &l, d) && !l.failed;
    json_t *learnt = ok ? report_json(&l) : NULL;
    store_close(s);
    insight_free(l.insight);
    decided_free(l.decided);
    problem_free(l.problem);
    free(l.device);
    return learnt;
}

/* ---- text ---- */

static double real_of(const json_t *o, const char *key)
{
    return json_number_value(json_object_get(o, key));
}

static void add_time(struct strbuf *out, const json_t *o, const char *key)
{
    char time[UNITS_BYTES];
    units_time(real_of(o, key), time, sizeof time);
    strbuf_add(out, time);
}

static void print_values(const json_t *values, struct strbuf *out)
{
    size_t i;
    json_t *v;
    strbuf_add(out, "           ");
    json_array_foreach(values, i, v)
    {
        if (i == SHOWN_VALUES) break;
        strbuf_printf(out, "%s%s: ", i ? ", " : "", json_string_value(json_object_get(v, "value")));
        add_time(out, v, "geometric_mean_ns");
        strbuf_printf(out, " (%.0f%s)", real_of(v, "evaluations"),
                      json_is_true(json_object_get(v, "few")) ? "*" : "");
    }
    if (json_array_size(values) > SHOWN_VALUES)
        strbuf_printf(out, ", %zu slower ones", json_array_size(values) - SHOWN_VALUES);
    strbuf_add(out, "\n");
}

static void print_choice(const json_t *c, double all, struct strbuf *out)
{
    const json_t *same = json_object_get(c, "same");
    size_t i;
    json_t *name;
    strbuf_printf(out, "  %4.0f %% %5.0f %%  %s", 100 * real_of(c, "share"), 100 * real_of(c, "by_chance"),
                  json_string_value(json_object_get(c, "choice")));
    json_array_foreach(same, i, name)
    {
        if (i == SHOWN_SAME) break;
        strbuf_printf(out, "%s%s", i ? ", " : "; always together with ", json_string_value(name));
    }
    if (json_array_size(same) > SHOWN_SAME)
        strbuf_printf(out, " and %zu more", json_array_size(same) - SHOWN_SAME);
    if (real_of(c, "evaluations") < all)
        strbuf_printf(out, "; present in %.0f evaluations", real_of(c, "evaluations"));
    strbuf_add(out, "\n");
    print_values(json_object_get(c, "values"), out);
}

void cli_print_learnt(const json_t *learnt, struct strbuf *out)
{
    const json_t *choices = json_object_get(learnt, "choices");
    double evaluations = real_of(learnt, "evaluations"), runs = real_of(learnt, "runs");
    size_t i;
    json_t *c;
    strbuf_printf(out, "learnt\n  from %.0f evaluation%s of %.0f run%s, search times: ", evaluations,
                  evaluations == 1 ? "" : "s", runs, runs == 1 ? "" : "s");
    add_time(out, learnt, "least_ns");
    strbuf_add(out, " to ");
    add_time(out, learnt, "most_ns");
    strbuf_add(out, ", geometric mean ");
    add_time(out, learnt, "geometric_mean_ns");
    strbuf_printf(
        out,
        "\n  share: the part of the variance of log-times that the choice explains. Shares overlap, since "
        "choices\n  depend on each other. chance: the expected share of a choice without effect.\n  Below "
        "each choice: the geometric mean time of each value (evaluations; *: fewer than %d)\n",
        INSIGHT_FEW);
    strbuf_add(out, "   share  chance  choice\n");
    json_array_foreach(choices, i, c) if (i < SHOWN) print_choice(c, evaluations, out);
    if (json_array_size(choices) > SHOWN)
        strbuf_printf(out, "  %zu more choices with smaller shares (--json lists all)\n",
                      json_array_size(choices) - SHOWN);
}
