/* thresh campaign run with agents that connect (`listen`) or that are started (`launcher`): as many searches
 * at once as there are agents, in the order of the file.
 *
 *     fleet: agents -> search 1, search 2     each a thread: thresh tune with the fleet's agents
 *     this thread: begins searches, notes their ends, tells how far the campaign is
 *
 * The device of a search is that of the first agent that its selector fits. */
#include <inttypes.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "coordinator/limits.h"
#include "coordinator/session.h"
#include "coordinator/cli/campaign_state.h"
#include "coordinator/cli/launched.h"
#include "coordinator/fleet.h"
#include "core/base/arena.h"
#include "core/base/clock.h"
#include "core/base/panic.h"
#include "core/base/stop.h"
#include "core/base/strbuf.h"

/* A search that is at work. */
struct lane {
    struct cli_campaign_fleet *of;
    unsigned search;
    struct tune_options options;
    pthread_t thread;
    const char *reason; /* why it ended, as in campaign_end; NULL: it is not at its end */
    struct diag *diag;
    bool busy, ok;
    int ended; /* an eventfd: the thread is at its end */
};

struct cli_campaign_fleet {
    struct cli_campaign_running *running;
    struct cli_launched launched;
    struct fleet *fleet;
    struct lane *lanes; /* one for each search of the campaign */
    unsigned n_busy;
    int stop_fd;
    double told_s;
    bool deserted; /* the user was told that there is no agent */
};

static unsigned n_searches(const struct cli_campaign_fleet *f)
{
    return f->running->campaign->campaign->n_searches;
}

/* ---- one search ---- */

static void *lane_main(void *arg)
{
    struct lane *l = arg;
    l->ok = cli_campaign_search(l->of->running->args, &l->options, &l->reason, l->diag);
    CHECK(eventfd_write(l->ended, 1) == 0);
    return NULL;
}

static void begin(struct cli_campaign_fleet *f, unsigned i)
{
    struct lane *l = &f->lanes[i];
    const struct campaign *c = f->running->campaign->campaign;
    *l = (struct lane){
        .of = f, .search = i, .diag = diag_new(), .ended = eventfd(0, EFD_CLOEXEC), .busy = true};
    CHECK(l->ended >= 0);
    l->options = campaign_tune_options(&c->searches[i]);
    l->options.store = c->store;
    l->options.fleet = f->fleet;
    l->options.resume = campaign_progress_of(f->running->progress, i)->run > 0;
    l->options.quiet = true;
    l->options.threads = session_threads(f->n_busy + 1);
    l->options.stop_fd = f->stop_fd;
    cli_campaign_announce(f->running, i);
    CHECK(pthread_create(&l->thread, NULL, lane_main, l) == 0);
    f->n_busy++;
}

static void finish(struct cli_campaign_fleet *f, struct lane *l)
{
    pthread_join(l->thread, NULL);
    close(l->ended);
    l->busy = false;
    f->n_busy--;
    cli_campaign_ended(f->running, l->search, l->ok, l->reason, l->diag);
    diag_free(l->diag);
}

/* ---- which searches ---- */

/* Learns the device of a selector from the agents. */
static bool find_device(struct cli_campaign_fleet *f, struct campaign_device *device)
{
    if (!device->found) {
        device->found = fleet_device(f->fleet, device->selector, &device->device);
        if (device->found) cli_campaign_look(f->running);
    }
    return device->found;
}

static unsigned busy_on(const struct cli_campaign_fleet *f, const struct campaign_device *device)
{
    const struct cli_campaign_file *c = f->running->campaign;
    unsigned n = 0;
    for (unsigned i = 0; i < n_searches(f); i++)
        n += f->lanes[i].busy && campaign_device_of(&c->devices, &c->campaign->searches[i]) == device;
    return n;
}

/* Each search at work has an agent. */
static bool may_begin(struct cli_campaign_fleet *f, unsigned i)
{
    struct cli_campaign_running *r = f->running;
    const struct campaign_search *s = &r->campaign->campaign->searches[i];
    struct campaign_device *device = cli_campaign_device(r, s);
    if (f->lanes[i].of || !find_device(f, device) || f->n_busy >= LIMIT_SEARCHES) return false;
    unsigned agents = fleet_agents(f->fleet, device->device.name);
    return busy_on(f, device) < agents;
}

static void begin_some(struct cli_campaign_fleet *f)
{
    for (unsigned i = 0; i < n_searches(f) && !stop_requested(f->stop_fd); i++) {
        if (!may_begin(f, i)) continue;
        if (campaign_progress_of(f->running->progress, i)->state != CAMPAIGN_COMPLETE) {
            begin(f, i);
            continue;
        }
        cli_campaign_announce(f->running, i);
        f->lanes[i].of = f;
    }
}

static bool all_done(const struct cli_campaign_fleet *f)
{
    if (f->n_busy > 0) return false;
    for (unsigned i = 0; i < n_searches(f); i++)
        if (!f->lanes[i].of && campaign_progress_of(f->running->progress, i)->state != CAMPAIGN_COMPLETE)
            return stop_requested(f->stop_fd);
    return true;
}

static void finish_some(struct cli_campaign_fleet *f, int wait_ms)
{
    struct pollfd *fds = base_calloc(f->n_busy + 1, sizeof *fds);
    unsigned n = 0;
    for (unsigned i = 0; i < n_searches(f); i++)
        if (f->lanes[i].busy) fds[n++] = (struct pollfd){.fd = f->lanes[i].ended, .events = POLLIN};
    poll(fds, n, wait_ms);
    n = 0;
    for (unsigned i = 0; i < n_searches(f); i++)
        if (f->lanes[i].busy && fds[n++].revents) finish(f, &f->lanes[i]);
    free(fds);
}

/* ---- what the user is told ---- */

static void tell_absence(struct cli_campaign_fleet *f, unsigned agents)
{
    bool none = agents == 0;
    if (none && !f->deserted)
        fprintf(stderr, "waiting for agents; start one: thresh agent --connect %s%s\n",
                fleet_endpoint(f->fleet), f->running->campaign->campaign->keys ? " --key FILE" : "");
    f->deserted = none;
}

static void tell(struct cli_campaign_fleet *f)
{
    struct cli_campaign_running *r = f->running;
    unsigned agents = fleet_agents(f->fleet, NULL), barren;
    double now = clock_s();
    if (cli_given(r->args, CLI_QUIET)) return;
    tell_absence(f, agents);
    if (now - f->told_s < LIMIT_SUMMARY_S) return;
    f->told_s = now;
    cli_campaign_look(r);
    uint64_t evaluations = 0;
    for (unsigned i = 0; i < n_searches(f); i++)
        evaluations += campaign_progress_of(r->progress, i)->evaluations;
    fprintf(stderr, "%u of %u searches complete, %u running; %" PRIu64 " evaluations; %u agent%s\n",
            cli_campaign_complete(r->campaign->campaign, r->progress, &barren), n_searches(f), f->n_busy,
            evaluations, agents, agents == 1 ? "" : "s");
}

/* ---- the campaign ---- */

static bool open_fleet(struct cli_campaign_fleet *f, struct diag *d)
{
    const struct campaign *c = f->running->campaign->campaign;
    if (!cli_launch_take(&f->launched, campaign_launch_options(c), c->listen, d)) return false;
    const struct fleet_options o = {
        .where = {.address = f->launched.listen[0] ? f->launched.listen : c->listen, .keys = c->keys}};
    f->fleet = fleet_open(&o, d);
    if (!f->fleet || !campaign_launch_options(c)) return f->fleet != NULL;
    return cli_launch_begin(&f->launched, fleet_endpoint(f->fleet), c->keys, &f->stop_fd, d);
}

bool cli_campaign_run_fleet(struct cli_campaign_running *r, struct diag *d)
{
    struct cli_campaign_fleet f = {.running = r, .stop_fd = r->stop_fd, .told_s = clock_s()};
    f.lanes = base_calloc(n_searches(&f) + 1, sizeof *f.lanes);
    bool ok = open_fleet(&f, d);
    while (ok && !all_done(&f)) {
        begin_some(&f);
        finish_some(&f, LIMIT_LANE_MS);
        tell(&f);
    }
    ok = !cli_launch_end(&f.launched, d) && ok;
    fleet_close(f.fleet);
    free(f.lanes);
    return ok;
}

bool cli_campaign_is_remote(const struct campaign *c)
{
    return c->listen || campaign_launch_options(c);
}
