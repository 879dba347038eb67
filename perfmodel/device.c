/* Reading, checking and writing device descriptions. An error points at the figure's name in the file: the
 * JSON library keeps no positions, so the name is searched for in the text. */
#include "perfmodel/device.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/hash.h"
#include "core/base/json_text.h"
#include "core/base/units.h"

enum { FILE_LIMIT = 1 << 20 };

struct figure_info {
    const char *name, *unit;
    double least, most;
    const char *meaning;
};

static const struct figure_info figures[PERFMODEL_FIGURE_COUNT] = {
#define X(id, name, unit, least, most, meaning) {name, unit, least, most, meaning},
    PERFMODEL_FIGURES(X)
#undef X
};

static const char *const source_names[PERFMODEL_SOURCE_COUNT] = {"unknown", "queried", "measured", "given",
                                                                 "violated"};

const char *perfmodel_figure_name(enum perfmodel_figure f)
{
    return figures[f].name;
}

const char *perfmodel_figure_unit(enum perfmodel_figure f)
{
    return figures[f].unit;
}

const char *perfmodel_figure_meaning(enum perfmodel_figure f)
{
    return figures[f].meaning;
}

bool perfmodel_figure_is_time(enum perfmodel_figure f)
{
    return strcmp(figures[f].unit, "ns") == 0;
}

uint64_t perfmodel_device_hash(const struct perfmodel_device *dev)
{
    return hash_finish(hash_bytes(HASH_START, dev->value, sizeof dev->value));
}

/* ---- text ---- */

int perfmodel_figure_print(enum perfmodel_figure f, double value, char *out, size_t n)
{
    static const double ns_per_s = 1e9;
    char number[UNITS_BYTES];
    const char *unit = figures[f].unit, *per_ns = strstr(unit, "/ns");
    if (perfmodel_figure_is_time(f)) return units_time(value, out, n);
    if (strcmp(unit, "bytes") == 0) return units_bytes(value, out, n);
    units_count(per_ns ? value * ns_per_s : value, number, sizeof number);
    if (!per_ns) return snprintf(out, n, strcmp(unit, "count") ? "%s %s" : "%s", number, unit);
    if (strncmp(unit, "bytes", 5) == 0) return snprintf(out, n, "%sB/s", number);
    return snprintf(out, n, "%s %.*s/s", number, (int)(per_ns - unit), unit);
}

int perfmodel_date_print(const struct perfmodel_date *date, char *out, size_t n)
{
    return snprintf(out, n, "%s%s", date->day, date->or_earlier ? " or earlier" : "");
}

int perfmodel_figure_origin(const struct perfmodel_device *dev, enum perfmodel_figure f, char *out, size_t n)
{
    static const char *const origins[PERFMODEL_SOURCE_COUNT] = {"unknown", "reported by the driver",
                                                                "measured", "from the data sheet",
                                                                "corrected after a time below the bound"};
    char date[PERFMODEL_TEXT];
    enum perfmodel_source s = dev->source[f];
    bool dated = s == PERFMODEL_MEASURED || s == PERFMODEL_VIOLATED;
    perfmodel_date_print(&dev->dated[f], date, sizeof date);
    return snprintf(out, n, "%s%s%s", origins[s], dated && *date ? " on " : "", dated ? date : "");
}

/* ---- reading ---- */

struct reading {
    struct source source;
    struct diag *diag;
    struct perfmodel_device *out;
    bool ok;
};

/* The place of "name" in the file; its start if there is none. */
static struct source_pos place(const struct reading *r, const char *name)
{
    char quoted[PERFMODEL_NAME + 2];
    snprintf(quoted, sizeof quoted, "\"%s\"", name);
    const char *at = strstr(r->source.text, quoted);
    return (struct source_pos){&r->source, at ? (size_t)(at - r->source.text) : 0};
}

static void read_text(struct reading *r, const json_t *o, const char *key, char *out, size_t n)
{
    const char *text = json_string_value(json_object_get(o, key));
    if (text && strlen(text) < n) {
        memcpy(out, text, strlen(text) + 1);
        return;
    }
    diag_error(r->diag, place(r, key), "\"%s\" is missing, not a string, or too long", key);
    r->ok = false;
}

static int find_source(const char *name)
{
    for (int s = 0; name && s < PERFMODEL_SOURCE_COUNT; s++)
        if (strcmp(name, source_names[s]) == 0) return s;
    return -1;
}

/* What is wrong with a figure; NULL: nothing. */
static const char *judge(const struct figure_info *info, const json_t *o, int source)
{
    const json_t *value = json_object_get(o, "value");
    const char *unit = json_string_value(json_object_get(o, "unit"));
    if (!json_is_object(o)) return "is missing";
    if (!unit || strcmp(unit, info->unit) != 0) return "has a missing or different \"unit\"";
    if (source < 0) return "has a missing or unknown \"source\"";
    if (source == PERFMODEL_UNKNOWN)
        return value && !json_is_null(value) ? "has a value although its source is \"unknown\"" : NULL;
    if (!json_is_number(value)) return "has a value that is not a number";
    double v = json_number_value(value);
    if (v <= 0) return v < 0 ? "is negative" : "is zero";
    return v < info->least || v > info->most ? "is outside the plausible range" : NULL;
}

/* A figure without a date of its own is from the last characterization, or was kept by it. */
static void read_date(struct reading *r, const json_t *o, enum perfmodel_figure f)
{
    struct perfmodel_date *date = &r->out->dated[f];
    if (json_object_get(o, "date")) {
        read_text(r, o, "date", date->day, sizeof date->day);
        date->or_earlier = json_is_true(json_object_get(o, "or_earlier"));
        return;
    }
    bool may_be_kept = r->out->source[f] == PERFMODEL_MEASURED || r->out->source[f] == PERFMODEL_VIOLATED;
    memcpy(date->day, r->out->date, sizeof date->day);
    date->or_earlier = may_be_kept && *date->day;
}

static void read_figure(struct reading *r, const json_t *all, enum perfmodel_figure f)
{
    const struct figure_info *info = &figures[f];
    const json_t *o = json_object_get(all, info->name);
    int source = find_source(json_string_value(json_object_get(o, "source")));
    const char *wrong = judge(info, o, source);
    if (wrong) {
        diag_error(r->diag, place(r, o ? info->name : "figures"), "figure \"%s\" (%s) %s", info->name,
                   info->unit, wrong);
        r->ok = false;
        return;
    }
    r->out->source[f] = (enum perfmodel_source)source;
    if (source == PERFMODEL_UNKNOWN) return;
    r->out->value[f] = json_number_value(json_object_get(o, "value"));
    read_date(r, o, f);
}

static void read_object(struct reading *r, const json_t *o)
{
    const json_t *version = json_object_get(o, "version");
    if (!json_is_integer(version) || json_integer_value(version) != PERFMODEL_VERSION) {
        diag_error(r->diag, place(r, "version"),
                   "not a device description of version %d; 'thresh device characterize' makes one",
                   PERFMODEL_VERSION);
        r->ok = false;
        return;
    }
    char type[8] = "";
    read_text(r, o, "device", r->out->name, sizeof r->out->name);
    read_text(r, o, "platform", r->out->platform, sizeof r->out->platform);
    read_text(r, o, "driver", r->out->driver, sizeof r->out->driver);
    read_text(r, o, "date", r->out->date, sizeof r->out->date);
    read_text(r, o, "type", type, sizeof type);
    r->out->gpu = strcmp(type, "gpu") == 0;
    if (*type && !r->out->gpu && strcmp(type, "cpu") != 0) {
        diag_error(r->diag, place(r, "type"), "\"type\" must be gpu or cpu");
        r->ok = false;
    }
    const json_t *streams = json_object_get(o, "nontemporal");
    if (json_is_boolean(streams))
        r->out->streams = json_is_true(streams) ? PERFMODEL_STREAMS : PERFMODEL_STREAMS_NOT;
    r->out->matrix = json_is_true(json_object_get(o, "matrix_units"));
    const json_t *all = json_object_get(o, "figures");
    for (int f = 0; f < PERFMODEL_FIGURE_COUNT; f++)
        read_figure(r, all, (enum perfmodel_figure)f);
}

bool perfmodel_device_read(const char *path, struct perfmodel_device *out, struct diag *d)
{
    *out = (struct perfmodel_device){0};
    size_t n;
    char *text = source_read_file(path, FILE_LIMIT, &n, d);
    if (!text) return false;
    struct reading r = {{path, text, n}, d, out, true};
    json_error_t error;
    json_t *o = json_loads(text, JSON_REJECT_DUPLICATES, &error);
    if (json_is_object(o)) {
        read_object(&r, o);
    } else {
        bool ended = !o && json_error_code(&error) == json_error_premature_end_of_input;
        size_t at = o ? 0 : json_text_fault(text, (size_t)error.position, ended);
        diag_error(
            d, (struct source_pos){&r.source, at}, "%s%s",
            o ? "not a device description: not a JSON object" : "malformed JSON: ", o ? "" : error.text);
        r.ok = false;
    }
    json_decref(o);
    free(text);
    return r.ok;
}

/* ---- writing ---- */

json_t *perfmodel_figure_json(const struct perfmodel_device *dev, enum perfmodel_figure f)
{
    const struct perfmodel_date *date = &dev->dated[f];
    json_t *value = dev->source[f] == PERFMODEL_UNKNOWN ? json_null() : json_real(dev->value[f]);
    json_t *o = json_pack("{s:o,s:s,s:s}", "value", value, "unit", figures[f].unit, "source",
                          source_names[dev->source[f]]);
    if (*date->day) json_object_set_new(o, "date", json_string(date->day));
    if (date->or_earlier) json_object_set_new(o, "or_earlier", json_true());
    json_object_set_new(o, "what", json_string(figures[f].meaning));
    return o;
}

bool perfmodel_device_write(const struct perfmodel_device *dev, FILE *out)
{
    json_t *all = json_object();
    for (int f = 0; f < PERFMODEL_FIGURE_COUNT; f++)
        json_object_set_new(all, figures[f].name, perfmodel_figure_json(dev, (enum perfmodel_figure)f));
    json_t *o = json_pack("{s:i,s:s,s:s,s:s,s:s,s:s,s:o}", "version", PERFMODEL_VERSION, "device", dev->name,
                          "platform", dev->platform, "driver", dev->driver, "type", dev->gpu ? "gpu" : "cpu",
                          "date", dev->date, "figures", all);
    if (dev->streams) json_object_set_new(o, "nontemporal", json_boolean(dev->streams == PERFMODEL_STREAMS));
    if (dev->matrix) json_object_set_new(o, "matrix_units", json_true());
    bool ok = json_dumpf(o, out, JSON_INDENT(1) | JSON_REAL_PRECISION(9)) == 0 && fputc('\n', out) != EOF;
    json_decref(o);
    return ok;
}
