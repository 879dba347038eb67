/* thresh tune --cut: searches the parts of a program and prints the sequence that it found.
 *
 *     naive        265.6 us (246.2 to 271.6, 11 rounds)
 *     one kernel   12.39 us (11.2 to 14.96, 11 rounds)
 *     best         6.1 us (5.9 to 6.4, 11 rounds), 2 kernels, cut at y
 *       y          2.9 us (2.8 to 3.1, 11 rounds)
 *       out        2.8 us (2.8 to 2.9, 11 rounds)
 *     speedup      43.5x (40.1x to 45.2x within rounds) */
#include "coordinator/cli/tune_sequence.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "coordinator/cli/doubt.h"
#include "coordinator/sequence/file.h"

/* ---- the plan ---- */

/* What is about one kernel: its choices by name, agents elsewhere, kernels that it is compared with. */
static const enum cli_key single[] = {CLI_PIN,      CLI_ORDER,    CLI_LISTEN,    CLI_LAUNCH,
                                      CLI_RECORDED, CLI_BASELINE, CLI_AUDIT_CUTS};
enum { N_SINGLE = sizeof single / sizeof *single };

static bool is_single(const struct cli_args *a)
{
    for (unsigned i = 0; i < N_SINGLE; i++)
        if (cli_given(a, single[i])) return true;
    return false;
}

/* With "auto" a program that cannot be planned is searched as it is: its search tells what is wrong. */
static struct sequence_plan *plan_auto(const struct tune_options *o)
{
    struct diag *ignored = diag_new();
    struct sequence_plan *plan = sequence_plan_new(o->path, o->text, o->sizes, "auto", &o->lowering, ignored);
    diag_free(ignored);
    return plan;
}

bool cli_plan_sequence(const struct cli_args *a, const struct tune_options *o, struct sequence_plan **plan,
                       struct diag *d)
{
    const char *cut = cli_given(a, CLI_CUT) ? a->value[CLI_CUT] : "auto";
    bool automatic = !strcmp(cut, "auto"), none = !strcmp(cut, "none");
    *plan = NULL;
    if (is_single(a) && (automatic || none)) return true;
    if (!cli_refuse(a, single, N_SINGLE, "applies to one kernel; leave it out, or use --cut none", d))
        return false;
    *plan = automatic ? plan_auto(o) : sequence_plan_new(o->path, o->text, o->sizes, cut, &o->lowering, d);
    if (!*plan) return automatic;
    if (!sequence_plan_is_single(*plan)) return true;
    sequence_plan_free(*plan);
    *plan = NULL;
    return true;
}

/* ---- the result ---- */

static void print_contender(const struct sequence_contender *c)
{
    char text[FIGURE_TEXT];
    if (figure_known(&c->figure)) printf("%-12s %s\n", c->label, figure_print(&c->figure, text));
}

static void print_parts(const struct sequence_search *s, const struct sequence_variant *v)
{
    char text[FIGURE_TEXT];
    for (unsigned i = 0; i < v->n_parts; i++) {
        const struct sequence_found *f = &s->found[v->programs[i]];
        unsigned n = sequence_steps_of(v, i);
        printf("  %-10s %s", v->sequence->parts[i].name, figure_print(&f->figure, text));
        if (n > 1) printf(", launched %u times", n);
        printf("\n");
    }
}

static void print_table(const struct sequence_search *s, const struct sequence_report *r, const char *written)
{
    const struct tune_options *o = s->options;
    const struct figure_ratio *q = &r->speedup;
    char text[FIGURE_TEXT];
    printf("kernel       %s %s\ndevice       %s\n", o->path, o->sizes ? o->sizes : "", s->device.name);
    printf("evaluations  %" PRIu64 "\ntime         %.1f s\n", sequence_evaluations(s), r->elapsed_s);
    print_contender(&r->contenders[SEQUENCE_NAIVE]);
    print_contender(&r->contenders[SEQUENCE_NAIVE_PARTS]);
    print_contender(&r->contenders[SEQUENCE_ONE]);
    printf("best         %s, %u kernels, %s\n", figure_print(&r->contenders[SEQUENCE_BEST].figure, text),
           r->variant->sequence->n_steps, r->variant->label);
    print_parts(s, r->variant);
    if (q->rounds)
        printf("speedup      %.2fx (%.2fx to %.2fx within rounds)\n", q->quotient, q->low, q->high);
    if (written) printf("written      %s/best.cl, best.json, host.c\n", written);
}

static json_t *parts_json(const struct sequence_search *s, const struct sequence_variant *v)
{
    json_t *parts = json_array();
    for (unsigned i = 0; i < v->n_parts; i++) {
        const struct sequence_found *f = &s->found[v->programs[i]];
        json_array_append_new(
            parts, json_pack("{s:s,s:i,s:o,s:I,s:I,s:I,s:I}", "name", v->sequence->parts[i].name, "steps",
                             (int)sequence_steps_of(v, i), "figure", figure_json(&f->figure), "evaluations",
                             (json_int_t)f->evaluations, "ok", (json_int_t)f->ok, "failed",
                             (json_int_t)f->failed, "cut", (json_int_t)f->cut));
    }
    return parts;
}

/* Keys of a single kernel have the same meaning. */
static void print_json(const struct sequence_search *s, const struct sequence_report *r)
{
    const struct tune_options *o = s->options;
    const struct sequence_contender *c = r->contenders;
    json_t *all = json_pack(
        "{s:s,s:s,s:s,s:I,s:i,s:o,s:I,s:f,s:o,s:f,s:o,s:o,s:o,s:o,s:f,s:f,s:f}", "kernel", o->path, "device",
        s->device.name, "cut", r->variant->cuts, "evaluations", (json_int_t)sequence_evaluations(s),
        "kernels", (int)r->variant->sequence->n_steps, "parts", parts_json(s, r->variant), "seed",
        (json_int_t)o->seed, "elapsed_s", r->elapsed_s, "store",
        o->store ? json_string(o->store) : json_null(), "best_ns", c[SEQUENCE_BEST].figure.median_ns, "best",
        figure_json(&c[SEQUENCE_BEST].figure), "naive", figure_json(&c[SEQUENCE_NAIVE].figure), "naive_parts",
        figure_json(&c[SEQUENCE_NAIVE_PARTS].figure), "one_kernel", figure_json(&c[SEQUENCE_ONE].figure),
        "speedup", r->speedup.quotient, "speedup_low", r->speedup.low, "speedup_high", r->speedup.high);
    cli_add_doubt(all, &r->doubt);
    cli_print_json(all);
}

/* ---- the command ---- */

static void print_notes(const struct tune_options *o, const struct sequence_plan *plan)
{
    for (unsigned i = 0; !o->quiet && i < plan->n_notes; i++)
        fprintf(stderr, "note: %s\n", plan->notes[i]);
    for (unsigned i = 0; !o->quiet && i < plan->n_variants; i++)
        fprintf(stderr, "variant %u of %u: %s\n", i + 1, plan->n_variants, plan->variants[i].label);
}

/* A sequence has won. */
static int print_result(const struct cli_args *a, const struct sequence_search *s,
                        const struct sequence_report *r, struct diag *d)
{
    const char *out = cli_given(a, CLI_OUT) ? a->value[CLI_OUT] : "thresh-out";
    bool written = sequence_write(out, s, r, d);
    if (cli_given(a, CLI_JSON))
        print_json(s, r);
    else
        print_table(s, r, written ? out : NULL);
    return cli_doubt_status(a, &r->doubt, written ? CLI_OK : CLI_FAILED, d);
}

/* The run of the program as one kernel is in the store: its search goes on with the whole budget less that of
 * the other programs. */
static int go_on(const struct cli_args *a, const struct sequence_search *s, const struct sequence_report *r,
                 int (*one)(const struct cli_args *a, struct tune_options *o, struct diag *d), struct diag *d)
{
    unsigned program = r->variant->programs[0];
    struct tune_options o = sequence_program_options(s, program);
    double share = sequence_share_left(s, program);
    o.evaluations = sequence_share(o.evaluations, share);
    o.time_s *= share;
    o.resume = true;
    return one(a, &o, d);
}

int cli_tune_sequence(const struct cli_args *a, struct tune_options *o, const struct sequence_plan *plan,
                      int (*one)(const struct cli_args *a, struct tune_options *o, struct diag *d),
                      struct diag *d)
{
    struct sequence_search s;
    struct sequence_report r = {0};
    int status = CLI_USAGE;
    print_notes(o, plan);
    if (!best_make_folder(cli_given(a, CLI_OUT) ? a->value[CLI_OUT] : "thresh-out", d)) return CLI_USAGE;
    if (sequence_search_open(&s, plan, o, d)) {
        bool ok = sequence_run(&s, &r, d);
        status = !ok                   ? CLI_FAILED
                 : r.variant->sequence ? print_result(a, &s, &r, d)
                                       : go_on(a, &s, &r, one, d);
    }
    sequence_report_clear(&r);
    sequence_search_close(&s);
    return status;
}
