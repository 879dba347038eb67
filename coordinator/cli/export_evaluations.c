/* Every evaluation of stores in the formats of other tuners: one table for each problem, with all its runs.
 *
 *     row of a program          actions "12=3 14=0": replayed, so that propagation sets all other choices
 *     row of `tune --space`     decisions {"tile": 8}
 *         -> {"tile": 8, ...} -> export_table_add() */
#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "coordinator/best.h"
#include "coordinator/cli/export.h"
#include "coordinator/solution.h"
#include "core/base/arena.h"
#include "core/base/file.h"
#include "core/base/strbuf.h"

enum { MOST_FILE_NAME = 120 };

struct tabling {
    const struct cli_args *args;
    struct winners *winners;
    const struct winner *list; /* a problem each */
    size_t n;
    struct export_table **tables; /* [n] */
    int64_t run;                  /* whose rows are visited; 0: none yet */
    struct export_table *table;   /* of that run; NULL: it has no valid implementation, or is left out */
    struct problem *problem;      /* of that run; NULL: of `tune --space` */
    size_t malformed;             /* rows that are no implementations of their program */
    const char *store;            /* path of the store that is visited */
    const char *started;          /* of that run */
};

/* ---- rows ---- */

static bool open_problem(struct tabling *t, const struct store_run *run)
{
    struct diag *d = diag_new();
    struct device device;
    t->problem = cli_run_problem(t->args, run, &device, d);
    if (!t->problem)
        fprintf(stderr, "note: left out: run %" PRId64 ", %s %s on %s: %s\n", run->id, run->path, run->sizes,
                run->device, diag_count(d) ? diag_message(d, 0) : "unknown");
    diag_free(d);
    return t->problem != NULL;
}

/* Finds the table of a run, and what its rows are decoded with. */
static void begin_run(struct tabling *t, const struct store_run *run)
{
    const struct winners_run *known = winners_run(t->winners, t->store, run->id);
    problem_free(t->problem);
    t->problem = NULL;
    t->table = NULL;
    t->run = run->id;
    t->started = known ? known->started : "";
    for (size_t i = 0; known && i < t->n; i++)
        if (strcmp(t->list[i].key, known->key) == 0) t->table = t->tables[i];
    bool program = strcmp(run->device, STORE_NO_DEVICE) != 0;
    if (t->table && program && !open_problem(t, run)) t->table = NULL;
}

/* A new reference; NULL: the row is malformed. */
static json_t *decisions_of(const struct tabling *t, const struct store_evaluation *e)
{
    struct space_action *actions;
    const char *why;
    size_t n;
    if (!t->problem) return json_loads(e->decisions, 0, NULL);
    if (!store_actions_parse(e->actions, &actions, &n)) return NULL;
    struct space_state *leaf = problem_replay(t->problem, actions, n, &why);
    json_t *decisions = leaf ? solution_json(leaf) : NULL;
    space_state_free(leaf);
    free(actions);
    return decisions;
}

static bool add_row(void *context, const struct store_run *run, const struct store_evaluation *e)
{
    struct tabling *t = context;
    if (run->id != t->run) begin_run(t, run);
    if (!t->table) return true;
    json_t *decisions = decisions_of(t, e);
    if (json_is_object(decisions))
        export_table_add(t->table, t->started, e, decisions);
    else
        t->malformed++;
    json_decref(decisions);
    return true;
}

/* ---- files ---- */

struct table_file {
    struct export_table *table;
    const char *format;
};

static bool write_table(void *context, FILE *out, struct diag *d)
{
    const struct table_file *f = context;
    (void)d;
    if (strcmp(f->format, "t4") == 0)
        export_table_t4(f->table, cli_version, out);
    else
        export_table_kernel_tuner(f->table, out);
    return true;
}

/* "matmul-M512-N512-K512-NVIDIA-H200.json"; `place` makes it unique where names are cut off or equal. */
static char *file_name(const char *folder, const struct winner *w, size_t place)
{
    struct strbuf b = {0}, name = {0};
    strbuf_printf(&name, "%s-%s-%s", w->kernel, w->run.sizes, w->run.device);
    strbuf_printf(&b, "%s/%zu-", folder, place + 1);
    char last = '-';
    for (size_t i = 0; name.text[i] && i < MOST_FILE_NAME; i++) {
        char c = name.text[i];
        if (c == '=') continue;
        if (!isalnum((unsigned char)c) && c != '.' && c != '_') c = '-';
        if (c != '-' || last != '-') strbuf_addn(&b, &c, 1);
        last = c;
    }
    strbuf_add(&b, ".json");
    strbuf_free(&name);
    return strbuf_take(&b);
}

/* All files are complete before the first one appears. */
static bool write_folder(const struct tabling *t, const char *folder, const char *format, struct diag *d)
{
    struct file_text *files = base_calloc(t->n, sizeof *files);
    for (size_t i = 0; i < t->n; i++) {
        char *text = NULL;
        size_t bytes;
        struct table_file f = {t->tables[i], format};
        FILE *out = open_memstream(&text, &bytes);
        write_table(&f, out, d);
        fclose(out);
        files[i] = (struct file_text){file_name(folder, &t->list[i], i), text};
    }
    bool ok = best_make_folder(folder, d) && file_write(files, t->n, d);
    for (size_t i = 0; i < t->n; i++) {
        free((char *)files[i].path);
        free((char *)files[i].text);
    }
    free(files);
    return ok;
}

/* Removes tables without a row, which have nothing to say. */
static void drop_empty(struct tabling *t, struct winner *list)
{
    size_t n = 0, left_out, skipped = 0;
    for (size_t i = 0; i < t->n; i++) {
        size_t rows = export_table_rows(t->tables[i], &left_out);
        skipped += left_out;
        if (rows == 0) {
            export_table_free(t->tables[i]);
            continue;
        }
        list[n] = list[i];
        t->tables[n++] = t->tables[i];
    }
    t->n = n;
    if (skipped) fprintf(stderr, "note: %zu duplicates that were not measured are left out\n", skipped);
    if (t->malformed)
        fprintf(stderr, "note: %zu evaluations that are no implementations of their program are left out\n",
                t->malformed);
}

static int write_tables(const struct cli_args *a, const struct tabling *t, const char *format, struct diag *d)
{
    if (t->n == 0) {
        diag_plain(d, "%s: no evaluation to export", a->positional[0]);
        return CLI_FAILED;
    }
    if (t->n == 1) return cli_write_out(a, write_table, &(struct table_file){t->tables[0], format}, d);
    if (cli_given(a, CLI_OUT)) return write_folder(t, a->value[CLI_OUT], format, d) ? CLI_OK : CLI_USAGE;
    diag_plain(d, "the stores have %zu problems (program, sizes, device), a file each: --out DIR is missing",
               t->n);
    return CLI_USAGE;
}

int cli_export_tables(const struct cli_args *a, const struct cli_stores *stores, const char *format,
                      struct diag *d)
{
    struct tabling t = {.args = a, .winners = cli_winners(stores, d)};
    if (!t.winners) return CLI_USAGE;
    const struct winner *list = winners_list(t.winners, &t.n);
    struct winner *kept = base_calloc(t.n + 1, sizeof *kept);
    memcpy(kept, list, t.n * sizeof *kept);
    t.list = kept;
    t.tables = base_calloc(t.n + 1, sizeof *t.tables);
    for (size_t i = 0; i < t.n; i++)
        t.tables[i] = export_table_new(&list[i]);
    bool ok = true;
    for (size_t i = 0; ok && i < stores->n; i++) {
        t.run = 0;
        t.store = stores->items[i].path;
        ok = store_each(stores->items[i].store, 0, add_row, &t, d);
    }
    problem_free(t.problem);
    drop_empty(&t, kept);
    int status = ok ? write_tables(a, &t, format, d) : CLI_USAGE;
    for (size_t i = 0; i < t.n; i++)
        export_table_free(t.tables[i]);
    free(t.tables);
    free(kept);
    winners_free(t.winners);
    return status;
}
