/* thresh replay: what it tells of a winner, as seen by who runs the command. */
#include <criterion/criterion.h>
#include <math.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "coordinator/load.h"
#include "tests/e2e/run.h"

/* A search whose result is in the folder. */
static void replay_search(char folder[32], char best[64])
{
    e2e_folder(folder);
    snprintf(best, 64, "%s/best.json", folder);
    struct e2e_run r = E2E_RUN(&cli_tune, E2E_QUICK, "experiments/kernels/axpy.lift", "--size", "N=4096",
                               "--evaluations", "4", "--out", folder, "--quiet");
    cr_assert_eq(r.status, CLI_OK, "%s", r.err);
    e2e_run_free(&r);
}

static void replay_remove(const char *folder)
{
    char command[64];
    snprintf(command, sizeof command, "rm -r %s", folder);
    cr_assert_eq(system(command), 0);
}

static double replay_number(const json_t *o, const char *key)
{
    const json_t *v = json_object_get(o, key);
    cr_assert(json_is_number(v), "%s", key);
    return json_number_value(v);
}

Test(replay, tells_both_times_and_their_ratio, .timeout = 120)
{
    char folder[32], best[64];
    replay_search(folder, best);
    struct e2e_run r = E2E_RUN(&cli_replay, best, "--json", "--launches", "200");
    cr_assert_eq(r.status, CLI_OK, "%s", r.err);
    json_t *o = json_loads(r.out, 0, NULL);
    cr_assert_not_null(o, "%s", r.out);
    double median = replay_number(o, "median_ns"),
           recorded = replay_number(json_object_get(o, "recorded"), "median_ns");
    const json_t *replayed = json_object_get(o, "replayed"), *samples = json_object_get(o, "samples_ns");
    cr_expect_geq(replay_number(o, "launches"), 200);
    cr_expect_eq(json_array_size(json_object_get(o, "windows_ns")), 4);
    cr_expect_eq((double)json_array_size(samples), replay_number(replayed, "rounds"));
    cr_expect(fabs(replay_number(o, "ratio") - median / recorded) < 1e-6 * median / recorded);
    cr_expect_leq(replay_number(replayed, "low_ns"), median);
    cr_expect_geq(replay_number(replayed, "high_ns"), median);
    cr_expect(replay_number(json_object_get(o, "recorded"), "rounds") > 0, "quoted, not of the search");
    json_decref(o);
    e2e_run_free(&r);
    r = E2E_RUN(&cli_replay, best, "--launches", "1");
    cr_assert_eq(r.status, CLI_OK, "%s", r.err);
    cr_expect(strstr(r.out, "ok: verified, ") && strstr(r.out, "\nrecorded  ") &&
                  strstr(r.out, "\nreplayed  ") && strstr(r.out, "\nratio     "),
              "%s", r.out);
    e2e_run_free(&r);
    replay_remove(folder);
}

static void replay_change(const char *store, const char *sql)
{
    sqlite3 *db;
    cr_assert_eq(sqlite3_open(store, &db), SQLITE_OK);
    cr_assert_eq(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(db);
}

static void replay_expect_search(const char *store, int status, const char *text)
{
    struct e2e_run r = E2E_RUN(&cli_replay_search, store);
    cr_expect_eq(r.status, status, "%s%s", r.out, r.err);
    cr_expect(strstr(r.out, text) || strstr(r.err, text), "expected '%s' in %s%s", text, r.out, r.err);
    e2e_run_free(&r);
}

/* A run and a best.json know what was allowed; a run without it is another one. */
Test(replay, runs_know_what_was_allowed, .timeout = 120)
{
#define REPLAY_ALLOWED                                                                                       \
    "experiments/kernels/axpy.lift", "--size", "N=4096", "--quiet", "--out", folder, "--store", store
    char folder[32], best[64], store[64];
    e2e_folder(folder);
    snprintf(best, sizeof best, "%s/best.json", folder);
    snprintf(store, sizeof store, "%s/runs.db", folder);
    struct e2e_run r = E2E_RUN(&cli_tune, E2E_QUICK, REPLAY_ALLOWED, "--evaluations", "2", "--allow", "tf32");
    cr_assert_eq(r.status, CLI_OK, "%s", r.err);
    e2e_run_free(&r);
    const char *const files[] = {best, store};
    for (int i = 0; i < 2; i++) {
        r = E2E_RUN(&cli_explain, files[i], i ? "--best" : NULL);
        cr_expect_eq(r.status, CLI_OK, "%d: %s", i, r.err);
        e2e_run_free(&r);
    }
    r = E2E_RUN(&cli_explain, store, "--best", "--param", "tf32=0");
    cr_expect(r.status == CLI_USAGE && strstr(r.err, "or --allow"), "%d: %s", r.status, r.err);
    e2e_run_free(&r);
    r = E2E_RUN(&cli_tune, E2E_QUICK, REPLAY_ALLOWED, "--evaluations", "3", "--resume");
    cr_expect(r.status == CLI_USAGE && strstr(r.err, "cannot resume"), "%d: %s", r.status, r.err);
    e2e_run_free(&r);
    r = E2E_RUN(&cli_tune, E2E_QUICK, REPLAY_ALLOWED, "--evaluations", "3", "--resume", "--allow", "tf32");
    cr_expect_eq(r.status, CLI_OK, "%s", r.err);
    e2e_run_free(&r);
    replay_remove(folder);
}

/* A run knows the parameters of the space in which it searched, and its search is the same again. */
Test(replay, runs_with_parameters_are_opened_with_them, .timeout = 120)
{
    char folder[32], best[64], store[64];
    e2e_folder(folder);
    snprintf(best, sizeof best, "%s/best.json", folder);
    snprintf(store, sizeof store, "%s/runs.db", folder);
    struct e2e_run r = E2E_RUN(&cli_tune, E2E_QUICK, "experiments/kernels/axpy.lift", "--size", "N=4096",
                               "--evaluations", "2", "--param", "max_unroll=8", "--pin", "size(n.1)=1|2",
                               "--out", folder, "--store", store, "--quiet");
    cr_assert_eq(r.status, CLI_OK, "%s", r.err);
    e2e_run_free(&r);
    static const char *const same[] = {"max_unroll=8", NULL};
    for (int i = 0; i < 2; i++) {
        r = E2E_RUN(&cli_explain, store, "--best", same[i] ? "--param" : NULL, same[i]);
        cr_expect_eq(r.status, CLI_OK, "%d: %s", i, r.err);
        e2e_run_free(&r);
    }
    r = E2E_RUN(&cli_explain, store, "--best", "--param", "max_unroll=16");
    cr_expect(r.status == CLI_USAGE && strstr(r.err, "another --param"), "%d: %s", r.status, r.err);
    e2e_run_free(&r);
    replay_expect_search(store, CLI_OK, " candidates drawn: the same\n");
    replay_change(store, "UPDATE evaluation SET state_hash = '0000000000000001' WHERE number = 2");
    replay_expect_search(store, CLI_FAILED,
                         "at number 2: its decisions are the same, the candidate's hash is");
    replay_change(store, "UPDATE run SET settings = replace(settings, 'prior=', 'prior=f')");
    replay_expect_search(store, CLI_FAILED, "was searched with other settings");
    replay_remove(folder);
}

Test(replay, load_is_of_others_only)
{
    static const char before[] = "cpu  100 10 50 1000 40 0 5 5 77 0\ncpu0 1 1 1 1\n",
                      after[] = "cpu  200 10 100 1000 90 0 5 5 77 0\n";
    struct load from, to;
    char path[32];
    e2e_file(path, before);
    cr_assert(load_read(path, &from));
    unlink(path);
    e2e_file(path, after);
    cr_assert(load_read(path, &to));
    unlink(path);
    cr_expect_eq(to.all - from.all, 200);
    cr_expect_eq(to.busy - from.busy, 150);
    double tick_ms = 1e3 / (double)sysconf(_SC_CLK_TCK);
    cr_expect_float_eq(load_of_others(&from, &to, 0), 0.75, 1e-9);
    cr_expect_float_eq(load_of_others(&from, &to, 50 * tick_ms), 0.5, 1e-9);
    cr_expect_eq(load_of_others(&from, &to, 1000 * tick_ms), 0);
    cr_expect_eq(load_of_others(&to, &to, 0), 0);
    e2e_file(path, "nothing\n");
    cr_expect_not(load_read(path, &from));
    unlink(path);
    cr_expect_not(load_read("/nonexistent/stat", &from));
}
