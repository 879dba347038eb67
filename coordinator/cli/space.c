/* thresh space: spaces on their own. The instance comes from a JSON file; without one every root set has as
 * many objects as the space's first parameter, named by their numbers, which are also their property `index`.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "coordinator/cli/cli.h"
#include "core/base/arena.h"
#include "core/space/data.h"
#include "core/space/def.h"
#include "mcts/estimate.h"
#include "spacedsl/model.h"

enum { FILE_LIMIT = 64 << 20, MOST_OBJECTS = 4096 };

struct opened {
    struct arena *arena;
    char *text, *json;
    struct source source;
    const struct space_def *def;
    struct space_data *data;
    struct space *space;
};

static bool compile(const char *path, struct opened *o, struct diag *d)
{
    size_t n;
    o->arena = arena_new();
    o->text = source_read_file(path, FILE_LIMIT, &n, d);
    if (!o->text) return false;
    o->source = (struct source){path, o->text, n};
    o->def = spacedsl_compile(&o->source, o->arena, d);
    return o->def != NULL;
}

/* ---- the instance ---- */

static bool is_parameter(const struct space_def *def, const char *name)
{
    for (int32_t i = 0; i < def->n_parameters; i++)
        if (strcmp(def->parameters[i].name, name) == 0) return true;
    return false;
}

static bool set_parameters(const char *text, struct opened *o, int64_t *first, struct diag *d)
{
    char *copy = arena_strdup(o->arena, text ? text : ""), *save = NULL;
    for (char *item = strtok_r(copy, ",", &save); item; item = strtok_r(NULL, ",", &save)) {
        char *equals = strchr(item, '='), *end = NULL;
        long long value = equals ? strtoll(equals + 1, &end, 10) : 0;
        if (!equals || end == equals + 1 || *end) {
            diag_plain(d, "--param: '%s' is not name=number", item);
            return false;
        }
        *equals = 0;
        if (!is_parameter(o->def, item)) {
            diag_plain(d, "--param: space '%s' has no parameter '%s'", o->def->name, item);
            return false;
        }
        space_data_parameter(o->data, item, value);
        if (o->def->n_parameters && strcmp(item, o->def->parameters[0].name) == 0) *first = value;
    }
    return true;
}

static void index_objects(struct opened *o, const char *set, int64_t n)
{
    for (int64_t i = 0; i < n; i++) {
        uint32_t id = space_data_object(o->data, set, arena_printf(o->arena, "%" PRId64, i));
        for (int32_t p = 0; p < o->def->n_properties; p++) {
            const struct space_property *property = &o->def->properties[p];
            bool is_index = strcmp(property->name, "index") == 0 && property->arity == 1;
            if (is_index && strcmp(o->def->sets[property->args[0]].name, set) == 0)
                space_data_int(o->data, "index", &id, 1, i);
        }
    }
}

static bool default_instance(struct opened *o, int64_t n, struct diag *d)
{
    if (n < 0 || n > MOST_OBJECTS) {
        diag_plain(d, "--param: %" PRId64 " objects are not within 0 and %d", n, MOST_OBJECTS);
        return false;
    }
    for (int32_t s = 0; s < o->def->n_sets; s++) {
        const struct space_set *set = &o->def->sets[s];
        if (set->root == s && !set->range && set->param < 0) index_objects(o, set->name, n);
    }
    return true;
}

static bool instantiate(const struct cli_args *a, struct opened *o, struct diag *d)
{
    size_t n;
    int64_t objects = 0;
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

static void close_space(struct opened *o)
{
    if (o->space) space_free(o->space);
    if (o->data) space_data_free(o->data);
    if (o->arena) arena_free(o->arena);
    free(o->json);
    free(o->text);
}

/* ---- verbs ---- */

static void check(const struct cli_args *a, struct opened *o, struct diag *d)
{
    bool instance = cli_given(a, CLI_DATA) || cli_given(a, CLI_PARAM);
    if (instance && !instantiate(a, o, d)) return;
    if (cli_given(a, CLI_JSON))
        cli_print_json(json_pack("{s:s,s:i,s:i}", "space", o->def->name, "choices", (int)o->def->n_choices,
                                 "constraints", (int)o->def->n_constraints));
    else
        printf("%s: ok, space %s: %d choices, %d constraints\n", a->positional[1], o->def->name,
               (int)o->def->n_choices, (int)o->def->n_constraints);
}

static double now_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void print_count(const struct cli_args *a, const struct mcts_estimate *e, double elapsed_s)
{
    char count[64];
    mcts_count_print(e->log_leaves, count, sizeof count);
    if (cli_given(a, CLI_JSON))
        cli_print_json(json_pack("{s:f,s:f,s:b}", "solutions", e->leaves, "elapsed_s", elapsed_s, "complete",
                                 (int)e->complete));
    else
        printf("%s%s solutions, %.3f s\n", e->complete ? "" : "at least ", count, elapsed_s);
}

static void count(const struct cli_args *a, struct opened *o, struct diag *d)
{
    struct space_failure why;
    struct mcts_estimate e = {.complete = true, .log_leaves = -INFINITY};
    struct mcts_estimate_config c = {.method = MCTS_EXACT, .samples = 1, .cut = INFINITY};
    if (!cli_count(a, CLI_LIMIT, 0, &c.node_limit, d) || !instantiate(a, o, d)) return;
    double start = now_s();
    struct space_state *root = space_root(o->space, &why);
    if (root) e = mcts_estimate(&c, root);
    space_state_free(root);
    print_count(a, &e, now_s() - start);
}

static int run(const struct cli_args *a)
{
    struct diag *d = diag_new();
    struct opened o = {0};
    bool is_count = strcmp(a->positional[0], "count") == 0;
    if (!is_count && strcmp(a->positional[0], "check") != 0)
        diag_plain(d, "'%s' is none of check, count", a->positional[0]);
    else if (compile(a->positional[1], &o, d))
        (is_count ? count : check)(a, &o, d);
    int status = cli_finish(d, CLI_OK);
    close_space(&o);
    return status;
}

const struct cli_command cli_space = {
    .name = "space",
    .positional = "check|count FILE.space",
    .least = 2,
    .most = 2,
    .takes = CLI_TAKES(DATA) | CLI_TAKES(PARAM) | CLI_TAKES(LIMIT) | CLI_TAKES(JSON),
    .help = "Checks a space, or counts its solutions by enumeration. Without --data each set has as many "
            "objects as the "
            "first parameter says, with their numbers as property `index`.\v"
            "Example: thresh space count queens.space --param n=6",
    .run = run,
};
