/* Instances from JSON, as json.c writes them. All errors of a text are reported at once, each at its place:
 *
 *     graph.json:3:18: error: ...
 *
 * Sets, then subsets and members, then properties are read in this order, whatever the order of the text. */
#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/arena.h"
#include "core/base/diag.h"
#include "core/base/json_text.h"
#include "core/space/data/tables.h"

struct reader {
    struct space_data *data;
    const struct space_def *def;
    struct source source;
    struct diag *diag;
};

/* A value of the tree and where it is. */
struct node {
    json_t *json;
    struct json_step step;
};

static struct node child_of(const struct node *n, size_t index, json_t *json)
{
    return (struct node){json, {&n->step, index}};
}

/* Errors beyond those that are kept are counted without a look at the text. */
static struct source_pos place(const struct reader *r, const struct node *n)
{
    bool kept = diag_count(r->diag) < DIAG_MAX;
    return (struct source_pos){&r->source, kept ? json_text_value(r->source.text, &n->step) : 0};
}

/* Of the name of a member. */
static struct source_pos name_place(const struct reader *r, const struct node *n)
{
    bool kept = diag_count(r->diag) < DIAG_MAX;
    return (struct source_pos){&r->source, kept ? json_text_name(r->source.text, &n->step) : 0};
}

static bool is_list(struct reader *r, const struct node *n, const char *of)
{
    if (json_is_array(n->json)) return true;
    diag_error(r->diag, place(r, n), "expected a list [...] of %s", of);
    return false;
}

static bool is_mapping(struct reader *r, const struct node *n)
{
    if (json_is_object(n->json)) return true;
    diag_error(r->diag, place(r, n), "expected an object {...} of names and values");
    return false;
}

/* ---- objects ---- */

static void no_object(struct reader *r, const struct space_set *root, struct source_pos at, const char *name)
{
    if (root->range)
        diag_error(r->diag, at, "objects of set '%s' are numbers from %" PRId64 " to %" PRId64, root->name,
                   root->lo, root->hi);
    else if (name)
        diag_error(r->diag, at, "'%s' is not an object of set '%s'", name, root->name);
    else
        diag_error(r->diag, at, "objects of set '%s' are written by name, as strings", root->name);
}

/* An object of a root set: its name, or a number of a range. -1 after an error. */
static int64_t read_object(struct reader *r, const struct space_set *root, const struct node *n)
{
    const char *name = json_string_value(n->json);
    int64_t id = json_is_integer(n->json) ? json_integer_value(n->json) : -1;
    bool known = root->range ? id >= root->lo && id <= root->hi : false;
    if (name && !root->range) known = (id = space_data_find(r->data, root->name, name)) >= 0;
    if (known) return id;
    no_object(r, root, place(r, n), name);
    return -1;
}

/* The object that a member's name stands for. -1 after an error. */
static int64_t read_name(struct reader *r, const struct space_set *root, const char *name,
                         const struct node *n)
{
    char *end;
    int64_t id = root->range ? strtoll(name, &end, 10) : space_data_find(r->data, root->name, name);
    bool known = root->range ? *name && !*end && id >= root->lo && id <= root->hi : id >= 0;
    if (!known) no_object(r, root, name_place(r, n), name);
    return known ? id : -1;
}

/* ---- sets ---- */

static void read_set(struct reader *r, const char *name, const struct node *list)
{
    int32_t set = data_set_named(r->def, name);
    json_t *object;
    size_t i;
    if (set < 0 || r->def->sets[set].root != set || r->def->sets[set].range) {
        diag_error(r->diag, name_place(r, list),
                   "'%s' is not a set of space '%s' whose objects are listed here", name, r->def->name);
        return;
    }
    space_data_set(r->data, name);
    if (!is_list(r, list, "names")) return;
    json_array_foreach(list->json, i, object)
    {
        struct node n = child_of(list, i, object);
        const char *text = json_string_value(object);
        if (!text)
            diag_error(r->diag, place(r, &n), "objects of set '%s' are written by name, as strings", name);
        else if (space_data_find(r->data, name, text) >= 0)
            diag_error(r->diag, place(r, &n), "object '%s' of set '%s' is given twice", text, name);
        else
            space_data_object(r->data, name, text);
    }
}

static bool is_subset(const struct space_def *def, int32_t set)
{
    return set >= 0 && def->sets[set].parent >= 0 && def->sets[set].param < 0;
}

static void read_subset(struct reader *r, const char *name, const struct node *list)
{
    int32_t set = data_set_named(r->def, name);
    json_t *object;
    size_t i;
    if (!is_subset(r->def, set)) {
        diag_error(r->diag, name_place(r, list), "'%s' is not a subset in space '%s'", name, r->def->name);
        return;
    }
    if (!is_list(r, list, "objects")) return;
    json_array_foreach(list->json, i, object)
    {
        struct node n = child_of(list, i, object);
        int64_t id = read_object(r, data_root(r->def, set), &n);
        if (id >= 0) space_data_member(r->data, name, (uint32_t)id);
    }
}

/* The objects that a parametric set has for each object of its parameter. */
static void read_members(struct reader *r, const char *name, const struct node *table)
{
    int32_t set = data_set_named(r->def, name);
    const char *key;
    json_t *list, *object;
    size_t k = 0, i;
    if (set < 0 || r->def->sets[set].param < 0) {
        diag_error(r->diag, name_place(r, table), "'%s' is not a parametric set in space '%s'", name,
                   r->def->name);
        return;
    }
    if (!is_mapping(r, table)) return;
    json_object_foreach(table->json, key, list)
    {
        struct node of = child_of(table, k++, list);
        int64_t owner = read_name(r, data_root(r->def, r->def->sets[set].param), key, &of);
        if (owner < 0 || !is_list(r, &of, "objects")) continue;
        json_array_foreach(list, i, object)
        {
            struct node n = child_of(&of, i, object);
            int64_t id = read_object(r, data_root(r->def, set), &n);
            if (id >= 0) space_data_member_of(r->data, name, (uint32_t)owner, (uint32_t)id);
        }
    }
}

/* ---- properties and parameters ---- */

/* A number or a truth value. 0 after an error. */
static int64_t read_number(struct reader *r, const struct node *n)
{
    if (json_is_boolean(n->json)) return json_is_true(n->json);
    int64_t x = json_integer_value(n->json);
    if (!json_is_integer(n->json))
        diag_error(r->diag, place(r, n), "expected a whole number, true or false");
    else if (x < -SPACE_BIG || x > SPACE_BIG)
        diag_error(r->diag, place(r, n), "number too large; the maximum is 2^60");
    return x;
}

/* As a truth value every number but 0 is true. */
static int64_t read_value(struct reader *r, const struct space_property *p, const struct node *n)
{
    if (p->condition) return read_number(r, n) != 0;
    if (p->object < 0) return read_number(r, n);
    if (json_is_null(n->json)) return -1;
    return read_object(r, data_root(r->def, p->object), n);
}

static void read_list(struct reader *r, const struct space_property *p, const uint32_t *args,
                      const struct node *list)
{
    json_t *element;
    size_t i;
    if (!is_list(r, list, "values")) return;
    int64_t *values = base_malloc(json_array_size(list->json) * sizeof *values);
    json_array_foreach(list->json, i, element)
    {
        struct node n = child_of(list, i, element);
        values[i] = p->object < 0 ? read_value(r, p, &n) : read_object(r, data_root(r->def, p->object), &n);
    }
    space_data_list(r->data, p->name, args, p->arity, values, json_array_size(list->json));
    free(values);
}

static void read_row(struct reader *r, const struct space_property *p, const struct node *row)
{
    uint32_t args[SPACE_MAX_ARITY];
    if (!json_is_array(row->json) || json_array_size(row->json) != p->arity + 1u) {
        diag_error(r->diag, place(r, row), "a row of '%s' must be a list of %u argument%s and a value",
                   p->name, p->arity, p->arity == 1 ? "" : "s");
        return;
    }
    for (unsigned i = 0; i < p->arity; i++) {
        struct node n = child_of(row, i, json_array_get(row->json, i));
        int64_t id = read_object(r, data_root(r->def, p->args[i]), &n);
        if (id < 0) return;
        args[i] = (uint32_t)id;
    }
    struct node value = child_of(row, p->arity, json_array_get(row->json, p->arity));
    if (p->list)
        read_list(r, p, args, &value);
    else
        space_data_int(r->data, p->name, args, p->arity, read_value(r, p, &value));
}

static void read_property(struct reader *r, const char *name, const struct node *rows)
{
    const struct space_property *p = data_property_named(r->def, name);
    json_t *row;
    size_t i;
    if (!p) {
        diag_error(r->diag, name_place(r, rows), "space '%s' has no property '%s'", r->def->name, name);
        return;
    }
    if (!is_list(r, rows, "rows")) return;
    json_array_foreach(rows->json, i, row)
    {
        struct node n = child_of(rows, i, row);
        read_row(r, p, &n);
    }
}

static bool has_parameter(const struct space_def *def, const char *name)
{
    for (int32_t i = 0; i < def->n_parameters; i++)
        if (!strcmp(def->parameters[i].name, name)) return true;
    return false;
}

static void read_parameter(struct reader *r, const char *name, const struct node *value)
{
    if (has_parameter(r->def, name))
        space_data_parameter(r->data, name, read_number(r, value));
    else
        diag_error(r->diag, name_place(r, value), "space '%s' has no parameter '%s'", r->def->name, name);
}

/* ---- what sets promise of each other, once all are read ---- */

static bool shares(const struct reader *r, const struct space_set *set, int64_t id)
{
    const struct space_set *other = set->disjoint < 0 ? NULL : &r->def->sets[set->disjoint];
    return other && other->root == set->root && other->param < 0 && set->param < 0 &&
           data_is_member(r->data, r->def, set->disjoint, id);
}

static void check_objects(struct reader *r, int32_t index, const struct node *list)
{
    const struct space_set *set = &r->def->sets[index];
    json_t *object;
    size_t i;
    json_array_foreach(list->json, i, object)
    {
        struct node n = child_of(list, i, object);
        int64_t id = read_object(r, data_root(r->def, index), &n);
        if (set->parent >= 0 && !data_is_member(r->data, r->def, set->parent, id))
            diag_error(r->diag, place(r, &n), "an object of set '%s' is not in set '%s'", set->name,
                       r->def->sets[set->parent].name);
        if (shares(r, set, id))
            diag_error(r->diag, place(r, &n), "disjoint sets '%s' and '%s' share an object", set->name,
                       r->def->sets[set->disjoint].name);
    }
}

static void check_subset(struct reader *r, const char *name, const struct node *list)
{
    check_objects(r, data_set_named(r->def, name), list);
}

static void check_members(struct reader *r, const char *name, const struct node *table)
{
    const char *key;
    json_t *list;
    size_t k = 0;
    json_object_foreach(table->json, key, list)
    {
        struct node of = child_of(table, k++, list);
        check_objects(r, data_set_named(r->def, name), &of);
    }
}

/* ---- sections ---- */

typedef void read_function(struct reader *r, const char *name, const struct node *value);

struct section {
    const char *name;
    read_function *read;
};

static const struct section SECTIONS[] = {{"sets", read_set},
                                          {"subsets", read_subset},
                                          {"members", read_members},
                                          {"properties", read_property},
                                          {"parameters", read_parameter}};
enum { N_SECTIONS = sizeof SECTIONS / sizeof SECTIONS[0] };

static void read_section(struct reader *r, const struct node *all, const char *name, read_function *read)
{
    const char *key;
    json_t *section, *value;
    size_t i = 0, k = 0;
    json_object_foreach(all->json, key, section)
    {
        struct node n = child_of(all, i++, section);
        if (strcmp(key, name) || !is_mapping(r, &n)) continue;
        const char *member;
        json_object_foreach(section, member, value)
        {
            struct node m = child_of(&n, k++, value);
            read(r, member, &m);
        }
    }
}

static void check_names(struct reader *r, const struct node *all)
{
    const char *name;
    json_t *section;
    size_t i = 0;
    json_object_foreach(all->json, name, section)
    {
        struct node n = child_of(all, i++, section);
        bool known = false;
        for (size_t k = 0; k < N_SECTIONS; k++)
            known = known || !strcmp(SECTIONS[k].name, name);
        if (!known)
            diag_error(r->diag, name_place(r, &n),
                       "unknown key '%s'; the keys are sets, subsets, members, properties, parameters", name);
    }
}

static void read_instance(struct reader *r, const struct node *all)
{
    size_t before = diag_count(r->diag);
    if (!is_mapping(r, all)) return;
    check_names(r, all);
    for (size_t i = 0; i < N_SECTIONS; i++)
        read_section(r, all, SECTIONS[i].name, SECTIONS[i].read);
    if (diag_count(r->diag) > before) return;
    read_section(r, all, "subsets", check_subset);
    read_section(r, all, "members", check_members);
}

struct space_data *space_data_from_json(const char *path, const char *text, const struct space_def *def,
                                        struct diag *d)
{
    struct reader r = {.def = def, .source = {path, text, strlen(text)}, .diag = d};
    size_t before = diag_count(d);
    json_error_t error;
    struct node all = {json_loads(text, JSON_REJECT_DUPLICATES | JSON_DECODE_ANY, &error), {NULL, 0}};
    if (!all.json) {
        bool ended = json_error_code(&error) == json_error_premature_end_of_input;
        size_t at = json_text_fault(text, (size_t)error.position, ended);
        diag_error(d, (struct source_pos){&r.source, at}, "malformed JSON: %s", error.text);
        return NULL;
    }
    r.data = space_data_new();
    read_instance(&r, &all);
    json_decref(all.json);
    if (diag_count(d) == before) return r.data;
    space_data_free(r.data);
    return NULL;
}
