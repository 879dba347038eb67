/* A space from the command line: FILE.space or a compiled FILE.so, with its instance. */
#ifndef THRESH_CLI_SPACE_OPEN_H
#define THRESH_CLI_SPACE_OPEN_H

#include "coordinator/cli/cli.h"
#include "core/base/arena.h"
#include "core/space/def.h"
#include "core/space/space.h"

/* Zero-initialise; release with cli_space_close(). */
struct cli_space {
    struct arena *arena;
    char *text, *json;
    struct source source;
    const struct model *model; /* of a .space file; NULL: it was loaded */
    void *library;
    const struct space_def *def;
    struct space_data *data;
    struct space *space;
};

/* Whether it is named like one: FILE.space or FILE.so. */
bool cli_is_space(const char *path);
/* Compiles or loads the file: sets `def`. Prints the compiler's warnings on standard error at once. false
 * after an error. */
bool cli_space_load(const char *path, struct cli_space *out, struct diag *d);
/* Joins it with --data and --param: sets `space`. Without --data each set has as many objects as the first
 * parameter says, named by their numbers, which are also their property `index`. */
bool cli_space_instantiate(const struct cli_args *a, struct cli_space *o, struct diag *d);
void cli_space_close(struct cli_space *o);

#endif
