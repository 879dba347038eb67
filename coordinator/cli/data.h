/* The user's data as options: --input x=x.npy --output-reference z.npy --tolerance 1e-4. */
#ifndef THRESH_CLI_DATA_H
#define THRESH_CLI_DATA_H

#include "agent/given.h"
#include "coordinator/cli/cli.h"

#define CLI_USER_DATA CLI_TAKES(INPUT), CLI_TAKES(OUTPUT_REFERENCE), CLI_TAKES(TOLERANCE)

/* Reads the options; names are copied to the arena. false after an error: no NAME=FILE.npy, a tolerance that
 * is negative or no number. */
bool cli_read_data(const struct cli_args *a, struct arena *arena, struct given_files *out, struct diag *d);
/* "[NAME=]FILE": the name, copied to the arena, is NULL where the text has none. false after an error. */
bool cli_named_file(const char *option, const char *text, struct arena *arena, struct given_file *out,
                    struct diag *d);
/* cli_read_data(), and loads the files for a bound program. *out is NULL if none is named. false after an
 * error. */
bool cli_load_data(const struct cli_args *a, const struct lift_program *p, struct given **out,
                   struct diag *d);

/* An input that is random by a seed: what follows "NAME=random:"; NULL: it is another one. */
const char *cli_random_input(const char *text);

#endif
