/* thresh explain: what an implementation is. thresh replay: whether it still works, and how fast. Both read
 * best.json; explain also takes the best of a store. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/evaluate.h"
#include "coordinator/best.h"
#include "coordinator/candidate.h"
#include "coordinator/cli/bounding.h"
#include "coordinator/cli/cli.h"
#include "coordinator/progress.h"
#include "coordinator/solution.h"
#include "coordinator/store.h"
#include "core/base/arena.h"
#include "core/base/hash.h"
#include "core/base/strbuf.h"

enum { NAME_BYTES = 256 };
static const double least_limit_ns = 2e9;

/* ---- the best of a store ---- */

struct loading {
    const struct cli_args *args;
    struct best_file *out;
    struct diag *diag;
    bool ok;
};

/* The store names the device; its limits are asked of the device itself, or of its description. */
static bool load_row(void *context, const struct store_run *run, const struct store_evaluation *e)
{
    struct loading *l = context;
    struct best_file *out = l->out;
    out->problem = cli_run_problem(l->args, run, &out->device, l->diag);
    if (!out->problem) return false;
    l->ok = store_actions_parse(e->actions, &out->actions, &out->n_actions);
    if (!l->ok) diag_plain(l->diag, "the store's actions are malformed");
    out->median_ns = e->median_ns;
    out->kernel_hash = e->kernel_hash;
    return false;
}

/* The evaluation that --number names, else the best one. */
static bool find_row(struct loading *l, struct store *s, bool *found)
{
    uint64_t number;
    if (!cli_given(l->args, CLI_NUMBER)) return store_best(s, load_row, l, found, l->diag);
    return cli_count(l->args, CLI_NUMBER, 0, &number, l->diag) &&
           store_number(s, number, load_row, l, found, l->diag);
}

static bool load_store(const struct cli_args *a, struct best_file *out, struct diag *d)
{
    struct loading l = {a, out, d, false};
    struct store *s = store_open(a->positional[0], false, d);
    bool found = false, read = s && find_row(&l, s, &found);
    store_close(s);
    if (read && !found)
        diag_plain(d, "%s: the store has no %s", a->positional[0],
                   cli_given(a, CLI_NUMBER) ? "evaluation of that number" : "valid implementation");
    return l.ok;
}

static bool is_database(const char *path)
{
    static const char magic[16] = "SQLite format 3";
    char head[sizeof magic] = "";
    FILE *in = fopen(path, "rb");
    size_t n = in ? fread(head, 1, sizeof head, in) : 0;
    if (in) fclose(in);
    return n == sizeof head && memcmp(head, magic, n) == 0;
}

static bool load(const struct cli_args *a, struct best_file *out, struct diag *d)
{
    static const enum cli_key best[] = {CLI_BEST};
    *out = (struct best_file){0};
    if (cli_given(a, CLI_NUMBER) && !cli_refuse(a, best, 1, "says nothing with --number", d)) return false;
    if (cli_given(a, CLI_BEST) || cli_given(a, CLI_NUMBER)) return load_store(a, out, d);
    if (!is_database(a->positional[0])) return best_read(a->positional[0], out, d);
    diag_plain(d, "%s is a store: --best or --number N says which implementation", a->positional[0]);
    return false;
}

/* Says that the text at hand is not the one that was measured. */
static void note_other_text(const struct best_file *b, uint64_t hash)
{
    if (b->kernel_hash != hash)
        fputs("note: what was measured was another OpenCL text, made by another version of thresh\n", stderr);
}

/* ---- explain ---- */

static void print_explanation(const struct cli_args *a, const struct best_file *b, const struct candidate *c,
                              double bound_ns, const char *reason)
{
    json_t *decisions = solution_actions_json(b->problem->space, b->actions, b->n_actions);
    if (cli_given(a, CLI_JSON)) {
        cli_print_json(json_pack("{s:o,s:s,s:s,s:o,s:s,s:f}", "decisions", decisions, "loops", c->loops,
                                 "opencl", c->kernel.source, "bound_ns", cli_real_json(bound_ns),
                                 "bound_reason", reason, "median_ns", b->median_ns));
        return;
    }
    const char *name;
    json_t *value;
    printf("decisions\n");
    json_object_foreach(decisions, name, value) printf("  %s = %s\n", name, json_string_value(value));
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
    note_other_text(b, c->hash);
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
    struct store *s = alone ? store_open(a->positional[0], false, d) : NULL;
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
    if (load(a, &b, d) && refuse_device(a, d)) {
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

/* ---- replay ---- */

static void print_replay(const struct cli_args *a, const struct evaluation *e)
{
    if (cli_given(a, CLI_JSON)) {
        json_t *samples = json_array();
        for (unsigned i = 0; i < e->n_samples; i++)
            json_array_append_new(samples, json_real(e->samples_ns[i]));
        bool ok = e->status == EVAL_OK;
        cli_print_json(json_pack("{s:s,s:o,s:o,s:o}", "status", eval_status_name(e->status), "samples_ns",
                                 samples, "median_ns", ok ? json_real(e->median_ns) : json_null(), "error",
                                 ok ? json_null() : json_string(e->message)));
        return;
    }
    char time[32];
    progress_time(e->median_ns, time, sizeof time);
    if (e->status == EVAL_OK)
        printf("ok, median %s of %u launches\n", time, e->n_samples);
    else
        printf("%s: %s\n", eval_status_name(e->status), e->message);
}

/* The kernel of the recorded actions; false after an error. */
static bool rebuild(const struct best_file *b, struct cg_kernel *kernel, struct diag *d)
{
    const char *reason = "";
    char why[EVAL_MESSAGE] = "";
    struct space_state *leaf = problem_replay(b->problem, b->actions, (unsigned)b->n_actions, &reason);
    bool ok = leaf && problem_kernel(b->problem, leaf, NULL, kernel, why, sizeof why);
    if (ok)
        note_other_text(b, hash_finish(hash_string(HASH_START, kernel->source)));
    else
        diag_plain(d, "the implementation cannot be rebuilt: %s", leaf ? why : reason);
    space_state_free(leaf);
    return ok;
}

/* --timeout, or ten times the recorded time; 0 after an error. */
static double limit_ns(const struct cli_args *a, const struct best_file *b, struct diag *d)
{
    double seconds;
    if (!cli_seconds(a, CLI_TIMEOUT, &seconds, d)) return 0;
    return cli_given(a, CLI_TIMEOUT) ? seconds * 1e9 : fmax(10 * b->median_ns, least_limit_ns);
}

/* Measures it on the selected device, with the recorded problem; gives the exit status. */
static int replay(const struct cli_args *a, const struct best_file *b, struct diag *d)
{
    struct device device;
    struct cg_kernel kernel;
    struct evaluation e = {0};
    struct eval_settings settings = {.verify = true, .limit_ns = limit_ns(a, b, d)};
    if (diag_failed(d)) return CLI_USAGE;
    const char *selector = cli_given(a, CLI_DEVICE) ? a->value[CLI_DEVICE] : b->device.name;
    if (!device_select(selector, &device, d) || !rebuild(b, &kernel, d)) return CLI_USAGE;
    struct evaluator *ev = evaluator_new(b->problem, &device, 1, 1, d);
    bool measured = ev != NULL;
    if (measured) {
        evaluator_run(ev, &kernel, &settings, &e);
        print_replay(a, &e);
    }
    evaluator_free(ev);
    cg_kernel_free(&kernel);
    return measured && e.status == EVAL_OK ? CLI_OK : CLI_FAILED;
}

static int run_replay(const struct cli_args *a)
{
    struct diag *d = diag_new();
    struct best_file b;
    int status = load(a, &b, d) ? replay(a, &b, d) : CLI_USAGE;
    status = cli_finish(d, status);
    best_file_clear(&b);
    return status;
}

const struct cli_command cli_replay = {
    .name = "replay",
    .positional = "BEST.json|STORE.db",
    .least = 1,
    .most = 1,
    .takes = CLI_TAKES(BEST) | CLI_TAKES(NUMBER) | CLI_TAKES(DEVICE) | CLI_TAKES(TIMEOUT) | CLI_TAKES(JSON),
    .notes = {{CLI_TIMEOUT, "10s",
               "time for one launch (default: ten times the recorded time, at least 2s)"}},
    .help = "Builds, verifies and times a stored implementation again.\v"
            "Example: thresh replay thresh-out/best.json",
    .run = run_replay,
};
