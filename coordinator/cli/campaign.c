/* thresh campaign: many searches from one file.
 *
 *     $ thresh campaign check night.yaml       what it would do
 *     $ thresh campaign run night.yaml         does it, or what is left of it
 *     $ thresh campaign status night.yaml      how far it is, from its store */
#include "coordinator/cli/campaign.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "coordinator/cli/table.h"
#include "coordinator/limits.h"
#include "core/base/arena.h"
#include "core/base/panic.h"

/* Whether a signal arrived within a second. */
static bool wait_second(int fd)
{
    struct pollfd p = {.fd = fd, .events = POLLIN};
    return poll(&p, 1, LIMIT_WATCH_MS) > 0;
}

/* ---- verbs ---- */

static int check(const struct cli_args *a, const struct cli_campaign_file *c, struct diag *d)
{
    if (!campaign_check(c->campaign, &c->devices, NULL, d)) return CLI_USAGE;
    cli_campaign_print_searches(a, c);
    for (unsigned i = 0; i < c->devices.n; i++)
        if (!c->devices.items[i].found) fprintf(stderr, "note: %s\n", c->devices.items[i].why);
    return CLI_OK;
}

static int run_searches(const struct cli_args *a, const struct cli_campaign_file *c, struct diag *d)
{
    if (!campaign_check(c->campaign, &c->devices, c->works, d)) return CLI_USAGE;
    return cli_campaign_run(a, c, d);
}

/* Shows it each second, in place, until it is complete or a signal arrives. */
static int watch(const struct cli_args *a, const struct cli_campaign_file *c, struct campaign_progress *p,
                 struct diag *d)
{
    unsigned barren;
    int fd = cli_signals();
    bool ok = true;
    do {
        ok = campaign_progress_update(p, d);
        if (!ok) break;
        printf("\033[H\033[J");
        cli_campaign_print_progress(a, c, p, NULL);
        cli_campaign_print_agents(a, p);
        fflush(stdout);
    } while (cli_campaign_complete(c->campaign, p, &barren) < c->campaign->n_searches && !wait_second(fd));
    return cli_signal_status(fd, ok ? CLI_OK : CLI_FAILED);
}

static int status_of(const struct cli_args *a, const struct cli_campaign_file *c, struct diag *d)
{
    const struct cli_campaign_file shown = {c->campaign, c->devices, NULL};
    struct campaign_progress *p = campaign_progress_new(c->campaign, &c->devices);
    int status = CLI_FAILED;
    if (cli_given(a, CLI_WATCH) && (cli_given(a, CLI_JSON) || !isatty(STDOUT_FILENO))) {
        diag_plain(d, "--watch needs a terminal, and no --json");
        status = CLI_USAGE;
    } else if (cli_given(a, CLI_WATCH)) {
        status = watch(a, &shown, p, d);
    } else if (campaign_progress_update(p, d)) {
        cli_campaign_print_progress(a, &shown, p, NULL);
        cli_campaign_print_agents(a, p);
        status = CLI_OK;
    }
    campaign_progress_free(p);
    return status;
}

static int report(const struct cli_args *a, const struct cli_campaign_file *c, struct diag *d)
{
    struct campaign_progress *p = campaign_progress_new(c->campaign, &c->devices);
    int status = CLI_FAILED;
    if (campaign_progress_update(p, d)) status = cli_campaign_write(a, c->campaign, p, d);
    campaign_progress_free(p);
    return status;
}

static const struct {
    const char *name;
    struct cli_set takes;
    int (*run)(const struct cli_args *a, const struct cli_campaign_file *c, struct diag *d);
} verbs[] = {{"check", {CLI_TAKES(JSON)}, check},
             {"run", {CLI_TAKES(JSON), CLI_TAKES(QUIET), CLI_TAKES(VERBOSE), CLI_TAKES(PAGE)}, run_searches},
             {"status", {CLI_TAKES(JSON), CLI_TAKES(WATCH)}, status_of},
             {"report", {{false}}, report},
             {"stop", {CLI_TAKES(QUIET)}, cli_campaign_stop}};

/* ---- the command ---- */

static int open_and_run(const struct cli_args *a, size_t verb, struct diag *d)
{
    struct cli_campaign_file c = {.campaign = campaign_read(a->positional[1], d)};
    if (!c.campaign) return CLI_USAGE;
    c.devices = campaign_find_devices(c.campaign);
    c.works = base_calloc(c.campaign->n_searches + 1, sizeof *c.works);
    int status = verbs[verb].run(a, &c, d);
    free(c.works);
    campaign_devices_free(&c.devices);
    campaign_free(c.campaign);
    return status;
}

static int run(const struct cli_args *a)
{
    struct diag *d = diag_new();
    size_t n = sizeof verbs / sizeof verbs[0], verb = 0;
    int status = CLI_USAGE;
    while (verb < n && strcmp(a->positional[0], verbs[verb].name) != 0)
        verb++;
    if (!cli_check_verb(&cli_campaign, a->positional[0], d)) return cli_finish(d, status);
    CHECK(verb < n);
    cli_refuse_of_verb(&cli_campaign, a, verbs[verb].takes, d);
    if (diag_failed(d)) return cli_finish(d, status);
    return cli_finish(d, open_and_run(a, verb, d));
}

const struct cli_command cli_campaign = {
    .name = "campaign",
    .positional = "check|run|status|report|stop FILE.yaml",
    .least = 2,
    .most = 2,
    .takes = {CLI_TAKES(JSON), CLI_TAKES(QUIET), CLI_TAKES(VERBOSE), CLI_TAKES(WATCH), CLI_TAKES(PAGE)},
    .notes = {{CLI_PAGE, "PORT|none",
               "run: serve the live page at this port of this machine, in a process of its own, until the "
               "campaign ends; 0: any free port (default: the key 'page')"},
              {CLI_WATCH, NULL, "status: refresh the output each second until the campaign is complete"}},
    .help =
        "Runs many searches that a file names: kernels with sizes, on devices, each with a budget.\n"
        "'check' says what is wrong with the file, or prints its searches. 'run' does them "
        "in one store, one after another or, with agents that connect or are started, several at once, "
        "prints the best times, and writes a page about all of them (as 'thresh report') and a "
        "header with the best implementations (as 'thresh export'). 'status' shows how far a campaign is, "
        "while it runs or later, and the agents that it has now. 'report' writes page and header again. "
        "'stop' interrupts 'run' from another "
        "terminal and waits for "
        "its end.\n"
        "'run' may be interrupted and run again: complete searches are skipped, others are resumed. A search "
        "that fails does not end the others.\n"
        "# Campaign file\n"
        "A map in YAML. 'kernels' is a list of maps with 'file', 'sizes' (a map, or a list of maps, of "
        "values, lists and "
        "ranges; all combinations are searched) and 'name'. 'device' (or a list), 'heuristic', 'order', "
        "'pins', 'param', 'allow', 'learn-from', 'baseline', 'inputs', 'output-reference', 'tolerance', "
        "'evaluations', 'time' "
        "and 'until: within 2% for 200 evaluations' belong to a kernel, or to the campaign for all kernels "
        "without them. 'name', 'store', 'report', 'header', 'page', 'listen', 'keys', 'launcher' (kind "
        "local, "
        "ssh or slurm), and 'seed' or 'seeds' belong to the campaign. Paths are relative to the file.\v"
        "Example: thresh campaign check night.yaml\n"
        "         thresh campaign run night.yaml --page 8780\n"
        "         thresh campaign status night.yaml --watch\n"
        "night.yaml:\n"
        "         kernels:\n"
        "           - {file: matmul.lift, sizes: {M: [512, 1024], N: 512, K: 64..256 *2}}\n"
        "           - {file: axpy.lift, sizes: {N: 1048576}, evaluations: 100}\n"
        "         time: 10m\n"
        "         launcher: {kind: local, agents: 2}",
    .run = run,
};
