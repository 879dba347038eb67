/* The evaluator that runs a user's command for each candidate (command.h): several at once in the search, one
 * at a time in the final rounds. */
#ifndef THRESH_COORDINATOR_COMMAND_RUNNERS_H
#define THRESH_COORDINATOR_COMMAND_RUNNERS_H

#include "coordinator/command.h"
#include "coordinator/evaluator.h"

struct command_runners;

/* At most `runners` programs are at work at once, 1 to LIMIT_RUNNERS, each for timeout_s at most. stop_fd:
 * readable ends a wait; -1: none. Borrows the command. */
struct command_runners *command_runners_new(const struct command *c, unsigned runners, double timeout_s,
                                            int stop_fd);
void command_runners_free(struct command_runners *r); /* kills what is at work; NULL is allowed */

extern const struct session_evaluator command_evaluator; /* self: struct command_runners */

#endif
