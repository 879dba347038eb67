/* thresh explain: describes an implementation from a best.json or a store.
 *
 *     thresh explain best.json             one implementation
 *     thresh explain runs.db --best        the best one, and what the search learnt about each choice
 *     thresh explain runs.db --cuts        what the lower bound pruned (cuts.c)
 *
 * The text begins with a summary: time, rate, lower bound, comparison with the naive and the second best
 * implementation. Then come the decisions by logical dimension and by staged value, the loops, the OpenCL
 * text and the terms of the lower bound. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "coordinator/best.h"
#include "coordinator/cli/bounding.h"
#include "coordinator/cli/contenders.h"
#include "coordinator/cli/cuts.h"
#include "coordinator/cli/learnt.h"
#include "coordinator/cli/stored.h"
#include "coordinator/portrait.h"
#include "coordinator/solution.h"
#include "coordinator/work.h"
#include "core/base/strbuf.h"
#include "core/base/units.h"
#include "core/pipeline/code.h"
#include "gpu.space.h"

/* What is printed about an implementation. */
struct explanation {
    const struct best_file *best;
    const struct pipeline_code *code;
    struct strbuf loops;
    struct work work;
    double bound_ns, bound_of_all_ns;      /* of this implementation; of all of the program */
    struct perfmodel_reason reason;        /* of the first */
    struct strbuf bound, limit;            /* the bound's terms; the limiting resource, on one line */
    json_t *decisions, *portrait, *learnt; /* learnt NULL: not requested */
    json_t *other;                         /* cli_contender_json() */
};

/* `x` divided by the time; 0: one of them is not known. */
static double per_ns(const struct explanation *e, double x)
{
    return figure_known(&e->best->figure) && isfinite(x) ? x / e->best->figure.median_ns : 0;
}

/* The naive implementation's time over this one's; 0: not known, or not measured in the same way. */
static double naive_ratio(const struct explanation *e)
{
    if (!figure_comparable(&e->best->naive, &e->best->figure)) return 0;
    return figure_ratio(&e->best->naive, &e->best->figure, NULL, NULL, 0).quotient;
}

/* ---- JSON ---- */

static json_t *known_json(double x)
{
    return x > 0 ? cli_real_json(x) : json_null();
}

static json_t *limit_json(const struct explanation *e)
{
    enum perfmodel_figure f = perfmodel_term_figure(e->reason.term);
    if (e->reason.term == PERFMODEL_NOTHING || isinf(e->reason.ns)) return json_null();
    return json_pack("{s:s,s:s,s:f,s:s}", "resource", perfmodel_term_text(e->reason.term), "figure",
                     perfmodel_figure_name(f), "amount", e->reason.amount, "text", e->limit.text);
}

static json_t *sizes_json(const struct lift_program *p)
{
    json_t *o = json_object();
    for (unsigned i = 0; i < p->n_sizes; i++)
        json_object_set_new(o, p->sizes[i].name, json_integer(p->sizes[i].value));
    return o;
}

/* The same keys as in `tune --json`. */
static void add_worth(const struct explanation *e, json_t *o)
{
    json_object_set_new(o, "flop", json_real(e->work.operations));
    json_object_set_new(o, "bytes", json_real(e->work.bytes));
    json_object_set_new(o, "gflops", known_json(per_ns(e, e->work.operations)));
    json_object_set_new(o, "gbytes_per_s", known_json(per_ns(e, e->work.bytes)));
    json_object_set_new(o, "bound_of_all_ns", cli_real_json(e->bound_of_all_ns));
    json_object_set_new(o, "bound_share", known_json(per_ns(e, e->bound_of_all_ns)));
    json_object_set_new(o, "limit", limit_json(e));
    json_object_set_new(o, "speedup", known_json(naive_ratio(e)));
}

static void print_json(const struct explanation *e)
{
    const struct best_file *b = e->best;
    json_t *o =
        json_pack("{s:s,s:o,s:s,s:O,s:s,s:s,s:o,s:s,s:f,s:o,s:o}", "kernel", b->problem->source.path, "sizes",
                  sizes_json(b->problem->program), "device", b->device.name, "decisions", e->decisions,
                  "loops", e->loops.text, "opencl", e->code->kernel.source, "bound_ns",
                  cli_real_json(e->bound_ns), "bound_reason", e->bound.text, "median_ns", b->figure.median_ns,
                  "figure", figure_json(&b->figure), "naive", figure_json(&b->naive));
    add_worth(e, o);
    json_object_set(o, "other", e->other);
    json_object_update(o, e->portrait);
    if (e->learnt) json_object_set(o, "learnt", e->learnt);
    if (b->store) json_object_set_new(o, "store", json_string(b->store));
    cli_print_json(o);
}

/* ---- text ---- */

static void print_sizes(const struct lift_program *p)
{
    for (unsigned i = 0; i < p->n_sizes; i++)
        printf("%s%s=%" PRId64, i ? "," : " ", p->sizes[i].name, p->sizes[i].value);
    printf("\n");
}

/* "search, implementation 12", "naive", "plain: ..."; nothing if the implementation is not a contender. */
static void print_origin(const struct best_file *b)
{
    const struct best_contender *c = cli_find_contender(b);
    if (c) printf("from       %s", c->label);
    if (c && c->number > 0) printf(", implementation %" PRId64, c->number);
    if (c) printf("\n");
}

static void print_rate(const struct explanation *e)
{
    if (per_ns(e, e->work.bytes) <= 0) return;
    printf("rate       ");
    if (e->work.operations > 0) printf("%.3g GFLOP/s, ", per_ns(e, e->work.operations));
    printf("%.3g GB/s\n", per_ns(e, e->work.bytes));
}

static void print_bound(const struct explanation *e)
{
    char own[UNITS_BYTES], all[UNITS_BYTES];
    double share = per_ns(e, e->bound_of_all_ns);
    units_time(e->bound_ns, own, sizeof own);
    units_time(e->bound_of_all_ns, all, sizeof all);
    printf("bound      %s", all);
    if (share > 0) printf(share < 0.1 ? ", %.2g %% of the time" : ", %.0f %% of the time", 100 * share);
    if (e->bound_ns > 0) printf("; bound of this implementation %s", own);
    printf("\nlimit      %s\n", e->limit.text);
}

static void print_summary(const struct explanation *e)
{
    const struct best_file *b = e->best;
    char time[FIGURE_TEXT];
    double naive = naive_ratio(e);
    printf("kernel     %s", b->problem->source.path);
    print_sizes(b->problem->program);
    printf("device     %s\ntime       %s\n", b->device.name, figure_print(&b->figure, time));
    print_origin(b);
    print_rate(e);
    print_bound(e);
    const struct best_contender *own = cli_find_contender(b);
    if (own && own->number == 0)
        printf("naive      this is the naive implementation\n");
    else if (naive > 0)
        printf("naive      %s, %.3g times as long\n", figure_print(&b->naive, time), naive);
    cli_print_contender(e->other);
    if (b->store && !e->learnt)
        printf("store      %s: 'thresh explain %s --best' adds what the search learnt\n", b->store, b->store);
}

/* The decisions in the order in which they were taken. Decisions of order are only counted: the loops show
 * them. */
static void print_decisions(const struct cli_args *a, const struct explanation *e)
{
    const char *name;
    json_t *value;
    size_t orders = 0;
    if (cli_given(a, CLI_VERBOSE)) printf("\ndecisions\n");
    json_object_foreach(e->decisions, name, value)
    {
        orders += portrait_is_of(name, GPU_CHOICE_ORDER);
        if (cli_given(a, CLI_VERBOSE)) printf("  %s = %s\n", name, json_string_value(value));
    }
    if (!cli_given(a, CLI_VERBOSE) && orders)
        printf("\norder\n  %zu decision%s, shown by the loops below (--verbose lists all decisions)\n",
               orders, orders == 1 ? "" : "s");
}

static void print_text(const struct cli_args *a, const struct explanation *e)
{
    struct strbuf words = {0};
    portrait_print(e->portrait, &words);
    print_summary(e);
    printf("\n%s", words.text);
    print_decisions(a, e);
    strbuf_free(&words);
    if (e->learnt) {
        cli_print_learnt(e->learnt, &words);
        printf("\n%s", words.text);
    }
    printf("\nloops\n%s\nopencl\n%s\nbound\n%s", e->loops.text, e->code->kernel.source, e->bound.text);
    strbuf_free(&words);
}

/* ---- making it ---- */

/* What the store's evaluations tell about each choice, with --best; NULL: not requested, or not known. */
static json_t *find_learnt(const struct cli_args *a)
{
    if (!cli_given(a, CLI_BEST)) return NULL;
    struct diag *d = diag_new();
    json_t *learnt = cli_learnt(a, d);
    diag_free(d);
    return learnt;
}

static void clear(struct explanation *e)
{
    strbuf_free(&e->loops);
    strbuf_free(&e->bound);
    strbuf_free(&e->limit);
    json_decref(e->decisions);
    json_decref(e->portrait);
    json_decref(e->learnt);
    json_decref(e->other);
}

/* Explains an implementation that has been lowered. */
static bool explain(const struct cli_args *a, const struct best_file *b, const struct pipeline_code *c,
                    struct diag *d)
{
    struct space_failure why;
    struct explanation e = {.best = b, .code = c, .work = work_of(b->problem->backbone)};
    struct perfmodel *m = cli_model(a, b->problem, &b->device, d);
    if (!m) return false;
    cli_stored_note_text(b, c->hash);
    struct space_state *leaf = space_root(b->problem->space, &why);
    e.bound_of_all_ns = perfmodel_bound(m, leaf, NULL);
    e.bound_ns = cli_explain_bound(m, leaf, b->actions, b->n_actions, &e.reason, &e.bound);
    perfmodel_explain_limit(m, &e.reason, &e.limit);
    e.decisions = solution_actions_json(b->problem->space, b->actions, b->n_actions);
    pipeline_print_loops(b->problem, leaf, &e.loops);
    e.portrait = portrait_json(b->problem, leaf);
    e.other = cli_contender_json(b, leaf, e.portrait);
    e.learnt = find_learnt(a);
    if (cli_given(a, CLI_JSON))
        print_json(&e);
    else
        print_text(a, &e);
    clear(&e);
    space_state_free(leaf);
    perfmodel_free(m);
    return true;
}

/* ---- what the search learnt ---- */

static int run_learnt(const struct cli_args *a)
{
    static const enum cli_key number[] = {CLI_NUMBER};
    struct diag *d = diag_new();
    bool alone = cli_refuse(a, number, 1, "does not apply with --learnt", d);
    json_t *learnt = alone ? cli_learnt(a, d) : NULL;
    struct strbuf text = {0};
    if (learnt && cli_given(a, CLI_JSON)) {
        cli_print_json(json_incref(learnt));
    } else if (learnt) {
        cli_print_learnt(learnt, &text);
        fputs(text.text, stdout);
    }
    strbuf_free(&text);
    json_decref(learnt);
    return cli_finish(d, CLI_OK);
}

/* A best.json has the limits of its device; a store does not, so that --device may name one. */
static bool refuse_device(const struct cli_args *a, struct diag *d)
{
    static const enum cli_key device[] = {CLI_DEVICE};
    return cli_given(a, CLI_BEST) || cli_given(a, CLI_NUMBER) ||
           cli_refuse(a, device, 1, "does not apply to a best.json, which contains its device", d);
}

static int run_explain(const struct cli_args *a)
{
    if (cli_given(a, CLI_CUTS)) return cli_cuts(a);
    if (cli_given(a, CLI_LEARNT) && !cli_given(a, CLI_BEST)) return run_learnt(a);
    struct diag *d = diag_new();
    struct best_file b;
    struct pipeline_code c = {0};
    char why[CLI_NAME_BYTES] = "";
    if (cli_stored_load(a, &b, d) && refuse_device(a, d)) {
        if (pipeline_lower_actions(b.problem, b.actions, b.n_actions, &c, why, sizeof why))
            explain(a, &b, &c, d);
        else
            diag_plain(d, "%s: %s", a->positional[0], why);
    }
    pipeline_code_clear(&c);
    int status = cli_finish(d, CLI_OK);
    best_file_clear(&b);
    return status;
}

const struct cli_command cli_explain = {
    .name = "explain",
    .positional = "BEST.json|STORE.db",
    .least = 1,
    .most = 1,
    .takes = CLI_TAKES(BEST) | CLI_TAKES(NUMBER) | CLI_TAKES(LEARNT) | CLI_TAKES(CUTS) | CLI_TAKES(DEVICE) |
             CLI_TAKES(DESCRIPTION) | CLI_TAKES(PARAM) | CLI_TAKES(JSON) | CLI_TAKES(VERBOSE),
    .notes = {{CLI_VERBOSE, NULL, "list every decision, including those of order"}},
    .help =
        "Explains an implementation and what limits its speed. It prints the time, the lower bound, the "
        "comparison with the naive implementation and the second best one, the meaning of each decision, the "
        "loop nest and the OpenCL text. Select an implementation of a store with --best or --number.\n"
        "--learnt prints how each choice affects the time, from all evaluations of the last program in the "
        "store. --cuts prints the candidates that the lower bound pruned in the last run, with the reasons.\v"
        "Example: thresh explain thresh-out/best.json\n         thresh explain runs.db --best\n"
        "         thresh explain runs.db --number 17\n         thresh explain runs.db --learnt\n"
        "         thresh explain runs.db --cuts",
    .run = run_explain,
};
