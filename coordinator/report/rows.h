/* The rows behind report_data: the part of data.c that asks the database. Only for the files data.c and
 * rows.c.
 */
#ifndef THRESH_REPORT_ROWS_H
#define THRESH_REPORT_ROWS_H

#include "coordinator/report/data.h"

struct store;

struct report_rows {
    struct report_search *searches; /* by ascending run */
    struct report_agent *agents;
    struct report_event *events;
    struct report_campaign *campaigns;
    size_t n_searches, n_agents, n_events, n_campaigns;
    uint64_t all_events;
    int64_t schema, last_evaluation; /* id of the last row that was read */
};

/* Reads what is new, in one transaction of the caller. false after an error. */
bool report_rows_read(struct report_rows *r, const struct store *s, struct diag *d);
/* Releases all and leaves it empty. */
void report_rows_clear(struct report_rows *r);

#endif
