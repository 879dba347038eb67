/* thresh export: what people take away from stores.
 *
 *     $ thresh export night1.db night2.db -o best.h            the best kernels, as a C header
 *     $ thresh export runs.db --format t4 -o results.json      every evaluation, for other tools
 *
 * A store has the decisions of an implementation; its text is generated again, which needs the limits of the
 * device: from the device if it is here, else from its description. What cannot be rebuilt is left out and
 * named. */
#include "coordinator/cli/export.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/device.h"
#include "coordinator/cli/table.h"
#include "core/base/arena.h"
#include "core/base/file.h"
#include "core/base/hash.h"

/* ---- stores ---- */

/* false after an error. They are closed in both cases. */
static bool open_stores(const char *const *paths, size_t n, struct cli_stores *out, struct diag *d)
{
    *out = (struct cli_stores){0};
    for (size_t i = 0; i < n; i++) {
        out->items[i] = (struct export_store){store_open_to_read(paths[i], d), paths[i]};
        if (!out->items[i].store) return false;
        out->n++;
    }
    return true;
}

static void close_stores(struct cli_stores *stores)
{
    for (size_t i = 0; i < stores->n; i++)
        store_close(stores->items[i].store);
}

struct winners *cli_winners(const struct cli_stores *stores, struct diag *d)
{
    struct winners *w = winners_new();
    for (size_t i = 0; i < stores->n; i++) {
        if (winners_add(w, stores->items[i].store, stores->items[i].path, d)) continue;
        winners_free(w);
        return NULL;
    }
    return w;
}

/* ---- writing ---- */

int cli_write_out(const struct cli_args *a, bool (*write)(void *context, FILE *out, struct diag *d),
                  void *context, struct diag *d)
{
    struct file_new f;
    if (!cli_given(a, CLI_OUT)) return write(context, stdout, d) ? CLI_OK : CLI_USAGE;
    if (!file_begin(&f, a->value[CLI_OUT], d)) return CLI_USAGE;
    if (write(context, f.out, d)) return file_end(&f, d) ? CLI_OK : CLI_FAILED;
    file_drop(&f);
    return CLI_USAGE;
}

struct row_export {
    const struct cli_stores *stores;
    const char *format;
};

static bool write_rows(void *context, FILE *out, struct diag *d)
{
    const struct row_export *r = context;
    return export_rows(r->stores->items, r->stores->n, r->format, out, d);
}

int cli_export_rows(const struct cli_args *a, const char *const *paths, size_t n, const char *format,
                    struct diag *d)
{
    struct cli_stores stores;
    struct row_export rows = {&stores, format};
    int status = open_stores(paths, n, &stores, d) ? cli_write_out(a, write_rows, &rows, d) : CLI_USAGE;
    close_stores(&stores);
    return status;
}

/* ---- the best implementations ---- */

/* Entries with what they borrow. */
struct rebuilt {
    struct export_entry *entries;
    struct export_portable *portables;
    struct pipeline_code *codes; /* of the entries, then of the portables */
    struct device *devices;
    struct arena *arena; /* of names */
    size_t n, n_portables;
    bool as_json;
};

/* Whether another program has the same name and was tuned later; of equal starts, whether it is listed
 * later. */
static bool is_older(const struct winner *list, size_t n, const struct winner *w)
{
    for (size_t i = 0; i < n; i++) {
        bool other = strcmp(list[i].kernel, w->kernel) == 0 && strcmp(list[i].run.text, w->run.text) != 0;
        int order = strcmp(list[i].started, w->started);
        if (other && (order > 0 || (order == 0 && &list[i] > w))) return true;
    }
    return false;
}

/* The latest start of a program's winners decides for all of them, so that its sizes have one name. */
static const struct winner *latest_of(const struct winner *list, size_t n, const struct winner *w)
{
    for (size_t i = 0; i < n; i++)
        if (strcmp(list[i].run.text, w->run.text) == 0 && strcmp(list[i].kernel, w->kernel) == 0 &&
            strcmp(list[i].started, w->started) >= 0)
            w = &list[i];
    return w;
}

static const char *name_of(struct arena *a, const struct winner *list, size_t n, const struct winner *w)
{
    char hex[HASH_HEX_BYTES];
    if (!is_older(list, n, latest_of(list, n, w))) return w->kernel;
    hash_hex(hash_finish(hash_string(HASH_START, w->run.text)), hex);
    return arena_printf(a, "%s@%.8s", w->kernel, hex);
}

/* Names what cannot be exported. */
static void note_left_out(const struct winner *w, const char *why)
{
    fprintf(stderr, "note: left out: %s %s on %s: %s\n", w->kernel, w->run.sizes, w->run.device, why);
}

/* Rebuilds the text of a winner. false: it is left out, with a note. */
static bool rebuild(const struct cli_args *a, const struct winner *w, struct export_entry *e,
                    struct pipeline_code *code, struct device *device)
{
    struct diag *d = diag_new();
    struct space_action *actions = NULL;
    char why[CLI_NAME_BYTES] = "its decisions are malformed";
    size_t n;
    struct problem *p = cli_run_problem(a, &w->run, device, d);
    bool ok = p && store_actions_parse(w->actions, &actions, &n) &&
              pipeline_lower_actions(p, actions, n, code, why, sizeof why);
    if (!p) note_left_out(w, diag_count(d) ? diag_message(d, 0) : "unknown");
    if (p && !ok) note_left_out(w, why);
    if (ok && code->hash != w->kernel_hash)
        fprintf(
            stderr,
            "note: %s %s on %s: the measured OpenCL text differs from the exported one: another version of "
            "thresh generated it\n",
            w->kernel, w->run.sizes, w->run.device);
    *e = (struct export_entry){.winner = w, .problem = ok ? p : NULL, .code = code, .device = device};
    if (!ok) problem_free(p);
    free(actions);
    diag_free(d);
    return ok;
}

/* Of `tune --space` there is no kernel: the JSON has its decisions, the header nothing. */
static void add_entry(const struct cli_args *a, struct rebuilt *r, const struct winner *list, size_t n,
                      const struct winner *w)
{
    struct export_entry *e = &r->entries[r->n];
    bool space = strcmp(w->run.device, STORE_NO_DEVICE) == 0;
    if (space && !r->as_json)
        note_left_out(w,
                      "a result of 'thresh tune --space' has no kernel; --format database has its decisions");
    if (space && r->as_json) *e = (struct export_entry){.winner = w};
    if (space ? !r->as_json : !rebuild(a, w, e, &r->codes[r->n], &r->devices[r->n])) return;
    e->name = name_of(r->arena, list, n, w);
    r->n++;
}

static void add_portable(const struct cli_args *a, struct rebuilt *r, const struct winner *list, size_t n,
                         const struct portable *p)
{
    struct export_portable *e = &r->portables[r->n_portables];
    size_t at = r->n + r->n_portables;
    e->choice = p;
    if (!rebuild(a, p->entry, &e->entry, &r->codes[at], &r->devices[at])) return;
    e->entry.name = name_of(r->arena, list, n, p->entry);
    r->n_portables++;
}

static bool write_best(void *context, FILE *out, struct diag *d)
{
    const struct rebuilt *r = context;
    const struct export_best best = {r->entries, r->n, r->portables, r->n_portables, cli_version};
    (void)d;
    if (!r->as_json) {
        export_header(&best, out);
        return true;
    }
    json_t *o = export_database(&best);
    json_dumpf(o, out, JSON_INDENT(1));
    fputc('\n', out);
    json_decref(o);
    return true;
}

static void free_rebuilt(struct rebuilt *r)
{
    for (size_t i = 0; i < r->n + r->n_portables; i++)
        pipeline_code_clear(&r->codes[i]);
    for (size_t i = 0; i < r->n; i++)
        problem_free((struct problem *)r->entries[i].problem);
    for (size_t i = 0; i < r->n_portables; i++)
        problem_free((struct problem *)r->portables[i].entry.problem);
    free(r->entries);
    free(r->portables);
    free(r->codes);
    free(r->devices);
    arena_free(r->arena);
}

static struct rebuilt rebuild_all(const struct cli_args *a, struct winners *w,
                                  const struct portable *portables, size_t n_portables, bool as_json)
{
    size_t n;
    const struct winner *list = winners_list(w, &n);
    struct rebuilt r = {.entries = base_calloc(n + 1, sizeof *r.entries),
                        .portables = base_calloc(n_portables + 1, sizeof *r.portables),
                        .codes = base_calloc(n + n_portables + 1, sizeof *r.codes),
                        .devices = base_calloc(n + n_portables + 1, sizeof *r.devices),
                        .arena = arena_new(),
                        .as_json = as_json};
    for (size_t i = 0; i < n; i++)
        add_entry(a, &r, list, n, &list[i]);
    for (size_t i = 0; i < n_portables; i++)
        add_portable(a, &r, list, n, &portables[i]);
    return r;
}

static int export_best(const struct cli_args *a, const struct cli_stores *stores, const char *format,
                       struct diag *d)
{
    size_t n;
    int status = CLI_USAGE;
    struct winners *w = cli_winners(stores, d);
    const struct portable *portables = w ? portable_list(w, stores->items, stores->n, &n, d) : NULL;
    if (portables) {
        struct rebuilt r = rebuild_all(a, w, portables, n, strcmp(format, "database") == 0);
        status = r.n > 0 ? cli_write_out(a, write_best, &r, d) : CLI_FAILED;
        if (r.n == 0) diag_plain(d, "%s: no implementation to export", stores->items[0].path);
        free_rebuilt(&r);
    }
    winners_free(w);
    return status;
}

/* ---- the command ---- */

enum kind { BEST, TABLES, ROWS };

static const struct {
    const char *name;
    enum kind kind;
} formats[] = {{"header", BEST}, {"database", BEST},       {"jsonl", ROWS},
               {"csv", ROWS},    {"kernel-tuner", TABLES}, {"t4", TABLES}};
enum { N_FORMATS = sizeof formats / sizeof formats[0] };

static bool find_format(const char *name, size_t *format, struct diag *d)
{
    const char *names[N_FORMATS];
    for (*format = 0; *format < N_FORMATS; ++*format)
        if (strcmp(formats[*format].name, name) == 0) return true;
    for (size_t i = 0; i < N_FORMATS; i++)
        names[i] = formats[i].name;
    struct arena *a = arena_new();
    const char *guess = cli_did_you_mean(a, name, names, N_FORMATS);
    diag_plain(d, "--format: unknown format '%s'%s", name,
               *guess ? guess : "; expected header, database, jsonl, csv, kernel-tuner or t4");
    arena_free(a);
    return false;
}

static int export(const struct cli_args *a, size_t format, struct diag *d)
{
    struct cli_stores stores;
    const char *name = formats[format].name;
    if (formats[format].kind == ROWS) return cli_export_rows(a, a->positional, a->n_positional, name, d);
    int status = CLI_USAGE;
    if (open_stores(a->positional, a->n_positional, &stores, d))
        status = formats[format].kind == BEST ? export_best(a, &stores, name, d)
                                              : cli_export_tables(a, &stores, name, d);
    close_stores(&stores);
    return status;
}

int cli_write_header(const struct cli_args *a, struct diag *d)
{
    size_t format = 0;
    return find_format("header", &format, d) ? export(a, format, d) : CLI_USAGE;
}

static int run(const struct cli_args *a)
{
    struct diag *d = diag_new();
    size_t format;
    int status = CLI_USAGE;
    if (find_format(cli_given(a, CLI_FORMAT) ? a->value[CLI_FORMAT] : "header", &format, d))
        status = export(a, format, d);
    return cli_finish(d, status);
}

const struct cli_command cli_export = {
    .name = "export",
    .positional = "STORE.db [STORE.db...]",
    .least = 1,
    .most = CLI_MAX_POSITIONAL,
    .takes = {CLI_TAKES(FORMAT), CLI_TAKES(OUT), CLI_TAKES(DEVICE), CLI_TAKES(DESCRIPTION), CLI_TAKES(PARAM)},
    .notes =
        {{CLI_FORMAT, "FORMAT", "what to write: header (default), database, jsonl, csv, kernel-tuner or t4"},
         {CLI_OUT, "FILE",
          "file to write (default: standard output); a folder for kernel-tuner and t4 if the stores have "
          "several problems"},
         {CLI_DEVICE, "SEL", "OpenCL device of the runs (default: the one with the recorded name)"}},
    .help =
        "Exports the best implementations, or every evaluation, of stores.\n"
        "'header' is a C header with the best implementation of each program, size and device: OpenCL text, "
        "launch, time, decisions, and functions that pick one. A kernel is only found for exactly its sizes; "
        "for "
        "others there are the decisions of the nearest sizes. 'database' is the same as JSON.\n"
        "'jsonl' and 'csv' have a row for each evaluation. 'kernel-tuner' is Kernel Tuner's cache file, 't4' "
        "the "
        "T4 results format 1.0.0 of the auto-tuning community; both have times in ms and a file for each "
        "program, "
        "size and device.\n"
        "The OpenCL text is generated again. This needs the device, or its description, but runs nothing. "
        "What "
        "cannot be rebuilt is left out and named.\v"
        "Example: thresh export runs.db --out best.h\n"
        "         thresh export night1.db night2.db --format database --out best.json\n"
        "         thresh export runs.db --format t4 --out results.json",
    .run = run,
};
