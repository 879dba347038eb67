/* Opening a space: a .space file is compiled in memory, a shared object is loaded; then the instance is made.
 */
#include "coordinator/cli/space_open.h"

#include <dlfcn.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "coordinator/cli/kind.h"
#include "coordinator/cli/table.h"
#include "core/space/data.h"
#include "core/space/def.h"
#include "spacedsl/model.h"

enum { FILE_LIMIT = 64 << 20, MOST_OBJECTS = 4096 };
#define NOT_GIVEN INT64_MIN

bool cli_is_space(const char *path)
{
    return cli_ends_with(path, ".space") || cli_ends_with(path, ".so");
}

/* What dlopen() reports, without the path, which it usually puts first. */
static const char *library_fault(const char *file)
{
    const char *text = dlerror(), *colon = text ? strstr(text, ": ") : NULL;
    bool repeated = colon && (size_t)(colon - text) == strlen(file) && !strncmp(text, file, strlen(file));
    return repeated ? colon + strlen(": ") : text;
}

/* A name without a slash is a file in the current folder, not a library of the system. */
static bool load_library(const char *path, struct cli_space *o, struct diag *d)
{
    const char *file = strchr(path, '/') ? path : arena_printf(o->arena, "./%s", path);
    o->library = dlopen(file, RTLD_NOW | RTLD_LOCAL);
    if (!o->library) {
        diag_plain(d, "cannot load '%s': %s", path, library_fault(file));
        return false;
    }
    const struct space_plugin *plugin = dlsym(o->library, "thresh_space");
    if (!plugin)
        diag_plain(d, "'%s' is not a compiled space; 'thresh space compile' makes one", path);
    else if (plugin->abi != SPACE_PLUGIN_ABI || plugin->def_size != sizeof(struct space_def))
        diag_plain(
            d, "'%s' was compiled by another version of thresh; compile it again with 'thresh space compile'",
            path);
    else
        o->def = plugin->def;
    return o->def != NULL;
}

bool cli_space_load(const char *path, struct cli_space *o, struct diag *d)
{
    size_t n;
    o->arena = arena_new();
    if (!cli_expect_kind(path, CLI_KIND_SPACE, d)) return false;
    if (cli_ends_with(path, ".so")) return load_library(path, o, d);
    o->text = source_read_file(path, FILE_LIMIT, &n, d);
    if (!o->text) return false;
    o->source = (struct source){path, o->text, n};
    const struct ast *ast = spacedsl_parse(&o->source, o->arena, d);
    o->model = diag_failed(d) ? NULL : spacedsl_resolve(ast, o->arena, d);
    if (!o->model) return false;
    o->def = spacedsl_model_def(o->model);
    diag_print_warnings(d, stderr);
    return true;
}

/* ---- the instance ---- */

static bool is_parameter(const struct space_def *def, const char *name)
{
    for (int32_t i = 0; i < def->n_parameters; i++)
        if (strcmp(def->parameters[i].name, name) == 0) return true;
    return false;
}

static void refuse_parameter(const struct cli_space *o, const char *name, struct diag *d)
{
    size_t n = (size_t)o->def->n_parameters;
    const char **known = ARENA_ARRAY(o->arena, const char *, n + 1);
    for (size_t i = 0; i < n; i++)
        known[i] = o->def->parameters[i].name;
    diag_plain(d, "--param: space '%s' has no parameter '%s'%s", o->def->name, name,
               cli_did_you_mean(o->arena, name, known, n));
}

/* A whole number, true or false. Returns false for any other text. */
static bool parse_value(const char *text, int64_t *out)
{
    char *end;
    errno = 0;
    *out = strcmp(text, "true") ? strtoll(text, &end, 10) : 1;
    return !strcmp(text, "true") || !strcmp(text, "false") ||
           (end != text && !*end && !errno && *out >= -SPACE_BIG && *out <= SPACE_BIG);
}

/* One NAME=VALUE; `item` is overwritten. */
static void set_parameter(char *item, struct cli_space *o, int64_t *first, struct diag *d)
{
    char *equals = strchr(item, '=');
    int64_t value;
    if (!equals || !parse_value(equals + 1, &value)) {
        diag_plain(d, "--param: '%s' is malformed; write NAME=NUMBER (at most 2^60), NAME=true or NAME=false",
                   item);
        return;
    }
    *equals = 0;
    if (is_parameter(o->def, item))
        space_data_parameter(o->data, item, value);
    else
        refuse_parameter(o, item, d);
    if (o->def->n_parameters && strcmp(item, o->def->parameters[0].name) == 0) *first = value;
}

static bool set_parameters(const char *text, struct cli_space *o, int64_t *first, struct diag *d)
{
    char *copy = arena_strdup(o->arena, text ? text : ""), *save = NULL;
    for (char *item = strtok_r(copy, ",", &save); item; item = strtok_r(NULL, ",", &save))
        set_parameter(item, o, first, d);
    return !diag_failed(d);
}

/* Whether the set has a property `index`, from which default objects can be made. */
static bool is_indexed(const struct space_def *def, int32_t set)
{
    for (int32_t p = 0; p < def->n_properties; p++) {
        const struct space_property *property = &def->properties[p];
        bool is_index = strcmp(property->name, "index") == 0 && property->arity == 1;
        if (is_index && property->args[0] == set && property->object < 0 && !property->list) return true;
    }
    return false;
}

static void index_objects(struct cli_space *o, const char *set, int64_t n)
{
    for (int64_t i = 0; i < n; i++) {
        uint32_t id = space_data_object(o->data, set, arena_printf(o->arena, "%" PRId64, i));
        space_data_int(o->data, "index", &id, 1, i);
    }
}

static void ask_for_objects(const struct cli_space *o, int32_t set, struct diag *d)
{
    const char *name = o->def->sets[set].name;
    if (is_indexed(o->def, set) && o->def->n_parameters)
        diag_plain(d,
                   "set '%s' has no objects; set their number with --param %s=N, or list them in a file with "
                   "--data FILE.json",
                   name, o->def->parameters[0].name);
    else
        diag_plain(d, "set '%s' has no objects; list them in a file with --data FILE.json", name);
}

/* An instance without --data: n objects in each indexed set. A set without the property `index` needs --data.
 */
static bool default_instance(struct cli_space *o, int64_t n, struct diag *d)
{
    for (int32_t s = 0; s < o->def->n_sets; s++) {
        const struct space_set *set = &o->def->sets[s];
        if (set->root != s || set->range || set->param >= 0) continue;
        bool known = is_indexed(o->def, s) && n != NOT_GIVEN;
        if (!known) ask_for_objects(o, s, d);
        if (known && (n < 0 || n > MOST_OBJECTS))
            diag_plain(d, "--param: %" PRId64 " objects are outside the range 0 to %d", n, MOST_OBJECTS);
        if (diag_failed(d)) return false;
        index_objects(o, set->name, n);
    }
    return true;
}

bool cli_space_instantiate(const struct cli_args *a, struct cli_space *o, struct diag *d)
{
    size_t n;
    bool has_default = o->def->n_parameters && o->def->parameters[0].has_default;
    int64_t objects = has_default ? o->def->parameters[0].value : NOT_GIVEN;
    const char *path = a->value[CLI_DATA];
    if (path) {
        o->json = source_read_file(path, FILE_LIMIT, &n, d);
        o->data = o->json ? space_data_from_json(path, o->json, o->def, d) : NULL;
    } else {
        o->data = space_data_new();
    }
    if (!o->data || !set_parameters(a->value[CLI_PARAM], o, &objects, d)) return false;
    if (!path && !default_instance(o, objects, d)) return false;
    o->space = space_instantiate(o->def, o->data, d);
    return o->space != NULL;
}

void cli_space_close(struct cli_space *o)
{
    if (o->space) space_free(o->space);
    if (o->data) space_data_free(o->data);
    if (o->arena) arena_free(o->arena);
    if (o->library) dlclose(o->library);
    free(o->json);
    free(o->text);
}
