/* Evaluations in the formats of other tuners. Both want one table for a problem, with the same decisions in
 * each row and times in ms:
 *
 *     number  staged(A)  size(m.0)  ...  status       median_ns
 *     1       YES        8               ok           18250        "time": 0.01825   "invalidity": "correct"
 *     2       NO         4               build_error               "CompilationFailedConfig"     "compile"
 *
 * Decisions that are equal in all rows are no columns; they stand once in the file, as "fixed". Decisions of
 * order that the columns imply, in these rows, are left out (assign_roles()). What thresh
 * does not record, such as the time of compilation, is left out of T4 results, and 0 in Kernel Tuner's cache,
 * whose schema requires it.
 *
 * Kernel Tuner's cache: schema/cache/1.1.0/schema.json of github.com/KernelTuner/kernel_tuner. T4 results:
 * results-schema.json 1.0.0 of github.com/odgaard/TuningSchema, with the value "correct" of invalidity that
 * Kernel Tuner, KTT and the autotuning methodology use. */
#define _DEFAULT_SOURCE /* timegm */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "coordinator/export.h"
#include "coordinator/portrait.h"
#include "core/base/arena.h"
#include "core/base/panic.h"
#include "core/base/strbuf.h"
#include "gpu.space.h"

enum { ABSENT = UINT16_MAX, MOST_VALUES = ABSENT - 1, TIME_BYTES = 40 };

static const double ms = 1e-6; /* of a ns */

/* What a status is in the two formats. */
static const struct outcome {
    const char *status, *kernel_tuner, *t4;
} outcomes[] = {
    {"ok", NULL, "correct"},
    {"build_error", "CompilationFailedConfig", "compile"},
    {"wrong_result", "RuntimeFailedConfig", "correctness"},
    {"timeout", "RuntimeFailedConfig", "timeout"},
    {"cut", "RuntimeFailedConfig", "timeout"}, /* stopped as slower than the limit */
    {"oversized", "InvalidConfig", "constraints"},
    {"launch_error", "RuntimeFailedConfig", "runtime"},
    {"crashed", "RuntimeFailedConfig", "runtime"},
    {"out_of_memory", "RuntimeFailedConfig", "runtime"},
};
/* Not of an evaluation: nothing was tried, or the device was lost. */
static const char *const left_out[] = {"duplicate", "device_lost"};

struct choice {
    const char *name;
    json_t *numbers;                      /* {value as text: number} */
    json_t *values;                       /* by number */
    bool absent;                          /* some row does not have it */
    enum { FIXED, COLUMN, FOLLOWS } role; /* assign_roles() */
};

struct row {
    uint16_t *values; /* numbers of the choices' values, ABSENT; of the choices that were known then */
    size_t n_values;
    const struct outcome *outcome;
    const char *status;
    int64_t number;
    double time_ns; /* 0: not valid */
    double *samples;
    unsigned n_samples;
    struct figure quoted;
    json_t *measured; /* numbers that a command printed; NULL: none */
    char timestamp[TIME_BYTES];
};

struct export_table {
    struct arena *arena;
    const struct winner *winner;
    json_t *numbers; /* {choice: number} */
    struct choice *choices;
    size_t n_choices, choices_room;
    struct row *rows;
    size_t n_rows, rows_room, left_out;
};

struct export_table *export_table_new(const struct winner *w)
{
    struct export_table *t = base_calloc(1, sizeof *t);
    t->arena = arena_new();
    t->winner = w;
    t->numbers = json_object();
    return t;
}

void export_table_free(struct export_table *t)
{
    if (!t) return;
    for (size_t i = 0; i < t->n_choices; i++) {
        json_decref(t->choices[i].numbers);
        json_decref(t->choices[i].values);
    }
    for (size_t i = 0; i < t->n_rows; i++)
        json_decref(t->rows[i].measured);
    json_decref(t->numbers);
    arena_free(t->arena);
    free(t);
}

size_t export_table_rows(const struct export_table *t, size_t *n_left_out)
{
    *n_left_out = t->left_out;
    return t->n_rows;
}

/* ---- adding rows ---- */

static const struct outcome *outcome_of(const char *status)
{
    static const struct outcome other = {"", "RuntimeFailedConfig", "runtime"};
    for (size_t i = 0; i < sizeof outcomes / sizeof outcomes[0]; i++)
        if (strcmp(outcomes[i].status, status) == 0) return &outcomes[i];
    return &other;
}

static bool is_left_out(const char *status)
{
    for (size_t i = 0; i < sizeof left_out / sizeof left_out[0]; i++)
        if (strcmp(left_out[i], status) == 0) return true;
    return false;
}

/* The number of a choice; a new one is added, which earlier rows do not have. */
static size_t choice_number(struct export_table *t, const char *name)
{
    const json_t *known = json_object_get(t->numbers, name);
    if (known) return (size_t)json_integer_value(known);
    t->choices = arena_grow(t->arena, t->choices, &t->choices_room, t->n_choices + 1, sizeof *t->choices);
    t->choices[t->n_choices] = (struct choice){.name = arena_strdup(t->arena, name),
                                               .numbers = json_object(),
                                               .values = json_array(),
                                               .absent = t->n_rows > 0};
    json_object_set_new(t->numbers, name, json_integer((json_int_t)t->n_choices));
    return t->n_choices++;
}

static uint16_t value_number(struct choice *c, json_t *value)
{
    char *text = json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT);
    const json_t *known = json_object_get(c->numbers, text);
    size_t number = known ? (size_t)json_integer_value(known) : json_array_size(c->values);
    CHECK(number <= MOST_VALUES);
    if (!known) {
        json_object_set_new(c->numbers, text, json_integer((json_int_t)number));
        json_array_append(c->values, value);
    }
    free(text);
    return (uint16_t)number;
}

static void take_decisions(struct export_table *t, struct row *r, const json_t *decisions)
{
    const char *name;
    json_t *value;
    json_object_foreach((json_t *)decisions, name, value) choice_number(t, name);
    r->n_values = t->n_choices;
    r->values = ARENA_ARRAY(t->arena, uint16_t, r->n_values + 1);
    for (size_t i = 0; i < r->n_values; i++) {
        json_t *has = json_object_get(decisions, t->choices[i].name);
        r->values[i] = has ? value_number(&t->choices[i], has) : ABSENT;
        t->choices[i].absent = t->choices[i].absent || !has;
    }
}

/* RFC 3339: the start of the run and the seconds that its search had taken. A run that was resumed later
 * began at its first start, so that its timestamps leave out the pause. */
static void put_timestamp(const char *started, double after_s, char out[TIME_BYTES])
{
    struct tm tm = {0};
    double whole, part = modf(fmax(after_s, 0), &whole);
    if (sscanf(started, "%d-%d-%d %d:%d:%d", &tm.tm_year, &tm.tm_mon, &tm.tm_mday, &tm.tm_hour, &tm.tm_min,
               &tm.tm_sec) == 6) {
        tm.tm_year -= 1900;
        tm.tm_mon -= 1;
    }
    time_t at = timegm(&tm) + (time_t)whole;
    gmtime_r(&at, &tm);
    size_t n = strftime(out, TIME_BYTES, "%Y-%m-%dT%H:%M:%S", &tm);
    snprintf(out + n, TIME_BYTES - n, ".%06d+00:00", (int)(part * 1e6));
}

/* The members of a JSON object in a store; NULL: there are none. */
static json_t *members(const char *text)
{
    json_t *o = json_loads(text ? text : "", 0, NULL);
    if (json_is_object(o)) return o;
    json_decref(o);
    return NULL;
}

void export_table_add(struct export_table *t, const char *started, const struct store_evaluation *e,
                      const json_t *decisions)
{
    if (is_left_out(e->status)) {
        t->left_out++;
        return;
    }
    struct row r = {.outcome = outcome_of(e->status),
                    .status = arena_strdup(t->arena, e->status),
                    .number = e->number,
                    .time_ns = strcmp(e->status, "ok") == 0 ? e->median_ns : 0,
                    .quoted = e->quoted,
                    .measured = members(e->numbers)};
    if (r.time_ns > 0) {
        r.samples = arena_memdup(t->arena, e->samples, e->n_samples * sizeof *e->samples);
        r.n_samples = e->n_samples;
    }
    put_timestamp(started, e->found_at, r.timestamp);
    take_decisions(t, &r, decisions);
    t->rows = arena_grow(t->arena, t->rows, &t->rows_room, t->n_rows + 1, sizeof *t->rows);
    t->rows[t->n_rows++] = r;
}

/* A borrowed reference; NULL: the row does not have the choice. */
static json_t *value_of(const struct export_table *t, const struct row *r, size_t choice)
{
    if (choice >= r->n_values || r->values[choice] == ABSENT) return NULL;
    return json_array_get(t->choices[choice].values, r->values[choice]);
}

/* ---- columns ---- */

/* A row in its group, the rows that are equal in the columns so far, and its value of another choice. */
struct place {
    uint32_t group, row;
    uint16_t value;
};

static int by_group(const void *x, const void *y)
{
    const struct place *a = x, *b = y;
    if (a->group != b->group) return a->group < b->group ? -1 : 1;
    if (a->value != b->value) return a->value < b->value ? -1 : 1;
    return (a->row > b->row) - (a->row < b->row);
}

/* Splits the groups by a choice. Returns their number. */
static uint32_t split_groups(const struct export_table *t, size_t choice, struct place *places)
{
    uint32_t groups = 0, before = 0;
    for (size_t i = 0; i < t->n_rows; i++) {
        const struct row *r = &t->rows[places[i].row];
        places[i].value = choice < r->n_values ? r->values[choice] : ABSENT;
    }
    qsort(places, t->n_rows, sizeof *places, by_group);
    for (size_t i = 0; i < t->n_rows; i++) {
        groups += i == 0 || places[i].group != before || places[i].value != places[i - 1].value;
        before = places[i].group;
        places[i].group = groups - 1;
    }
    return groups;
}

static bool is_fixed(const struct export_table *t, size_t choice)
{
    return t->n_rows > 1 && json_array_size(t->choices[choice].values) + t->choices[choice].absent < 2;
}

/* A matrix product has thousands of decisions of order, which follow from each other for the most part. One
 * of them is a column only if it tells rows apart that are equal in all earlier columns. So rows with
 * different decisions stay different. */
static void assign_roles(struct export_table *t)
{
    struct place *places = base_calloc(t->n_rows + 1, sizeof *places);
    uint32_t groups = 1;
    for (size_t i = 0; i < t->n_rows; i++)
        places[i].row = (uint32_t)i;
    for (int orders = 0; orders < 2; orders++)
        for (size_t i = 0; i < t->n_choices; i++) {
            struct choice *c = &t->choices[i];
            if (portrait_is_of(c->name, GPU_CHOICE_ORDER) != (orders == 1)) continue;
            c->role = is_fixed(t, i) ? FIXED : COLUMN;
            if (c->role == FIXED) continue;
            uint32_t more = split_groups(t, i, places);
            if (orders && more == groups) c->role = FOLLOWS;
            groups = more;
        }
    free(places);
}

/* ---- what both formats print ---- */

/* The decisions of a row that have this role. */
static json_t *decisions_json(const struct export_table *t, const struct row *r, int role)
{
    json_t *o = json_object();
    for (size_t i = 0; i < t->n_choices; i++) {
        if ((int)t->choices[i].role != role) continue;
        json_t *value = value_of(t, r, i);
        json_object_set_new(o, t->choices[i].name, value ? json_incref(value) : json_string("-"));
    }
    return o;
}

static json_t *samples_json(const struct row *r)
{
    json_t *list = json_array();
    for (unsigned i = 0; i < r->n_samples; i++)
        if (isfinite(r->samples[i])) json_array_append_new(list, json_real(r->samples[i] * ms));
    return list;
}

static json_t *fixed_json(const struct export_table *t)
{
    return t->n_rows ? decisions_json(t, &t->rows[0], FIXED) : json_object();
}

static void put_json(json_t *o, FILE *out)
{
    json_dumpf(o, out, JSON_COMPACT | JSON_ENCODE_ANY);
    json_decref(o);
}

/* A member of the object that is being written; the first one has no comma before it. */
static void put_member(const char *before, const char *key, json_t *value, FILE *out)
{
    fprintf(out, "%s\n\"%s\": ", before, key);
    put_json(value, out);
}

/* ---- Kernel Tuner ---- */

/* [512, 512, 512] of "M=512,N=512,K=512"; the text itself if it has anything but whole numbers. */
static json_t *problem_size_json(const char *sizes)
{
    json_t *list = json_array();
    for (const char *at = strchr(sizes, '='); at; at = strchr(at, '=')) {
        char *end;
        long long value = strtoll(++at, &end, 10);
        if (end == at || (*end && !strchr(", ", *end))) break;
        json_array_append_new(list, json_integer(value));
        if (!strchr(end, '=')) return list;
    }
    json_decref(list);
    return json_string(sizes);
}

static json_t *parameters_json(const struct export_table *t)
{
    json_t *o = json_object();
    for (size_t i = 0; i < t->n_choices; i++) {
        if (t->choices[i].role != COLUMN) continue;
        json_t *values = json_copy(t->choices[i].values);
        if (t->choices[i].absent) json_array_append_new(values, json_string("-"));
        json_object_set_new(o, t->choices[i].name, values);
    }
    return o;
}

static json_t *keys_json(json_t *object)
{
    json_t *list = json_array(), *value;
    const char *key;
    json_object_foreach(object, key, value) json_array_append_new(list, json_string(key));
    return list;
}

/* "8,YES": the values of a row in the order of the parameters. */
static char *key_text(const struct export_table *t, const struct row *r)
{
    struct strbuf b = {0};
    for (size_t i = 0; i < t->n_choices; i++) {
        if (t->choices[i].role != COLUMN) continue;
        json_t *value = value_of(t, r, i);
        char *text = value ? json_dumps(value, JSON_ENCODE_ANY) : NULL;
        strbuf_add(&b, b.length ? "," : "");
        strbuf_add(&b, !value ? "-" : json_is_string(value) ? json_string_value(value) : text);
        free(text);
    }
    return strbuf_take(&b);
}

static json_t *cache_entry_json(const struct export_table *t, const struct row *r)
{
    static const char *const unknown[] = {"compile_time", "verification_time", "benchmark_time",
                                          "strategy_time", "framework_time"};
    json_t *o = decisions_json(t, r, COLUMN);
    json_object_set_new(o, "time",
                        r->outcome->kernel_tuner ? json_string(r->outcome->kernel_tuner)
                                                 : json_real(r->time_ns * ms));
    if (r->n_samples) json_object_set_new(o, "times", samples_json(r));
    for (size_t i = 0; i < sizeof unknown / sizeof unknown[0]; i++)
        json_object_set_new(o, unknown[i], json_integer(0));
    json_object_set_new(o, "timestamp", json_string(r->timestamp));
    json_object_set_new(o, "thresh_status", json_string(r->status));
    json_object_set_new(o, "thresh_number", json_integer(r->number));
    return o;
}

/* {key: number of the row}: of equal decisions the first valid row, else the first. */
static json_t *unique_rows(const struct export_table *t)
{
    json_t *o = json_object();
    for (size_t i = 0; i < t->n_rows; i++) {
        char *key = key_text(t, &t->rows[i]);
        const json_t *earlier = json_object_get(o, key);
        bool better = earlier && t->rows[json_integer_value(earlier)].time_ns <= 0 && t->rows[i].time_ns > 0;
        if (!earlier || better) json_object_set_new(o, key, json_integer((json_int_t)i));
        free(key);
    }
    return o;
}

/* Kernel Tuner recognises a complete cache by its end, "}", newline, "}", and appends entries before it: one
 * entry a line, and the last one is directly before the end. */
void export_table_kernel_tuner(struct export_table *t, FILE *out)
{
    assign_roles(t);
    const struct winner *w = t->winner;
    json_t *parameters = parameters_json(t), *rows = unique_rows(t), *row;
    const char *key, *before = "";
    fputs("{", out);
    put_member("", "schema_version", json_string("1.1.0"), out);
    put_member(",", "device_name", json_string(w->run.device), out);
    put_member(",", "kernel_name", json_string(w->kernel), out);
    put_member(",", "problem_size", problem_size_json(w->run.sizes), out);
    put_member(",", "tune_params_keys", keys_json(parameters), out);
    put_member(",", "tune_params", parameters, out);
    put_member(",", "objective", json_string("time"), out);
    put_member(",", "fixed", fixed_json(t), out);
    fputs(",\n\"cache\": {", out);
    json_object_foreach(rows, key, row)
    {
        fprintf(out, "%s\n", before);
        put_json(json_string(key), out);
        fputs(": ", out);
        put_json(cache_entry_json(t, &t->rows[json_integer_value(row)]), out);
        before = ",";
    }
    fputs("}\n}", out);
    json_decref(rows);
}

/* ---- T4 ---- */

static void add_measurement(json_t *list, const char *name, json_t *value, const char *unit)
{
    json_array_append_new(list, json_pack("{s:s,s:o,s:s}", "name", name, "value", value, "unit", unit));
}

static json_t *measurements_json(const struct row *r)
{
    json_t *list = json_array(), *value;
    const char *name;
    if (r->time_ns > 0) add_measurement(list, "time", json_real(r->time_ns * ms), "ms");
    if (figure_quoted(&r->quoted))
        add_measurement(list, "quoted_time", json_real(r->quoted.median_ns * ms), "ms");
    json_object_foreach(r->measured, name, value) if (json_is_number(value))
        add_measurement(list, name, json_incref(value), "");
    return list;
}

static json_t *result_json(const struct export_table *t, const struct row *r)
{
    bool valid = r->time_ns > 0;
    return json_pack("{s:s,s:o,s:[s],s:{s:o},s:s,s:i,s:o,s:s}", "timestamp", r->timestamp, "configuration",
                     decisions_json(t, r, COLUMN), "objectives", "time", "times", "runtimes", samples_json(r),
                     "invalidity", r->outcome->t4, "correctness", valid, "measurements", measurements_json(r),
                     "thresh_status", r->status);
}

static json_t *metadata_json(const struct export_table *t, const char *version)
{
    const struct winner *w = t->winner;
    json_t *o = json_pack("{s:s,s:s,s:s,s:s,s:s,s:s,s:s,s:o}", "autotuner", "thresh", "autotuner_version",
                          version, "timeunit", "milliseconds", "timestamp", w->started, "device",
                          w->run.device, "kernel", w->kernel, "sizes", w->run.sizes, "fixed", fixed_json(t));
    if (strcmp(w->run.device, STORE_NO_DEVICE) != 0)
        json_object_set_new(o, "compute_api", json_string("OpenCL"));
    return o;
}

void export_table_t4(struct export_table *t, const char *version, FILE *out)
{
    assign_roles(t);
    fputs("{", out);
    put_member("", "schema_version", json_string("1.0.0"), out);
    put_member(",", "metadata", metadata_json(t, version), out);
    fputs(",\n\"results\": [", out);
    for (size_t i = 0; i < t->n_rows; i++) {
        fputs(i ? ",\n" : "\n", out);
        put_json(result_json(t, &t->rows[i]), out);
    }
    fputs("\n]\n}\n", out);
}
