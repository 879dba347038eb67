/* thresh lift run; lift.c has the other verbs. */
#ifndef THRESH_CLI_LIFT_RUN_H
#define THRESH_CLI_LIFT_RUN_H

#include "coordinator/cli/cli.h"

struct lift_program;

/* Interprets a bound program on the inputs that the options name, and prints its result or writes it to
 * --output. What it needs lives in the arena. */
void cli_lift_run(const struct cli_args *a, const struct lift_program *p, struct arena *arena,
                  struct diag *d);

#endif
