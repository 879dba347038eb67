/* Progress on standard error: one line that is drawn over on a terminal, cut to its width; a line every few
 * seconds otherwise; nothing if quiet.
 *
 *     [#########...............] 120 of 300 evaluations, 7 failed, 31 cut, 4.12/s, best 1.2 ms, 44 s left */
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

/* How far a run is. */
struct progress_state {
    uint64_t done, total;      /* evaluations; total 0: no limit */
    uint64_t failed, cut;      /* of those done */
    double elapsed_s, limit_s; /* limit 0: none */
    double best_ns;            /* 0: none yet */
};

struct progress progress_start(bool quiet);
/* Shows the state if it is time to. */
void progress_show(struct progress *p, const struct progress_state *s);
/* The line without its end: at most `columns` characters (0: any number, and no bar), of which what matters
 * least is left out where they are few. As snprintf. */
int progress_line(const struct progress_state *s, double left_s, unsigned columns, char *out, unsigned n);
/* Seconds left: of the time limit, or at the rate since the first evaluation, which waits for devices to
 * start and for the naive kernel, and is not counted; the sooner of the two. INFINITY: not known yet. */
double progress_left(struct progress *p, uint64_t done, uint64_t total, double elapsed_s,
                     double time_limit_s);
/* Shows that the final round number `done` + 1 of `total` at most is measured, with so many contenders;
 * elapsed_s as above. */
void progress_rounds(struct progress *p, unsigned done, unsigned total, unsigned contenders,
                     double elapsed_s);
void progress_note(struct progress *p, const char *text); /* a line of its own */
/* A line for one evaluation: its number, status, time (ok only), seconds since the start, and a message. */
void progress_evaluation(struct progress *p, int64_t number, const char *status, double ns, double elapsed_s,
                         const char *message);
void progress_end(struct progress *p);

#endif
