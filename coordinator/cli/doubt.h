/* Outputs that cannot be verified: they are infinite or NaN in the reference, or smaller than their rounding
 * errors. For example "error: 3 of 64 outputs are infinite or NaN in the reference ...", exit status 1. */
#ifndef THRESH_CLI_DOUBT_H
#define THRESH_CLI_DOUBT_H

#include "agent/verify.h"
#include "coordinator/cli/cli.h"

/* Adds a message about these outputs to d: an error if more than 1 % of the outputs are not finite and
 * --allow-nonfinite is not given, else a warning. Returns the exit status: `status`, or CLI_FAILED in place
 * of CLI_OK after such an error. */
int cli_doubt_status(const struct cli_args *a, const struct verify_doubt *x, int status, struct diag *d);
/* Adds the counts to a JSON object: outputs, not_finite, loose. All are 0 if nothing was verified. */
void cli_add_doubt(json_t *o, const struct verify_doubt *x);

#endif
