/* A space that the command line names, FILE.space or a compiled FILE.so, and its instance:
 *
 *     cli_space_load("queens.space", &o, d)     o.def: parameters, sets, choices, constraints
 *     cli_space_instantiate(a, &o, d)           o.space: with the objects of --data and values of --param */
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
    const struct model *model; /* of a .space file; NULL: a shared object */
    void *library;
    const struct space_def *def;
    struct space_data *data;
    struct space *space;
};

/* Whether the path ends in .space or .so. */
bool cli_is_space(const char *path);
/* Compiles or loads the file and sets `def`. Warnings of the compiler are printed on standard error. false
 * after an error. */
bool cli_space_load(const char *path, struct cli_space *out, struct diag *d);
/* Makes the instance from --data and --param and sets `space`. Without --data each set has as many objects as
 * the value of the first parameter; an object's name is its number, which is also its property `index`. false
 * after an error. */
bool cli_space_instantiate(const struct cli_args *a, struct cli_space *o, struct diag *d);
void cli_space_close(struct cli_space *o);

#endif
