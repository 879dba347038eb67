/* Programs, stored runs and devices as the options name them.
 *
 * Where a device comes from: --device is looked for among the OpenCL devices, --description is a file.
 * Without these it is the first OpenCL device, or the device of a stored run. Commands that measure nothing
 * only need its limits, and go on where OpenCL or the device is missing: with the description of that name,
 * or with limits that every device has, which they say. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "coordinator/advice.h"
#include "coordinator/cli/cli.h"
#include "coordinator/cli/kind.h"
#include "coordinator/described.h"
#include "coordinator/store.h"
#include "core/base/arena.h"
#include "core/base/strbuf.h"
#include "perfmodel/device.h"

enum { WHY = 2048 };

/* ---- devices ---- */

static bool described_device(const char *path, struct device *out, struct diag *d)
{
    struct perfmodel_device p;
    if (!perfmodel_device_load(path, NULL, false, &p, NULL, d)) return false;
    if (described_take(&p, out)) return true;
    diag_plain(d, "%s: the description has no values for group_items and group_local", path);
    return false;
}

bool cli_select_device(const struct cli_args *a, const char *otherwise, struct device *out, struct diag *d)
{
    const char *path = a->value[CLI_DESCRIPTION], *selector = a->value[CLI_DEVICE];
    if (path && !selector) return described_device(path, out, d);
    return device_select(selector ? selector : otherwise, out, d);
}

/* The text of the first error, without its "error: ". */
static const char *reason_of(const struct diag *d)
{
    static const char kind[] = "error: ";
    const char *text = diag_message(d, 0);
    return text + (strncmp(text, kind, strlen(kind)) ? 0 : strlen(kind));
}

bool cli_select_limits(const struct cli_args *a, struct device *out, char *why, size_t n, struct diag *d)
{
    why[0] = 0;
    if (cli_given(a, CLI_DEVICE) || cli_given(a, CLI_DESCRIPTION)) return cli_select_device(a, NULL, out, d);
    struct diag *missing = diag_new();
    if (!device_select(NULL, out, missing)) {
        snprintf(why, n, "%s", reason_of(missing));
        *out = (struct device){.name = "unknown device", .compute_units = 1, .limits = problem_any_device};
    }
    diag_free(missing);
    return true;
}

/* The same, and says what is assumed. */
static bool assume_limits(const struct cli_args *a, struct device *out, struct diag *d)
{
    char why[WHY];
    const struct bb_device *l = &problem_any_device;
    if (!cli_select_limits(a, out, why, sizeof why, d)) return false;
    if (why[0])
        fprintf(stderr,
                "note: %s\nnote: assuming a device with work-groups of %" PRId64 " work-items, %" PRId64
                " KiB of local memory and vectors of %" PRId64 "; --description FILE.json names another\n",
                why, l->max_work_group, l->local_bytes >> 10, l->vector_widths[0]);
    return true;
}

/* The device of a stored run, of which only the limits are needed: one that is here, else as described. */
static bool select_run_device(const struct cli_args *a, const char *name, struct device *out, struct diag *d)
{
    if (cli_given(a, CLI_DEVICE) || cli_given(a, CLI_DESCRIPTION)) return cli_select_device(a, NULL, out, d);
    struct diag *missing = diag_new();
    bool found = described_find(name, out, missing);
    if (!found)
        diag_plain(d, "%s; the run is of '%s': give its description with --description FILE.json",
                   reason_of(missing), name);
    diag_free(missing);
    return found;
}

/* ---- problems ---- */

bool cli_lowering(const struct cli_args *a, struct bb_options *out, struct diag *d)
{
    *out = (struct bb_options){0};
    return (!cli_given(a, CLI_PARAM) || bb_parse_parameters(a->value[CLI_PARAM], out, d)) &&
           (!cli_given(a, CLI_ALLOW) || bb_parse_allowed(a->value[CLI_ALLOW], out, d));
}

/* Says where --allow has no effect. */
static void note_allowed(const struct cli_problem *p)
{
    struct arena *a = arena_new();
    const char *why = advice_on_tf32(p->problem, p->device.name, a);
    if (why) fprintf(stderr, "note: %s\n", why);
    arena_free(a);
}

/* The problem of out->text with the options out->lowering. */
static bool open_text(const struct cli_args *a, const char *path, bool measures, struct cli_problem *out,
                      struct diag *d)
{
    const char *sizes = a->value[CLI_SIZE];
    if (measures && !problem_check(path, out->text, sizes, &out->lowering, d)) return false;
    if (measures ? !cli_select_device(a, NULL, &out->device, d) : !assume_limits(a, &out->device, d))
        return false;
    out->problem = problem_new(path, out->text, sizes, &out->device.limits, &out->lowering, d);
    if (!out->problem) return false;
    note_allowed(out);
    out->root = space_pinned_root(out->problem->space, a->pins.items, a->pins.n, d);
    if (!out->root) return false;
    return mcts_order_parse(out->problem->space, a->value[CLI_ORDER], &out->order, d);
}

static bool open_problem(const struct cli_args *a, bool measures, struct cli_problem *out, struct diag *d)
{
    *out = (struct cli_problem){0};
    size_t n;
    if (!cli_expect_kind(a->positional[0], CLI_KIND_PROGRAM, d)) return false;
    out->text = source_read_file(a->positional[0], CLI_PROGRAM_BYTES, &n, d);
    return out->text && cli_lowering(a, &out->lowering, d) &&
           open_text(a, a->positional[0], measures, out, d);
}

bool cli_problem_open_part(const struct cli_args *a, const char *path, const char *text,
                           struct cli_problem *out, struct diag *d)
{
    *out = (struct cli_problem){.text = base_strdup(text)};
    return cli_lowering(a, &out->lowering, d) && open_text(a, path, true, out, d);
}

bool cli_problem_open(const struct cli_args *a, struct cli_problem *out, struct diag *d)
{
    return open_problem(a, false, out, d);
}

bool cli_problem_open_to_measure(const struct cli_args *a, struct cli_problem *out, struct diag *d)
{
    return open_problem(a, true, out, d);
}

void cli_problem_close(struct cli_problem *p)
{
    space_state_free(p->root);
    problem_free(p->problem);
    mcts_order_free(&p->order);
    free(p->text);
}

/* With the parameters of --param, else with those that the run recorded. */
static bool run_lowering(const struct cli_args *a, const struct store_run *run, struct bb_options *out,
                         struct diag *d)
{
    struct strbuf text = {0};
    const char *setting = strstr(run->settings, STORE_PARAMETERS);
    if (cli_given(a, CLI_PARAM) || !setting) return cli_lowering(a, out, d);
    setting += strlen(STORE_PARAMETERS);
    strbuf_addn(&text, setting, strcspn(setting, " "));
    *out = (struct bb_options){0};
    bool ok = bb_parse_parameters(text.text, out, d);
    strbuf_free(&text);
    return ok;
}

struct problem *cli_run_problem(const struct cli_args *a, const struct store_run *run, struct device *dev,
                                struct diag *d)
{
    if (strcmp(run->device, STORE_NO_DEVICE) == 0) {
        diag_plain(d,
                   "run %" PRId64 " is of `tune --space`, not of a program: `thresh store export` prints its "
                   "decisions and times",
                   run->id);
        return NULL;
    }
    struct bb_options lowering;
    if (!run_lowering(a, run, &lowering, d) || !select_run_device(a, run->device, dev, d)) return NULL;
    struct problem *p = problem_new(run->path, run->text, run->sizes, &dev->limits, &lowering, d);
    if (!p || p->fingerprint == run->fingerprint) return p;
    diag_plain(d,
               "run %" PRId64
               " was of another device or another version of thresh, or had another --param or --allow",
               run->id);
    problem_free(p);
    return NULL;
}

struct problem *cli_open_run(void *args, const struct store_run *run, struct device *dev, struct diag *d)
{
    return cli_run_problem(args, run, dev, d);
}
