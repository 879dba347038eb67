/* thresh replay: builds, verifies and times a stored implementation again. */
#include <math.h>
#include <stdio.h>

#include "agent/evaluate.h"
#include "coordinator/cli/doubt.h"
#include "coordinator/cli/stored.h"
#include "coordinator/progress.h"
#include "core/base/hash.h"

static const double least_limit_ns = 2e9;

static void print_replay(const struct cli_args *a, const struct evaluation *e, const struct verify_doubt *x)
{
    if (cli_given(a, CLI_JSON)) {
        json_t *samples = json_array();
        for (unsigned i = 0; i < e->n_samples; i++)
            json_array_append_new(samples, json_real(e->samples_ns[i]));
        bool ok = e->status == EVAL_OK;
        json_t *o = json_pack("{s:s,s:o,s:o,s:o}", "status", eval_status_name(e->status), "samples_ns",
                              samples, "median_ns", ok ? json_real(e->median_ns) : json_null(), "error",
                              ok ? json_null() : json_string(e->message));
        cli_add_doubt(o, x);
        cli_print_json(o);
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
        cli_stored_note_text(b, hash_finish(hash_string(HASH_START, kernel->source)));
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
    return cli_given(a, CLI_TIMEOUT) ? seconds * 1e9 : fmax(10 * b->figure.median_ns, least_limit_ns);
}

/* Measures it on the selected device, with the recorded problem; gives the exit status. */
static int replay(const struct cli_args *a, const struct best_file *b, struct diag *d)
{
    struct device device;
    struct cg_kernel kernel;
    struct evaluation e = {0};
    struct verify_doubt doubt = {0};
    struct eval_settings settings = {.verify = true, .thorough = true, .limit_ns = limit_ns(a, b, d)};
    if (diag_failed(d)) return CLI_USAGE;
    const char *selector = cli_given(a, CLI_DEVICE) ? a->value[CLI_DEVICE] : b->device.name;
    if (!device_select(selector, &device, d) || !rebuild(b, &kernel, d)) return CLI_USAGE;
    struct evaluator *ev = evaluator_new(b->problem, &device, 1, 1, d);
    bool measured = ev != NULL;
    if (measured) {
        evaluator_run(ev, &kernel, &settings, &e);
        doubt = evaluator_doubt(ev);
        print_replay(a, &e, &doubt);
    }
    evaluator_free(ev);
    cg_kernel_free(&kernel);
    return cli_doubt_status(a, &doubt, measured && e.status == EVAL_OK ? CLI_OK : CLI_FAILED, d);
}

static int run_replay(const struct cli_args *a)
{
    struct diag *d = diag_new();
    struct best_file b;
    int status = cli_stored_load(a, &b, d) ? replay(a, &b, d) : CLI_USAGE;
    status = cli_finish(d, status);
    best_file_clear(&b);
    return status;
}

const struct cli_command cli_replay = {
    .name = "replay",
    .positional = "BEST.json|STORE.db",
    .least = 1,
    .most = 1,
    .takes = CLI_TAKES(BEST) | CLI_TAKES(NUMBER) | CLI_TAKES(DEVICE) | CLI_TAKES(TIMEOUT) |
             CLI_TAKES(ALLOW_NONFINITE) | CLI_TAKES(JSON),
    .notes = {{CLI_TIMEOUT, "10s",
               "time for one launch (default: ten times the recorded time, at least 2s)"}},
    .help = "Builds, verifies and times a stored implementation again.\v"
            "Example: thresh replay thresh-out/best.json",
    .run = run_replay,
};
