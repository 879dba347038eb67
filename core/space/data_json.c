/* Instances as JSON. Objects are written by name wherever the definition says that a number is an object:
 * {"sets": {"Dim": ["a"]}, "subsets": {"Inst": ["a"]}, "members": {"TilesOf": {"l": ["t"]}},
 *  "properties": {"tile": [["a", "t"]]}, "parameters": {"n": 4}}: a property is a list of rows, arguments
 * first. */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/arena.h"
#include "core/base/diag.h"
#include "core/space/data_tables.h"

static const struct space_set *root_of(const struct space_def *def, int32_t set)
{
    return &def->sets[def->sets[set].root];
}

static int32_t set_named(const struct space_def *def, const char *name)
{
    for (int32_t i = 0; i < def->n_sets; i++)
        if (!strcmp(def->sets[i].name, name)) return i;
    return -1;
}

static const struct space_property *property_named(const struct space_def *def, const char *name)
{
    for (int32_t i = 0; i < def->n_properties; i++)
        if (!strcmp(def->properties[i].name, name)) return &def->properties[i];
    return NULL;
}

/* ---- writing ---- */

static json_t *object_json(const struct space_data *data, const struct space_set *root, int64_t id)
{
    const char *name = root->range || id < 0 ? NULL : data_object_name(data, root->name, (uint32_t)id);
    if (name) return json_string(name);
    return id < 0 ? json_null() : json_integer(id);
}

static json_t *objects_json(const struct space_data *data, const struct space_set *root,
                            const struct data_row *row)
{
    json_t *list = json_array();
    for (size_t i = 0; i < row->n; i++)
        json_array_append_new(list, object_json(data, root, row->items[i]));
    return list;
}

static json_t *row_json(const struct space_data *data, const struct space_def *def,
                        const struct space_property *p, const struct data_row *row)
{
    json_t *out = json_array();
    for (unsigned i = 0; i < p->arity; i++)
        json_array_append_new(out, object_json(data, root_of(def, p->args[i]), row->args[i]));
    static const struct space_set numbers = {.range = true};
    const struct space_set *root = p->object >= 0 ? root_of(def, p->object) : &numbers;
    if (p->object < 0 && !p->list) {
        json_array_append_new(out, json_integer(row->value));
        return out;
    }
    if (!p->list) {
        json_array_append_new(out, object_json(data, root, row->value));
        return out;
    }
    json_t *list = json_array();
    for (size_t i = 0; i < row->n; i++)
        json_array_append_new(list, p->object >= 0 ? object_json(data, root, row->items[i])
                                                   : json_integer(row->items[i]));
    json_array_append_new(out, list);
    return out;
}

static json_t *members_json(const struct space_data *data, const struct space_def *def, int32_t set,
                            const struct data_table *t)
{
    json_t *out = json_object();
    const struct space_set *param = root_of(def, def->sets[set].param);
    for (size_t i = 0; i < t->n_rows; i++) {
        char number[16];
        const char *key = param->range ? NULL : data_object_name(data, param->name, t->rows[i].args[0]);
        snprintf(number, sizeof number, "%u", t->rows[i].args[0]);
        json_object_set_new(out, key ? key : number, objects_json(data, root_of(def, set), &t->rows[i]));
    }
    return out;
}

static void table_json(const struct space_data *data, const struct space_def *def, const struct data_table *t,
                       json_t *subsets, json_t *members, json_t *properties)
{
    const struct space_property *p = property_named(def, t->name);
    int32_t set = set_named(def, t->name);
    if (p) {
        json_t *rows = json_array();
        for (size_t i = 0; i < t->n_rows; i++)
            json_array_append_new(rows, row_json(data, def, p, &t->rows[i]));
        json_object_set_new(properties, t->name, rows);
    } else if (set >= 0 && t->arity == 1 && def->sets[set].param >= 0) {
        json_object_set_new(members, t->name, members_json(data, def, set, t));
    } else if (set >= 0 && t->n_rows) {
        json_object_set_new(subsets, t->name, objects_json(data, root_of(def, set), &t->rows[0]));
    }
}

char *space_data_to_json(const struct space_data *data, const struct space_def *def)
{
    json_t *sets = json_object(), *subsets = json_object(), *members = json_object(),
           *properties = json_object();
    json_t *parameters = json_object(), *all = json_object();
    for (size_t i = 0; i < data->n_sets; i++) {
        json_t *list = json_array();
        for (uint32_t k = 0; k < data->sets[i].n; k++)
            json_array_append_new(list, json_string(data->sets[i].objects[k]));
        json_object_set_new(sets, data->sets[i].name, list);
    }
    for (size_t i = 0; i < data->n_tables; i++)
        table_json(data, def, data->tables[i], subsets, members, properties);
    for (size_t i = 0; i < data->n_parameters; i++)
        json_object_set_new(parameters, data->parameters[i].name, json_integer(data->parameters[i].value));
    json_object_set_new(all, "sets", sets);
    json_object_set_new(all, "subsets", subsets);
    json_object_set_new(all, "members", members);
    json_object_set_new(all, "properties", properties);
    json_object_set_new(all, "parameters", parameters);
    char *text = json_dumps(all, JSON_INDENT(1) | JSON_PRESERVE_ORDER);
    json_decref(all);
    return text;
}

/* ---- reading ---- */

struct reader {
    struct space_data *data;
    const struct space_def *def;
    const char *path;
    struct diag *diag;
};

static int64_t read_object(struct reader *r, const struct space_set *root, const json_t *value,
                           const char *where)
{
    if (json_is_null(value)) return -1;
    if (root->range && json_is_integer(value)) return json_integer_value(value);
    const char *name = json_string_value(value);
    int64_t id = name && !root->range ? space_data_find(r->data, root->name, name) : -1;
    if (id < 0)
        diag_plain(r->diag, "%s: '%s': '%s' is no object of set '%s'", r->path, where, name ? name : "?",
                   root->name);
    return id;
}

static void read_sets(struct reader *r, json_t *sets)
{
    const char *name;
    json_t *list, *object;
    size_t i;
    json_object_foreach(sets, name, list)
    {
        int32_t set = set_named(r->def, name);
        if (set < 0 || r->def->sets[set].root != set || r->def->sets[set].range) {
            diag_plain(r->diag, "%s: '%s' is no set of space '%s' that has its own objects", r->path, name,
                       r->def->name);
            continue;
        }
        space_data_set(r->data, name);
        json_array_foreach(list, i, object)
        {
            if (json_is_string(object))
                space_data_object(r->data, name, json_string_value(object));
            else
                diag_plain(r->diag, "%s: '%s': objects are strings", r->path, name);
        }
    }
}

static void read_subsets(struct reader *r, json_t *subsets)
{
    const char *name;
    json_t *list, *object;
    size_t i;
    json_object_foreach(subsets, name, list)
    {
        int32_t set = set_named(r->def, name);
        if (set < 0) {
            diag_plain(r->diag, "%s: unknown set '%s'", r->path, name);
            continue;
        }
        json_array_foreach(list, i, object)
        {
            int64_t id = read_object(r, root_of(r->def, set), object, name);
            if (id >= 0) space_data_member(r->data, name, (uint32_t)id);
        }
    }
}

static void read_members_of(struct reader *r, const char *name, int32_t set, const char *key, json_t *list)
{
    const struct space_set *param = root_of(r->def, r->def->sets[set].param);
    int64_t of = param->range ? strtoll(key, NULL, 10) : space_data_find(r->data, param->name, key);
    size_t i;
    json_t *object;
    if (of < 0) {
        diag_plain(r->diag, "%s: '%s': '%s' is no object of set '%s'", r->path, name, key, param->name);
        return;
    }
    json_array_foreach(list, i, object)
    {
        int64_t id = read_object(r, root_of(r->def, set), object, name);
        if (id >= 0) space_data_member_of(r->data, name, (uint32_t)of, (uint32_t)id);
    }
}

static void read_members(struct reader *r, json_t *members)
{
    const char *name, *key;
    json_t *table, *list;
    json_object_foreach(members, name, table)
    {
        int32_t set = set_named(r->def, name);
        if (set < 0 || r->def->sets[set].param < 0) {
            diag_plain(r->diag, "%s: '%s' is no parametric set", r->path, name);
            continue;
        }
        json_object_foreach(table, key, list) read_members_of(r, name, set, key, list);
    }
}

static int64_t read_value(struct reader *r, const struct space_property *p, const json_t *value)
{
    if (p->object >= 0) return read_object(r, root_of(r->def, p->object), value, p->name);
    if (json_is_boolean(value)) return json_is_true(value);
    if (!json_is_integer(value)) diag_plain(r->diag, "%s: '%s': values are numbers", r->path, p->name);
    return json_integer_value(value);
}

static void read_row(struct reader *r, const struct space_property *p, json_t *row)
{
    uint32_t args[SPACE_MAX_ARITY];
    if (json_array_size(row) != p->arity + 1u) {
        diag_plain(r->diag, "%s: '%s': a row has %u arguments and a value", r->path, p->name, p->arity);
        return;
    }
    for (unsigned i = 0; i < p->arity; i++) {
        int64_t id = read_object(r, root_of(r->def, p->args[i]), json_array_get(row, i), p->name);
        if (id < 0) return;
        args[i] = (uint32_t)id;
    }
    const json_t *value = json_array_get(row, p->arity);
    if (!p->list) {
        space_data_int(r->data, p->name, args, p->arity, read_value(r, p, value));
        return;
    }
    size_t n = json_array_size(value);
    int64_t *values = base_malloc(n * sizeof *values);
    for (size_t i = 0; i < n; i++)
        values[i] = read_value(r, p, json_array_get(value, i));
    space_data_list(r->data, p->name, args, p->arity, values, n);
    free(values);
}

static void read_properties(struct reader *r, json_t *properties)
{
    const char *name;
    json_t *rows, *row;
    size_t i;
    json_object_foreach(properties, name, rows)
    {
        const struct space_property *p = property_named(r->def, name);
        if (!p) {
            diag_plain(r->diag, "%s: unknown property '%s'", r->path, name);
            continue;
        }
        json_array_foreach(rows, i, row) read_row(r, p, row);
    }
}

static bool has_parameter(const struct space_def *def, const char *name)
{
    for (int32_t i = 0; i < def->n_parameters; i++)
        if (!strcmp(def->parameters[i].name, name)) return true;
    return false;
}

static void read_parameters(struct reader *r, json_t *parameters)
{
    const char *name;
    json_t *value;
    json_object_foreach(parameters, name, value)
    {
        if (!has_parameter(r->def, name))
            diag_plain(r->diag, "%s: space '%s' has no parameter '%s'", r->path, r->def->name, name);
        else if (json_is_integer(value))
            space_data_parameter(r->data, name, json_integer_value(value));
        else
            diag_plain(r->diag, "%s: parameter '%s' is no number", r->path, name);
    }
}

static void check_sections(struct reader *r, json_t *all)
{
    static const char *const known[] = {"sets", "subsets", "members", "properties", "parameters"};
    const char *name;
    json_t *section;
    if (!json_is_object(all)) diag_plain(r->diag, "%s: an instance is a JSON object", r->path);
    json_object_foreach(all, name, section)
    {
        bool found = false;
        for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
            found = found || !strcmp(known[i], name);
        if (!found || json_is_null(section))
            diag_plain(r->diag, "%s: '%s' is none of sets, subsets, members, properties, parameters", r->path,
                       name);
    }
}

struct space_data *space_data_from_json(const char *path, const char *text, const struct space_def *def,
                                        struct diag *d)
{
    json_error_t error;
    json_t *all = json_loads(text, JSON_REJECT_DUPLICATES, &error);
    if (!all) {
        diag_plain(d, "%s:%d:%d: %s", path, error.line, error.column, error.text);
        return NULL;
    }
    struct reader r = {space_data_new(), def, path, d};
    size_t before = diag_count(d);
    check_sections(&r, all);
    read_sets(&r, json_object_get(all, "sets"));
    read_subsets(&r, json_object_get(all, "subsets"));
    read_members(&r, json_object_get(all, "members"));
    read_properties(&r, json_object_get(all, "properties"));
    read_parameters(&r, json_object_get(all, "parameters"));
    json_decref(all);
    if (diag_count(d) == before) return r.data;
    space_data_free(r.data);
    return NULL;
}
