/* thresh export and thresh store merge, on a store of a small search on this machine's device. */
#define _XOPEN_SOURCE 700 /* realpath */
#include <criterion/criterion.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/coordinator/store_fixture.h"
#include "tests/e2e/run.h"

/* A folder with mm.db: a matrix product of 16 x 8 x 16, three evaluations, with one decision pinned. */
struct export_bench {
    char folder[32], store[64];
};

static struct export_bench export_open_pinned(const char *pin)
{
    struct export_bench b;
    e2e_folder(b.folder);
    snprintf(b.store, sizeof b.store, "%s/mm.db", b.folder);
    struct e2e_run r = E2E_RUN(&cli_tune, E2E_QUICK, "experiments/kernels/matmul.lift", "--size",
                               "M=16,N=8,K=16", "--evaluations", "3", "--text-limit", "10000", "--store",
                               b.store, "--out", b.folder, "--quiet", "--pin", pin);
    cr_assert_eq(r.status, CLI_OK, "%s", r.err);
    e2e_run_free(&r);
    return b;
}

static struct export_bench export_open(void)
{
    return export_open_pinned("split(k.0)=NO");
}

static int export_shell(const struct export_bench *b, const char *command)
{
    char line[512];
    snprintf(line, sizeof line, "cd %s && %s", b->folder, command);
    int status = system(line);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void export_close(struct export_bench *b)
{
    cr_assert_eq(export_shell(b, "rm -r \"$PWD\""), 0);
}

static json_t *export_json(const struct export_bench *b, const char *format)
{
    json_error_t error;
    struct e2e_run r = E2E_RUN(&cli_export, b->store, "--format", format);
    cr_assert_eq(r.status, CLI_OK, "%s", r.err);
    json_t *root = json_loads(r.out, 0, &error);
    cr_assert(root, "%s: line %d: %s", format, error.line, error.text);
    e2e_run_free(&r);
    return root;
}

static double export_number(const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);
    cr_assert(json_is_number(value), "%s", key);
    return json_number_value(value);
}

/* The least time of the search and the number of evaluations, from the rows as CSV. */
static unsigned export_rows(const struct export_bench *b, double *least_ns)
{
    unsigned n = 0;
    struct e2e_run r = E2E_RUN(&cli_export, b->store, "--format", "csv");
    cr_assert_eq(r.status, CLI_OK, "%s", r.err);
    *least_ns = 1e300;
    for (char *line = strchr(r.out, '\n'); line && line[1]; line = strchr(line + 1, '\n'), n++) {
        const char *ok = strstr(line, ",ok,");
        if (ok && atof(ok + 4) < *least_ns) *least_ns = atof(ok + 4);
    }
    e2e_run_free(&r);
    return n;
}

/* The header of a search with `pin`, and the program of experiments/export that runs its kernel. */
static void export_header_check(const char *pin)
{
    struct export_bench b = export_open_pinned(pin);
    char path[64], source[512], build[700];
    snprintf(path, sizeof path, "%s/best.h", b.folder);
    struct e2e_run r = E2E_RUN(&cli_export, b.store, "--out", path);
    cr_assert_eq(r.status, CLI_OK, "%s", r.err);
    e2e_run_free(&r);
    cr_assert(realpath("experiments/export/matmul.c", source));
    snprintf(build, sizeof build,
             "${CC:-cc} -std=c99 -Wall -Wextra -Wconversion -Werror -I. %.300s -lOpenCL -lm -o matmul",
             source);
    cr_assert_eq(export_shell(&b, build), 0);
    cr_expect_eq(export_shell(&b, "./matmul 16 8 16 > out && grep -q right out"), 0);
    cr_expect_eq(export_shell(&b, "./matmul 32 8 16 > out"), 3, "no kernel for these sizes");
    cr_expect_eq(export_shell(&b, "grep -q 'M=16 N=8 K=16' out"), 0, "the nearest sizes");
    export_close(&b);
}

Test(export, header_compiles_and_its_kernel_is_right, .timeout = 300)
{
    export_header_check("split(k.0)=NO");
}

/* Groups that share a sum count in a buffer that is zeros before the first launch. */
Test(export, header_has_the_counters_of_groups, .timeout = 300)
{
    export_header_check("split(k.0)=GROUPS");
}

Test(export, formats_of_others_have_every_evaluation_in_ms, .timeout = 300)
{
    struct export_bench b = export_open();
    double least_ns, least_ms = 1e300;
    unsigned rows = export_rows(&b, &least_ns);
    size_t i;
    const char *key;
    json_t *t4 = export_json(&b, "t4"), *result, *kt = export_json(&b, "kernel-tuner"), *entry;
    cr_assert_str_eq(json_string_value(json_object_get(t4, "schema_version")), "1.0.0");
    cr_assert_eq(json_array_size(json_object_get(t4, "results")), rows);
    json_array_foreach(json_object_get(t4, "results"), i, result)
    {
        static const char *const needed[] = {"timestamp",   "configuration", "times",     "invalidity",
                                             "correctness", "measurements",  "objectives"};
        for (size_t k = 0; k < sizeof needed / sizeof needed[0]; k++)
            cr_expect(json_object_get(result, needed[k]), "%s", needed[k]);
        cr_expect_str_eq(json_string_value(json_object_get(result, "invalidity")), "correct");
    }
    cr_assert_eq(json_object_size(json_object_get(kt, "cache")), rows);
    json_object_foreach(json_object_get(kt, "cache"), key, entry)
    {
        double ms = export_number(entry, "time");
        if (ms < least_ms) least_ms = ms;
        cr_expect_eq(strlen(key) > 0, 1);
    }
    cr_expect_float_eq(least_ms, 1e-6 * least_ns, 1e-12);
    json_decref(t4);
    json_decref(kt);
    export_close(&b);
}

Test(export, database_has_the_quoted_times, .timeout = 300)
{
    struct export_bench b = export_open();
    char path[64];
    json_error_t error;
    snprintf(path, sizeof path, "%s/best.json", b.folder);
    json_t *best = json_load_file(path, 0, &error), *database = export_json(&b, "database");
    cr_assert(best);
    const json_t *entry = json_array_get(json_object_get(database, "entries"), 0);
    cr_assert_eq(json_array_size(json_object_get(database, "entries")), 1);
    cr_expect_float_eq(export_number(json_object_get(entry, "figure"), "median_ns"),
                       export_number(json_object_get(best, "figure"), "median_ns"), 1e-6);
    json_decref(best);
    json_decref(database);
    export_close(&b);
}

/* ---- joining ---- */

static void merge_check(const char *store, int runs, int evaluations)
{
    cr_assert_eq(store_fixture_int(store, "SELECT count(*) FROM run"), runs);
    cr_assert_eq(store_fixture_int(store, "SELECT count(*) FROM evaluation"), evaluations);
}

Test(merge_stores, joins_runs_once_and_changes_no_source)
{
    struct store_fixture f = store_fixture_closed();
    char folder[32], other[64], both[64], again[64];
    e2e_folder(folder);
    snprintf(other, sizeof other, "%s/other.db", folder);
    snprintf(both, sizeof both, "%s/both.db", folder);
    snprintf(again, sizeof again, "%s/again.db", folder);
    struct e2e_run r = E2E_RUN(&cli_store, "merge", f.path, f.path, "--out", other);
    cr_assert_eq(r.status, CLI_OK, "%s", r.err);
    e2e_run_free(&r);
    merge_check(other, 1, 2); /* the same store twice */
    store_fixture_execute(other, "UPDATE run SET seed = '00000000000000ff'");
    cr_assert_eq(chmod(f.path, 0400), 0);
    r = E2E_RUN(&cli_store, "merge", f.path, other, "--out", both);
    cr_assert_eq(r.status, CLI_OK, "%s", r.err);
    e2e_run_free(&r);
    merge_check(both, 2, 4);
    r = E2E_RUN(&cli_store, "merge", both, f.path, other, "--out", again);
    cr_assert_eq(r.status, CLI_OK, "%s", r.err);
    e2e_run_free(&r);
    merge_check(again, 2, 4); /* nothing new */
    store_fixture_close(&f);
    char command[64];
    snprintf(command, sizeof command, "rm -r %s", folder);
    cr_assert_eq(system(command), 0);
}

Test(merge_stores, writes_nothing_after_an_error)
{
    struct store_fixture f = store_fixture_closed();
    char folder[32], out[64], text[32];
    e2e_folder(folder);
    e2e_file(text, "this is no database, and long enough not to be taken for an empty one");
    snprintf(out, sizeof out, "%s/out.db", folder);
    struct e2e_run r = E2E_RUN(&cli_store, "merge", f.path, text, "--out", out);
    cr_assert_eq(r.status, CLI_USAGE, "%s", r.err);
    cr_expect(strstr(r.err, text), "%s", r.err);
    e2e_run_free(&r);
    unlink(text);
    store_fixture_close(&f);
    cr_assert_eq(rmdir(folder), 0, "no file is left");
}
