/* thresh lift check. */
#ifndef THRESH_CLI_LIFT_CHECK_H
#define THRESH_CLI_LIFT_CHECK_H

#include "coordinator/cli/cli.h"

/* Checks the program of `a`, and prints what it has and what limits it. Errors go to d. */
void cli_lift_check(const struct cli_args *a, struct diag *d);

#endif
