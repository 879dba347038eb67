/* One campaign: the search for the fastest implementation of one Lift program on one device. It is a session
 * (session.h) with agents or recorded timings as evaluator, and what is special about programs: the naive and
 * the plain implementations, duplicates of a kernel text, the lower bound, the verdict.
 *
 *     t = tune_new(&options, d);                 device, program, space, store; a resumed run
 *     tune_search(t, d); tune_quote(t, d);       the search; the final rounds
 *     tune_report(t)->search.contenders[0]       the winner
 *
 * Without `listen` one agent runs in a thread of this process. */
#ifndef THRESH_COORDINATOR_TUNE_H
#define THRESH_COORDINATOR_TUNE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/given.h"
#include "agent/device.h"
#include "core/pipeline/problem.h"
#include "agent/verify.h"
#include "coordinator/session.h"
#include "coordinator/work.h"

struct diag;
struct fleet;
struct strbuf;
struct tune;

/* Strings are borrowed. */
/* The default heuristics (mcts/README.md). An evaluation costs more than rollouts do, and beside a GPU tens
 * of cores have nothing else to do. The effort that thrift counts is that of NVIDIA's compiler, on any GPU.
 */
#define TUNE_HEURISTIC_GPU                                                                                   \
    "tag:draws=400,generations=8,batch=16,fastest=0.3,focus=0.5,imitate=0.9,jump=1,thrift=0.5"
#define TUNE_HEURISTIC_CPU "tag:draws=32,generations=4,slow=16,redraws=4"

struct tune_options {
    const char *path, *text, *sizes;
    const char *device;           /* selector; NULL: the first */
    unsigned runners;             /* of the embedded agent; 0: as evaluator_runners_for() says */
    const char *const *baselines; /* the user's own kernels, as baseline.h reads them */
    unsigned n_baselines;
    struct given_files data; /* the user's; what it does not name is generated */
    const char *heuristic;   /* NULL: TUNE_HEURISTIC_GPU or _CPU, by the device */
    const char *order;       /* of choice groups; NULL: as declared */
    const char *const *pins;
    unsigned n_pins;
    uint64_t seed, evaluations; /* 0: no limit */
    uint64_t used;              /* of the evaluations, by the run that is resumed, if that is known */
    double time_s;              /* 0: no limit */
    struct session_until until;
    const char *const *learn_from; /* stores whose best implementations are measured first (learn.h) */
    unsigned n_learn_from;
    bool no_bound, no_prior, resume, quiet, verbose;
    const char *description;         /* of the device, a file; NULL: found by the device's name */
    double distance;                 /* improvements smaller than this share are ignored */
    double audit_cuts;               /* share of the draws that look below cuts of the bound, to audit it */
    const char *store;               /* file; NULL: none */
    bool private_store;              /* it is ours alone: results do not name it */
    const char *listen;              /* endpoint for agents; NULL: embedded */
    struct fleet *fleet;             /* whose agents measure, with other searches'; NULL: none; borrowed */
    const char *keys;                /* folder of keys for a tcp:// endpoint; NULL: none */
    const char *recorded;            /* stores whose timings stand for the device; NULL: it is measured */
    const struct device *stands_for; /* their device, as its description tells it; that of `replays` */
    const struct store_run *replays; /* of `store`: it is done again by tune_replay(); NULL: none */
    int stop_fd;                     /* readable: end early; -1: none */
    size_t most_text_bytes;          /* longer texts are not measured; 0: the default */
    double snapshot_s;               /* as in session_options */
    double rounds_s;                 /* budget of the final rounds; 0: as session_options says */
    unsigned threads;                /* that draw; 0: as session_options says; at most LIMIT_DRAW_THREADS */
    uint64_t patience; /* ends after so many in a row that are not measured; 0: LIMIT_PATIENCE */
    struct bb_options lowering;
};

/* How the result is to be judged. Shares are of the winner's figure. */
struct tune_verdict {
    struct work work;     /* of the program */
    double bound_ns;      /* of every implementation that the pins allow; 0: unknown */
    double best_bound_ns; /* of the winner itself; 0: unknown */
    double share;         /* bound_ns over the figure: at 1 nothing can be faster; 0: unknown */
    double
        memory_share;  /* bytes of the work in that time, of the memory's bandwidth; 0: unknown, or cached */
    bool gains_little; /* less than LIMIT_GAIN over the naive implementation */
    char *advice;      /* what would help then, in sentences; NULL: nothing to say */
};

/* One of the user's own kernels. It is compared in the final rounds, and cannot win: it has no decisions. */
struct tune_baseline {
    const char *label;        /* "baseline mm.cl:matmul" */
    const char *status, *why; /* of its verification; why: it is not compared; NULL: it is */
    struct session_pick pick; /* with its figure after tune_quote() */
    double speedup;           /* how many times as fast the winner is; 0: not known */
};

struct tune_report {
    struct session_report search; /* counts, the best ones, the contenders of the final rounds */
    struct session_pick naive;    /* search_ns 0: it was not measured */
    const char *naive_why;        /* why not: its status; NULL: it was, or it was not tried */
    bool naive_excluded;          /* the pins do: it is compared, and cannot win */
    int64_t naive_repeats;        /* bb_naive_repeats() */
    unsigned n_plain;
    struct session_pick plain[BB_MAX_PLAIN];
    unsigned n_learned;
    struct session_pick learned[LIMIT_LEARNED];
    unsigned n_baselines;
    struct tune_baseline baselines[LIMIT_BASELINES];
    struct tune_verdict verdict; /* after tune_quote() */
    uint64_t violations;         /* measured times below the bound, by more than LIMIT_BOUND_NOISE */
    uint64_t reopened;           /* nodes of the tree that violations opened again */
    struct verify_doubt doubt;   /* outputs that an agent's reference does not verify; outputs 0: none */
};

/* What decides a search beside program, sizes, device and seed, as the settings of its run begin; a hash of
 * the user's data (STORE_FILES) and one of the device's description, where there is a lower bound
 * (STORE_DESCRIPTION), follow. */
void tune_print_settings(const struct tune_options *o, struct strbuf *out);
/* What they say of the user's data; nothing where there are none. */
void tune_print_data(const struct given_files *f, struct strbuf *out);
/* Checks the input, opens the store, takes up what it has of a run to be resumed, and waits for the first
 * agent. NULL after errors. */
struct tune *tune_new(const struct tune_options *o, struct diag *d);
/* With options.replays: does the recorded search again (session_replay()); tune_search() is not called. */
bool tune_replay(struct tune *t, struct session_replayed *out, struct diag *d);
/* Searches until the budget, the space or the patience ends, or the user interrupts (stop_fd). What agents
 * are at when the time is over is waited for, LIMIT_GRACE_S at most. false after an error; what was found
 * stays. */
bool tune_search(struct tune *t, struct diag *d);
/* Ends a search: the final rounds (session_finals()) with the naive implementation and the plain ones, and
 * the verdict. false after an error of the store. */
bool tune_quote(struct tune *t, struct diag *d);
const struct tune_report *tune_report(struct tune *t);
/* Writes the winner's best.json, best.cl and host.c into `dir`. false after an error: there is no winner,
 * which is said unless the search was interrupted, or a file cannot be written. */
bool tune_write(struct tune *t, const char *dir, struct diag *d);
/* The object of that best.json; a new reference. NULL after the same errors. */
json_t *tune_result(struct tune *t, struct diag *d);
const struct problem *tune_problem(const struct tune *t);
const struct device *tune_device(const struct tune *t);
/* given_text() of the user's data; NULL: there are none. */
const char *tune_data(const struct tune *t);
void tune_free(struct tune *t); /* NULL is allowed */

#endif
