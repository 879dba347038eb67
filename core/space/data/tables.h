/* The layout of an instance, shared by data.c and read.c only. */
#ifndef THRESH_SPACE_DATA_TABLES_H
#define THRESH_SPACE_DATA_TABLES_H

#include "core/space/data/lookup.h"
#include "core/space/data/intern.h"

struct data_set {
    char *name;
    const char **objects;    /* by id */
    struct intern_table ids; /* of their names, with the 0 */
    uint32_t n;
};

struct data_row {
    uint32_t args[SPACE_MAX_ARITY];
    int64_t value;
    int64_t *items; /* of a list */
    size_t n;
};

struct data_table {
    char *name;
    unsigned arity;
    bool list;
    struct data_row *rows; /* in order of addition */
    size_t n_rows;
    uint32_t *index; /* open addressing: row + 1, or 0 */
    size_t index_size;
};

struct data_parameter {
    char *name;
    int64_t value;
};

struct space_data {
    struct data_set *sets;
    size_t n_sets;
    struct data_table **tables;
    size_t n_tables;
    struct data_parameter *parameters;
    size_t n_parameters;
    struct arena *names; /* of objects */
};

/* By name: a set's index, or -1; a property, or NULL. */
int32_t data_set_named(const struct space_def *def, const char *name);
const struct space_property *data_property_named(const struct space_def *def, const char *name);

static inline const struct space_set *data_root(const struct space_def *def, int32_t set)
{
    return &def->sets[def->sets[set].root];
}

/* Whether the set has the object. Of a parametric set it does not say. */
bool data_is_member(const struct space_data *data, const struct space_def *def, int32_t set, int64_t id);

#endif
