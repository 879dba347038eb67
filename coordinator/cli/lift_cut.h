/* thresh lift cut: where a program may be cut, and the parts of a sequence. */
#ifndef THRESH_CLI_LIFT_CUT_H
#define THRESH_CLI_LIFT_CUT_H

#include "coordinator/cli/cli.h"
#include "core/lift/lift.h"

/* Prints the cuts of a bound program and the sequence that --cut names; without it that of all cuts that
 * compute. */
void cli_lift_cut(const struct cli_args *a, const struct lift_program *p, struct arena *arena,
                  struct diag *d);

#endif
