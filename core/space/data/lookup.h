/* Read access to the tables of an instance, for instantiation. The value of edge(north, east), 0 if not set:
 *
 *     data_table_int(data_table_find(data, "edge"), (const uint32_t[]){0, 1}, 2, 0) */
#ifndef THRESH_SPACE_DATA_LOOKUP_H
#define THRESH_SPACE_DATA_LOOKUP_H

#include "core/space/data.h"
#include "core/space/def.h"

struct data_list {
    const int64_t *items;
    size_t n;
};

struct data_table; /* a property, a subset or a parametric set: rows of (arguments, number or list) */

/* The table of a name, or NULL: nothing was said about it. */
const struct data_table *data_table_find(const struct space_data *data, const char *name);
/* The value at the arguments, or `otherwise`. */
int64_t data_table_int(const struct data_table *t, const uint32_t *args, unsigned n, int64_t otherwise);
struct data_list data_table_list(const struct data_table *t, const uint32_t *args, unsigned n);
bool data_parameter_get(const struct space_data *data, const char *name, int64_t *value);
const char *data_object_name(const struct space_data *data, const char *set, uint32_t id);
/* The name of an object of a root set; of a range its number, written to `number`. */
const char *data_object_text(const struct space_data *data, const struct space_set *root, uint32_t id,
                             char number[16]);
uint64_t data_hash(const struct space_data *data);

/* Reports names of the instance that the definition does not know, and objects outside their sets. */
void data_check(const struct space_data *data, const struct space_def *def, struct diag *d);

#endif
