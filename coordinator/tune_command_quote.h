/* The end of `tune --space`: the best few candidates of a search run again, in rounds of random order, one
 * program at a time. A time of the search is the least of many noisy ones; the median over rounds is not. */
#ifndef THRESH_COORDINATOR_TUNE_COMMAND_QUOTE_H
#define THRESH_COORDINATOR_TUNE_COMMAND_QUOTE_H

#include "coordinator/command.h"
#include "coordinator/tune_command.h"

struct tune_command_rounds {
    const struct command *command;
    double timeout_s; /* of one run */
    double budget_s;  /* no round begins after it, except the first TUNE_COMMAND_LEAST_ROUNDS */
    uint64_t seed;    /* of the order */
    int stop_fd;      /* readable: end early; -1: none */
};

/* Measures the picks and sorts them, the fastest first. A pick that failed in each round keeps its figure of
 * the search and comes after those that did not. */
void tune_command_quote(const struct tune_command_rounds *rounds, struct tune_command_pick *picks,
                        unsigned n);

/* Starts the program for a candidate, with its decisions in the words or on standard input. */
struct command_process *tune_command_start(const struct command *c, const struct space_state *leaf,
                                           double timeout_s);

#endif
