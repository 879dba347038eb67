/* thresh explain: describes an implementation from a best.json or a store.
 *
 *     thresh explain best.json             one implementation
 *     thresh explain runs.db --best        the best one, and what the search learnt about each choice
 *     thresh explain runs.db --cuts        what the lower bound pruned (cuts.c)
 *     thresh explain sequence/best.json    the steps of a sequence of kernels, and each part
 *
 * The text begins with a summary: time, rate, lower bound, comparison with the naive and the second best
 * implementation. Then come the decisions by logical dimension and by staged value, the loops, the OpenCL
 * text and the terms of the lower bound. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "coordinator/cli/bounding.h"
#include "coordinator/cli/contenders.h"
#include "coordinator/cli/cuts.h"
#include "coordinator/cli/learnt.h"
#include "coordinator/cli/stored.h"
#include "coordinator/explanation.h"
#include "coordinator/portrait.h"
#include "coordinator/rival.h"
#include "coordinator/sequence/file.h"
#include "coordinator/store.h"
#include "core/base/strbuf.h"
#include "gpu.space.h"

/* What is printed. */
struct printing {
    const struct explanation *of;
    json_t *learnt; /* NULL: not requested */
};

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
    json_object_set_new(o, "gflops", known_json(explanation_per_ns(e, e->work.operations)));
    json_object_set_new(o, "gbytes_per_s", known_json(explanation_per_ns(e, e->work.bytes)));
    json_object_set_new(o, "bound_of_all_ns", cli_real_json(e->bound_of_all_ns));
    json_object_set_new(o, "bound_share", known_json(explanation_per_ns(e, e->bound_of_all_ns)));
    json_object_set_new(o, "limit", limit_json(e));
    json_object_set_new(o, "speedup", known_json(explanation_naive_ratio(e)));
}

static json_t *baselines_json(const struct best_file *b)
{
    json_t *list = json_array();
    for (unsigned i = 0; i < b->n_contenders; i++)
        if (store_is_baseline(b->contenders[i].number))
            json_array_append_new(list, json_pack("{s:s,s:o}", "label", b->contenders[i].label, "figure",
                                                  figure_json(&b->contenders[i].figure)));
    return list;
}

static json_t *to_json(const struct printing *p)
{
    const struct explanation *e = p->of;
    const struct best_file *b = e->best;
    json_t *o =
        json_pack("{s:s,s:o,s:s,s:O,s:s,s:s,s:o,s:s,s:f,s:o,s:o}", "kernel", b->problem->source.path, "sizes",
                  sizes_json(b->problem->program), "device", b->device.name, "decisions",
                  json_incref(e->decisions), "loops", e->loops.text, "opencl", e->code.kernel.source,
                  "bound_ns", cli_real_json(e->bound_ns), "bound_reason", e->bound.text, "median_ns",
                  b->figure.median_ns, "figure", figure_json(&b->figure), "naive", figure_json(&b->naive));
    add_worth(e, o);
    json_object_set(o, "other", e->rival);
    json_object_set_new(o, "baselines", baselines_json(b));
    json_object_update(o, e->portrait);
    if (p->learnt) json_object_set(o, "learnt", p->learnt);
    if (b->store) json_object_set_new(o, "store", json_string(b->store));
    return o;
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
    const struct best_contender *c = rival_itself(b);
    if (c) printf("from       %s", c->label);
    if (c && c->number > 0) printf(", implementation %" PRId64, c->number);
    if (c) printf("\n");
}

/* A line of the summary; none without text. Empties it. */
static void print_line(const char *what, struct strbuf *text)
{
    if (text->length > 0) printf("%-10s %s\n", what, text->text);
    strbuf_free(text);
}

/* The user's own kernel: "baseline   mm.cl:matmul 61 us (60.1 to 61.9, 11 rounds), 1.8 times as long". */
static void print_baseline(const struct best_file *b, const struct best_contender *c)
{
    char time[FIGURE_TEXT];
    double ratio = figure_comparable(&c->figure, &b->figure)
                       ? figure_ratio(&c->figure, &b->figure, NULL, NULL, 0).quotient
                       : 0;
    printf("baseline   %s, %s", figure_print(&c->figure, time), c->label + strcspn(c->label, " ") + 1);
    if (ratio > 0) printf(", %.3g times as long", ratio);
    printf("\n");
}

static void print_summary(const struct printing *p)
{
    const struct explanation *e = p->of;
    const struct best_file *b = e->best;
    struct strbuf rate = {0}, bound = {0};
    char time[FIGURE_TEXT];
    double naive = explanation_naive_ratio(e);
    printf("kernel     %s", b->problem->source.path);
    print_sizes(b->problem->program);
    printf("device     %s\ntime       %s\n", b->device.name, figure_print(&b->figure, time));
    print_origin(b);
    explanation_print_rate(e, &rate);
    print_line("rate", &rate);
    explanation_print_bound(e, &bound);
    print_line("bound", &bound);
    printf("limit      %s\n", e->limit.text);
    const struct best_contender *own = rival_itself(b);
    if (own && own->number == 0)
        printf("naive      this is the naive implementation\n");
    else if (naive > 0)
        printf("naive      %s, %.3g times as long\n", figure_print(&b->naive, time), naive);
    for (unsigned i = 0; i < b->n_contenders; i++)
        if (store_is_baseline(b->contenders[i].number)) print_baseline(b, &b->contenders[i]);
    cli_print_contender(e->rival);
    if (b->store && !p->learnt)
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

static void print_text(const struct cli_args *a, const struct printing *p)
{
    const struct explanation *e = p->of;
    struct strbuf words = {0};
    portrait_print(e->portrait, &words);
    print_summary(p);
    printf("\n%s", words.text);
    print_decisions(a, e);
    strbuf_free(&words);
    if (p->learnt) {
        cli_print_learnt(p->learnt, &words);
        printf("\n%s", words.text);
    }
    printf("\nloops\n%s\nopencl\n%s\nbound\n%s", e->loops.text, e->code.kernel.source, e->bound.text);
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

/* list: where JSON goes, of a part of a sequence; NULL: standard output. */
static void explain(const struct cli_args *a, const struct best_file *b, json_t *list, struct diag *d)
{
    struct perfmodel *m = cli_model(a, b->problem, &b->device, d);
    struct explanation e = {0};
    if (m && explanation_make(&e, b, m, d)) {
        struct printing p = {&e, find_learnt(a)};
        cli_stored_note_text(b, e.code.hash);
        if (list)
            json_array_append_new(list, to_json(&p));
        else if (cli_given(a, CLI_JSON))
            cli_print_json(to_json(&p));
        else
            print_text(a, &p);
        json_decref(p.learnt);
    }
    explanation_clear(&e);
    perfmodel_free(m);
}

/* ---- sequences ---- */

/* "naive      265.6 us (...), 43.5 times as long". */
static void print_other(const char *what, const struct figure *other, const struct figure *best)
{
    char text[FIGURE_TEXT];
    if (!figure_known(other)) return;
    printf("%-10s %s", what, figure_print(other, text));
    if (figure_comparable(other, best))
        printf(", %.3g times as long", figure_ratio(other, best, NULL, NULL, 0).quotient);
    printf("\n");
}

static void print_names(const char *what, const json_t *names)
{
    size_t i;
    json_t *name;
    printf("%s", what);
    json_array_foreach(names, i, name) printf("%s %s", i ? "," : "", json_string_value(name));
}

/* The whole: its times, and which kernel reads and writes what. */
static void print_sequence(const struct sequence_file *f)
{
    char text[FIGURE_TEXT];
    printf("kernel     %s %s\ndevice     %s\ntime       %s, %u kernels\n", f->source.path, f->sizes,
           f->device.name, figure_print(&f->figure, text), f->sequence->n_steps);
    print_other("naive", &f->naive, &f->figure);
    print_other("parts", &f->naive_parts, &f->figure);
    print_other("one kernel", &f->one_kernel, &f->figure);
    for (unsigned i = 0; i < f->sequence->n_steps; i++) {
        json_t *step = sequence_step_json(f->program, f->sequence, i);
        printf("step %-5u part %u,", i + 1, f->sequence->steps[i].part + 1);
        print_names(" reads", json_object_get(step, "reads"));
        print_names("; writes", json_object_get(step, "writes"));
        printf("\n");
        json_decref(step);
    }
}

static void print_sequence_json(const struct sequence_file *f, json_t *parts)
{
    json_t *steps = json_array();
    for (unsigned i = 0; i < f->sequence->n_steps; i++)
        json_array_append_new(steps, sequence_step_json(f->program, f->sequence, i));
    cli_print_json(json_pack("{s:s,s:s,s:s,s:o,s:o,s:o,s:o,s:o,s:O}", "kernel", f->source.path, "device",
                             f->device.name, "cut", f->cuts, "figure", figure_json(&f->figure), "naive",
                             figure_json(&f->naive), "naive_parts", figure_json(&f->naive_parts),
                             "one_kernel", figure_json(&f->one_kernel), "steps", steps, "parts", parts));
}

/* The whole, then each part as a kernel of its own. */
static void explain_sequence(const struct cli_args *a, json_t *o, struct diag *d)
{
    struct sequence_file f;
    bool read = sequence_read(o, &f, d);
    json_t *parts = cli_given(a, CLI_JSON) ? json_array() : NULL;
    if (read && !parts) print_sequence(&f);
    for (unsigned i = 0; read && i < f.n_parts; i++) {
        if (!parts) printf("\npart %u: %s\n\n", i + 1, f.sequence->parts[i].name);
        explain(a, &f.parts[i], parts, d);
    }
    if (read && parts && !diag_failed(d)) print_sequence_json(&f, parts);
    json_decref(parts);
    sequence_file_clear(&f);
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
    struct best_file b = {0};
    json_t *sequence = cli_stored_sequence(a);
    if (sequence && refuse_device(a, d))
        explain_sequence(a, sequence, d);
    else if (!sequence && cli_stored_load(a, &b, d) && refuse_device(a, d))
        explain(a, &b, NULL, d);
    json_decref(sequence);
    int status = cli_finish(d, CLI_OK);
    best_file_clear(&b);
    return status;
}

const struct cli_command cli_explain = {
    .name = "explain",
    .positional = "BEST.json|STORE.db",
    .least = 1,
    .most = 1,
    .takes = {CLI_TAKES(BEST), CLI_TAKES(NUMBER), CLI_TAKES(LEARNT), CLI_TAKES(CUTS), CLI_TAKES(DEVICE),
              CLI_TAKES(DESCRIPTION), CLI_TAKES(PARAM), CLI_TAKES(JSON), CLI_TAKES(VERBOSE)},
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
