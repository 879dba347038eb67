/* A search in any space, each candidate evaluated by the user's program: the tree, the heuristics and the
 * store of a campaign, without agents. Several candidates may be evaluated at once. */
#ifndef THRESH_COORDINATOR_TUNE_COMMAND_H
#define THRESH_COORDINATOR_TUNE_COMMAND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "coordinator/figure.h"
#include "core/space/space.h"
#include "mcts/tree.h"

struct diag;

enum {
    TUNE_COMMAND_RUNNERS = 256,
    TUNE_COMMAND_TOP = 5,
    TUNE_COMMAND_ROUNDS = 11,     /* in which the best ones run again, */
    TUNE_COMMAND_LEAST_ROUNDS = 3 /* at least so many however long they take */
};

/* Strings and the root are borrowed. */
struct tune_command_options {
    const char *path, *parameters; /* of the space, for the store */
    const char *command;           /* NULL: recorded timings stand for it */
    const char *pins;              /* text; "" if none */
    const char *recorded;          /* stores whose timings stand for the command; NULL: it is run */
    const struct space_state *root;
    const char *order;          /* of choice groups; NULL: as declared */
    const char *heuristic;      /* NULL: tag */
    uint64_t seed, evaluations; /* 0: no limit */
    double time_s;              /* 0: no limit */
    double timeout_s;           /* of one evaluation */
    unsigned runners;           /* programs at work at once, 1 to TUNE_COMMAND_RUNNERS */
    const char *store;          /* file; NULL: none */
    bool resume, quiet, verbose;
    int stop_fd; /* readable: end early; -1: none */
};

/* One of the best candidates. */
struct tune_command_pick {
    struct space_state *leaf;
    uint64_t number;      /* of its evaluation in the store */
    uint64_t found_at;    /* evaluations when it was found */
    double search_ns;     /* its time in the search */
    char *numbers;        /* what its program printed beside the time then, as JSON; "": nothing */
    struct figure figure; /* of the rounds; of the search where there were none */
    double times[TUNE_COMMAND_ROUNDS]; /* ns; NAN: it failed in that round */
    unsigned n_times;
};

struct tune_command_report {
    uint64_t evaluations, ok, failed;
    uint64_t nodes, by_cause[MCTS_N_CAUSES]; /* of the tree; mcts_stats.nodes */
    unsigned n_top;
    struct tune_command_pick top[TUNE_COMMAND_TOP]; /* the fastest first */
    double elapsed_s, dead_end_ratio;
    bool exhausted, interrupted;
    bool stuck;             /* nothing new was found in very many descents: it ended, but is not exhausted */
    char *best_line;        /* what runs the best one, for a shell; NULL: it reads its decisions, or none */
    char last_failure[512]; /* what the last failed evaluation said */
};

/* Runs until a limit, the end of the space or an interrupt, then measures the best ones again, unless it was
 * interrupted. Warns on standard error of choices that the command does not mention. false after an error;
 * what was found stays in *out, unless the run of a store could not be taken up. */
bool tune_command(const struct tune_command_options *o, struct tune_command_report *out, struct diag *d);
void tune_command_report_clear(struct tune_command_report *r); /* frees what it holds */

#endif
