/* thresh device: lists OpenCL devices, shows the description of one, or measures a new description. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "coordinator/cli/characterize.h"
#include "coordinator/cli/cli.h"
#include "coordinator/cli/table.h"
#include "core/base/panic.h"
#include "core/codegen/target.h"
#include "perfmodel/device.h"

enum { MOST_DEVICES = 64 };

static json_t *device_json(const struct device *dev)
{
    return json_pack("{s:i,s:s,s:s,s:s,s:s,s:s,s:i,s:I,s:I,s:I,s:I}", "number", (int)dev->index, "name",
                     dev->name, "platform", dev->platform, "driver", dev->driver, "version", dev->version,
                     "type", dev->gpu ? "gpu" : "cpu", "compute_units", (int)dev->compute_units,
                     "global_bytes", (json_int_t)dev->global_bytes, "max_alloc_bytes",
                     (json_int_t)dev->max_alloc_bytes, "local_bytes", (json_int_t)dev->limits.local_bytes,
                     "max_work_group", (json_int_t)dev->limits.max_work_group);
}

static void print_device(const struct device *dev)
{
    printf("%u  %s  (%s, %s, %u compute units)\n", dev->index, dev->name, dev->platform,
           dev->gpu ? "gpu" : "cpu", dev->compute_units);
}

static int list_devices(const struct cli_args *a, struct diag *d)
{
    struct device devices[MOST_DEVICES];
    unsigned n = device_list(devices, MOST_DEVICES, d);
    json_t *array = json_array();
    for (unsigned i = 0; i < n; i++) {
        json_array_append_new(array, device_json(&devices[i]));
        if (!cli_given(a, CLI_JSON)) print_device(&devices[i]);
    }
    if (cli_given(a, CLI_JSON))
        cli_print_json(json_pack("{s:o}", "devices", array));
    else
        json_decref(array);
    return CLI_OK;
}

/* ---- show ---- */

static json_t *description_json(const struct perfmodel_device *p)
{
    json_t *o = json_object();
    for (int i = 0; i < PERFMODEL_FIGURE_COUNT; i++) {
        enum perfmodel_figure f = (enum perfmodel_figure)i;
        json_object_set_new(o, perfmodel_figure_name(f), perfmodel_figure_json(p, f));
    }
    return o;
}

static void print_description(const struct perfmodel_device *p)
{
    for (int i = 0; i < PERFMODEL_FIGURE_COUNT; i++) {
        enum perfmodel_figure f = (enum perfmodel_figure)i;
        char value[PERFMODEL_TEXT], origin[PERFMODEL_TEXT];
        bool known = p->source[f] != PERFMODEL_UNKNOWN;
        perfmodel_figure_print(f, p->value[f], value, sizeof value);
        perfmodel_figure_origin(p, f, origin, sizeof origin);
        printf("%-16s %-20s %s (%s)\n", perfmodel_figure_name(f), known ? value : "-",
               perfmodel_figure_meaning(f), origin);
    }
}

/* What the target table (core/codegen/target.h) has for the device's driver. */
static void print_compiler(const struct bb_device *limits)
{
    const struct cg_target target = cg_target_of(limits);
    const char *separator = "";
    printf("streaming        %s\ndevice fence     %s\nhalf numbers     %s\nmatrix units     %s\nworkarounds  "
           "    ",
           limits->nontemporal ? "yes" : "no", limits->device_fence ? "yes" : "no",
           limits->half_bits ? "in memory only" : "yes", limits->matrix ? "yes" : "no");
    for (unsigned w = 0; w < CG_WORKAROUND_COUNT; w++) {
        if (!cg_needs(&target, (enum cg_workaround)w)) continue;
        printf("%s%s", separator, cg_workaround_info((enum cg_workaround)w)->name);
        separator = ", ";
    }
    printf("%s\n", *separator ? "" : "none");
}

static void print_limits(const struct device *dev)
{
    print_device(dev);
    printf("driver           %s\nversion          %s\nglobal memory    %" PRId64
           " bytes, largest allocation %" PRId64 "\n",
           dev->driver, dev->version, dev->global_bytes, dev->max_alloc_bytes);
    printf("local memory     %" PRId64 " bytes\nwork-group       %" PRId64 " work-items\n",
           dev->limits.local_bytes, dev->limits.max_work_group);
    print_compiler(&dev->limits);
}

static bool select_device(const struct cli_args *a, struct device *dev, struct diag *d)
{
    return device_select(a->n_positional > 1 ? a->positional[1] : a->value[CLI_DEVICE], dev, d);
}

static int show_device(const struct cli_args *a, struct diag *d)
{
    struct device dev;
    struct perfmodel_device p;
    if (!select_device(a, &dev, d)) return CLI_USAGE;
    bool found = cli_description(&dev, &p);
    if (cli_given(a, CLI_JSON)) {
        json_t *o = device_json(&dev);
        json_object_set_new(o, "description", found ? description_json(&p) : json_null());
        cli_print_json(o);
        return CLI_OK;
    }
    print_limits(&dev);
    if (found)
        print_description(&p);
    else
        printf("no description found: lower bounds are 0; 'thresh device characterize' makes one\n");
    return CLI_OK;
}

/* ---- characterize ---- */

/* A value as a column; "-": unknown. */
static void print_figure(const struct perfmodel_device *p, enum perfmodel_figure f, char *out, size_t n)
{
    if (p->source[f] == PERFMODEL_UNKNOWN)
        snprintf(out, n, "-");
    else
        perfmodel_figure_print(f, p->value[f], out, n);
}

static void print_comparison(const struct cli_characterization *c)
{
    printf("%-15s %-20s %-22s %-20s %s\n", "value", "old", "measured", "new", "kept");
    for (int i = 0; i < PERFMODEL_FIGURE_COUNT; i++) {
        enum perfmodel_figure f = (enum perfmodel_figure)i;
        const struct perfmodel_verdict *v = &c->verdicts[f];
        char old[PERFMODEL_TEXT], date[PERFMODEL_TEXT], new[PERFMODEL_TEXT];
        if (c->fresh.source[f] == PERFMODEL_UNKNOWN && c->earlier.source[f] == PERFMODEL_UNKNOWN) continue;
        print_figure(&c->earlier, f, old, sizeof old);
        perfmodel_date_print(&c->earlier.dated[f], date, sizeof date);
        print_figure(&c->fresh, f, new, sizeof new);
        printf("%-15s %-20s %-22s %-20s %s: %s\n", perfmodel_figure_name(f), old, date, new,
               v->old ? "old" : "new", v->why);
    }
}

static json_t *comparison_json(const struct cli_characterization *c)
{
    json_t *list = json_array();
    for (int i = 0; i < PERFMODEL_FIGURE_COUNT; i++) {
        enum perfmodel_figure f = (enum perfmodel_figure)i;
        const struct perfmodel_verdict *v = &c->verdicts[f];
        json_array_append_new(list, json_pack("{s:s,s:o,s:o,s:s,s:s}", "figure", perfmodel_figure_name(f),
                                              "old", perfmodel_figure_json(&c->earlier, f), "new",
                                              perfmodel_figure_json(&c->fresh, f), "kept",
                                              v->old ? "old" : "new", "why", v->why));
    }
    return list;
}

static void print_characterization(const struct cli_args *a, const struct cli_characterization *c,
                                   const char *path)
{
    if (cli_given(a, CLI_JSON)) {
        cli_print_json(json_pack("{s:s,s:o,s:o}", "file", path, "description", description_json(&c->kept),
                                 "figures", comparison_json(c)));
        return;
    }
    printf("device          %s\nmeasured        %s\n", c->kept.name, c->fresh.date);
    if (c->found)
        printf(
            "Of two measurements the faster one is kept: other load can only make a device look slower.\n");
    print_comparison(c);
    printf("written         %s\n", path);
}

static int characterize_device(const struct cli_args *a, struct diag *d)
{
    struct device dev;
    struct cli_characterization c;
    char path[PATH_MAX_TEXT];
    if (!select_device(a, &dev, d)) return CLI_USAGE;
    if (!cli_given(a, CLI_QUIET)) fprintf(stderr, "measuring %s: this takes about 20 s\n", dev.name);
    if (!cli_characterize(&dev, cli_given(a, CLI_FRESH), &c, d)) return CLI_FAILED;
    if (!cli_save_description(&c.kept, a->value[CLI_OUT], path, sizeof path, d)) return CLI_USAGE;
    print_characterization(a, &c, path);
    return CLI_OK;
}

static const struct {
    const char *name;
    int (*run)(const struct cli_args *a, struct diag *d);
    struct cli_set takes; /* as in struct cli_command */
} verbs[] = {{"list", list_devices, {CLI_TAKES(JSON)}},
             {"show", show_device, {CLI_TAKES(DEVICE), CLI_TAKES(JSON)}},
             {"characterize",
              characterize_device,
              {CLI_TAKES(DEVICE), CLI_TAKES(OUT), CLI_TAKES(FRESH), CLI_TAKES(JSON), CLI_TAKES(QUIET)}}};

/* Checks that the device is named once at most, and only for a verb that takes one. */
static bool check_selector(const struct cli_args *a, struct cli_set takes, struct diag *d)
{
    static const enum cli_key device[] = {CLI_DEVICE};
    if (a->n_positional < 2) return true;
    if (takes.has[CLI_DEVICE])
        return cli_refuse(a, device, 1, "is given twice: the argument SEL already selects the device", d);
    diag_plain(d, "unexpected argument '%s': 'thresh device %s' takes no device", a->positional[1],
               a->positional[0]);
    return false;
}

static int run_device(const struct cli_args *a)
{
    struct diag *d = diag_new();
    size_t n = sizeof verbs / sizeof verbs[0], verb = 0;
    int status = CLI_USAGE;
    while (verb < n && strcmp(a->positional[0], verbs[verb].name) != 0)
        verb++;
    if (cli_check_verb(&cli_device, a->positional[0], d)) {
        CHECK(verb < n);
        if (cli_refuse_of_verb(&cli_device, a, verbs[verb].takes, d) &&
            check_selector(a, verbs[verb].takes, d))
            status = verbs[verb].run(a, d);
    }
    return cli_finish(d, status);
}

const struct cli_command cli_device = {
    .name = "device",
    .positional = "list|show|characterize [SEL]",
    .least = 1,
    .most = 2,
    .takes = {CLI_TAKES(DEVICE), CLI_TAKES(OUT), CLI_TAKES(FRESH), CLI_TAKES(JSON), CLI_TAKES(QUIET)},
    .notes = {{CLI_OUT, "DIR",
               "folder for the new description of characterize (default: the user's folder, see thresh(1))"},
              {CLI_QUIET, NULL, "do not print the message that the device is being measured"}},
    .help =
        "Lists OpenCL devices, shows one, or measures its peak rates. 'list' prints a line for each device; "
        "the "
        "order is stable, GPUs come first. 'show' prints a device's limits and its description, from which "
        "lower bounds are computed. 'characterize' measures a new description in about 20 s. It prints the "
        "old "
        "and the new values; of two measurements it keeps the faster one, or with --fresh the new one.\v"
        "Example: thresh device list --json\n         thresh device characterize gpu --out "
        "perfmodel/devices\n"
        "         thresh device characterize --fresh",
    .run = run_device,
};
