/* thresh verify, audit and estimate on a real device: reports add up, and nothing fails. */
#include <criterion/criterion.h>
#include <jansson.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "tests/e2e/run.h"

static json_t *report(const struct e2e_run *r)
{
    json_t *o = json_loads(r->out, 0, NULL);
    cr_assert_not_null(o, "%s", r->out);
    return o;
}

static json_int_t number(const json_t *o, const char *key)
{
    cr_assert(json_is_integer(json_object_get(o, key)), "no %s", key);
    return json_integer_value(json_object_get(o, key));
}

Test(verify, random_implementations, .timeout = 120)
{
    struct e2e_run r = E2E_RUN(&cli_verify, "experiments/kernels/gemv.lift", "--size", "M=8,N=8", "--samples",
                               "12", "--time", "8s", "--seed", "5", "--json", "--quiet");
    json_t *o = report(&r);
    json_int_t verified = number(o, "verified");
    cr_expect_eq(r.status, CLI_OK, "%s%s", r.out, r.err);
    cr_expect_gt(verified, 0);
    cr_expect_eq(number(json_object_get(o, "statuses"), "ok"), verified);
    cr_expect_eq(json_array_size(json_object_get(o, "failures")), 0);
    cr_expect_geq(number(o, "drawn"),
                  verified + number(o, "duplicates") + number(o, "dead_ends") + number(o, "not_lowered"));
    size_t i;
    json_t *v;
    json_array_foreach(json_object_get(o, "values"), i, v)
        cr_expect(number(v, "texts") <= verified && json_is_string(json_object_get(v, "choice")));
    json_decref(o);
    e2e_run_free(&r);
}

/* The scan is a kernel, and what reads it in another order is the next. */
Test(verify, programs_that_are_several_kernels, .timeout = 120)
{
    static const char path[] = "build/tests-several.lift";
    FILE *f = fopen(path, "w");
    cr_assert_not_null(f);
    fputs("size M, N\ninput A: [[float]N]M\n"
          "output map(fun r -> let s = scan(add, 0.0, r) in map(fun i -> at(i + 1, s) - at(i, s), iota(N - "
          "1)), "
          "A)\n",
          f);
    fclose(f);
    struct e2e_run r = E2E_RUN(&cli_verify, path, "--size", "M=2,N=4", "--samples", "1", "--time", "4s",
                               "--quiet"),
                   pinned = E2E_RUN(&cli_verify, path, "--size", "M=4,N=8", "--pin", "x=1");
    cr_expect_eq(r.status, CLI_OK, "%s%s", r.out, r.err);
    cr_expect(strstr(r.out, "build/tests-several.s.lift") && strstr(r.out, "build/tests-several.out.lift"),
              "%s", r.out);
    cr_expect_eq(pinned.status, CLI_USAGE);
    cr_expect(strstr(pinned.err, "--pin applies to one kernel"), "%s", pinned.err);
    e2e_run_free(&r);
    e2e_run_free(&pinned);
    remove(path);
}

/* Until the file has text. */
static void verify_wait(const char *path)
{
    struct stat st = {0};
    struct timespec pause = {.tv_nsec = 10000000};
    for (int i = 0; i < 500 && (stat(path, &st) || !st.st_size); i++)
        nanosleep(&pause, NULL);
}

/* An audit that is interrupted prints what it has measured until then; an empty one is a failure. */
Test(verify, audits_are_interrupted, .timeout = 120)
{
    setenv("THRESH_DEVICES", "/nonexistent", 1);
    struct e2e_process audit =
        e2e_start(&cli_audit, (const char *const[]){"experiments/kernels/axpy.lift", "--size", "N=64",
                                                    "--samples", "100000", NULL});
    verify_wait(audit.err);
    kill(audit.pid, SIGINT);
    struct e2e_run r = e2e_finish(&audit), none = E2E_RUN(&cli_audit, "experiments/kernels/axpy.lift",
                                                          "--size", "N=64", "--samples", "2", "--cut", "1e9");
    cr_expect_eq(r.status, 130, "%d: %s", r.status, r.err);
    cr_expect(strstr(r.out, "bound / time") || strstr(r.err, "nothing was measured"), "%s%s", r.out, r.err);
    cr_expect_eq(none.status, CLI_FAILED, "%s", none.err);
    cr_expect(strstr(none.err, "nothing was measured"), "%s", none.err);
    e2e_run_free(&r);
    e2e_run_free(&none);
}

static void verify_record(const char *sizes, const char *store, const char *folder)
{
    struct e2e_run r = E2E_RUN(&cli_tune, E2E_QUICK, "experiments/kernels/axpy.lift", "--size", sizes,
                               "--evaluations", "6", "--store", store, "--out", folder, "--quiet");
    cr_assert_eq(r.status, CLI_OK, "%s", r.err);
    e2e_run_free(&r);
}

/* Two programs with times far apart; the first again on a device that is not here, and without a program. */
static void verify_mixed_store(const char *store, const char *folder)
{
    static const char sql[] =
        "UPDATE evaluation SET median_ns = CASE run WHEN 1 THEN 1e3 ELSE 1e9 END WHERE status = 'ok';"
        "INSERT INTO run (path, text, sizes, device, driver, settings, fingerprint, seed, libraries)"
        " SELECT path, text, sizes, d, driver, settings, fingerprint, seed, libraries FROM run,"
        " (SELECT 'elsewhere' AS d UNION ALL SELECT 'command') WHERE id = 1;"
        "INSERT INTO evaluation (run, number, drawn, state_hash, actions, status, median_ns, samples,"
        " kernel_hash, message, found_at) SELECT r.id, number, drawn, state_hash, actions, status, 1e-3,"
        " samples, kernel_hash, message, found_at FROM evaluation e, run r WHERE e.run = 1 AND r.id > 2";
    sqlite3 *db;
    verify_record("N=64", store, folder);
    verify_record("N=128", store, folder);
    cr_assert_eq(sqlite3_open(store, &db), SQLITE_OK);
    cr_assert_eq(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK, "%s", sqlite3_errmsg(db));
    sqlite3_close(db);
}

/* Each time is compared with the best of its own program; runs that say nothing here are left out. */
Test(verify, audits_of_several_runs, .timeout = 120)
{
    char folder[32], store[64], command[64];
    setenv("THRESH_DEVICES", "/nonexistent", 1);
    e2e_folder(folder);
    snprintf(store, sizeof store, "%s/runs.db", folder);
    verify_mixed_store(store, folder);
    struct e2e_run any = E2E_RUN(&cli_audit, store, "--json"),
                   cpu = E2E_RUN(&cli_audit, store, "--json", "--device", "cpu");
    json_t *o = report(&any), *same = report(&cpu);
    cr_expect_eq(any.status, CLI_OK, "%s", any.err);
    cr_expect_gt(number(o, "measured"), 2);
    cr_expect_eq(number(o, "good"), number(o, "measured"));
    cr_expect(json_is_null(json_object_get(o, "best_ns")));
    cr_expect(strstr(any.err, "note: run 3 is skipped\n") && strstr(any.err, "note: run 4 is skipped\n"),
              "%s", any.err);
    cr_expect_eq(number(same, "measured"), number(o, "measured"), "%s", cpu.err);
    json_decref(o);
    json_decref(same);
    e2e_run_free(&any);
    e2e_run_free(&cpu);
    snprintf(command, sizeof command, "rm -r %s", folder);
    cr_expect_eq(system(command), 0);
}

/* No sample in what the cut leaves: that is no sum of which a few hold most. */
Test(verify, estimates_without_a_leaf_say_so)
{
    setenv("THRESH_DEVICES", "perfmodel/devices", 1);
    struct e2e_run r =
        E2E_RUN(&cli_estimate, "experiments/kernels/axpy.lift", "--size", "N=4096", "--samples", "20",
                "--quiet", "--description", "perfmodel/devices/nvidia-h200.json", "--cut", "1");
    cr_expect_eq(r.status, CLI_OK, "%s", r.err);
    cr_expect(strstr(r.out, "unreliable       no sample reached an implementation"), "%s", r.out);
    e2e_run_free(&r);
}

#define VERIFY_REPORT                                                                                        \
    "{\"kernel\": \"k.lift\", \"sizes\": \"N=4\", \"device\": \"D\", \"verified\": 5, \"drawn\": 7, "        \
    "\"duplicates\": 0, \"dead_ends\": 0, \"not_lowered\": 0, \"statuses\": {\"ok\": 5, "                    \
    "\"wrong_result\": 3}, \"least\": 20, \"values\": [], \"verified_per_s\": 1.0, \"failures\": ["          \
    "{\"status\": \"wrong_result\", \"message\": \"one\", \"right_unoptimized\": true, \"file\": null}, "    \
    "{\"status\": \"wrong_result\", \"message\": \"two\", \"right_unoptimized\": false, \"file\": null}, "   \
    "{\"status\": \"wrong_result\", \"message\": \"three\", \"right_unoptimized\": null, \"file\": "         \
    "null}]}\n"

static void verify_write(const char *folder, const char *name, const char *text)
{
    char path[64];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *f = fopen(path, "w");
    cr_assert_not_null(f);
    fputs(text, f);
    fclose(f);
}

/* A program of two kernels, one that was not run, one that ended too early. */
Test(verify, tables_of_reports, .timeout = 60)
{
    static const char *const lines[] = {
        "\n15 distinct texts verified, 9 failures (3 of 6 wrong results that were built again are right "
        "without the compiler's optimizations), on D.\n",
        "\n- not run: none: none.lift:4:7: error: no halves\n",
        "\n- not finished: part: its log is empty or missing\n"};
    char folder[32], command[128], table[4096] = "";
    if (system("command -v python3 >/dev/null")) cr_skip_test("needs python3");
    e2e_folder(folder);
    verify_write(folder, "two.json", VERIFY_REPORT VERIFY_REPORT);
    verify_write(folder, "none.json", "");
    verify_write(folder, "none.log", "note: slow\nnone.lift:4:7: error: no halves\ninput A\n      ^\n");
    verify_write(folder, "part.json", VERIFY_REPORT "{\"kernel\": ");
    snprintf(command, sizeof command, "python3 experiments/verify/table.py %s/*.json", folder);
    FILE *f = popen(command, "r");
    cr_assert_not_null(f);
    table[fread(table, 1, sizeof table - 1, f)] = 0;
    cr_expect_eq(pclose(f), 1 << 8);
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
        cr_expect(strstr(table, lines[i]), "'%s' is not in %s", lines[i], table);
    snprintf(command, sizeof command, "rm -r %s", folder);
    cr_expect_eq(system(command), 0);
}
