/* The studies of searches (report/study.h) and the portable choices for a page that is live. Each takes
 * seconds of a processor that a search may be using, so one thread makes them, one after the other, at the
 * lowest priority:
 *
 *     studies_ask(s, data, true, now_ms)       starts the next one that is due, if none is being made
 *     poll(studies_fd(s)); studies_take(s, data, &run)
 *     studies_of(s, data)                      what there is
 *
 *     studies_portables(s, &n)                 the choices for all devices that there are
 *
 * A study of a search that has gone on is made again, but studies take a tenth of the thread's time at most.
 * The choices for all devices are made like the study of one search more, where there are several devices.
 * The thread reads the store on its own. It shares nothing with the caller: run numbers go to it through a
 * pipe, and pointers to studies come back. */
#ifndef THRESH_WEB_STUDIES_H
#define THRESH_WEB_STUDIES_H

#include <stdbool.h>
#include <stdint.h>

#include "coordinator/portable.h"
#include "coordinator/report/study.h"

struct studies;

/* The opener is used on the thread, and borrowed until studies_end(). NULL after an error. */
struct studies *studies_start(const char *store, const struct report_opener *opener, struct diag *d);
/* Waits for the study that is being made, which ends early when the opener's stop_fd is readable. NULL is
 * allowed. */
void studies_end(struct studies *s);
int studies_fd(const struct studies *s); /* readable when a study is finished */
/* Takes the finished study of *run; 0: the portable choices. false: there is none, or its run is gone. */
bool studies_take(struct studies *s, const struct report_data *data, int64_t *run);
/* Has the next study made, if one is due: a search without any; if `again`, also one that has gone on. */
void studies_ask(struct studies *s, const struct report_data *data, bool again, int64_t now_ms);
/* Sets *n. Valid until the next studies_take() or studies_ask(). */
const struct portable *studies_portables(const struct studies *s, size_t *n);
/* One of each search, in the order of report_searches(); NULL where there is none yet. Valid until the next
 * studies_take() or studies_of(). */
const struct report_study *const *studies_of(struct studies *s, const struct report_data *data);

#endif
