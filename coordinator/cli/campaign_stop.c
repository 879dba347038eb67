/* thresh campaign stop: interrupts the process that runs a campaign, as Ctrl-C does, and waits for its end.
 *
 *     $ thresh campaign run night.yaml &
 *     $ thresh campaign stop night.yaml
 *     stopped process 4711; run the campaign again to go on
 *
 * The store says which process records in the campaign's runs. */
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "coordinator/cli/campaign.h"
#include "coordinator/limits.h"
#include "coordinator/store.h"

/* The process that records in a run of the campaign; pid 0: none. false after an error. */
static bool find_owner(const struct campaign *c, struct campaign_progress *p, struct store_owner *out,
                       struct diag *d)
{
    *out = (struct store_owner){0};
    if (!campaign_progress_update(p, d)) return false;
    if (access(c->store, F_OK) != 0) return true;
    struct store *s = store_open_to_read(c->store, d);
    bool ok = s != NULL;
    for (unsigned i = 0; ok && i < c->n_searches && out->pid == 0; i++) {
        const struct campaign_status *st = campaign_progress_of(p, i);
        if (st->state == CAMPAIGN_RUNNING) ok = store_run_owner(s, st->run, out, d);
    }
    store_close(s);
    return ok;
}

/* Waits until nothing of the campaign is recorded any more. false after an error, or if that takes too long.
 */
static bool await_end(const struct campaign *c, struct campaign_progress *p, int64_t pid, struct diag *d)
{
    const struct timespec pause = {.tv_nsec = LIMIT_STOP_LOOK_MS * 1000000};
    for (int i = 0; i < LIMIT_STOP_S * 1000 / LIMIT_STOP_LOOK_MS; i++) {
        struct store_owner o;
        if (!find_owner(c, p, &o, d)) return false;
        if (o.pid != pid) return true;
        nanosleep(&pause, NULL);
    }
    diag_plain(d, "process %" PRId64 " was told to stop %d seconds ago and is still at work", pid,
               LIMIT_STOP_S);
    return false;
}

static bool stop(const struct cli_args *a, const struct campaign *c, struct campaign_progress *p,
                 struct diag *d)
{
    struct store_owner o;
    if (!find_owner(c, p, &o, d)) return false;
    if (o.pid == 0) {
        diag_plain(d, "%s: no process runs the campaign now", c->path);
        return false;
    }
    if (!o.here) {
        diag_plain(d, "the campaign is run by process %" PRId64 " on %s: stop it there", o.pid, o.host);
        return false;
    }
    if (kill((pid_t)o.pid, SIGINT) != 0) {
        diag_plain(d, "cannot stop process %" PRId64 ": %s", o.pid, strerror(errno));
        return false;
    }
    if (!await_end(c, p, o.pid, d)) return false;
    if (!cli_given(a, CLI_QUIET))
        printf("stopped process %" PRId64 "; run the campaign again to go on\n", o.pid);
    return true;
}

int cli_campaign_stop(const struct cli_args *a, const struct cli_campaign_file *c, struct diag *d)
{
    struct campaign_progress *p = campaign_progress_new(c->campaign, &c->devices);
    bool ok = stop(a, c->campaign, p, d);
    campaign_progress_free(p);
    return ok ? CLI_OK : CLI_FAILED;
}
