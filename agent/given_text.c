/* The user's files as a text:
 *
 *     {"inputs": {"x": "/home/me/x.npy"}, "references": {"": "/home/me/z.npy"}, "tolerance": 1e-4,
 *      "hash": "6c62272e07bb0142"}
 *
 * An expected result that was given without a name has the name "". Agents open the files themselves: the
 * same paths must lead to the same content where they run. */
#define _XOPEN_SOURCE 700 /* realpath */
#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "agent/given_state.h"
#include "core/base/arena.h"
#include "core/base/diag.h"
#include "core/base/hash.h"
#include "core/base/strbuf.h"

enum { MOST_TEXT = 1 << 20 };

/* The absolute path; NULL after an error. */
static json_t *absolute(const char *path, struct diag *d)
{
    char *full = realpath(path, NULL);
    if (!full) diag_plain(d, "cannot open %s: %s", path, strerror(errno));
    json_t *text = full ? json_string(full) : NULL;
    if (full && !text) diag_plain(d, "the path of %s is not UTF-8", path);
    free(full);
    return text;
}

/* The object of names and paths; NULL after an error. */
static json_t *files_json(const struct given_file *files, unsigned n, struct diag *d)
{
    json_t *o = json_object();
    for (unsigned i = 0; i < n; i++) {
        json_t *path = absolute(files[i].path, d);
        if (path && json_object_set_new(o, files[i].name ? files[i].name : "", path) == 0) continue;
        json_decref(o);
        return NULL;
    }
    return o;
}

char *given_text(const struct given_files *f, const struct given *data, struct diag *d)
{
    char hex[HASH_HEX_BYTES];
    json_t *inputs = files_json(f->inputs, f->n_inputs, d),
           *references = files_json(f->references, f->n_references, d);
    json_t *o =
        inputs && references ? json_pack("{s:O,s:O}", "inputs", inputs, "references", references) : NULL;
    json_decref(inputs);
    json_decref(references);
    if (!o) return NULL;
    if (f->has_tolerance) json_object_set_new(o, "tolerance", json_real(f->tolerance));
    hash_hex(given_hash(data), hex);
    json_object_set_new(o, "hash", json_string(hex));
    char *text = json_dumps(o, JSON_COMPACT | JSON_REAL_PRECISION(17));
    json_decref(o);
    return text;
}

/* Names and paths, which point into o. */
static bool read_list(json_t *o, struct given_file *files, unsigned most, unsigned *n)
{
    const char *name;
    json_t *path;
    if (!json_is_object(o) || json_object_size(o) > most) return false;
    json_object_foreach(o, name, path)
    {
        if (!json_is_string(path)) return false;
        files[(*n)++] = (struct given_file){*name ? name : NULL, json_string_value(path)};
    }
    return true;
}

/* Strings of *f point into o. */
static bool read_files(json_t *o, struct given_files *f)
{
    json_t *tolerance = json_object_get(o, "tolerance"), *references = json_object_get(o, "references");
    f->has_tolerance = tolerance != NULL;
    f->tolerance = json_number_value(tolerance);
    return read_list(json_object_get(o, "inputs"), f->inputs, GIVEN_MOST_INPUTS, &f->n_inputs) &&
           (!references || read_list(references, f->references, GIVEN_MOST_OUTPUTS, &f->n_references)) &&
           (!tolerance || (json_is_number(tolerance) && isfinite(f->tolerance) && f->tolerance >= 0));
}

static struct given *load(json_t *o, const struct lift_program *p, struct diag *d)
{
    struct given_files f = {0};
    char hex[HASH_HEX_BYTES];
    const char *wanted = json_string_value(json_object_get(o, "hash"));
    if (!wanted || !read_files(o, &f)) {
        diag_plain(d, "the description of the data is malformed");
        return NULL;
    }
    struct given *data = given_load(&f, p, d);
    if (!data) return NULL;
    hash_hex(given_hash(data), hex);
    if (strcmp(hex, wanted) == 0) return data;
    diag_plain(d, "the data files have other content here than where the search runs");
    given_free(data);
    return NULL;
}

struct given *given_load_text(const char *text, const struct lift_program *p, struct diag *d)
{
    json_error_t error;
    json_t *o = strlen(text) < MOST_TEXT ? json_loads(text, JSON_REJECT_DUPLICATES, &error) : NULL;
    struct given *data = NULL;
    if (o)
        data = load(o, p, d);
    else
        diag_plain(d, "the description of the data is malformed");
    json_decref(o);
    return data;
}
