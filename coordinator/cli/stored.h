/* The stored implementation that the command line names: a best.json, or an evaluation of a store, selected
 * by
 * --best or --number.
 *
 *     thresh replay best.json
 *     thresh explain runs.db --number 17 */
#ifndef THRESH_CLI_STORED_H
#define THRESH_CLI_STORED_H

#include "coordinator/best.h"
#include "coordinator/cli/cli.h"

/* Loads the implementation that the first argument and the options name. false after an error. Release `out`
 * with best_file_clear() in both cases. */
bool cli_stored_load(const struct cli_args *a, struct best_file *out, struct diag *d);
/* The object of the best.json that the first argument names, if it is one of a sequence of kernels
 * (coordinator/sequence/file.h), a new reference. NULL: it is not, or it cannot be read, which
 * cli_stored_load() reports. */
json_t *cli_stored_sequence(const struct cli_args *a);
/* Prints a note on standard error if the OpenCL text with that hash is not the one that was measured. */
void cli_stored_note_text(const struct best_file *b, uint64_t hash);

#endif
