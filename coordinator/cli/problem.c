/* Programs, stored runs and devices as the options name them. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "coordinator/cli/cli.h"
#include "coordinator/cli/kind.h"
#include "coordinator/store.h"
#include "perfmodel/device.h"

/* A device as its description tells it. */
static bool described_device(const char *path, struct device *out, struct diag *d)
{
    struct perfmodel_device p;
    if (!perfmodel_device_load(path, NULL, false, &p, NULL, d)) return false;
    int64_t items = (int64_t)p.value[PERFMODEL_GROUP_ITEMS], local = (int64_t)p.value[PERFMODEL_GROUP_LOCAL];
    *out = (struct device){.gpu = p.gpu, .compute_units = (unsigned)p.value[PERFMODEL_UNITS]};
    memcpy(out->name, p.name, sizeof out->name);
    memcpy(out->driver, p.driver, sizeof out->driver);
    out->limits =
        (struct bb_device){.gpu = p.gpu,
                           .max_work_group = items,
                           .max_work_item = {items, items, p.gpu ? 64 : items},
                           .local_bytes = local,
                           .max_unroll = 512,
                           .max_private = p.gpu ? 256 : 512,
                           .n_vector_widths = p.gpu ? 2 : 4,
                           .vector_widths = {2, 4, 8, 16},
                           .nontemporal = strstr(p.platform, "Portable Computing Language") != NULL};
    if (items > 0 && local > 0) return true;
    diag_plain(d, "%s: group_items and group_local must be known", path);
    return false;
}

bool cli_select_device(const struct cli_args *a, const char *otherwise, struct device *out, struct diag *d)
{
    const char *path = a->value[CLI_DESCRIPTION], *selector = a->value[CLI_DEVICE];
    if (path && !selector) return described_device(path, out, d);
    return device_select(selector ? selector : otherwise, out, d);
}

bool cli_problem_open(const struct cli_args *a, struct cli_problem *out, struct diag *d)
{
    *out = (struct cli_problem){0};
    size_t n;
    if (!cli_expect_kind(a->positional[0], CLI_KIND_PROGRAM, d)) return false;
    out->text = source_read_file(a->positional[0], CLI_PROGRAM_BYTES, &n, d);
    if (!out->text || !cli_select_device(a, NULL, &out->device, d)) return false;
    out->problem = problem_new(a->positional[0], out->text, a->value[CLI_SIZE], &out->device.limits, NULL, d);
    if (!out->problem) return false;
    out->root = space_pinned_root(out->problem->space, a->pins.items, a->pins.n, d);
    if (!out->root) return false;
    return mcts_order_parse(out->problem->space, a->value[CLI_ORDER], &out->order, d);
}

void cli_problem_close(struct cli_problem *p)
{
    space_state_free(p->root);
    problem_free(p->problem);
    mcts_order_free(&p->order);
    free(p->text);
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
    if (!cli_select_device(a, run->device, dev, d)) return NULL;
    struct problem *p = problem_new(run->path, run->text, run->sizes, &dev->limits, NULL, d);
    if (!p || p->fingerprint == run->fingerprint) return p;
    diag_plain(d, "run %" PRId64 " was of another device or another version of thresh", run->id);
    problem_free(p);
    return NULL;
}
