/* What the lower bound left out of a search, for `thresh explain STORE.db --cuts`. */
#ifndef THRESH_CLI_CUTS_H
#define THRESH_CLI_CUTS_H

#include "coordinator/cli/cli.h"

/* Prints the cuts of the store's last run with their reasons; returns the exit status. */
int cli_cuts(const struct cli_args *a);

#endif
