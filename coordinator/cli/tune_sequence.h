/* thresh tune of a program that may become a sequence of kernels: --cut. */
#ifndef THRESH_CLI_TUNE_SEQUENCE_H
#define THRESH_CLI_TUNE_SEQUENCE_H

#include "coordinator/cli/cli.h"
#include "coordinator/sequence/plan.h"
#include "coordinator/tune.h"

/* What --cut makes of the program in *plan; NULL there: it is searched as one kernel, as it would be without
 * the option. false after an error: of an option that applies to single kernels only, or of the names. */
bool cli_plan_sequence(const struct cli_args *a, const struct tune_options *o, struct sequence_plan **plan,
                       struct diag *d);
/* Searches the plan. Where the program as one kernel is best, `one` ends its search: it gets the options that
 * go on with the run. Returns the exit status. */
int cli_tune_sequence(const struct cli_args *a, struct tune_options *o, const struct sequence_plan *plan,
                      int (*one)(const struct cli_args *a, struct tune_options *o, struct diag *d),
                      struct diag *d);

#endif
