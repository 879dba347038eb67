/* The studies of searches (report/study.h) for a page that is live. Each takes seconds of a processor that a
 * search may be using, so one thread makes them, one after the other, at the lowest priority:
 *
 *     studies_ask(s, data, true, now_ms)       starts the next one that is due, if none is being made
 *     poll(studies_fd(s)); studies_take(s, data, &run)
 *     studies_of(s, data)                      what there is
 *
 * A study of a search that has gone on is made again, but studies take a tenth of the thread's time at most.
 * The thread reads the store on its own. It shares nothing with the caller: run numbers go to it through a
 * pipe, and pointers to studies come back. */
#ifndef THRESH_WEB_STUDIES_H
#define THRESH_WEB_STUDIES_H

#include <stdbool.h>
#include <stdint.h>

#include "coordinator/report/study.h"

struct studies;

/* The opener is used on the thread, and borrowed until studies_end(). NULL after an error. */
struct studies *studies_start(const char *store, const struct report_opener *opener, struct diag *d);
/* Waits for the study that is being made, which ends early when the opener's stop_fd is readable. NULL is
 * allowed. */
void studies_end(struct studies *s);
int studies_fd(const struct studies *s); /* readable when a study is finished */
/* Takes the finished study of *run. false: there is none, or its run is gone. */
bool studies_take(struct studies *s, const struct report_data *data, int64_t *run);
/* Has the next study made, if one is due: a search without any; if `again`, also one that has gone on. */
void studies_ask(struct studies *s, const struct report_data *data, bool again, int64_t now_ms);
/* One of each search, in the order of report_searches(); NULL where there is none yet. Valid until the next
 * studies_take() or studies_of(). */
const struct report_study *const *studies_of(struct studies *s, const struct report_data *data);

#endif
