/* thresh replay-search: a recorded search is the same when it is done again, and what was changed in a store
 * shows. Of a program: test_replay.c. */
#include <criterion/criterion.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/e2e/run.h"

#define REDO_SPACE "experiments/spaces/transpose.space"
/* A time that follows from all decisions but one, and failures. */
#define REDO_COMMAND                                                                                         \
    "sh -c 'test $1 -lt 128 || exit 3; echo $(( ($1 * 7919 + $2 * 104729) % 9973 + 10 ))' - {tile_rows} "    \
    "{tile_columns}"

static void redo_sql(const char *store, const char *sql)
{
    sqlite3 *db;
    char *why = NULL;
    cr_assert_eq(sqlite3_open(store, &db), SQLITE_OK);
    cr_assert_eq(sqlite3_exec(db, sql, NULL, NULL, &why), SQLITE_OK, "%s", why);
    sqlite3_close(db);
}

static void redo_expect(const char *store, int status, const char *text)
{
    struct e2e_run r = E2E_RUN(&cli_replay_search, store);
    cr_expect_eq(r.status, status, "%s%s", r.out, r.err);
    cr_expect(strstr(r.out, text) || strstr(r.err, text), "expected '%s' in %s%s", text, r.out, r.err);
    e2e_run_free(&r);
}

static void redo_space(const char *store, const char *evaluations, const char *resume)
{
    struct e2e_run r =
        E2E_RUN(&cli_tune, "--space", REDO_SPACE, "--command", REDO_COMMAND, "--evaluations", evaluations,
                "--runners", "3", "--store", store, "--pin", "unroll=1|2|4", "--quiet", resume);
    cr_assert_eq(r.status, CLI_OK, "%s", r.err);
    e2e_run_free(&r);
}

/* Three programs at a time, so that results come in another order than candidates; and a resumption. */
Test(replay_search, of_a_space_shows_the_first_difference, .timeout = 120)
{
    char folder[32], store[64], line[128];
    e2e_folder(folder);
    snprintf(store, sizeof store, "%s/runs.db", folder);
    redo_space(store, "30", NULL);
    redo_space(store, "40", "--resume");
    redo_expect(store, CLI_OK, "seed 1: 40 evaluations, ");
    redo_expect(store, CLI_OK, " candidates drawn: the same\n");
    struct e2e_run r = E2E_RUN(&cli_replay_search, store, "--json");
    json_t *o = json_loads(r.out, 0, NULL), *run = json_array_get(json_object_get(o, "runs"), 0);
    cr_expect(json_is_true(json_object_get(run, "all_same")), "%s%s", r.out, r.err);
    cr_expect(json_equal(json_object_get(run, "same"), json_object_get(run, "evaluations")), "%s", r.out);
    cr_expect(json_is_null(json_object_get(run, "difference")), "%s", r.out);
    json_decref(o);
    e2e_run_free(&r);
    redo_sql(store, "UPDATE evaluation SET status = 'crashed', median_ns = NULL WHERE number < 10");
    redo_expect(store, CLI_FAILED, " of 40 evaluations, at number ");
    redo_sql(store, "UPDATE run SET fingerprint = '0123456789abcdef'");
    redo_expect(store, CLI_FAILED, "was of another version of '" REDO_SPACE "'");
    snprintf(line, sizeof line, "rm -r %s", folder);
    cr_expect_eq(system(line), 0);
}

Test(replay_search, needs_a_store_with_evaluations)
{
    char path[32];
    e2e_file(path, "no store");
    struct e2e_run r = E2E_RUN(&cli_replay_search, path);
    cr_expect_eq(r.status, CLI_USAGE, "%s", r.err);
    cr_expect(strstr(r.err, "not a thresh store"), "%s", r.err);
    e2e_run_free(&r);
    unlink(path);
}
