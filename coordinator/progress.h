/* Progress on standard error: a bar on a terminal, a line every few seconds otherwise, nothing if quiet. */
#ifndef THRESH_COORDINATOR_PROGRESS_H
#define THRESH_COORDINATOR_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

struct progress {
    bool quiet, terminal, drawn;
    double last_s;       /* when something was last shown */
    uint64_t first_done; /* evaluations done when the first of this run was heard of; 0: none yet */
    double first_s;      /* when that was */
};

struct progress progress_start(bool quiet);
/* Shows done of total (0: no limit) evaluations, the best time, and the time left of time_limit_s (0: none).
 */
void progress_show(struct progress *p, uint64_t done, uint64_t total, double elapsed_s, double time_limit_s,
                   double best_ns);
/* Seconds left: of the time limit, or at the rate since the first evaluation, which waits for devices to
 * start and for the naive kernel, and is not counted; the sooner of the two. INFINITY: not known yet. */
double progress_left(struct progress *p, uint64_t done, uint64_t total, double elapsed_s,
                     double time_limit_s);
void progress_note(struct progress *p, const char *text); /* a line of its own */
/* A line for one evaluation: its number, status, time (ok only), seconds since the start, and a message. */
void progress_evaluation(struct progress *p, uint64_t number, const char *status, double ns, double elapsed_s,
                         const char *message);
void progress_end(struct progress *p);
/* units_time() */
int progress_time(double ns, char *out, unsigned n);

#endif
