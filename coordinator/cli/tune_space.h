/* thresh tune --space: the search in any space, each candidate evaluated by the user's program. */
#ifndef THRESH_CLI_TUNE_SPACE_H
#define THRESH_CLI_TUNE_SPACE_H

#include "coordinator/cli/cli.h"

/* Runs it and prints what it found. Returns the exit status. */
int cli_tune_space(const struct cli_args *a);

#endif
