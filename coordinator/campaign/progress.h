/* How far the searches of a campaign are, from its store alone: while a campaign runs, after it, or on
 * another machine.
 *
 *     m = campaign_progress_new(campaign, &devices);
 *     campaign_progress_update(m, d)                      reads what is new in the store
 *     campaign_progress_of(m, 2)->state                   of the third search
 *
 * The run of a search is the last one in the store with its program, sizes, device, seed and settings: it may
 * come from `thresh tune --store`, too. That a search came to its end is written in the table campaign_end,
 * with its budget: with a larger budget it goes on. */
#ifndef THRESH_CAMPAIGN_PROGRESS_H
#define THRESH_CAMPAIGN_PROGRESS_H

#include "coordinator/campaign/check.h"
#include "coordinator/figure.h"

struct campaign_progress;

enum campaign_state {
    CAMPAIGN_PENDING, /* nothing in the store */
    CAMPAIGN_STOPPED, /* begun, and nobody goes on with it now */
    CAMPAIGN_RUNNING, /* a process records in it */
    CAMPAIGN_COMPLETE
};
const char *campaign_state_name(enum campaign_state state);

struct campaign_status {
    enum campaign_state state;
    int64_t run;                 /* in the store; 0: none */
    uint64_t evaluations;        /* that count in the budget */
    struct figure best;          /* quoted, else of the search */
    struct figure_ratio speedup; /* over the naive implementation */
    uint64_t found_at;           /* evaluations when the best was found; 0: it is no result of the search */
    double age_s;                /* of search since the best was found, until the last result */
    char device[DEVICE_NAME];    /* of the run; "": no run */
    char reason[32]; /* why it is complete: "budget", "settled", "explored", "stuck", "barren"; "" */
};

/* Both are borrowed. */
struct campaign_progress *campaign_progress_new(const struct campaign *c,
                                                const struct campaign_devices *devices);
void campaign_progress_free(struct campaign_progress *p); /* NULL is allowed */
/* Reads the store; one that does not exist yet is empty. false after an error. */
bool campaign_progress_update(struct campaign_progress *p, struct diag *d);
/* Of searches[i] of the campaign. */
const struct campaign_status *campaign_progress_of(const struct campaign_progress *p, unsigned i);

/* The next agent, from number *at on, that a running search of the campaign has now, and sets *at to the
 * number after it; NULL: there is none. Agents of a coordinator that was killed do not count. */
struct report_agent;
const struct report_agent *campaign_progress_agent(const struct campaign_progress *p, size_t *at);

/* The options with which `thresh tune` would do the search, without store, stop_fd and messages. */
struct tune_options;
struct tune_options campaign_tune_options(const struct campaign_search *s);
/* Records that a run of a search is complete. false after an error of the store. */
bool campaign_note_end(const struct campaign *c, const struct campaign_search *s, int64_t run,
                       const char *reason, struct diag *d);

#endif
