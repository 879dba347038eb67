/* The state of a campaign, shared by the files tune*.c: tune.c sets it up, tune_search.c runs it,
 * tune_quote.c closes it. One thread owns all of it; the embedded agent's thread shares nothing but the
 * ZeroMQ context. */
#ifndef THRESH_COORDINATOR_TUNE_STATE_H
#define THRESH_COORDINATOR_TUNE_STATE_H

#include <pthread.h>
#include <uthash.h>

#include "agent/serve.h"
#include "agent/wire.h"
#include "coordinator/contend.h"
#include "coordinator/hub.h"
#include "coordinator/progress.h"
#include "coordinator/recorded.h"
#include "coordinator/store.h"
#include "coordinator/tune.h"
#include "mcts/order.h"
#include "perfmodel/bound.h"

enum { JOB_RETRIES = 2, JOB_QUEUED = -1, CUT_FACTOR = 4 };

/* An implementation between being drawn and being reported. Number 0 is the naive one, numbers below 0 are
 * the plain ones, which have no descent. */
struct job {
    int64_t number;
    struct mcts_descent descent;
    struct space_action *actions; /* from the root of the space; solution_drawn() */
    size_t n_actions;
    uint64_t kernel_hash;
    double bound_ns;   /* lower bound of the implementation; 0: none */
    bool audited;      /* it was drawn below a cut */
    bool lowered;      /* kernel_hash is known and is no duplicate */
    int peer;          /* JOB_QUEUED: waits for an agent */
    unsigned lost;     /* agents lost with it */
    int64_t due;       /* clock_ms(): its agent should have answered by then */
    uint64_t answered; /* results that its agent had sent when it was given the job */
    struct job *next;
};

struct seen_kernel {
    uint64_t hash;
    UT_hash_handle hh;
};

struct tune {
    struct tune_options options;
    void *context; /* ZeroMQ */
    struct hub *hub;
    unsigned first_peer; /* the agent whose hello chose the device, where it is not embedded */
    bool embedded;
    struct device_lock *lock; /* of the processors that this process draws on beside its own agent; or NULL */
    pthread_t agent_thread;
    struct serve_options agent;
    struct diag *agent_diag; /* written by the agent's thread; read after it has ended */
    struct device device;
    char libraries[WIRE_LIBRARIES]; /* of the agent whose device it is */
    struct problem *problem;
    struct space_state *root; /* with the pins */
    struct mcts_heuristic *heuristic;
    struct perfmodel *model;  /* NULL: no bound */
    struct mcts_prior *prior; /* NULL: --no-prior */
    struct mcts_tree *tree;
    struct mcts_order order;
    struct store *store;
    struct recorded *recorded; /* NULL: agents measure */
    struct store_run run;
    struct diag *diag; /* of tune_begin() or tune_search(), which is running; borrowed */
    char *settings;
    struct contend_plain plain[BB_MAX_PLAIN];
    unsigned n_plain;
    struct job *jobs;
    struct seen_kernel *seen;
    uint64_t drawn;       /* implementations that the tree handed out */
    uint64_t draws;       /* from the tree, with those that found none */
    uint64_t dispatched;  /* jobs sent for a first time or settled without sending; not those left out */
    unsigned stuck;       /* draws in a row that found nothing */
    uint64_t unmeasured;  /* implementations in a row that were left out */
    unsigned last_audits; /* draws below cuts of an exhausted tree */
    bool naive_done, broken, stopping;
    bool searching;              /* what the store has is taken up, the time counts */
    bool overdue;                /* what is at work was not waited for any longer */
    double started_s, earlier_s; /* monotonic clock; seconds spent by the resumed run */
    struct progress progress;
    struct tune_report report;
};

double tune_elapsed(const struct tune *t);
/* The naive implementation's job, and what the store has of a run to be resumed. false after an error. */
bool tune_begin(struct tune *t, struct diag *d);
struct message tune_program_message(const struct tune *t, struct arena *a);
/* Handles what happened on the hub; false: nothing did. */
bool tune_step(struct tune *t, int timeout_ms, struct hub_event *event, struct diag *d);
/* Shows "NAME WHAT: REASON" of an agent on one line, whatever the reason is; NULL: none. */
void tune_note_agent(struct tune *t, unsigned peer, const char *what, const char *reason);
/* Gives queued jobs to the agents that can take them, and one new one at most: agents are heard before the
 * next is drawn. */
void tune_feed(struct tune *t, struct diag *d);
/* Jobs of agents that live but do not answer within the limits of a job are queued again. An agent that has
 * answered nothing since it was given such a job is refused. */
void tune_expire(struct tune *t, struct diag *d);
bool tune_stop_requested(const struct tune *t);
/* Whether the tree is to stop looking: an interrupt, or the end of the time, which does not count while a run
 * is taken up. The campaign is the context. */
bool tune_tree_stops(void *context);

void tune_add_job(struct tune *t, struct job *job);
struct space_action *tune_copy_actions(const struct job *job);
/* The shipped prior, with what it may know of the device. NULL after an error. */
struct mcts_prior *tune_prior(const struct tune *t, struct diag *d);

/* ---- tune_contend.c: the naive implementation and the plain ones ---- */

/* Queues them. false after an error: the naive one is not in the space. */
bool tune_add_contenders(struct tune *t, struct diag *d);
/* Takes a result of one of them. */
void tune_report_contender(struct tune *t, const struct job *job, const struct store_evaluation *e);
/* Whether all of them have been measured, or never will be. */
bool tune_contenders_done(const struct tune *t);
/* The fastest time that is known of any of them that may win; 0: none. */
double tune_contenders_best(const struct tune *t);
const char *tune_label(const struct tune *t, int64_t number);

/* ---- tune_verdict.c: what a result is worth ---- */

/* Fills report.verdict. */
void tune_judge(struct tune *t);

/* ---- tune_bound.c: the lower bound in doubt ---- */

/* Draws the next implementation from the tree; a share of the draws looks below cuts instead. *audit says so.
 */
enum mcts_status tune_draw(struct tune *t, struct mcts_descent *descent, bool *audit);
/* Records a cut with its reason: the tree's on_cut, with the campaign as context. */
void tune_note_cut(void *context, const struct mcts_tree *tree, uint32_t node, struct space_state *candidate);
/* Compares a measured time with the bound of its implementation. If it is below, the figures that the bound
 * rests on are corrected and what they wrongly cut is opened again. */
void tune_check_bound(struct tune *t, const struct job *job, double measured_ns);

#endif
