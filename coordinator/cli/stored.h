/* The stored implementation that a subcommand is about: a best.json, or an evaluation of a store that --best
 * or
 * --number names. */
#ifndef THRESH_CLI_STORED_H
#define THRESH_CLI_STORED_H

#include "coordinator/best.h"
#include "coordinator/cli/cli.h"

/* Loads the implementation that the first argument and the options name. `out` is cleared by
 * best_file_clear(), also after an error (false). */
bool cli_stored_load(const struct cli_args *a, struct best_file *out, struct diag *d);
/* Says on standard error that the text with that hash is not the one that was measured, if it is not. */
void cli_stored_note_text(const struct best_file *b, uint64_t hash);

#endif
