/* Exports of stores: one JSON object or one CSV line (RFC 4180) for each evaluation. In CSV each decision,
 * and each number that a command printed, is a column. With several stores the first key or column is the
 * store:
 *
 *     run,kernel,sizes,device,number,status,median_ns,...,tile_rows,gflops
 *     1,"transpose.space","",...,3,ok,18250,...,8,12.5 */
#include "coordinator/export.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/arena.h"
#include "core/base/diag.h"
#include "core/base/hash.h"
#include "core/base/utf8.h"

/* Where rows go. */
struct rows {
    FILE *out;
    const char *store; /* a column of each row; NULL: there is only one store */
    json_t *decisions,
        *numbers; /* of CSV: the names in all rows, in order of appearance (keys of an object) */
    bool quoted;  /* of CSV: some row has a quoted time */
};

static json_t *hash_json(uint64_t hash)
{
    char hex[HASH_HEX_BYTES];
    hash_hex(hash, hex);
    return json_string(hex);
}

/* A text of a store. It may not be UTF-8 if it was edited or written by an early version. */
static json_t *text_json(const char *text)
{
    char *clean = base_strdup(text);
    utf8_clean(clean);
    json_t *string = json_string(clean);
    free(clean);
    return string;
}

static json_t *samples_json(const struct store_evaluation *e)
{
    json_t *samples = json_array();
    for (unsigned i = 0; i < e->n_samples; i++)
        json_array_append_new(samples, json_real(e->samples[i]));
    return samples;
}

/* A JSON object of a store; null if the text is not an object. */
static json_t *object_json(const char *text)
{
    json_t *o = json_loads(text ? text : "", 0, NULL);
    if (json_is_object(o)) return o;
    json_decref(o);
    return json_null();
}

static bool write_jsonl(void *context, const struct store_run *run, const struct store_evaluation *e)
{
    const struct rows *rows = context;
    json_t *median = e->median_ns > 0 ? json_real(e->median_ns) : json_null();
    json_t *row = json_pack(
        "{s:I,s:o,s:o,s:o,s:o,s:o,s:o,s:I,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:f,s:o,s:o,s:o}", "run",
        (json_int_t)run->id, "kernel", text_json(run->path), "sizes", text_json(run->sizes), "device",
        text_json(run->device), "driver", text_json(run->driver), "libraries", text_json(run->libraries),
        "fingerprint", hash_json(run->fingerprint), "number", (json_int_t)e->number, "actions",
        text_json(e->actions), "decisions", object_json(e->decisions), "status", text_json(e->status),
        "median_ns", median, "samples_ns", samples_json(e), "kernel_hash", hash_json(e->kernel_hash),
        "message", text_json(e->message), "resources", object_json(e->resources), "found_at", e->found_at,
        "label", text_json(e->label), "quoted", figure_json(&e->quoted), "numbers", object_json(e->numbers));
    json_t *line = rows->store ? json_pack("{s:o}", "store", text_json(rows->store)) : json_object();
    json_object_update(line, row);
    json_dumpf(line, rows->out, JSON_COMPACT);
    fputc('\n', rows->out);
    json_decref(row);
    json_decref(line);
    return !ferror(rows->out);
}

static void csv_text(FILE *out, const char *text)
{
    fputc('"', out);
    for (; *text; text++) {
        if (*text == '"') fputc('"', out);
        fputc(*text, out);
    }
    fputc('"', out);
}

static void add_names(json_t *columns, const char *text)
{
    json_t *o = object_json(text);
    json_object_update_missing(columns, o);
    json_decref(o);
}

static bool add_columns(void *context, const struct store_run *run, const struct store_evaluation *e)
{
    struct rows *csv = context;
    (void)run;
    add_names(csv->decisions, e->decisions);
    add_names(csv->numbers, e->numbers);
    csv->quoted = csv->quoted || figure_quoted(&e->quoted);
    return true;
}

static void write_csv_names(FILE *out, json_t *columns)
{
    const char *key;
    json_t *value;
    json_object_foreach(columns, key, value)
    {
        fputc(',', out);
        csv_text(out, key);
    }
}

static void write_csv_head(const struct rows *csv)
{
    if (csv->store) fputs("store,", csv->out);
    fputs("run,kernel,sizes,device,number,status,median_ns,kernel_hash,found_at,message", csv->out);
    write_csv_names(csv->out, csv->decisions);
    write_csv_names(csv->out, csv->numbers);
    if (csv->quoted) fputs(",label,quoted_ns,quoted_low_ns,quoted_high_ns,quoted_rounds", csv->out);
    fputc('\n', csv->out);
}

/* The members of an object, a column each. */
static void write_csv_members(FILE *out, json_t *columns, const char *text)
{
    const char *key;
    json_t *unused, *o = object_json(text);
    json_object_foreach(columns, key, unused)
    {
        const json_t *value = json_object_get(o, key);
        fputc(',', out);
        if (json_is_integer(value)) fprintf(out, "%" JSON_INTEGER_FORMAT, json_integer_value(value));
        if (json_is_real(value)) fprintf(out, "%.12g", json_real_value(value));
        if (json_is_string(value)) csv_text(out, json_string_value(value));
    }
    json_decref(o);
}

static void write_csv_quoted(const struct rows *csv, const struct store_evaluation *e)
{
    const struct figure *f = &e->quoted;
    if (!csv->quoted) return;
    fputc(',', csv->out);
    csv_text(csv->out, e->label);
    if (figure_quoted(f))
        fprintf(csv->out, ",%.17g,%.17g,%.17g,%u", f->median_ns, f->low_ns, f->high_ns, f->rounds);
    else
        fputs(",,,,", csv->out);
}

static bool write_csv(void *context, const struct store_run *run, const struct store_evaluation *e)
{
    const struct rows *csv = context;
    FILE *out = csv->out;
    char hex[HASH_HEX_BYTES];
    hash_hex(e->kernel_hash, hex);
    if (csv->store) csv_text(out, csv->store);
    fprintf(out, "%s%" PRId64 ",", csv->store ? "," : "", run->id);
    csv_text(out, run->path);
    fputc(',', out);
    csv_text(out, run->sizes);
    fputc(',', out);
    csv_text(out, run->device);
    fprintf(out, ",%" PRId64 ",%s,", e->number, e->status);
    if (e->median_ns > 0) fprintf(out, "%.17g", e->median_ns);
    fprintf(out, ",%s,%.6f,", hex, e->found_at);
    csv_text(out, e->message);
    write_csv_members(out, csv->decisions, e->decisions);
    write_csv_members(out, csv->numbers, e->numbers);
    write_csv_quoted(csv, e);
    fputc('\n', out);
    return !ferror(out);
}

/* Visits the rows of all stores. */
static bool each_row(const struct export_store *stores, size_t n, store_visitor visit, struct rows *rows,
                     struct diag *d)
{
    bool ok = true;
    for (size_t i = 0; ok && i < n; i++) {
        rows->store = n > 1 ? stores[i].path : NULL;
        ok = store_each(stores[i].store, 0, visit, rows, d);
    }
    return ok;
}

static bool export_csv(const struct export_store *stores, size_t n, FILE *out, struct diag *d)
{
    struct rows rows = {.out = out, .decisions = json_object(), .numbers = json_object()};
    bool ok = each_row(stores, n, add_columns, &rows, d);
    if (ok) write_csv_head(&rows);
    ok = ok && each_row(stores, n, write_csv, &rows, d);
    json_decref(rows.decisions);
    json_decref(rows.numbers);
    return ok;
}

bool export_is_of_rows(const char *format)
{
    return strcmp(format, "jsonl") == 0 || strcmp(format, "csv") == 0;
}

bool export_rows(const struct export_store *stores, size_t n, const char *format, FILE *out, struct diag *d)
{
    struct rows rows = {.out = out};
    if (strcmp(format, "csv") == 0) return export_csv(stores, n, out, d);
    return each_row(stores, n, write_jsonl, &rows, d);
}
