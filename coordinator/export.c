/* Exports of the store: one JSON object or one CSV line (RFC 4180) per evaluation. */
#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "coordinator/store.h"
#include "core/base/arena.h"
#include "core/base/diag.h"
#include "core/base/hash.h"
#include "core/base/utf8.h"

static json_t *hash_json(uint64_t hash)
{
    char hex[HASH_HEX_BYTES];
    hash_hex(hash, hex);
    return json_string(hex);
}

/* A text of a store: it may have been edited, or written by an early version, and not be UTF-8. */
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

static bool write_jsonl(void *context, const struct store_run *run, const struct store_evaluation *e)
{
    json_t *median = e->median_ns > 0 ? json_real(e->median_ns) : json_null();
    json_t *resources = json_loads(e->resources, 0, NULL);
    json_t *row = json_pack(
        "{s:I,s:o,s:o,s:o,s:o,s:o,s:o,s:I,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:f}", "run", (json_int_t)run->id,
        "kernel", text_json(run->path), "sizes", text_json(run->sizes), "device", text_json(run->device),
        "driver", text_json(run->driver), "libraries", text_json(run->libraries), "fingerprint",
        hash_json(run->fingerprint), "number", (json_int_t)e->number, "actions", text_json(e->actions),
        "status", text_json(e->status), "median_ns", median, "samples_ns", samples_json(e), "kernel_hash",
        hash_json(e->kernel_hash), "message", text_json(e->message), "resources",
        resources ? resources : json_null(), "found_at", e->found_at);
    json_dumpf(row, context, JSON_COMPACT);
    fputc('\n', context);
    json_decref(row);
    return !ferror((FILE *)context);
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

static bool write_csv(void *context, const struct store_run *run, const struct store_evaluation *e)
{
    FILE *out = context;
    char hex[HASH_HEX_BYTES];
    hash_hex(e->kernel_hash, hex);
    fprintf(out, "%" PRId64 ",", run->id);
    csv_text(out, run->path);
    fputc(',', out);
    csv_text(out, run->sizes);
    fputc(',', out);
    csv_text(out, run->device);
    fprintf(out, ",%" PRIu64 ",%s,", e->number, e->status);
    if (e->median_ns > 0) fprintf(out, "%.17g", e->median_ns);
    fprintf(out, ",%s,%.6f,", hex, e->found_at);
    csv_text(out, e->message);
    fputc('\n', out);
    return !ferror(out);
}

bool store_export(struct store *s, const char *format, FILE *out, struct diag *d)
{
    bool jsonl = strcmp(format, "jsonl") == 0;
    if (!jsonl && strcmp(format, "csv") != 0) {
        diag_plain(d, "unknown format '%s': jsonl and csv are there", format);
        return false;
    }
    if (!jsonl) fputs("run,kernel,sizes,device,number,status,median_ns,kernel_hash,found_at,message\n", out);
    if (!store_each(s, 0, jsonl ? write_jsonl : write_csv, out, d)) return false;
    if (!ferror(out)) return true;
    diag_plain(d, "cannot write the export");
    return false;
}
