/* The state of a session, shared by the files session*.c. One thread owns all of it. */
#ifndef THRESH_COORDINATOR_SESSION_STATE_H
#define THRESH_COORDINATOR_SESSION_STATE_H

#include "coordinator/progress.h"
#include "coordinator/session.h"
#include "mcts/order.h"

/* Results that are to be stored together, in the order in which they came (session_results.c). */
struct session_results {
    struct arena *arena; /* NULL: there are none */
    struct session_result *first, *last;
    unsigned n;
    int64_t since_ms; /* clock_ms() when the first one came */
};

struct session {
    struct session_options options;
    struct progress *progress;
    const struct session_evaluator *evaluator;
    void *evaluator_self;
    const struct session_subject *subject;
    void *subject_self;
    struct mcts_heuristic *heuristic;
    struct mcts_order order;
    struct mcts_tree *tree;
    struct store *store; /* NULL: none */
    struct store_run run;
    struct diag *diag;        /* of the call that is running; borrowed */
    struct session_job *jobs; /* in the order in which they are to be started */
    struct session_job *by_number;
    struct session_job *late; /* its judgement is put off until the next one is drawn; NULL: none */
    unsigned threads;         /* that draw */
    unsigned n_jobs, n_started, n_contenders; /* the evaluator has them; their numbers are below 1 */
    uint64_t drawn;                           /* candidates that the tree handed out */
    uint64_t draws;                           /* from the tree, with those that found none */
    uint64_t dispatched;                      /* drawn candidates that count in the budget */
    unsigned rollouts;                        /* for a candidate; 0: as many as the policies wish */
    unsigned stuck;                           /* draws in a row that found nothing */
    uint64_t unmeasured;                      /* candidates in a row that were not worth measuring */
    double known_ns;                          /* the best time of a contender that may win; 0: none */
    double settled_ns;                        /* of options.until: the time to beat; 0: none yet */
    uint64_t settled_since;                   /* evaluations when it was set */
    bool knows_contenders;                    /* their results are in the snapshot that was taken up */
    bool broken;                              /* an error ended the search: it is in the diag */
    bool searching;                           /* what the store has is taken up, the time counts */
    bool overdue;                             /* what is at work was not waited for any longer */
    double drawing_s;                         /* spent by drawing */
    double snapshot_s, snapshot_drawing_s;    /* session_elapsed() and drawing_s at the last snapshot */
    double snapshot_cost_s;                   /* what it took */
    uint64_t snapshot_at;                     /* evaluations that it covers */
    double started_s, earlier_s;              /* monotonic clock; seconds spent by the run that is resumed */
    struct session_results results;
    struct session_loss *losses; /* of the run that is resumed, by candidate */
    struct session_report report;
};

/* ---- session.c ---- */

bool session_stops(const struct session *s);  /* the user interrupts */
double session_best(const struct session *s); /* ns, of drawn ones and contenders; 0: none */
/* Hands what an evaluator says to the session; a result is stored and counts. */
void session_handle(struct session *s, const struct session_event *event);
/* Starts what there is room for: contenders and lost candidates first, and one new draw at most. */
void session_start_some(struct session *s);

/* ---- session_jobs.c ---- */

/* Draws the next candidate into the list of jobs; NULL: none now. */
struct session_job *session_draw(struct session *s);
/* Whether the evaluator has the job. */
void session_set_started(struct session *s, struct session_job *job, bool started);
struct session_job *session_find(const struct session *s, int64_t number);
/* Counts a result that is in the store, reports it to the tree and ends its job. */
void session_count(struct session *s, struct session_job *job, const struct store_evaluation *e);
bool session_left_out(const char *status); /* drawn, but not evaluated: the budget does not count it */
/* Whether the tree will find no more. */
bool session_has_ended(const struct session *s);
/* Whether the time is over; it does not count while a run is restored. */
bool session_time_is_over(const struct session *s);

/* ---- session_results.c ---- */

/* Of later draws: mcts_tree_limit_rollouts(). */
void session_limit_rollouts(struct session *s, unsigned most);
/* Keeps a copy of a job's result, to be stored with others. A second result of the job is ignored. */
void session_take(struct session *s, struct session_job *job, const struct store_evaluation *e);
/* Whether so many wait, or one for so long, that they are to be stored before anything else is done. */
bool session_must_flush(const struct session *s);
/* Stores the results that wait in one transaction, then counts them. */
void session_flush(struct session *s);
void session_forget_results(struct session *s);
/* Stores a result, after those that wait, then counts it. */
void session_settle(struct session *s, struct session_job *job, struct store_evaluation e);
/* Writes to the store; while the disk is full, the search pauses and the write is tried again. After another
 * error, or if the user interrupts the pause: false, the error is in s->diag and the session is broken. */
typedef bool session_writer(struct session *s, const void *what, struct diag *d);
bool session_write(struct session *s, session_writer *write, const void *what);

/* ---- session_attempts.c ---- */

/* A resumed run: reads which candidates were lost before. false after an error. */
bool session_recall(struct session *s);
void session_forget_losses(struct session *s);
/* Settles a job as crashed that was lost too often, in earlier processes too; else false. */
bool session_give_up(struct session *s, struct session_job *job);
/* Stores that the job is to be sent. false after an error. */
bool session_attempt(struct session *s, const struct session_job *job);
/* The job is not at work any more: "lost", "returned"; agent: 0: not known. */
void session_attempt_ends(struct session *s, const struct session_job *job, const char *outcome,
                          int64_t agent);
/* The search ends: what is at work is not to blame. */
void session_attempts_end(struct session *s);

/* ---- session_snapshot.c ---- */

/* Writes a snapshot if one is due: after a while of drawing, and at the end of a search that drew for long.
 */
void session_keep(struct session *s, bool ends);
/* Takes up the last snapshot of the run, if there is one that fits the store. Returns how many rows it
 * covers. */
uint64_t session_take_up(struct session *s);

#endif
