/* Names of the generated text: from backbone names, unique, none a word of the dialect. Private to
 * core/codegen. */
#ifndef THRESH_CODEGEN_NAMES_H
#define THRESH_CODEGEN_NAMES_H

#include "core/codegen/program.h"

struct cg_names {
    const char **node; /* [cg_variables()] of dimensions; of data: the load's at this point */
    const char **wide; /* [cg_variables()] the same, cast to the wide index type */
    const char *(*value)[BB_MAX_PARTS]; /* [n_insts] base of register names; of each part of a tuple */
    const char **region;                /* [n_regions] */
    const char **buffer;                /* [n_buffers] */
};

/* Lives in the arena. */
struct cg_names *cg_make_names(const struct cg_program *p, struct arena *a);

#endif
