/* One campaign: search for the fastest implementation of one program on one device. The coordinator owns the
 * tree and the store; agents evaluate. Without `listen` one agent runs in a thread of this process over
 * inproc://. */
#ifndef THRESH_COORDINATOR_TUNE_H
#define THRESH_COORDINATOR_TUNE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/device.h"
#include "core/pipeline/problem.h"
#include "agent/verify.h"
#include "coordinator/figure.h"
#include "coordinator/work.h"
#include "mcts/prior.h"
#include "mcts/tree.h"

struct diag;
struct tune;

/* Strings are borrowed. */
struct tune_options {
    const char *path, *text, *sizes;
    const char *device;    /* selector; NULL: the first */
    const char *heuristic; /* NULL: tag */
    const char *order;     /* of choice groups; NULL: as declared */
    const char *const *pins;
    unsigned n_pins;
    uint64_t seed, evaluations; /* 0: no limit */
    double time_s;              /* 0: no limit */
    bool no_bound, no_prior, resume, quiet, verbose;
    const char *description; /* of the device, a file; NULL: that which is found by its name */
    double distance;         /* improvements smaller than this share are ignored */
    double audit_cuts;       /* share of the draws that look below what the bound has cut, to audit it */
    const char *store;       /* file; NULL: none */
    const char *listen;      /* endpoint for agents; NULL: embedded */
    const char *recorded;    /* stores whose timings stand for the device; NULL: it is measured */
    const struct device *stands_for; /* their device, as its description tells it */
    int stop_fd;                     /* readable: end early; -1: none */
    size_t most_text_bytes;          /* longer texts are not measured; 0: 64 KiB */
    double rounds_s;   /* budget of the final rounds; 0: a tenth of the search's time, at least 10 s */
    uint64_t patience; /* ends after so many in a row that are not measured; 0: 5,000 */
    struct bb_options lowering;
};

/* An implementation that may win: found by the search, naive or plain. */
struct tune_pick {
    const char *label; /* "search", "naive", "plain: ..."; lives as long as the campaign */
    int64_t number;    /* of its evaluation: from 1, 0 the naive one, below 0 a plain one */
    struct space_action *actions;
    size_t n_actions;
    double search_ns;     /* median of the search's samples */
    struct figure figure; /* of the final rounds; of the search where there were none */
    uint64_t found_at;    /* evaluations when it was found; 0: it was not searched for */
};

enum { TUNE_TOP = 5, TUNE_ROUNDS = 11, TUNE_CONTENDERS = TUNE_TOP + BB_MAX_PLAIN + 1 };

/* How the result is to be judged. Shares are of the winner's figure. */
struct tune_verdict {
    struct work work;     /* of the program */
    double bound_ns;      /* of every implementation that the pins allow; 0: unknown */
    double best_bound_ns; /* of the winner itself; 0: unknown */
    double share;         /* bound_ns over the figure: at 1 nothing can be faster; 0: unknown */
    double
        memory_share;  /* bytes of the work in that time, of the memory's bandwidth; 0: unknown, or cached */
    bool gains_little; /* less than TUNE_GAIN over the naive implementation */
    char *advice;      /* what would help then, in sentences; NULL: nothing to say */
};
#define TUNE_GAIN 1.1

struct tune_report {
    uint64_t evaluations, ok, failed, cut, duplicates, oversized;
    uint64_t nodes, by_cause[MCTS_N_CAUSES]; /* of the tree; mcts_stats.nodes */
    unsigned n_top;
    struct tune_pick top[TUNE_TOP]; /* of the search, by its times, fastest first */
    struct tune_pick naive;         /* search_ns 0: it was not measured */
    const char *naive_why;          /* why not: its status; NULL: it was, or it was not tried */
    bool naive_excluded;            /* the pins do: it is compared, and cannot win */
    int64_t naive_repeats;          /* bb_naive_repeats() */
    unsigned n_plain;
    struct tune_pick plain[BB_MAX_PLAIN];
    unsigned n_contenders;                        /* 0: no valid implementation was found */
    struct tune_pick contenders[TUNE_CONTENDERS]; /* of all these, the winner first; after tune_quote() */
    struct tune_verdict verdict;                  /* after tune_quote() */
    struct figure_ratio speedup;                  /* naive over best */
    bool quoted;                                  /* measured again after the search */
    bool interrupted, exhausted;
    bool stuck;       /* nothing new was found in very many descents, although the space is not exhausted */
    bool barren;      /* options.patience implementations in a row were not worth measuring */
    uint64_t audited; /* measured although the bound had left them out */
    uint64_t violations; /* measured times below the bound, by more than 2 % */
    uint64_t reopened;   /* nodes of the tree that violations opened again */
    double elapsed_s, dead_end_ratio;
    struct verify_doubt doubt; /* outputs that an agent's reference does not verify; outputs 0: none */
};

/* Checks the input, opens the store, takes up what it has of a run to be resumed, and waits for the first
 * agent. NULL after errors. */
struct tune *tune_new(const struct tune_options *o, struct diag *d);
/* Searches until the budget, the space or the patience (stop_fd) ends. What agents are at when the time is
 * over is waited for, for a minute at most. false after an error; what was found stays. */
bool tune_search(struct tune *t, struct diag *d);
/* Ends a search: measures naive, plain and best found ones again, in rounds of random order, nothing else
 * running, within a budget of time; chooses the winner, stores the figures and judges them. Where rounds are
 * not possible (no agent, an interrupt, recorded timings) the times of the search decide. false after an
 * error of the store. */
bool tune_quote(struct tune *t, struct diag *d);
const struct tune_report *tune_report(struct tune *t);
const struct problem *tune_problem(const struct tune *t);
const struct device *tune_device(const struct tune *t);
void tune_free(struct tune *t); /* NULL is allowed */

#endif
