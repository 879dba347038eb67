/* What the reference of a program cannot verify, as subcommands say it and as it decides their exit status.
 */
#ifndef THRESH_CLI_DOUBT_H
#define THRESH_CLI_DOUBT_H

#include "agent/verify.h"
#include "coordinator/cli/cli.h"

/* Adds what is in doubt to d: as an error if it is more than 1 % of the outputs and --allow-nonfinite is not
 * given, else as a warning. Returns the exit status: `status`, or CLI_FAILED in place of CLI_OK. */
int cli_doubt_status(const struct cli_args *a, const struct verify_doubt *x, int status, struct diag *d);
/* Adds the counts to a JSON object: outputs, not_finite, loose. All 0: nothing was verified. */
void cli_add_doubt(json_t *o, const struct verify_doubt *x);

#endif
