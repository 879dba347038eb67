/* An instance of a space: what is true of this kernel and this device, as tables; no code. Built by
 * core/backbone, or read from JSON ({"sets": {"Dim": ["mad.m.0", ...]}, "subsets": {...}, "properties":
 * {...}, "parameters": {...}}).
 *
 * Objects are named by strings that are unique within their root set; ids are dense in order of addition. A
 * subset lists ids of its root set. A parametric set TilesOf(l) is a list of ids per parameter object. A
 * property is a table over the product of its argument sets; values are bool/int (one number), object (an id
 * or -1), or lists of either. */
#ifndef THRESH_SPACE_DATA_H
#define THRESH_SPACE_DATA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct diag;
struct space_data;
struct space_def;

struct space_data *space_data_new(void);
void space_data_free(struct space_data *data);

/* Adds an object to a root set (created at its first object). Returns its id. The name is copied. */
uint32_t space_data_object(struct space_data *data, const char *set, const char *name);
/* Declares a set that may stay empty. */
void space_data_set(struct space_data *data, const char *set);
uint32_t space_data_set_size(const struct space_data *data, const char *set);
/* id of a named object in a root set, or -1. */
int64_t space_data_find(const struct space_data *data, const char *set, const char *name);
/* Puts object `id` of the root set into the subset, where it may be already. */
void space_data_member(struct space_data *data, const char *subset, uint32_t id);
/* Likewise into the parametric set for parameter object `of` (TilesOf(l): of = l). */
void space_data_member_of(struct space_data *data, const char *set, uint32_t of, uint32_t id);

/* A property of `n` arguments (root-set ids) gets a value, of a bool one 0 or 1; later values replace earlier
 * ones. Unset ones are 0 (bool, int), none (object) or empty (list). */
void space_data_int(struct space_data *data, const char *property, const uint32_t *args, unsigned n,
                    int64_t value);
void space_data_list(struct space_data *data, const char *property, const uint32_t *args, unsigned n,
                     const int64_t *values, size_t count);
void space_data_parameter(struct space_data *data, const char *name, int64_t value);

/* An instance from JSON. `def` tells which property values are objects, which the text names. NULL after
 * adding errors, each at its place in the text. */
struct space_data *space_data_from_json(const char *path, const char *text, const struct space_def *def,
                                        struct diag *d);

#endif
