/* Writing and reading results.
 *
 * A best.json has everything that is needed to build the kernel again: the program's text, sizes, device
 * limits and actions. Reading it rebuilds the problem from the text, checks its fingerprint against the
 * recorded one and replays the actions. Sizes and limits are checked as on the command line. `checksums` has
 * one sum for each key, over its JSON text with sorted keys, so that a message can name the key that was
 * edited; it is no protection against forgery. */
#include "coordinator/best.h"

#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/wire.h"
#include "coordinator/solution.h"
#include "coordinator/store.h"
#include "core/base/arena.h"
#include "core/base/diag.h"
#include "core/base/file.h"
#include "core/base/hash.h"
#include "core/base/json_text.h"
#include "core/base/strbuf.h"
#include "core/pipeline/code.h"

enum { FORMAT = 2, NAME_MAX_BYTES = 256, FILE_LIMIT = 64 << 20 };

static void sum_text(const char *text, char hex[HASH_HEX_BYTES])
{
    hash_hex(hash_finish(hash_string(HASH_START, text ? text : "")), hex);
}

static void key_sum(const json_t *value, char hex[HASH_HEX_BYTES])
{
    char *text = json_dumps(value, JSON_COMPACT | JSON_SORT_KEYS | JSON_ENCODE_ANY | JSON_REAL_PRECISION(17));
    sum_text(text, hex);
    free(text);
}

void best_seal(json_t *object)
{
    const char *key;
    json_t *value, *sums = json_object();
    json_object_foreach(object, key, value)
    {
        char hex[HASH_HEX_BYTES];
        key_sum(value, hex);
        json_object_set_new(sums, key, json_string(hex));
    }
    json_object_set_new(object, "checksums", sums);
}

static json_t *ints_json(struct message_ints ints)
{
    json_t *array = json_array();
    for (size_t i = 0; i < ints.n; i++)
        json_array_append_new(array, json_integer(ints.items[i]));
    return array;
}

static json_t *contender_json(const struct best_contender *c)
{
    char *actions = store_actions_print(c->actions, c->n_actions);
    json_t *o = json_pack("{s:s,s:I,s:o,s:s}", "label", c->label, "number", (json_int_t)c->number, "figure",
                          figure_json(&c->figure), "actions", actions);
    free(actions);
    return o;
}

static json_t *contenders_json(const struct best *b)
{
    json_t *list = json_array();
    for (unsigned i = 0; i < b->n_contenders; i++)
        json_array_append_new(list, contender_json(&b->contenders[i]));
    return list;
}

static json_t *result_json(const struct best *b, const struct pipeline_code *c)
{
    struct arena *a = arena_new();
    char fingerprint[HASH_HEX_BYTES], kernel_hash[HASH_HEX_BYTES];
    char *actions = store_actions_print(b->actions, b->n_actions);
    const struct cg_kernel *k = &c->kernel;
    hash_hex(b->problem->fingerprint, fingerprint);
    hash_hex(c->hash, kernel_hash);
    json_t *o = json_pack(
        "{s:i,s:s,s:s,s:s,s:s,s:s,s:o,s:o,s:s,s:s,s:o,s:s,s:s,s:s,s:[III],s:[III],s:f,s:f,s:o,s:o,s:o}",
        "format", FORMAT, "kernel", b->problem->source.path, "lift", b->problem->source.text, "sizes",
        b->sizes, "device", b->device->name, "driver", b->device->driver, "limits",
        ints_json(wire_device(b->device, a)), "lowering", ints_json(wire_options(b->lowering, a)),
        "fingerprint", fingerprint, "actions", actions, "decisions",
        solution_actions_json(b->problem->space, b->actions, b->n_actions), "opencl", k->source, "entry",
        k->name, "kernel_hash", kernel_hash, "global_size", (json_int_t)k->global[0],
        (json_int_t)k->global[1], (json_int_t)k->global[2], "local_size", (json_int_t)k->local[0],
        (json_int_t)k->local[1], (json_int_t)k->local[2], "median_ns", b->figure.median_ns, "naive_ns",
        b->naive.median_ns, "figure", figure_json(&b->figure), "naive", figure_json(&b->naive), "contenders",
        contenders_json(b));
    if (b->store) json_object_set_new(o, "store", json_string(b->store));
    if (b->data) json_object_set_new(o, "data", json_loads(b->data, 0, NULL));
    best_seal(o);
    free(actions);
    arena_free(a);
    return o;
}

/* ---- writing ---- */

bool best_write_files(const char *dir, const char *opencl, const json_t *result, const char *host,
                      struct diag *d)
{
    static const char *const names[] = {"best.cl", "best.json", "host.c"};
    char *json = json_dumps(result, JSON_INDENT(1) | JSON_REAL_PRECISION(17));
    const char *const texts[] = {opencl, json, host};
    struct strbuf paths[3] = {0};
    struct file_text files[3];
    for (size_t i = 0; i < 3; i++) {
        strbuf_printf(&paths[i], "%s/%s", dir, names[i]);
        files[i] = (struct file_text){paths[i].text, texts[i]};
    }
    bool ok = file_write(files, 3, d);
    for (size_t i = 0; i < 3; i++)
        strbuf_free(&paths[i]);
    free(json);
    return ok;
}

static bool refuse_folder(const char *dir, int error, struct diag *d)
{
    char *fault = file_create_fault(dir, error);
    diag_plain(d, "cannot create folder '%s': %s; choose another folder with --out", dir, fault);
    free(fault);
    return false;
}

bool best_make_folder(const char *dir, struct diag *d)
{
    struct strbuf inside = {0};
    if (mkdir(dir, 0777) && errno != EEXIST) return refuse_folder(dir, errno, d);
    strbuf_printf(&inside, "%s/.", dir);
    bool ok = access(inside.text, W_OK | X_OK) == 0;
    if (!ok)
        diag_plain(d, "cannot write to folder '%s': %s; choose another folder with --out", dir,
                   file_error_text(errno));
    strbuf_free(&inside);
    return ok;
}

/* Replaces a list of actions by the shortest one to the same leaf, which is the same whichever list a draw
 * has made; the old one is borrowed, the new one is malloc'd. false: the actions contradict each other. */
static bool shorten(const struct problem *p, const struct space_action **actions, size_t *n, const char **why)
{
    struct space_state *leaf = problem_replay(p, *actions, *n, why);
    if (leaf) *actions = solution_actions(NULL, leaf, n);
    space_state_free(leaf);
    return leaf != NULL;
}

/* A copy whose lists of actions are the shortest ones. `actions` of each is NULL or malloc'd. */
struct shortened {
    struct best best;
    struct best_contender *contenders;
};

static bool shorten_all(const struct best *b, struct shortened *out, const char **why)
{
    const struct space_action *winner = b->actions;
    out->best = *b;
    out->best.actions = NULL;
    out->best.n_contenders = 0;
    out->best.contenders = out->contenders = base_calloc(b->n_contenders + 1, sizeof *out->contenders);
    bool ok = shorten(b->problem, &winner, &out->best.n_actions, why);
    if (ok) out->best.actions = winner;
    for (unsigned i = 0; ok && i < b->n_contenders; i++) {
        struct best_contender *c = &out->contenders[i];
        const struct space_action *actions = b->contenders[i].actions;
        *c = b->contenders[i];
        if (store_is_baseline(c->number)) { /* it has no decisions */
            c->actions = NULL;
            c->n_actions = 0;
            out->best.n_contenders++;
            continue;
        }
        ok = shorten(b->problem, &actions, &c->n_actions, why);
        c->actions = ok ? (struct space_action *)actions : NULL;
        out->best.n_contenders += ok;
    }
    return ok;
}

static void shortened_clear(struct shortened *s)
{
    for (unsigned i = 0; i < s->best.n_contenders; i++)
        free(s->contenders[i].actions);
    free(s->contenders);
    free((struct space_action *)s->best.actions);
}

/* The code of an implementation with the shortest lists of actions. false after an error; the caller clears
 * both in either case. */
static bool prepare(const struct best *b, struct shortened *s, struct pipeline_code *c, struct diag *d)
{
    char why[NAME_MAX_BYTES];
    const char *contradiction = "";
    bool ok = shorten_all(b, s, &contradiction);
    if (!ok) snprintf(why, sizeof why, "%s", contradiction);
    ok = ok && pipeline_lower_actions(b->problem, s->best.actions, s->best.n_actions, c, why, sizeof why);
    if (!ok) diag_plain(d, "cannot write the best implementation: %s", why);
    return ok;
}

json_t *best_json(const struct best *b, struct diag *d)
{
    struct pipeline_code c = {0};
    struct shortened s;
    json_t *o = prepare(b, &s, &c, d) ? result_json(&s.best, &c) : NULL;
    pipeline_code_clear(&c);
    shortened_clear(&s);
    return o;
}

bool best_write(const char *dir, const struct best *b, struct diag *d)
{
    struct pipeline_code c = {0};
    struct shortened s;
    struct strbuf host = {0};
    if (!best_make_folder(dir, d)) return false;
    bool ok = prepare(b, &s, &c, d);
    json_t *o = ok ? result_json(&s.best, &c) : NULL;
    if (ok) best_host_program(&s.best, &c.kernel, "best.cl", &host);
    ok = ok && best_write_files(dir, c.kernel.source, o, host.text, d);
    strbuf_free(&host);
    json_decref(o);
    pipeline_code_clear(&c);
    shortened_clear(&s);
    return ok;
}

/* ---- reading ---- */

static struct message_ints read_ints(json_t *array, struct arena *a)
{
    size_t n = json_array_size(array);
    int64_t *items = ARENA_ARRAY(a, int64_t, n);
    for (size_t i = 0; i < n; i++)
        items[i] = json_integer_value(json_array_get(array, i));
    return (struct message_ints){items, n};
}

static bool read_contender(const json_t *o, struct best_contender *out)
{
    const char *label, *actions;
    json_int_t number;
    json_t *figure;
    if (json_unpack((json_t *)o, "{s:s,s:I,s:o,s:s}", "label", &label, "number", &number, "figure", &figure,
                    "actions", &actions))
        return false;
    out->label = base_strdup(label);
    out->number = number;
    return figure_read_json(figure, &out->figure) &&
           store_actions_parse(actions, &out->actions, &out->n_actions);
}

/* The figures of format 2. */
static bool read_figures(const json_t *o, struct best_file *out)
{
    const json_t *list = json_object_get(o, "contenders");
    size_t n = json_array_size(list);
    out->contenders = base_calloc(n + 1, sizeof *out->contenders);
    bool ok = json_is_array(list) && figure_read_json(json_object_get(o, "figure"), &out->figure) &&
              figure_read_json(json_object_get(o, "naive"), &out->naive);
    for (size_t i = 0; ok && i < n; i++) {
        out->n_contenders++;
        ok = read_contender(json_array_get(list, i), &out->contenders[i]);
    }
    return ok;
}

/* The figures, in either format. false after an error. */
static bool take_figures(const json_t *o, struct best_file *out, struct diag *d)
{
    json_int_t format = json_integer_value(json_object_get(o, "format"));
    if (format == 1) {
        out->figure = figure_of_search(json_number_value(json_object_get(o, "median_ns")));
        out->naive = figure_of_search(json_number_value(json_object_get(o, "naive_ns")));
        return true;
    }
    if (format != FORMAT)
        diag_plain(d,
                   "format %" JSON_INTEGER_FORMAT
                   " of best.json is not supported; this version of thresh reads formats 1 to %d",
                   format, FORMAT);
    else if (read_figures(o, out))
        return true;
    else
        diag_plain(d, "best.json is malformed: 'figure', 'naive' or 'contenders'");
    return false;
}

/* Rebuilds the problem and its implementation. */
static bool rebuild(json_t *o, struct best_file *out, struct diag *d)
{
    const char *path, *text, *sizes, *device, *driver, *actions, *fingerprint, *kernel_hash;
    json_t *limits, *lowering;
    if (json_unpack(o, "{s:s,s:s,s:s,s:s,s:s,s:s,s:s,s:o,s:o,s:s}", "kernel", &path, "lift", &text, "sizes",
                    &sizes, "device", &device, "driver", &driver, "actions", &actions, "fingerprint",
                    &fingerprint, "limits", &limits, "lowering", &lowering, "kernel_hash", &kernel_hash)) {
        diag_plain(d, "not a best.json of 'thresh tune': keys are missing");
        return false;
    }
    if (!take_figures(o, out, d)) return false;
    const char *store = json_string_value(json_object_get(o, "store"));
    if (store) out->store = base_strdup(store);
    if (json_object_get(o, "data")) out->data = json_dumps(json_object_get(o, "data"), JSON_COMPACT);
    struct arena *a = arena_new();
    struct bb_options options;
    bool ok = wire_read_device(read_ints(limits, a), &out->device) &&
              wire_read_options(read_ints(lowering, a), &options) &&
              store_actions_parse(actions, &out->actions, &out->n_actions);
    arena_free(a);
    if (!ok) {
        diag_plain(d, "best.json is malformed: 'limits', 'lowering' or 'actions'");
        return false;
    }
    out->kernel_hash = strtoull(kernel_hash, NULL, 16);
    strncpy(out->device.name, device, DEVICE_NAME - 1);
    strncpy(out->device.driver, driver, DEVICE_NAME - 1);
    out->problem = problem_new(path, text, sizes, &out->device.limits, &options, d);
    if (!out->problem) return false;
    if (out->problem->fingerprint == strtoull(fingerprint, NULL, 16)) return true;
    diag_plain(
        d,
        "version mismatch: the decisions belong to the space of another version of thresh; run 'thresh tune' "
        "again");
    return false;
}

/* The first key that was changed, added or removed; NULL: none. */
static const char *edited_key(json_t *o, json_t *sums)
{
    const char *key;
    json_t *value;
    json_object_foreach(o, key, value)
    {
        char hex[HASH_HEX_BYTES];
        const char *recorded = json_string_value(json_object_get(sums, key));
        key_sum(value, hex);
        if (strcmp(key, "checksums") != 0 && (!recorded || strcmp(recorded, hex) != 0)) return key;
    }
    json_object_foreach(sums, key, value) if (!json_object_get(o, key)) return key;
    return NULL;
}

/* Whether it is a result of a program. A result of `tune --space` has no kernel that could be rebuilt. */
static bool is_of_program(const char *path, const json_t *o, struct diag *d)
{
    if (json_is_object(json_object_get(o, "checksums"))) return true;
    if (json_object_get(o, "space"))
        diag_plain(
            d,
            "%s: a result of 'thresh tune --space' has no kernel to rebuild; read the decisions from the "
            "file itself",
            path);
    else
        diag_plain(d, "%s: not a best.json of 'thresh tune': it has no 'checksums'", path);
    return false;
}

static bool check_sums(const char *path, json_t *o, struct diag *d)
{
    const char *key = edited_key(o, json_object_get(o, "checksums"));
    if (key) diag_plain(d, "%s: '%s' was changed after the file was written", path, key);
    return key == NULL;
}

json_t *best_load(const char *path, struct diag *d)
{
    size_t n;
    char *text = source_read_file(path, FILE_LIMIT, &n, d);
    if (!text) return NULL;
    json_error_t error;
    json_t *o = json_loads(text, JSON_REJECT_DUPLICATES, &error);
    const struct source source = {path, text, n};
    if (!o) {
        bool ended = json_error_code(&error) == json_error_premature_end_of_input;
        size_t at = json_text_fault(text, (size_t)error.position, ended);
        if (text[strspn(text, " \t\r\n")] == '{')
            diag_error(d, (struct source_pos){&source, at}, "malformed JSON: %s", error.text);
        else
            diag_plain(d, "'%s' is not a result of 'thresh tune' (best.json or a store)", path);
    }
    bool ok = o && is_of_program(path, o, d) && check_sums(path, o, d);
    if (!ok) json_decref(o);
    free(text);
    return ok ? o : NULL;
}

bool best_from_json(json_t *o, struct best_file *out, struct diag *d)
{
    *out = (struct best_file){0};
    bool ok = rebuild(o, out, d);
    if (!ok) best_file_clear(out);
    return ok;
}

bool best_read(const char *path, struct best_file *out, struct diag *d)
{
    *out = (struct best_file){0};
    json_t *o = best_load(path, d);
    bool sequence = o && best_is_sequence(o);
    if (sequence)
        diag_plain(d, "%s: a sequence of kernels; 'thresh explain' and 'thresh replay' read it", path);
    bool ok = o && !sequence && best_from_json(o, out, d);
    json_decref(o);
    return ok;
}

bool best_is_sequence(const json_t *o)
{
    return json_is_array(json_object_get(o, "parts"));
}

void best_file_clear(struct best_file *f)
{
    for (unsigned i = 0; i < f->n_contenders; i++) {
        free((char *)f->contenders[i].label);
        free(f->contenders[i].actions);
    }
    free(f->contenders);
    problem_free(f->problem);
    free(f->actions);
    free(f->store);
    free(f->data);
    *f = (struct best_file){0};
}
