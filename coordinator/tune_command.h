/* A search in any space, each candidate evaluated by the user's program: the tree, the heuristics and the
 * store of a campaign, without agents. Several candidates may be evaluated at once. */
#ifndef THRESH_COORDINATOR_TUNE_COMMAND_H
#define THRESH_COORDINATOR_TUNE_COMMAND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/space/space.h"
#include "mcts/tree.h"

struct diag;

enum { TUNE_COMMAND_RUNNERS = 256 };

/* Strings and the root are borrowed. */
struct tune_command_options {
    const char *path, *parameters; /* of the space, for the store */
    const char *command, *pins;    /* texts; pins "" if none */
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

struct tune_command_report {
    uint64_t evaluations, ok, failed, found_at;
    uint64_t nodes, by_cause[MCTS_N_CAUSES]; /* of the tree; mcts_stats.nodes */
    double best_ns;                          /* 0: none */
    double elapsed_s, dead_end_ratio;
    bool exhausted, interrupted;
    bool stuck; /* nothing new was found in very many descents: it ended, but is not exhausted */
    struct space_state *best; /* the fastest candidate; NULL: none */
    char *best_line;          /* what runs it, for a shell; NULL: it reads its decisions */
    char last_failure[512];   /* what the last failed evaluation said */
};

/* Runs until a limit, the end of the space or an interrupt. false after an error; what was found stays in
 * *out, unless the run of a store could not be taken up. */
bool tune_command(const struct tune_command_options *o, struct tune_command_report *out, struct diag *d);
void tune_command_report_clear(struct tune_command_report *r); /* frees what it holds */

#endif
