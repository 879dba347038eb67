/* An instance of a space as tables: root sets of named objects, and one table for each subset, parametric set
 * and property.
 *
 *     set Node          north: 0, east: 1
 *     property edge     arguments (0, 1), value 1
 *     set Busy : Node   no arguments, value: the list 1
 *
 * A subset is a table without arguments whose one row lists its members; a parametric set has one argument.
 * Rows are kept in order of addition, so that dumps are deterministic, with an open-addressing index over
 * their arguments. */
#include "core/space/data.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/arena.h"
#include "core/base/diag.h"
#include "core/base/hash.h"
#include "core/base/panic.h"
#include "core/space/data/lookup.h"
#include "core/space/data/tables.h"

/* Makes room for one more than n; there is room up to the next power of two. */
static void *room_for_one(void *array, size_t n, size_t bytes)
{
    if (n & (n - 1)) return array;
    return base_realloc(array, (n ? 2 * n : 1) * bytes);
}

struct space_data *space_data_new(void)
{
    struct space_data *data = base_calloc(1, sizeof *data);
    data->names = arena_new();
    return data;
}

static void free_table(struct data_table *t)
{
    for (size_t i = 0; i < t->n_rows; i++)
        free(t->rows[i].items);
    free(t->rows);
    free(t->index);
    free(t->name);
}

void space_data_free(struct space_data *data)
{
    if (!data) return;
    for (size_t i = 0; i < data->n_sets; i++) {
        intern_free(&data->sets[i].ids);
        free(data->sets[i].objects);
        free(data->sets[i].name);
    }
    for (size_t i = 0; i < data->n_tables; i++) {
        free_table(data->tables[i]);
        free(data->tables[i]);
    }
    for (size_t i = 0; i < data->n_parameters; i++)
        free(data->parameters[i].name);
    free(data->sets);
    free(data->tables);
    free(data->parameters);
    arena_free(data->names);
    free(data);
}

static struct data_set *find_set(const struct space_data *data, const char *name)
{
    for (size_t i = 0; i < data->n_sets; i++)
        if (!strcmp(data->sets[i].name, name)) return &data->sets[i];
    return NULL;
}

static struct data_set *obtain_set(struct space_data *data, const char *name)
{
    struct data_set *found = find_set(data, name);
    if (found) return found;
    data->sets = base_realloc(data->sets, (data->n_sets + 1) * sizeof *data->sets);
    data->sets[data->n_sets] = (struct data_set){.name = base_strdup(name)};
    return &data->sets[data->n_sets++];
}

void space_data_set(struct space_data *data, const char *set)
{
    obtain_set(data, set);
}

uint32_t space_data_object(struct space_data *data, const char *set, const char *name)
{
    struct data_set *s = obtain_set(data, set);
    bool fresh;
    const struct interned *known = intern(&s->ids, data->names, name, strlen(name) + 1, s->n, &fresh);
    if (!fresh) return known->id;
    s->objects = room_for_one(s->objects, s->n, sizeof *s->objects);
    s->objects[s->n] = known->bytes;
    return s->n++;
}

uint32_t space_data_set_size(const struct space_data *data, const char *set)
{
    const struct data_set *s = find_set(data, set);
    return s ? s->n : 0;
}

int64_t space_data_find(const struct space_data *data, const char *set, const char *name)
{
    const struct data_set *s = find_set(data, set);
    const struct interned *known = s ? intern_find(&s->ids, name, strlen(name) + 1) : NULL;
    return known ? (int64_t)known->id : -1;
}

const char *data_object_name(const struct space_data *data, const char *set, uint32_t id)
{
    const struct data_set *s = find_set(data, set);
    return s && id < s->n ? s->objects[id] : NULL;
}

const char *data_object_text(const struct space_data *data, const struct space_set *root, uint32_t id,
                             char number[16])
{
    const char *name = root->range ? NULL : data_object_name(data, root->name, id);
    snprintf(number, 16, "%u", id);
    return name ? name : number;
}

const struct data_table *data_table_find(const struct space_data *data, const char *name)
{
    for (size_t i = 0; i < data->n_tables; i++)
        if (!strcmp(data->tables[i]->name, name)) return data->tables[i];
    return NULL;
}

static struct data_table *obtain_table(struct space_data *data, const char *name, unsigned arity)
{
    CHECK(arity <= SPACE_MAX_ARITY);
    for (size_t i = 0; i < data->n_tables; i++)
        if (!strcmp(data->tables[i]->name, name)) return data->tables[i];
    data->tables = base_realloc(data->tables, (data->n_tables + 1) * sizeof(struct data_table *));
    struct data_table *t = base_calloc(1, sizeof *t);
    t->name = base_strdup(name);
    t->arity = arity;
    return data->tables[data->n_tables++] = t;
}

static size_t probe(const struct data_table *t, const uint32_t *args)
{
    size_t mask = t->index_size - 1, bytes = t->arity * sizeof *args;
    if (!bytes) return 0;
    size_t at = (size_t)hash_finish(hash_bytes(HASH_START, args, bytes)) & mask;
    while (t->index[at] && memcmp(t->rows[t->index[at] - 1].args, args, bytes))
        at = (at + 1) & mask;
    return at;
}

static void grow_index(struct data_table *t)
{
    free(t->index);
    t->index_size = t->index_size ? t->index_size * 2 : 16;
    t->index = base_calloc(t->index_size, sizeof *t->index);
    for (size_t i = 0; i < t->n_rows; i++)
        t->index[probe(t, t->rows[i].args)] = (uint32_t)i + 1;
}

static struct data_row *obtain_row(struct data_table *t, const uint32_t *args, unsigned n)
{
    CHECK(n == t->arity);
    if (t->n_rows * 2 >= t->index_size) grow_index(t);
    size_t at = n ? probe(t, args) : 0;
    if (t->index[at]) return &t->rows[t->index[at] - 1];
    t->rows = room_for_one(t->rows, t->n_rows, sizeof *t->rows);
    struct data_row *row = &t->rows[t->n_rows++];
    *row = (struct data_row){0};
    if (n) memcpy(row->args, args, n * sizeof *args);
    t->index[at] = (uint32_t)t->n_rows;
    return row;
}

static const struct data_row *find_row(const struct data_table *t, const uint32_t *args, unsigned n)
{
    if (!t || t->arity != n || !t->index_size) return NULL;
    size_t at = n ? probe(t, args) : 0;
    return t->index[at] ? &t->rows[t->index[at] - 1] : NULL;
}

static void append(struct data_row *row, int64_t value)
{
    row->items = room_for_one(row->items, row->n, sizeof *row->items);
    row->items[row->n++] = value;
}

static void append_once(struct data_row *row, uint32_t id)
{
    for (size_t i = 0; i < row->n; i++)
        if (row->items[i] == id) return;
    append(row, id);
}

void space_data_member(struct space_data *data, const char *subset, uint32_t id)
{
    append_once(obtain_row(obtain_table(data, subset, 0), NULL, 0), id);
}

void space_data_member_of(struct space_data *data, const char *set, uint32_t of, uint32_t id)
{
    append_once(obtain_row(obtain_table(data, set, 1), &of, 1), id);
}

void space_data_int(struct space_data *data, const char *property, const uint32_t *args, unsigned n,
                    int64_t value)
{
    obtain_row(obtain_table(data, property, n), args, n)->value = value;
}

void space_data_list(struct space_data *data, const char *property, const uint32_t *args, unsigned n,
                     const int64_t *values, size_t count)
{
    struct data_table *t = obtain_table(data, property, n);
    t->list = true;
    struct data_row *row = obtain_row(t, args, n);
    row->n = 0;
    for (size_t i = 0; i < count; i++)
        append(row, values[i]);
}

void space_data_parameter(struct space_data *data, const char *name, int64_t value)
{
    for (size_t i = 0; i < data->n_parameters; i++) {
        if (strcmp(data->parameters[i].name, name)) continue;
        data->parameters[i].value = value;
        return;
    }
    data->parameters = base_realloc(data->parameters, (data->n_parameters + 1) * sizeof *data->parameters);
    data->parameters[data->n_parameters++] = (struct data_parameter){base_strdup(name), value};
}

bool data_parameter_get(const struct space_data *data, const char *name, int64_t *value)
{
    for (size_t i = 0; i < data->n_parameters; i++) {
        if (strcmp(data->parameters[i].name, name)) continue;
        *value = data->parameters[i].value;
        return true;
    }
    return false;
}

int64_t data_table_int(const struct data_table *t, const uint32_t *args, unsigned n, int64_t otherwise)
{
    const struct data_row *row = find_row(t, args, n);
    return row ? row->value : otherwise;
}

struct data_list data_table_list(const struct data_table *t, const uint32_t *args, unsigned n)
{
    const struct data_row *row = find_row(t, args, n);
    return row ? (struct data_list){row->items, row->n} : (struct data_list){NULL, 0};
}

static uint64_t hash_row(const struct data_row *row)
{
    uint64_t h = hash_bytes(HASH_START, row->args, sizeof row->args);
    h = hash_bytes(h, &row->value, sizeof row->value);
    return hash_finish(row->n ? hash_bytes(h, row->items, row->n * sizeof *row->items) : h);
}

/* Order of sets, tables, rows and parameters does not matter; order of objects and of lists does. */
uint64_t data_hash(const struct space_data *data)
{
    uint64_t total = 0;
    for (size_t i = 0; i < data->n_sets; i++) {
        uint64_t h = hash_string(HASH_START, data->sets[i].name);
        for (uint32_t k = 0; k < data->sets[i].n; k++)
            h = hash_string(h, data->sets[i].objects[k]);
        total += data->sets[i].n ? hash_finish(h) : 0;
    }
    for (size_t i = 0; i < data->n_tables; i++) {
        uint64_t rows = 0, name = hash_string(HASH_START, data->tables[i]->name);
        for (size_t k = 0; k < data->tables[i]->n_rows; k++)
            rows += hash_row(&data->tables[i]->rows[k]);
        total += rows ? hash_finish(hash_bytes(name, &rows, sizeof rows)) : 0;
    }
    for (size_t i = 0; i < data->n_parameters; i++)
        total += hash_finish(
            hash_bytes(hash_string(HASH_START, data->parameters[i].name), &data->parameters[i].value, 8));
    return total;
}

int32_t data_set_named(const struct space_def *def, const char *name)
{
    for (int32_t i = 0; i < def->n_sets; i++)
        if (!strcmp(def->sets[i].name, name)) return i;
    return -1;
}

const struct space_property *data_property_named(const struct space_def *def, const char *name)
{
    for (int32_t i = 0; i < def->n_properties; i++)
        if (!strcmp(def->properties[i].name, name)) return &def->properties[i];
    return NULL;
}

static bool known_name(const struct space_def *def, const char *name)
{
    return data_set_named(def, name) >= 0 || data_property_named(def, name);
}

static void check_arity(const struct space_data *data, const struct space_def *def, struct diag *d)
{
    for (int i = 0; i < def->n_properties; i++) {
        const struct space_property *p = &def->properties[i];
        const struct data_table *t = data_table_find(data, p->name);
        if (t && t->arity != p->arity)
            diag_plain(d,
                       "property '%s' has the wrong number of arguments: expected %u, the instance gives %u",
                       p->name, p->arity, t->arity);
    }
}

/* ---- recursive definitions ---- */

struct walk {
    const struct space_data *data;
    const struct space_def *def;
    const struct space_define *define;
    uint8_t *seen; /* by object: 0 new, 1 on the path, 2 done */
    uint32_t n, depth;
    uint32_t circle; /* an object that a walk comes back to */
    bool far;        /* or a walk is too long */
};

enum { MAX_WALK = 1 << 13 }; /* steps */

static bool ends(struct walk *w, uint32_t object);

static bool step_ends(struct walk *w, int64_t to)
{
    return to < 0 || to >= w->n || ends(w, (uint32_t)to);
}

/* Whether every walk along the steps from the object ends. */
static bool ends(struct walk *w, uint32_t object)
{
    if (w->seen[object] == 1) w->circle = object;
    if (w->seen[object]) return w->seen[object] == 2;
    w->far = w->depth == MAX_WALK;
    if (w->far) return false;
    w->seen[object] = 1;
    w->depth++;
    for (unsigned i = 0; i < w->define->n_steps; i++) {
        const struct space_property *p = &w->def->properties[w->define->steps[i]];
        const struct data_table *t = data_table_find(w->data, p->name);
        struct data_list list = data_table_list(t, &object, 1);
        for (size_t k = 0; p->list && k < list.n; k++)
            if (!step_ends(w, list.items[k])) return false;
        if (!p->list && !step_ends(w, data_table_int(t, &object, 1, -1))) return false;
    }
    w->seen[object] = 2;
    w->depth--;
    return true;
}

static void check_recursion(const struct space_data *data, const struct space_def *def,
                            const struct space_define *define, struct diag *d)
{
    const struct space_property *first = &def->properties[define->steps[0]];
    const struct space_set *root = data_root(def, first->args[0]);
    uint32_t n = root->range ? (uint32_t)root->hi + 1 : space_data_set_size(data, root->name);
    struct walk w = {.data = data, .def = def, .define = define, .n = n};
    w.seen = base_calloc(w.n + 1, 1);
    bool ok = true;
    for (uint32_t i = 0; i < w.n && ok; i++)
        ok = ends(&w, i);
    char number[16];
    if (!ok && w.far)
        diag_line(d, define->file, define->line,
                  "the recursion of '%s' visits too many objects in this instance", define->name);
    else if (!ok)
        diag_line(d, define->file, define->line,
                  "the recursion of '%s' is cyclic in this instance: '%s' leads from '%s' back to it",
                  define->name, first->name, data_object_text(data, root, w.circle, number));
    free(w.seen);
}

/* ---- parametric sets ---- */

bool data_is_member(const struct space_data *data, const struct space_def *def, int32_t set, int64_t id)
{
    const struct space_set *s = &def->sets[set];
    if (s->range) return id >= s->lo && id <= s->hi;
    if (s->root == set) return id >= 0 && id < space_data_set_size(data, s->name);
    struct data_list list = data_table_list(data_table_find(data, s->name), NULL, 0);
    for (size_t i = 0; i < list.n; i++)
        if (list.items[i] == id) return true;
    return s->param >= 0;
}

/* The members of a parametric set are in the set around it. */
static void check_members(const struct space_data *data, const struct space_def *def, int32_t set,
                          struct diag *d)
{
    const struct space_set *s = &def->sets[set];
    const struct data_table *t = data_table_find(data, s->name);
    int32_t around = s->parent >= 0 ? s->parent : set;
    for (size_t i = 0; t && t->arity == 1 && i < t->n_rows; i++)
        for (size_t k = 0; k < t->rows[i].n; k++)
            if (!data_is_member(data, def, around, t->rows[i].items[k])) {
                diag_plain(d, "an object of set '%s' is not in set '%s'", s->name, def->sets[around].name);
                return;
            }
}

void data_check(const struct space_data *data, const struct space_def *def, struct diag *d)
{
    for (size_t i = 0; i < data->n_tables; i++)
        if (!known_name(def, data->tables[i]->name))
            diag_plain(d, "the instance names '%s', which space '%s' does not declare", data->tables[i]->name,
                       def->name);
    for (size_t i = 0; i < data->n_sets; i++)
        if (!known_name(def, data->sets[i].name))
            diag_plain(d, "the instance names set '%s', which space '%s' does not declare",
                       data->sets[i].name, def->name);
    check_arity(data, def, d);
    for (int32_t i = 0; i < def->n_sets; i++)
        if (def->sets[i].param >= 0) check_members(data, def, i, d);
    for (int32_t i = 0; i < def->n_defines; i++)
        if (def->defines[i].n_steps) check_recursion(data, def, &def->defines[i], d);
}
