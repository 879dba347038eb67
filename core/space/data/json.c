/* Instances to JSON. Objects are written by name wherever the definition says that a number is an object:
 * {"sets": {"Dim": ["a"]}, "subsets": {"Inst": ["a"]}, "members": {"TilesOf": {"l": ["t"]}},
 *  "properties": {"tile": [["a", "t"]]}, "parameters": {"n": 4}}: a property is a list of rows, arguments
 * first. */
#include <jansson.h>
#include <string.h>

#include "core/space/data/tables.h"

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
        json_array_append_new(out, object_json(data, data_root(def, p->args[i]), row->args[i]));
    static const struct space_set numbers = {.range = true};
    const struct space_set *root = p->object >= 0 ? data_root(def, p->object) : &numbers;
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
    const struct space_set *param = data_root(def, def->sets[set].param);
    for (size_t i = 0; i < t->n_rows; i++) {
        char number[16];
        const char *key = data_object_text(data, param, t->rows[i].args[0], number);
        json_object_set_new(out, key, objects_json(data, data_root(def, set), &t->rows[i]));
    }
    return out;
}

static void table_json(const struct space_data *data, const struct space_def *def, const struct data_table *t,
                       json_t *subsets, json_t *members, json_t *properties)
{
    const struct space_property *p = data_property_named(def, t->name);
    int32_t set = data_set_named(def, t->name);
    if (p) {
        json_t *rows = json_array();
        for (size_t i = 0; i < t->n_rows; i++)
            json_array_append_new(rows, row_json(data, def, p, &t->rows[i]));
        json_object_set_new(properties, t->name, rows);
    } else if (set >= 0 && t->arity == 1 && def->sets[set].param >= 0) {
        json_object_set_new(members, t->name, members_json(data, def, set, t));
    } else if (set >= 0 && t->n_rows) {
        json_object_set_new(subsets, t->name, objects_json(data, data_root(def, set), &t->rows[0]));
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
