/* The state of a campaign, shared by the files tune*.c: tune.c sets it up, tune_program.c is the session's
 * subject. One thread owns all of it. */
#ifndef THRESH_COORDINATOR_TUNE_STATE_H
#define THRESH_COORDINATOR_TUNE_STATE_H

#include <uthash.h>

#include "coordinator/agents.h"
#include "coordinator/baseline.h"
#include "coordinator/contend.h"
#include "coordinator/learn.h"
#include "coordinator/progress.h"
#include "coordinator/recorded.h"
#include "coordinator/tune.h"
#include "mcts/prior.h"
#include "perfmodel/bound.h"

/* A kernel text that was drawn, by its hash. */
struct seen_kernel {
    uint64_t hash;
    UT_hash_handle hh;
};

struct tune {
    struct tune_options options;
    struct progress progress;
    struct agents *agents;     /* NULL: */
    struct recorded *recorded; /* its timings stand for them */
    struct device device;
    struct given *data; /* of the user, for an agent of this process; NULL: there are none here */
    char *data_text;    /* given_text(); NULL: none */
    uint64_t data_hash;
    struct baseline baselines[LIMIT_BASELINES];       /* of the user */
    const struct cg_kernel *kernels[LIMIT_BASELINES]; /* theirs */
    unsigned n_baselines;
    struct problem *problem;
    struct space_state *root;                            /* with the pins */
    struct perfmodel *model;                             /* NULL: no bound */
    struct perfmodel *thread_models[LIMIT_DRAW_THREADS]; /* of the other threads that draw; NULL: not yet */
    struct mcts_prior *prior;
    struct lowering *lowering;
    struct session *session;
    char *settings;
    struct contend_plain plain[BB_MAX_PLAIN];
    unsigned n_plain;
    struct learned learned[LIMIT_LEARNED]; /* by number; without a label: none */
    struct seen_kernel *seen;
    unsigned last_audits; /* draws below cuts of an exhausted tree */
    struct tune_report report;
};

/* ---- tune_program.c: a Lift program as the subject of a session ---- */

extern const struct session_subject tune_program; /* self: struct tune */
void tune_free_seen(struct tune *t);
/* Texts of more bytes are not measured. */
size_t tune_most_text(const struct tune *t);

/* ---- tune_contend.c: the naive implementation, the plain ones and the learned ones ---- */

/* Adds them to the session. false after an error: the naive one is not in the space, or a store of
 * --learn-from cannot be read. */
bool tune_add_contenders(struct tune *t, struct diag *d);
/* Takes a result of one of them. */
void tune_report_contender(struct tune *t, const struct session_job *job, const struct store_evaluation *e);

/* ---- tune_data.c: the user's data ---- */

/* Reads the files, and the user's own kernels, which are about the same program. false after an error. */
bool tune_read_files(struct tune *t, struct diag *d);
/* Records in the store which they are. */
bool tune_note_data(struct tune *t, struct diag *d);
/* A run's settings without what they say of the user's data, which decide no draw; malloc'd. */
char *tune_settings_without_data(const char *settings);
void tune_free_data(struct tune *t);

/* ---- tune_baseline.c: the user's own kernels ---- */

/* Reads them. false after an error: also where no agent of this process measures. */
bool tune_read_baselines(struct tune *t, const struct lift_program *p, struct diag *d);
/* Sets their arguments, once the problem is known. */
void tune_bind_baselines(struct tune *t);
/* Waits until the agent has verified them; those that are wrong are told and left out. false after an error:
 * one that does not build or has other arguments, or an interrupt. */
bool tune_try_baselines(struct tune *t, struct diag *d);
/* After the final rounds: their figures, and how the winner compares. */
void tune_compare_baselines(struct tune *t);
void tune_free_baselines(struct tune *t);

/* ---- tune_verdict.c: what a result is worth ---- */

/* Fills report.verdict. */
void tune_judge(struct tune *t);

/* ---- tune_bound.c: the lower bound in doubt ---- */

/* Draws the next implementation from the tree; a share of the draws looks below cuts instead. *audited says
 * so. */
enum mcts_status tune_draw(struct tune *t, struct mcts_tree *tree, uint64_t number,
                           struct mcts_descent *descent, bool *audited);
/* Records a cut with its reason: the tree's on_cut, with the campaign as context. */
void tune_note_cut(void *context, const struct mcts_tree *tree, uint32_t node, struct space_state *candidate);
/* What has become of the bound, for a snapshot. */
void tune_archive_bound(struct tune *t, struct archive *a);
/* The model of another thread that draws: mcts_config.thread_bound, with the campaign as context. */
void *tune_thread_bound(void *context, unsigned thread);
/* Compares a measured time with the bound of its implementation. If it is below, the figures that the bound
 * rests on are corrected and what they wrongly cut is opened again. */
void tune_check_bound(struct tune *t, const struct session_job *job, double measured_ns);

#endif
