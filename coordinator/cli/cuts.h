/* The candidates that the lower bound pruned in a search, for `thresh explain STORE.db --cuts`. */
#ifndef THRESH_CLI_CUTS_H
#define THRESH_CLI_CUTS_H

#include "coordinator/cli/cli.h"

/* Prints the pruned candidates of the store's last run with the reasons; returns the exit status. */
int cli_cuts(const struct cli_args *a);

#endif
