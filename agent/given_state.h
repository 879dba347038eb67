/* What given.c (loading) and given_text.c (telling peers) share. */
#ifndef THRESH_AGENT_GIVEN_STATE_H
#define THRESH_AGENT_GIVEN_STATE_H

#include <stddef.h>

#include "agent/given.h"

struct given_array {
    void *elements; /* NULL: none */
    size_t bytes;
};

struct given {
    unsigned n_arrays;
    struct given_array *inputs;     /* [n_arrays] one an array of the program, none for outputs alone */
    struct given_array *references; /* [n_arrays] none for inputs alone */
    char **reference_paths;         /* [n_arrays] */
    double tolerance;               /* negative: none */
};

#endif
