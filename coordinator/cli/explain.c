/* thresh explain: what an implementation is, or what a search left out and why. Reads best.json or a store.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "coordinator/best.h"
#include "coordinator/candidate.h"
#include "coordinator/cli/bounding.h"
#include "coordinator/cli/cli.h"
#include "coordinator/cli/stored.h"
#include "coordinator/solution.h"
#include "coordinator/store.h"
#include "core/base/strbuf.h"

enum { NAME_BYTES = 256 };

static void print_explanation(const struct cli_args *a, const struct best_file *b, const struct candidate *c,
                              double bound_ns, const char *reason)
{
    json_t *decisions = solution_actions_json(b->problem->space, b->actions, b->n_actions);
    if (cli_given(a, CLI_JSON)) {
        cli_print_json(json_pack("{s:o,s:s,s:s,s:o,s:s,s:f,s:o,s:o}", "decisions", decisions, "loops",
                                 c->loops, "opencl", c->kernel.source, "bound_ns", cli_real_json(bound_ns),
                                 "bound_reason", reason, "median_ns", b->figure.median_ns, "figure",
                                 figure_json(&b->figure), "naive", figure_json(&b->naive)));
        return;
    }
    const char *name;
    json_t *value;
    char time[FIGURE_TEXT];
    printf("decisions\n");
    json_object_foreach(decisions, name, value) printf("  %s = %s\n", name, json_string_value(value));
    if (figure_known(&b->figure)) printf("\ntime\n  %s\n", figure_print(&b->figure, time));
    printf("\nloops\n%s\nopencl\n%s\nbound\n%s", c->loops, c->kernel.source, reason);
    json_decref(decisions);
}

/* Explains an implementation whose text is made. */
static bool explain(const struct cli_args *a, const struct best_file *b, const struct candidate *c,
                    struct diag *d)
{
    struct space_failure why;
    struct strbuf reason = {0};
    struct perfmodel *m = cli_model(a, b->problem, &b->device, d);
    if (!m) return false;
    cli_stored_note_text(b, c->hash);
    struct space_state *st = space_root(b->problem->space, &why);
    double ns = cli_explain_bound(m, st, b->actions, b->n_actions, &reason);
    print_explanation(a, b, c, ns, reason.text);
    strbuf_free(&reason);
    space_state_free(st);
    perfmodel_free(m);
    return true;
}

/* ---- cuts ---- */

static bool print_cut(void *context, const struct store_cut *c)
{
    struct strbuf text = {0};
    ++*(uint64_t *)context;
    strbuf_add(&text, c->reason);
    printf("%s\n    bound %.4g ns, not below %.4g ns\n", *c->candidate ? c->candidate : "everything",
           c->bound_ns, c->cut_ns);
    for (char *rest = text.text, *line; (line = strtok_r(rest, "\n", &rest));)
        printf("    %s\n", line);
    strbuf_free(&text);
    return true;
}

static json_t *cut_json(const struct store_cut *c)
{
    return json_pack("{s:s,s:o,s:o,s:s}", "candidate", c->candidate, "bound_ns", cli_real_json(c->bound_ns),
                     "cut_ns", cli_real_json(c->cut_ns), "reason", c->reason);
}

static bool collect_cut(void *context, const struct store_cut *c)
{
    json_array_append_new(context, cut_json(c));
    return true;
}

static int run_cuts(const struct cli_args *a)
{
    struct diag *d = diag_new();
    uint64_t n = 0;
    json_t *list = cli_given(a, CLI_JSON) ? json_array() : NULL;
    bool alone = cli_refuse_others(a, CLI_TAKES(CUTS) | CLI_TAKES(JSON), "says nothing with --cuts", d);
    struct store *s = alone ? store_open_to_read(a->positional[0], d) : NULL;
    bool read = s && (list ? store_each_cut(s, collect_cut, list, d) : store_each_cut(s, print_cut, &n, d));
    if (read && list) cli_print_json(json_pack("{s:O}", "cuts", list));
    if (read && !list) printf("%" PRIu64 " cuts\n", n);
    json_decref(list);
    store_close(s);
    return cli_finish(d, CLI_OK);
}

/* A best.json has the limits of its device, a store does not. */
static bool refuse_device(const struct cli_args *a, struct diag *d)
{
    static const enum cli_key device[] = {CLI_DEVICE};
    return cli_given(a, CLI_BEST) || cli_given(a, CLI_NUMBER) ||
           cli_refuse(a, device, 1, "says nothing about a best.json, which has its device", d);
}

static int run_explain(const struct cli_args *a)
{
    if (cli_given(a, CLI_CUTS)) return run_cuts(a);
    struct diag *d = diag_new();
    struct best_file b;
    struct candidate c = {0};
    char why[NAME_BYTES] = "";
    if (cli_stored_load(a, &b, d) && refuse_device(a, d)) {
        if (candidate_from_actions(b.problem, &b.device, b.actions, b.n_actions, &c, why, sizeof why))
            explain(a, &b, &c, d);
        else
            diag_plain(d, "%s: %s", a->positional[0], why);
    }
    candidate_clear(&c);
    int status = cli_finish(d, CLI_OK);
    best_file_clear(&b);
    return status;
}

const struct cli_command cli_explain = {
    .name = "explain",
    .positional = "BEST.json|STORE.db",
    .least = 1,
    .most = 1,
    .takes = CLI_TAKES(BEST) | CLI_TAKES(NUMBER) | CLI_TAKES(CUTS) | CLI_TAKES(DEVICE) |
             CLI_TAKES(DESCRIPTION) | CLI_TAKES(JSON),
    .help =
        "Prints decisions, loop nest, OpenCL text and bound of an implementation, or what a search left out "
        "and why.\v"
        "Example: thresh explain thresh-out/best.json\n         thresh explain runs.db --best\n"
        "         thresh explain runs.db --number 17\n         thresh explain runs.db --cuts",
    .run = run_explain,
};
