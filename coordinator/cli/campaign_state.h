/* What campaign_run.c (the campaign, one search after another) and campaign_fleet.c (several at once, with
 * agents elsewhere) share. One thread owns it. */
#ifndef THRESH_CLI_CAMPAIGN_STATE_H
#define THRESH_CLI_CAMPAIGN_STATE_H

#include "coordinator/cli/campaign.h"
#include "coordinator/cli/page.h"
#include "coordinator/tune.h"

struct cli_campaign_running {
    const struct cli_args *args;
    const struct cli_campaign_file *campaign;
    struct campaign_progress *progress;
    bool *failed; /* of each search */
    int stop_fd;
    struct cli_page page;
    struct store *store; /* held open while the searches open and close it; not read or written */
};

/* Searches and quotes. Sets *reason where the search came to its end. false after an error. Of any thread. */
bool cli_campaign_search(const struct cli_args *a, const struct tune_options *o, const char **reason,
                         struct diag *d);
/* Says that a search begins, or is skipped since it is complete. */
void cli_campaign_announce(const struct cli_campaign_running *r, unsigned search);
/* A search has ended: notes it in the store and says what is in d. */
void cli_campaign_ended(struct cli_campaign_running *r, unsigned search, bool ok, const char *reason,
                        struct diag *d);
/* Reads from the store how far the searches are. */
void cli_campaign_look(struct cli_campaign_running *r);
struct campaign_device *cli_campaign_device(struct cli_campaign_running *r, const struct campaign_search *s);

/* Runs the searches with the agents of `listen` and `launcher`. false after an error. */
bool cli_campaign_run_fleet(struct cli_campaign_running *r, struct diag *d);

#endif
