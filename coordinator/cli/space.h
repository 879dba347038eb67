/* The verbs of `thresh space`, each in a file of its own. */
#ifndef THRESH_CLI_SPACE_H
#define THRESH_CLI_SPACE_H

#include "coordinator/cli/space_open.h"

/* A verb gets the loaded space; those that need the instance call cli_space_instantiate(). */
int space_compile_verb(const struct cli_args *a, struct cli_space *o, struct diag *d);
int space_describe_verb(const struct cli_args *a, struct cli_space *o, struct diag *d);
int space_count_verb(const struct cli_args *a, struct cli_space *o, struct diag *d);
int space_enumerate_verb(const struct cli_args *a, struct cli_space *o, struct diag *d);
int space_sample_verb(const struct cli_args *a, struct cli_space *o, struct diag *d);
int space_descend_verb(const struct cli_args *a, struct cli_space *o, struct diag *d);

#endif
