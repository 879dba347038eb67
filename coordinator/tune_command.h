/* A search in any space, each candidate measured by the user's program, or by recorded timings: a session
 * (session.h) without agents, contenders and bound. For example
 *
 *     thresh tune --space tiles.space --command './bench {x} {y}'
 *
 * runs ./bench 4 NO, ./bench 2 YES, ...; what each prints is its time. */
#ifndef THRESH_COORDINATOR_TUNE_COMMAND_H
#define THRESH_COORDINATOR_TUNE_COMMAND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "coordinator/session.h"
#include "core/space/space.h"

struct diag;

/* Strings and the root are borrowed. */
struct tune_command_options {
    const char *path, *parameters; /* of the space, for the store */
    const char *command;           /* NULL: recorded timings stand for it */
    const char *pins;              /* text; "" if none */
    const char *recorded;          /* stores whose timings stand for the command; NULL: it is run */
    const struct space_state *root;
    const char *order;          /* of choice groups; NULL: as declared */
    const char *heuristic;      /* NULL: tag with 64 rollouts an evaluation */
    uint64_t seed, evaluations; /* 0: no limit */
    double time_s;              /* 0: no limit */
    double timeout_s;           /* of one evaluation */
    double rounds_s;            /* as in session_options */
    double snapshot_s;          /* as in session_options */
    unsigned runners;           /* programs at work at once, 1 to LIMIT_RUNNERS */
    const char *store;          /* file; NULL: none */
    bool resume, quiet, verbose;
    const struct store_run *replays; /* of `store`: it is done again by tune_command_replay(); NULL: none */
    int stop_fd;                     /* readable: end early; -1: none */
};

struct tune_command_report {
    struct session_report search; /* elapsed_s: without the final rounds */
    char *best_line; /* what runs the best one, for a shell; NULL: it reads its decisions, or none */
};

/* Runs until a limit, the end of the space or an interrupt, then measures the best ones again, unless it was
 * interrupted. Warns on standard error of choices that the command does not mention. false after an error;
 * what was found stays in *out, unless the run of a store could not be taken up. */
bool tune_command(const struct tune_command_options *o, struct tune_command_report *out, struct diag *d);
/* With options.replays: does the recorded search again (session_replay()). */
bool tune_command_replay(const struct tune_command_options *o, struct session_replayed *out, struct diag *d);
void tune_command_report_clear(struct tune_command_report *r); /* frees what it holds */

#endif
