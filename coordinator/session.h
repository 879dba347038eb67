/* A search session: draws candidates of a space from the search tree, has them measured, stores each result
 * and then reports it to the tree, until a budget, the space or the user ends it. The same session serves a
 * Lift program on a device (tune.c) and any space with a user's command (tune_command.c). What differs is
 * behind two tables of functions: the evaluator measures (evaluator.h), the subject knows what is special
 * about the candidates (below).
 *
 *     s = session_new(&setup, d);            tree, store, run
 *     session_add(s, job) ...                contenders that need no search: measured first
 *     session_restore(s, d);                 with --resume
 *     session_search(s, d);                  the loop
 *     session_finals(s, rivals, n, d);       measures the best again; chooses the winner
 *     session_report(s) -> top, contenders
 *
 * session_replay() stands in place of the last three: it does a recorded search again and compares.
 *
 * A result is in the store before it counts. With the seed, drawing and reporting in the recorded order
 * rebuilds the tree exactly: that is how a run is resumed. Long runs have snapshots beside the store, so that
 * only what came after the last one is repeated (session_snapshot.c). */
#ifndef THRESH_COORDINATOR_SESSION_H
#define THRESH_COORDINATOR_SESSION_H

#include <uthash.h>

#include "coordinator/evaluator.h"
#include "coordinator/figure.h"
#include "coordinator/limits.h"
#include "core/backbone/backbone.h"
#include "mcts/tree.h"

struct archive;
struct diag;
struct progress;
struct session;

/* A candidate between being drawn and being reported. Contenders, which need no search, have numbers below 1
 * and no descent but its hash; number 0 is the baseline that results are compared with. */
struct session_job {
    int64_t number;
    const char *label; /* of a contender, borrowed; NULL: it was drawn */
    struct mcts_descent descent;
    struct space_state *leaf;     /* owned */
    struct space_action *actions; /* that lead to it, owned; NULL: the descent's */
    size_t n_actions;
    uint64_t kernel_hash;            /* of its text; 0: none, or not known yet */
    double bound_ns;                 /* lower bound of the candidate; 0: none */
    bool audited;                    /* it was drawn below a cut */
    bool judged;                     /* it is worth measuring */
    bool counted;                    /* in the budget */
    bool started;                    /* the evaluator has it */
    bool taken;                      /* its result is to be stored */
    unsigned lost;                   /* times that the evaluator lost it */
    struct session_job *prev, *next; /* in the order of drawing */
    UT_hash_handle hh;               /* by number */
};

/* The actions that lead to its leaf; borrowed. */
const struct space_action *session_job_actions(const struct session_job *job, size_t *n);

/* What is special about the candidates of a search. Functions may be NULL; `self` is theirs. */
struct session_subject {
    /* Draws instead of mcts_tree_next(): candidate `number` of the run. *audited says that it is below a cut.
     */
    enum mcts_status (*draw)(void *self, struct mcts_tree *tree, uint64_t number,
                             struct mcts_descent *descent, bool *audited);
    /* Completes a job that was just drawn: bound_ns, actions. */
    void (*drawn)(void *self, struct session_job *job);
    /* A job whose judgement is put off until the next one is drawn: what takes time may begin, on another
     * thread. The job is judged, or the subject is freed before the session. */
    void (*judge_later)(void *self, const struct session_job *job);
    /* Looks at a job before it is measured and sets kernel_hash. NULL: it is to be measured; else the status
     * that it gets instead ("duplicate", "oversized", "cut", ...), with the reason in why (n bytes). best_ns
     * as in evaluator.h. */
    const char *(*judge)(void *self, struct session_job *job, double best_ns, char *why, size_t n);
    /* A job's result was read from the store, not measured; called before `reported`. */
    void (*restored)(void *self, const struct session_job *job, const struct store_evaluation *e);
    /* A result counts now. The tree knows those of what it drew. */
    void (*reported)(void *self, const struct session_job *job, const struct store_evaluation *e);
    /* For snapshots: writes all that follows from results and judgements, or reads it. */
    void (*archive)(void *self, struct archive *a);
    /* A job that was judged before the snapshot is to be judged again. */
    void (*unjudge)(void *self, const struct session_job *job);
};

/* Ends a search when so many evaluations in a row have not made the best time shorter by more than a share:
 * {0.02, 200} is "within 2 % for 200 evaluations". The time to beat is the best one when the count began, of
 * contenders too. */
struct session_until {
    double within;        /* share */
    uint64_t evaluations; /* 0: no such rule */
};

/* Strings are borrowed. */
struct session_options {
    const char *heuristic;      /* NULL: tag */
    const char *order;          /* of choice groups; NULL: as declared */
    const char *store;          /* file; NULL: none */
    uint64_t seed, evaluations; /* 0: no limit */
    uint64_t patience;          /* 0: LIMIT_PATIENCE */
    unsigned threads;           /* that draw; 0: one for each core, LIMIT_DRAW_THREADS at most */
    struct session_until until;
    double time_s;   /* 0: no limit */
    double grace_s;  /* for what is at work when the time is over; INFINITY: it has a time limit of its own */
    double rounds_s; /* budget of the final rounds; 0: LIMIT_ROUNDS_S or LIMIT_ROUNDS_SHARE */
    double snapshot_s; /* of drawing between two snapshots; 0: LIMIT_SNAPSHOT_S */
    bool resume, verbose;
    bool
        replays; /* session_replay(): the run, whose id the set-up has, is only read; the evaluator is NULL */
    bool names_decisions; /* rows of the store have the decisions by name: there is no program to tell them */
    int stop_fd;          /* readable: end early; -1: none */
};

/* Pointers are borrowed until session_free(). */
struct session_setup {
    struct session_options options;
    const struct space_state *root; /* with the pins */
    struct mcts_config config;      /* bound, prior, cuts; seed, order and stop are set by the session */
    struct store_run run;           /* all but its id, which the store gives */
    struct progress *progress;
    const struct session_evaluator *evaluator;
    void *evaluator_self;
    const struct session_subject *subject;
    void *subject_self;
};

/* A candidate that may win: found by the search, or a contender. Owns actions, leaf and numbers. */
struct session_pick {
    const char *label; /* "search", or the contender's; lives as long as the session */
    int64_t number;    /* of its evaluation */
    struct space_action *actions;
    size_t n_actions;
    struct space_state *leaf;
    double search_ns;     /* median of the search's samples */
    char *numbers;        /* what a command printed beside the time, as JSON; "": nothing */
    struct figure figure; /* of the final rounds; of the search where there were none */
    uint64_t found_at;    /* evaluations when it was found; 0: it was not searched for */
};

/* Of a measured job. session_pick_clear() frees what it owns. */
struct session_pick session_pick_of(const struct session_job *job, const struct store_evaluation *e);
void session_pick_clear(struct session_pick *p);

/* A contender that takes part in the final rounds beside the best of the search. */
struct session_rival {
    const struct session_pick *pick;
    bool may_win;
};

enum {
    SESSION_CONTENDERS = LIMIT_TOP + BB_MAX_PLAIN + LIMIT_LEARNED + LIMIT_BASELINES + 1,
    SESSION_FAILURE = 640
};

struct session_report {
    uint64_t evaluations, ok, failed, cut;   /* of drawn candidates; ok + failed + cut = evaluations */
    uint64_t duplicates, oversized;          /* drawn and not measured */
    uint64_t audited;                        /* measured although the bound had left them out */
    uint64_t nodes, by_cause[MCTS_N_CAUSES]; /* of the tree; mcts_stats.nodes */
    double dead_end_ratio;
    unsigned n_top;
    struct session_pick top[LIMIT_TOP]; /* of the search, by its times, the fastest first */
    unsigned n_contenders;              /* 0: nothing valid was found; after session_finals() */
    struct session_pick contenders[SESSION_CONTENDERS]; /* the winner first; what they own is the others' */
    struct figure baseline;                             /* of number 0; none if it was not measured */
    struct figure_ratio speedup;                        /* baseline over winner */
    bool quoted;                                        /* there were final rounds */
    bool interrupted, exhausted;
    bool stuck;   /* nothing new was found in very many descents, although the space is not exhausted */
    bool barren;  /* `patience` candidates in a row were not worth measuring */
    bool settled; /* the best has not improved for as long as `until` says */
    double elapsed_s;
    char last_failure[SESSION_FAILURE]; /* "status: message" of the last failed evaluation; "": none */
};

/* How many threads may draw in each of so many searches at once, on this machine. */
unsigned session_threads(unsigned searches);
/* Loads the heuristic, opens the store and finds or adds the run. NULL after an error. */
struct session *session_new(const struct session_setup *setup, struct diag *d);
void session_free(struct session *s); /* NULL is allowed */
/* Adds a contender, which is measured before anything is drawn. Takes the job (base_calloc()). */
void session_add(struct session *s, struct session_job *job);
/* With options.resume: reports what the store has of the run. false after an error or an interrupt. */
bool session_restore(struct session *s, struct diag *d);
/* A recorded search that was done again. */
struct session_replayed {
    uint64_t rows;  /* evaluations that the run has */
    uint64_t same;  /* of which so many, from the first one on, are of the candidates that were drawn now */
    uint64_t drawn; /* candidates */
    int64_t number; /* of the first evaluation that differs */
    char difference[SESSION_FAILURE]; /* how it differs; "": it does not, same == rows */
};
/* With options.replays: draws again what the run drew, and gives the tree the results that the store has, in
 * their order. Nothing is measured or written. false after an error or an interrupt. */
bool session_replay(struct session *s, struct session_replayed *out, struct diag *d);
/* Searches. false after an error; what was found stays. */
bool session_search(struct session *s, struct diag *d);
/* Measures the best of the search and the rivals again, where that is possible, sorts them and stores their
 * figures. false after an error: of the store, and the times of the search decide then, or of the evaluator,
 * and what it had measured counts. */
bool session_finals(struct session *s, const struct session_rival *rivals, unsigned n, struct diag *d);
const struct session_report *session_report(struct session *s);
/* The same, of a session that is at its end; the caller clears it. */
struct session_report session_take_report(struct session *s);
void session_report_clear(struct session_report *r); /* leaves it zero */

/* The store and the id of its run; NULL: none. The session owns it. */
struct store *session_store(struct session *s, int64_t *run);

/* ---- for subjects ---- */

double session_elapsed(const struct session *s); /* seconds, with those of the run that is resumed */
/* A time that candidates have to beat, known from a contender. */
void session_known_time(struct session *s, double ns);
/* The search learns from a contender, a leaf, and its time, > 0. */
void session_teach(struct session *s, const struct space_state *leaf, double ns);
/* The bound has changed and nodes of the tree may be open again: the search goes on. */
uint32_t session_take_bounds(struct session *s);
/* Records a cut of the tree, if there is a store. */
void session_note_cut(struct session *s, const struct store_cut *cut);

#endif
