/* The layout of an instance, shared by data.c and data_json.c only. */
#ifndef THRESH_SPACE_DATA_TABLES_H
#define THRESH_SPACE_DATA_TABLES_H

#include "core/space/data_internal.h"

struct data_set {
    char *name;
    char **objects;
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
};

#endif
