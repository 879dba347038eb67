/* The store: every finished evaluation, in one SQLite file (with a write-ahead log), readable with the
 * sqlite3 shell:
 *
 *     sqlite3 runs.db "SELECT number, status, median_ns FROM evaluation WHERE run = 1"
 *
 * An evaluation is written to the file before it counts in the search tree. Rows are in the order in which
 * results were reported. Each row has the number of implementations that were drawn until then, and the
 * number of draws (some draws end without an implementation). Together with the seed this is enough to
 * rebuild the tree exactly (`thresh tune --resume`).
 *
 * Fingerprints and hashes are 16 hex digits, actions are "slot=value slot=value ...", samples are a JSON
 * array of nanoseconds. The schema is described in coordinator/README.md. */
#ifndef THRESH_COORDINATOR_STORE_H
#define THRESH_COORDINATOR_STORE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "coordinator/figure.h"

struct diag;
struct store;

enum { STORE_SCHEMA = 8, STORE_APPLICATION = 0x74687368 /* "thsh" */ };

/* The number of the user's first own kernel among the contenders of final rounds; those of others are below.
 * It has no evaluation and no decisions. */
enum { STORE_BASELINE = -201 };
static inline bool store_is_baseline(int64_t number)
{
    return number <= STORE_BASELINE;
}

/* The `device` of a run of `tune --space`. Such a run has no program; its evaluations hold the decisions by
 * name. */
#define STORE_NO_DEVICE "command"

/* In the settings of a run of a program: the parameters of --param follow, if there were any. */
#define STORE_PARAMETERS " param="
/* After those that a campaign file tells: a hash of the user's data, where there are some. */
#define STORE_FILES " files="
/* At their end: a hash of the device's description, where there is a lower bound. */
#define STORE_DESCRIPTION " device_description="

/* A run: one program on one device with one seed. Strings are borrowed. */
struct store_run {
    int64_t id; /* given by the store */
    const char *path, *text, *sizes, *device, *driver;
    const char *libraries; /* of the evaluator, with versions; "" in runs of schema version 1 */
    const char *settings;  /* everything else that determines the search: heuristic, order, pins, ... */
    uint64_t fingerprint, seed;
};

/* One evaluation. Strings are borrowed. */
struct store_evaluation {
    int64_t number;      /* 1, 2, ... in the order of drawing; 0: the naive one, -1, -2, ...: the plain ones,
                            -101, -102, ...: the learned ones (learn.h) */
    const char *label;   /* "naive", "plain: ...", "learned 1"; "": drawn, or of a version without labels */
    uint64_t drawn;      /* implementations drawn when the result was reported */
    uint64_t draws;      /* draws until then, including those without an implementation; 0: not known */
    unsigned rollouts;   /* that draws make at most from then on; 0: as many as the policies wish */
    uint64_t state_hash; /* of the canonical vector */
    const char *actions; /* store_actions_print() */
    const char *decisions; /* of `tune --space`, as JSON: {"tile": 8, "staged": "YES"}; else "" */
    const char *numbers;   /* that the command of `tune --space` printed beside the time, as JSON:
                              {"gflops": 12.5}; else "" */
    const char *status;    /* eval_status_name(), "duplicate" or "oversized" */
    double median_ns;      /* status "ok" only */
    const double *samples; /* ns */
    unsigned n_samples;
    uint64_t kernel_hash;
    const char *message;
    int64_t agent;         /* that measured it: store_agent_add(); 0: not known; not read back */
    const char *resources; /* JSON: {"local_bytes":0,"private_bytes":0,"most_items":0}; "": not known */
    double found_at;       /* seconds since the run began */
    /* Its time in the final rounds. Only read here: store_figures_set() writes it. */
    struct figure quoted;
};

/* Opens a store to record in it. `create`: a missing or empty file becomes a store. A store of an earlier
 * version is upgraded. NULL after an error: not a database, a database of another application or of a later
 * version, damaged, no write access. */
struct store *store_open(const char *path, bool create, struct diag *d);
/* Opens a store to read it. This needs no write access and changes neither the file nor its folder. A store
 * of an earlier version reads as if it had been upgraded. Reading fails if another process writes to a store
 * that is read without locks (store_open.c). NULL after an error. */
struct store *store_open_to_read(const char *path, struct diag *d);
void store_close(struct store *s); /* NULL is allowed */

/* A run has one owner: the process that records in it, until store_close() or until the process ends. Other
 * processes may record other runs in the same store. */

/* Adds a run, sets run->id, and makes this process its owner. */
bool store_run_add(struct store *s, struct store_run *run, struct diag *d);
/* Finds the last run with run's fingerprint, device, seed and settings, sets run->id, and makes this process
 * its owner. An error names those in which the store's last run differs, or the process that owns the run. */
bool store_run_resume(struct store *s, struct store_run *run, struct diag *d);
/* Whether a process records in the run now: as far as this machine can tell. false after an error, too. */
bool store_run_is_owned(struct store *s, int64_t run, struct diag *d);
/* The process that records in a run now. */
enum { STORE_HOST = 128 };
struct store_owner {
    int64_t pid; /* 0: none */
    bool here;   /* it runs on this machine */
    char host[STORE_HOST];
};
/* false after an error. */
bool store_run_owner(struct store *s, int64_t run, struct store_owner *out, struct diag *d);
/* Records an evaluation of a run that this process owns and returns when it is in the log. A number that the
 * run has already is not changed, so that repeated results are harmless. false after an error: the store
 * cannot be written, or another process has taken the run over. The store then has all earlier evaluations
 * and nothing of this one. */
bool store_add(struct store *s, int64_t run, const struct store_evaluation *e, struct diag *d);

/* A batch: what is recorded of the run between the two calls is one transaction, which costs little more than
 * that of one row. It is in the log when store_commit() has returned true; after a false nothing of it is.
 * After an error of one call the others of the batch do nothing, and store_commit() returns false. An open
 * batch keeps other processes from writing: nobody waits or searches in between. After a false of
 * store_begin() no batch is open. */
bool store_begin(struct store *s, int64_t run, struct diag *d);
bool store_commit(struct store *s, struct diag *d);

/* Whether the last error of the store was that there is no room on the disk: the same call may succeed later.
 */
bool store_is_full(const struct store *s);

/* A quoted time: a contender of a run's final rounds. Strings and times are borrowed. */
struct store_figure {
    const char *label;    /* "search", "naive", "plain: ...", "learned 1", "baseline mm.cl:matmul" */
    int64_t number;       /* of its evaluation */
    struct figure figure; /* of its rounds, or, if it was measured in none, of the search */
    const double *times;  /* ns, one a round; NAN: not measured in that round */
    unsigned n_times;
    const char *actions; /* store_actions_print() */
};
/* Records the contenders of a run's final rounds, the winner first, and returns when they are in the log.
 * They replace those that the run had. */
bool store_figures_set(struct store *s, int64_t run, const struct store_figure *figures, unsigned n,
                       struct diag *d);
/* Visits them, the winner first, until `visit` returns false. false after an error. */
typedef bool (*store_figure_visitor)(void *context, const struct store_figure *f);
bool store_each_figure(struct store *s, int64_t run, store_figure_visitor visit, void *context,
                       struct diag *d);

/* A candidate that the lower bound pruned. Strings are borrowed. */
struct store_cut {
    const char *candidate; /* its decisions in order; the last one raised the bound to the limit */
    double bound_ns, cut_ns;
    const char *reason; /* perfmodel_explain() */
};
/* Records it, unless the run has the candidate already. */
bool store_cut_add(struct store *s, int64_t run, const struct store_cut *c, struct diag *d);
/* Visits the pruned candidates of the store's last run in order of recording, until `visit` returns false.
 * false after an error. */
typedef bool (*store_cut_visitor)(void *context, const struct store_cut *c);
bool store_each_cut(struct store *s, store_cut_visitor visit, void *context, struct diag *d);

/* A row with its run. Strings and samples are valid during the call. Returns false to stop. */
typedef bool (*store_visitor)(void *context, const struct store_run *run, const struct store_evaluation *e);
/* Visits the evaluations of a run in order of recording; run 0: of all runs, one after the other. false after
 * an error. */
bool store_each(struct store *s, int64_t run, store_visitor visit, void *context, struct diag *d);
/* The same for one run, without the drawn ones in its first `rows` rows. */
bool store_each_after(struct store *s, int64_t run, uint64_t rows, store_visitor visit, void *context,
                      struct diag *d);
/* How many rows a run has, and a hash of the last of its first `rows` ones (0: it has not so many). */
bool store_run_rows(struct store *s, int64_t run, uint64_t rows, uint64_t *n, uint64_t *hash, struct diag *d);
/* Visits the best valid evaluation of the last run's problem on its device, from all runs: the winner of
 * final rounds with the lowest quoted time or, if no run has final rounds, the evaluation with the lowest
 * time of the search. *found: there is one. */
bool store_best(struct store *s, store_visitor visit, void *context, bool *found, struct diag *d);
/* Visits the evaluation with that number of the last run that has it. */
bool store_number(struct store *s, int64_t number, store_visitor visit, void *context, bool *found,
                  struct diag *d);
/* Visits a run's naive implementation, if it was measured. */
bool store_naive(struct store *s, int64_t run, store_visitor visit, void *context, bool *found,
                 struct diag *d);

/* ---- attempts ---- */

/* Records that a candidate is about to be measured, and returns when that is in the log. store_add() removes
 * it again. false after an error, as in store_add(). */
bool store_attempt_add(struct store *s, int64_t run, int64_t number, uint64_t state_hash, struct diag *d);
/* Ends the open attempt of that number: "lost" or "returned"; the agent that had it, 0: not known. */
bool store_attempt_end(struct store *s, int64_t run, int64_t number, const char *outcome, int64_t agent,
                       struct diag *d);
/* Ends all open attempts of a run: "returned", or "died" (with the coordinator). */
bool store_attempts_end(struct store *s, int64_t run, const char *outcome, struct diag *d);
/* Visits the candidates of a run with lost attempts: how often an agent was lost, and the coordinator died.
 */
typedef void (*store_loss_visitor)(void *context, uint64_t state_hash, unsigned lost, unsigned died);
bool store_each_loss(struct store *s, int64_t run, store_loss_visitor visit, void *context, struct diag *d);

/* ---- agents ---- */

/* An agent as it introduced itself. Strings are borrowed. */
struct store_agent {
    const char *name, *host, *device, *driver, *libraries;
};
/* Adds an agent that has connected. Returns its id; 0 after an error. */
int64_t store_agent_add(struct store *s, const struct store_agent *a, struct diag *d);
/* Its state ("working", "idle", "left", "lost", "refused", "done"), the jobs that it has, the results that it
 * has sent. */
bool store_agent_update(struct store *s, int64_t id, const char *state, int64_t running, int64_t results,
                        struct diag *d);
/* Something that happened, now: to an agent, 0: to none. */
bool store_event_add(struct store *s, int64_t run, int64_t agent, const char *kind, const char *message,
                     struct diag *d);
/* The driver that a run was begun with, in n bytes; "" after an error. */
bool store_run_driver(struct store *s, int64_t run, char *driver, size_t n, struct diag *d);

/* What the message of a crashed search says about its results; `store` is its --store, or NULL. */
const char *store_note(const char *store);

struct space_action;
/* Text form of a list of actions; malloc'd. */
char *store_actions_print(const struct space_action *actions, size_t n);
/* Reads it back, malloc'd; false: the text is malformed. */
bool store_actions_parse(const char *text, struct space_action **actions, size_t *n);

#endif
