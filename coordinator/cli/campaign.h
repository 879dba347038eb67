/* The parts of `thresh campaign`: campaign.c is the command with its verbs, campaign_run.c and
 * campaign_fleet.c run searches, campaign_stop.c ends that, campaign_table.c prints what is known of them. */
#ifndef THRESH_CLI_CAMPAIGN_H
#define THRESH_CLI_CAMPAIGN_H

#include "coordinator/campaign/check.h"
#include "coordinator/campaign/progress.h"
#include "coordinator/campaign/spec.h"
#include "coordinator/cli/cli.h"

/* A campaign file with its devices and, after campaign_check(), the work of each search. */
struct cli_campaign_file {
    struct campaign *campaign;
    struct campaign_devices devices;
    struct work *works;
};

/* Runs the searches that are not complete, prints the table, writes the report and the header. Returns the
 * exit status. */
int cli_campaign_run(const struct cli_args *a, const struct cli_campaign_file *c, struct diag *d);
/* Interrupts the process that runs the campaign and waits for its end. Returns the exit status. */
int cli_campaign_stop(const struct cli_args *a, const struct cli_campaign_file *c, struct diag *d);
/* Whether agents connect, or are started: they are not in this process. */
bool cli_campaign_is_remote(const struct campaign *c);
/* Writes the page and the header of the campaign's store, and says so. Returns the exit status. */
int cli_campaign_write(const struct cli_args *a, const struct campaign *c, const struct campaign_progress *p,
                       struct diag *d);

/* The searches as they stand in the file. */
void cli_campaign_print_searches(const struct cli_args *a, const struct cli_campaign_file *c);
/* The searches as they stand in the store; c->works NULL: without rates. failed[searches] (NULL allowed):
 * those that ended with an error. */
void cli_campaign_print_progress(const struct cli_args *a, const struct cli_campaign_file *c,
                                 const struct campaign_progress *p, const bool *failed);
/* The agents that a campaign has while it runs, as a table below that of its searches; with --json they are
 * in the object of the searches. */
void cli_campaign_print_agents(const struct cli_args *a, const struct campaign_progress *p);
/* Complete ones, and those among them that found nothing valid. */
unsigned cli_campaign_complete(const struct campaign *c, const struct campaign_progress *p, unsigned *barren);

#endif
