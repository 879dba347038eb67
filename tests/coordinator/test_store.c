/* The store: what is written is read back; foreign, damaged and newer files are refused; results are
 * idempotent. */
#include "coordinator/store.h"

#include <criterion/criterion.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/base/diag.h"
#include "core/base/file.h"
#include "core/space/space.h"
#include "tests/e2e/run.h"

/* A name that no other test process uses; the file does not exist. */
static char *store_test_path(char out[64])
{
    snprintf(out, 64, "/tmp/thresh-store-%ld.db", (long)getpid());
    unlink(out);
    return out;
}

static struct store_run store_test_run(void)
{
    return (struct store_run){.path = "k.lift",
                              .text = "t",
                              .sizes = "M=4",
                              .device = "dev",
                              .driver = "1",
                              .libraries = "lib 1",
                              .settings = "tag",
                              .fingerprint = 0xabcdef0123456789u,
                              .seed = 7};
}

static bool store_test_sum(void *context, const struct store_run *run, const struct store_evaluation *e)
{
    double *sum = context;
    cr_assert_eq(run->fingerprint, 0xabcdef0123456789u);
    for (unsigned i = 0; i < e->n_samples; i++)
        *sum += e->samples[i];
    return true;
}

static void store_test_fill(struct store *s, struct store_run *run, struct diag *d)
{
    double samples[] = {1, 2.5};
    struct store_evaluation e = {.number = 1,
                                 .drawn = 2,
                                 .state_hash = 9,
                                 .actions = "1=2",
                                 .status = "ok",
                                 .median_ns = 1.75,
                                 .samples = samples,
                                 .n_samples = 2,
                                 .message = "a \"b\"",
                                 .resources = "{\"local_bytes\":7}"};
    cr_assert(store_run_add(s, run, d));
    cr_assert(store_add(s, run->id, &e, d));
    cr_assert(store_add(s, run->id, &e, d));
    e = (struct store_evaluation){.number = 2, .drawn = 2, .actions = "", .status = "timeout"};
    e.message = "cut off: \xc3";
    cr_assert(store_add(s, run->id, &e, d));
}

Test(store, rows_are_read_back_once_each)
{
    char path[64];
    struct diag *d = diag_new();
    struct store *s = store_open(store_test_path(path), true, d);
    struct store_run run = store_test_run(), again = store_test_run();
    store_test_fill(s, &run, d);
    store_close(s);
    s = store_open(path, false, d);
    double sum = 0;
    cr_assert(store_each(s, 0, store_test_sum, &sum, d));
    cr_assert_float_eq(sum, 3.5, 1e-12);
    bool found = false;
    sum = 0;
    cr_assert(store_best(s, store_test_sum, &sum, &found, d) && found);
    cr_assert(store_run_resume(s, &again, d) && again.id == run.id);
    store_close(s);
    diag_free(d);
    unlink(path);
}

static bool store_test_status(void *context, const struct store_run *run, const struct store_evaluation *e)
{
    snprintf(context, 32, "%s of run %d", e->status, (int)run->id);
    return true;
}

static bool store_test_time(void *context, const struct store_run *run, const struct store_evaluation *e)
{
    (void)run;
    *(double *)context = e->median_ns;
    return true;
}

/* The best of a store is one of the last run's problem: times of another one say nothing about it. */
Test(store, the_best_is_of_the_last_problem)
{
    char path[64];
    struct diag *d = diag_new();
    struct store *s = store_open(store_test_path(path), true, d);
    struct store_run run = store_test_run(), other = store_test_run();
    struct store_evaluation e = {.number = 1, .actions = "", .status = "ok", .median_ns = 9};
    double best = 0;
    bool found;
    other.fingerprint++;
    store_test_fill(s, &run, d);
    cr_assert(store_run_add(s, &other, d) && store_add(s, other.id, &e, d));
    cr_assert(store_best(s, store_test_time, &best, &found, d) && found);
    cr_expect_eq(best, 9);
    other.seed++;
    e.median_ns = 10;
    cr_assert(store_run_add(s, &other, d) && store_add(s, other.id, &e, d));
    cr_assert(store_best(s, store_test_time, &best, &found, d) && found);
    cr_expect_eq(best, 9, "by another run of it");
    store_close(s);
    diag_free(d);
    unlink(path);
}

Test(store, an_evaluation_is_found_by_its_number)
{
    char path[64], status[32] = "";
    struct diag *d = diag_new();
    struct store *s = store_open(store_test_path(path), true, d);
    struct store_run run = store_test_run();
    bool found;
    store_test_fill(s, &run, d);
    store_test_fill(s, &run, d);
    cr_assert(store_number(s, 2, store_test_status, status, &found, d) && found);
    cr_expect_str_eq(status, "timeout of run 2", "%s", status);
    cr_assert(store_number(s, 3, store_test_status, status, &found, d) && !found);
    store_close(s);
    diag_free(d);
    unlink(path);
}

Test(store, resume_needs_the_same_fingerprint)
{
    char path[64];
    struct diag *d = diag_new();
    struct store *s = store_open(store_test_path(path), true, d);
    struct store_run run = store_test_run();
    cr_assert(!store_run_resume(s, &run, d));
    store_test_fill(s, &run, d);
    run.fingerprint++;
    cr_assert(!store_run_resume(s, &run, d));
    cr_assert(strstr(diag_message(d, 1), "another program or of other sizes"), "%s", diag_message(d, 1));
    store_close(s);
    diag_free(d);
    unlink(path);
}

/* Only the settings that differ are told. */
Test(store, resume_says_which_settings_differ)
{
    char path[64];
    struct diag *d = diag_new();
    struct store *s = store_open(store_test_path(path), true, d);
    struct store_run run = store_test_run();
    run.settings = "heuristic=tag bound=1 pin=a=1 figures=12";
    store_test_fill(s, &run, d);
    static const char *const now[] = {"heuristic=tag bound=1 pin=a=1 figures=13",
                                      "heuristic=tag bound=1 pin=a=1 figures=12 x", "heuristic=uct"};
    static const char *const told[] = {"the run has other settings ('figures=12', now 'figures=13')",
                                       "('figures=12', now 'figures=12 x')",
                                       "('heuristic=tag bound=1 pin=a=1 figures=12', now 'heuristic=uct')"};
    for (size_t i = 0; i < 3; i++) {
        run.settings = now[i];
        cr_assert(!store_run_resume(s, &run, d));
        cr_expect(strstr(diag_message(d, i), told[i]), "%s", diag_message(d, i));
    }
    store_close(s);
    diag_free(d);
    unlink(path);
}

static void store_test_refused(const char *path, const char *expect)
{
    struct diag *d = diag_new();
    cr_assert_null(store_open(path, true, d));
    cr_assert(strstr(diag_message(d, 0), expect), "%s", diag_message(d, 0));
    diag_free(d);
    unlink(path);
}

Test(store, text_files_and_foreign_databases_are_refused)
{
    char path[64];
    FILE *f = fopen(store_test_path(path), "w");
    for (int i = 0; i < 500; i++)
        fputs("this is not a database\n", f);
    fclose(f);
    store_test_refused(path, "not a thresh store: not a database");
    sqlite3 *db;
    cr_assert_eq(sqlite3_open(store_test_path(path), &db), SQLITE_OK);
    cr_assert_eq(sqlite3_exec(db, "CREATE TABLE t (x)", NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(db);
    store_test_refused(path, "not a thresh store: a database of another program");
}

Test(store, newer_schemas_are_refused)
{
    char path[64];
    struct diag *d = diag_new();
    store_close(store_open(store_test_path(path), true, d));
    diag_free(d);
    sqlite3 *db;
    cr_assert_eq(sqlite3_open(path, &db), SQLITE_OK);
    cr_assert_eq(sqlite3_exec(db, "PRAGMA user_version=99", NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(db);
    store_test_refused(path, "schema version 99");
}

Test(store, a_full_disk_is_an_error)
{
    struct diag *d = diag_new();
    cr_assert_null(store_open("/dev/full", true, d));
    cr_assert(diag_failed(d));
    diag_free(d);
}

Test(store, exports_have_a_line_per_evaluation)
{
    char path[64];
    struct diag *d = diag_new();
    struct store *s = store_open(store_test_path(path), true, d);
    struct store_run run = store_test_run();
    store_test_fill(s, &run, d);
    char *text = NULL;
    size_t n = 0;
    FILE *out = open_memstream(&text, &n);
    cr_assert(store_export(s, "csv", out, d) && store_export(s, "jsonl", out, d));
    cr_assert(!store_export(s, "xml", out, d));
    fclose(out);
    cr_assert(strstr(text, "\"a \"\"b\"\"\"") && strstr(text, "\"samples_ns\":[1.0,2.5]"), "%s", text);
    cr_assert(strstr(text, "\"message\":\"cut off: ?\",\"resources\":null"), "%s", text);
    cr_assert(strstr(text, "\"resources\":{\"local_bytes\":7}"), "%s", text);
    cr_assert(strstr(text, "\"libraries\":\"lib 1\""), "%s", text);
    free(text);
    store_close(s);
    diag_free(d);
    unlink(path);
}

Test(store, actions_are_read_back)
{
    struct space_action list[] = {{0, 4}, {4294967295u, 0}}, *back;
    size_t n;
    char *text = store_actions_print(list, 2);
    cr_assert_str_eq(text, "0=4 4294967295=0");
    cr_assert(store_actions_parse(text, &back, &n) && n == 2 && memcmp(list, back, sizeof list) == 0);
    free(back);
    free(text);
    cr_assert(store_actions_parse("", &back, &n) && n == 0);
    free(back);
    const char *const bad[] = {"1", "1=", "=1", "a=b", "1=2,3=4", "99999999999=1", "1=2 x"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        cr_assert(!store_actions_parse(bad[i], &back, &n), "%s", bad[i]);
}

static bool store_test_cut(void *context, const struct store_cut *c)
{
    cr_assert_str_eq(c->candidate, "size(m.0)=4");
    cr_assert_eq(c->bound_ns, 200);
    cr_assert_eq(c->cut_ns, 150);
    cr_assert_str_eq(c->reason, "200 ns: a reason\n");
    ++*(unsigned *)context;
    return true;
}

/* A cut is kept once, with its reason; those of an earlier run are not those of the last. A store without the
 * table gets it. */
Test(store, cuts_are_kept_with_their_reasons)
{
    char path[64];
    struct diag *d = diag_new();
    struct store *s = store_open(store_test_path(path), true, d);
    struct store_run run = store_test_run();
    struct store_cut cut = {"size(m.0)=4", 200, 150, "200 ns: a reason\n"}, other = {"x=1", 1, 1, ""};
    unsigned n = 0;
    cr_assert(store_run_add(s, &run, d) && store_cut_add(s, run.id, &other, d));
    cr_assert(store_run_add(s, &run, d));
    cr_assert(store_cut_add(s, run.id, &cut, d));
    cr_assert(store_cut_add(s, run.id, &cut, d));
    cr_assert(store_each_cut(s, store_test_cut, &n, d));
    cr_assert_eq(n, 1);
    store_close(s);
    sqlite3 *db;
    cr_assert_eq(sqlite3_open(path, &db), SQLITE_OK);
    cr_assert_eq(sqlite3_exec(db, "DROP TABLE cut", NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(db);
    s = store_open(path, false, d);
    cr_assert(s && store_each_cut(s, store_test_cut, &n, d));
    cr_assert_eq(n, 1);
    store_close(s);
    unlink(path);
    diag_free(d);
}

static bool store_test_quoted(void *context, const struct store_run *run, const struct store_evaluation *e)
{
    (void)run;
    cr_expect_str_eq(e->label, "plain: x");
    *(double *)context = e->quoted.median_ns;
    return true;
}

static bool store_test_figure(void *context, const struct store_figure *f)
{
    char *text = context;
    size_t n = strlen(text);
    snprintf(text + n, 200 - n, "%s %d %s %u %g,%g,%g;", f->label, (int)f->number, f->actions, f->n_times,
             f->times[0], f->times[1], f->figure.median_ns);
    return true;
}

/* The quoted winner is the best, not what the search measured fastest; figures of the same run are replaced;
 * the evaluation knows its own. */
Test(store, quoted_figures_are_kept_and_decide)
{
    char path[64], text[200] = "";
    struct diag *d = diag_new();
    struct store *s = store_open(store_test_path(path), true, d);
    struct store_run run = store_test_run();
    const double fast[] = {30, 32}, slow[] = {40, NAN};
    struct store_evaluation e = {
        .number = -1, .label = "plain: x", .actions = "3=4", .status = "ok", .median_ns = 20};
    struct store_figure figures[] = {
        {"plain: x", -1, figure_of_rounds(fast, 2), fast, 2, "3=4"},
        {"search", 1, figure_of_rounds(slow, 2), slow, 2, "1=2"},
    };
    double best = 0;
    bool found;
    store_test_fill(s, &run, d);
    cr_assert(store_add(s, run.id, &e, d));
    cr_assert(store_best(s, store_test_time, &best, &found, d) && found && best == 1.75);
    for (int i = 0; i < 2; i++)
        cr_assert(store_figures_set(s, run.id, figures, 2, d));
    cr_assert(store_best(s, store_test_time, &best, &found, d) && found && best == 20);
    cr_assert(store_each_figure(s, run.id, store_test_figure, text, d));
    cr_expect_str_eq(text, "plain: x -1 3=4 2 30,32,31;search 1 1=2 2 40,nan,40;", "%s", text);
    cr_assert(store_number(s, -1, store_test_quoted, &best, &found, d) && found && best == 31);
    cr_assert(store_naive(s, run.id, store_test_time, &best, &found, d) && !found);
    char *csv = NULL;
    size_t n = 0;
    FILE *out = open_memstream(&csv, &n);
    cr_assert(store_export(s, "csv", out, d));
    fclose(out);
    cr_expect(strstr(csv, ",label,quoted_ns,quoted_low_ns,quoted_high_ns,quoted_rounds\n"), "%s", csv);
    cr_expect(strstr(csv, ",\"plain: x\",31,30.5,31.5,2\n"), "%s", csv);
    cr_expect(strstr(csv, ",\"\",,,,\n"), "%s", csv);
    free(csv);
    store_close(s);
    unlink(path);
    diag_free(d);
}

/* A store of version 1 is what it was, with empty columns for what that did not record. */
Test(store, of_the_first_version_is_upgraded)
{
    char path[64];
    double sum = 0;
    struct diag *d = diag_new();
    struct store *s = store_open(store_test_path(path), true, d);
    struct store_run run = store_test_run();
    store_test_fill(s, &run, d);
    store_close(s);
    sqlite3 *db;
    cr_assert_eq(sqlite3_open(path, &db), SQLITE_OK);
    cr_assert_eq(
        sqlite3_exec(
            db,
            "ALTER TABLE run DROP COLUMN libraries; ALTER TABLE evaluation DROP COLUMN "
            "resources; ALTER TABLE evaluation DROP COLUMN decisions; ALTER TABLE evaluation DROP "
            "COLUMN draws; ALTER TABLE evaluation DROP COLUMN label; ALTER TABLE evaluation DROP COLUMN "
            "numbers; DROP TABLE figure; "
            "PRAGMA user_version=1",
            NULL, NULL, NULL),
        SQLITE_OK);
    sqlite3_close(db);
    for (int i = 0; i < 2; i++) {
        s = store_open(path, false, d);
        cr_assert(s && store_each(s, 0, store_test_sum, &sum, d), "%s",
                  diag_count(d) ? diag_message(d, 0) : "");
        store_close(s);
    }
    cr_assert_float_eq(sum, 7, 1e-12);
    diag_free(d);
    unlink(path);
}

/* ---- reading without write access ---- */

/* A store with one filled run that nobody has open; its path goes to path. */
static struct store_run store_test_make(char path[64], struct diag *d)
{
    struct store *s = store_open(store_test_path(path), true, d);
    struct store_run run = store_test_run();
    store_test_fill(s, &run, d);
    store_close(s);
    return run;
}

static void store_test_execute(const char *path, const char *sql)
{
    sqlite3 *db;
    char *error = NULL;
    cr_assert_eq(sqlite3_open(path, &db), SQLITE_OK);
    cr_assert_eq(sqlite3_exec(db, sql, NULL, NULL, &error), SQLITE_OK, "%s", error);
    sqlite3_close(db);
}

static void store_test_copy(const char *from, const char *to)
{
    char chunk[4096];
    size_t n;
    FILE *in = fopen(from, "rb"), *out = fopen(to, "wb");
    cr_assert(in && out, "%s", from);
    while ((n = fread(chunk, 1, sizeof chunk, in)) > 0)
        fwrite(chunk, 1, n, out);
    fclose(in);
    fclose(out);
}

/* A user without any rights, where this process is root; it may write nothing then. */
static void store_test_lose_rights(bool lose)
{
    enum { NOBODY = 65534 };
    if (getuid() == 0) cr_assert_eq(seteuid(lose ? NOBODY : 0), 0);
}

/* A folder with a store that nobody may write to, nor beside it; DIR/a.db. With the log of a search that is
 * at work, or without. */
static void store_test_protected(char dir[32], char path[64], bool with_log)
{
    char original[64], log[80], copied_log[80];
    struct diag *d = diag_new();
    struct store *s = store_open(store_test_path(original), true, d);
    struct store_run run = store_test_run();
    e2e_folder(dir);
    snprintf(path, 64, "%s/a.db", dir);
    snprintf(log, sizeof log, "%s-wal", original);
    snprintf(copied_log, sizeof copied_log, "%s-wal", path);
    store_test_fill(s, &run, d);
    if (!with_log) store_close(s);
    store_test_copy(original, path);
    if (with_log) store_test_copy(log, copied_log);
    if (with_log) store_close(s);
    chmod(path, 0444);
    chmod(copied_log, 0444);
    chmod(dir, 0555);
    unlink(original);
    diag_free(d);
}

static void store_test_remove(const char *dir, const char *path)
{
    char log[80];
    snprintf(log, sizeof log, "%s-wal", path);
    chmod(dir, 0755);
    unlink(path);
    unlink(log);
    cr_expect_eq(rmdir(dir), 0, "reading left a file beside the store");
}

Test(store, is_read_without_write_access)
{
    for (int with_log = 0; with_log < 2; with_log++) {
        char dir[32], path[64];
        double sum = 0;
        struct diag *d = diag_new();
        store_test_protected(dir, path, with_log);
        store_test_lose_rights(true);
        struct store *s = store_open_to_read(path, d);
        bool read = s && store_each(s, 0, store_test_sum, &sum, d);
        store_close(s);
        store_test_lose_rights(false);
        cr_expect(read, "%s", diag_count(d) ? diag_message(d, 0) : "");
        cr_expect_float_eq(sum, 3.5, 1e-12, "what is in the log alone is read, too");
        store_test_remove(dir, path);
        diag_free(d);
    }
}

Test(store, a_search_needs_write_access)
{
    char dir[32], path[64];
    struct diag *d = diag_new();
    store_test_protected(dir, path, false);
    store_test_lose_rights(true);
    cr_expect_null(store_open(path, false, d));
    store_test_lose_rights(false);
    cr_expect(strstr(diag_message(d, 0), "a.db: no write access to the store"), "%s", diag_message(d, 0));
    store_test_remove(dir, path);
    diag_free(d);
}

Test(store, reading_leaves_nothing_beside_it)
{
    char path[64], beside[80];
    double sum = 0;
    struct diag *d = diag_new();
    store_test_make(path, d);
    struct store *s = store_open_to_read(path, d);
    cr_assert(s && store_each(s, 0, store_test_sum, &sum, d));
    store_close(s);
    snprintf(beside, sizeof beside, "%s-wal", path);
    cr_expect(access(beside, F_OK) != 0);
    snprintf(beside, sizeof beside, "%s-shm", path);
    cr_expect(access(beside, F_OK) != 0);
    unlink(path);
    diag_free(d);
}

/* Another process finds the store without a writer, too, and begins a run while it is read. */
static bool store_test_intrude(void *context, const struct store_run *run, const struct store_evaluation *e)
{
    struct diag *d = diag_new();
    struct store_run other = store_test_run();
    (void)run, (void)e;
    struct store *s = store_open(context, false, d);
    cr_assert(s && store_run_add(s, &other, d));
    store_close(s);
    diag_free(d);
    return false;
}

Test(store, what_changed_while_it_was_read_is_not_shown_as_sound)
{
    char path[64];
    struct diag *d = diag_new();
    store_test_make(path, d);
    struct store *s = store_open_to_read(path, d);
    cr_assert_not_null(s);
    cr_expect_not(store_each(s, 0, store_test_intrude, path, d));
    cr_expect(diag_count(d) && strstr(diag_message(d, 0), "another process wrote to the store"));
    store_close(s);
    unlink(path);
    diag_free(d);
}

Test(store, an_open_store_is_read_beside_its_writer)
{
    char path[64];
    double sum = 0;
    struct diag *d = diag_new();
    struct store *s = store_open(store_test_path(path), true, d);
    struct store_run run = store_test_run();
    store_test_fill(s, &run, d);
    struct store *reader = store_open_to_read(path, d);
    cr_assert(reader && store_each(reader, 0, store_test_sum, &sum, d));
    cr_expect_float_eq(sum, 3.5, 1e-12);
    store_close(reader);
    store_close(s);
    unlink(path);
    diag_free(d);
}

/* Whether another process could lock the whole database: the last one that closes it does, and then removes
 * the log. */
static bool store_test_is_unlocked(const char *path)
{
    int status;
    pid_t pid = fork();
    if (pid == 0) {
        struct flock f = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = 0x40000002, .l_len = 510};
        int fd = open(path, O_RDWR);
        _exit(fd < 0 || fcntl(fd, F_GETLK, &f) || f.l_type == F_UNLCK);
    }
    cr_assert(pid > 0 && waitpid(pid, &status, 0) == pid);
    return WEXITSTATUS(status) != 0;
}

/* Closing any descriptor of a file drops the locks that the process has on it. */
Test(store, a_writer_that_reads_keeps_its_locks)
{
    char path[64];
    double sum = 0;
    struct diag *d = diag_new();
    struct store *s = store_open(store_test_path(path), true, d);
    struct store_run run = store_test_run();
    store_test_fill(s, &run, d);
    cr_expect_not(store_test_is_unlocked(path));
    cr_assert(store_each(s, run.id, store_test_sum, &sum, d));
    cr_expect_not(store_test_is_unlocked(path));
    store_close(s);
    cr_expect(store_test_is_unlocked(path));
    unlink(path);
    diag_free(d);
}

static bool store_test_in_order(void *context, const struct store_run *run, const struct store_evaluation *e)
{
    int64_t *last = context;
    (void)e;
    cr_expect_geq(run->id, *last);
    *last = run->id;
    return true;
}

/* Two searches at once record in turns. */
Test(store, runs_are_visited_one_after_the_other)
{
    char path[64];
    int64_t last = 0;
    struct diag *d = diag_new();
    struct store *s = store_open(store_test_path(path), true, d);
    struct store_run runs[2] = {store_test_run(), store_test_run()};
    cr_assert(store_run_add(s, &runs[0], d) && store_run_add(s, &runs[1], d));
    for (int64_t i = 0; i < 4; i++) {
        struct store_evaluation e = {.number = i / 2 + 1, .actions = "", .status = "crashed"};
        cr_assert(store_add(s, runs[i % 2].id, &e, d));
    }
    cr_assert(store_each(s, 0, store_test_in_order, &last, d));
    cr_expect_eq(last, runs[1].id);
    store_close(s);
    unlink(path);
    diag_free(d);
}

/* A store of the first version is read as it is: nothing of it changes. */
Test(store, of_the_first_version_is_read_without_an_upgrade)
{
    char path[64], label[8] = "?";
    double sum = 0;
    unsigned cuts = 0;
    bool found;
    struct stat before, after;
    struct diag *d = diag_new();
    struct store_run run = store_test_make(path, d);
    store_test_execute(path,
                       "ALTER TABLE run DROP COLUMN libraries; ALTER TABLE evaluation DROP COLUMN "
                       "resources; ALTER TABLE evaluation DROP COLUMN decisions; ALTER TABLE evaluation "
                       "DROP COLUMN draws; ALTER TABLE evaluation DROP COLUMN label; DROP TABLE figure; "
                       "DROP TABLE cut; DROP TABLE owner; PRAGMA user_version=1");
    cr_assert_eq(stat(path, &before), 0);
    struct store *s = store_open_to_read(path, d);
    cr_assert(s && store_each(s, 0, store_test_sum, &sum, d), "%s", diag_count(d) ? diag_message(d, 0) : "");
    cr_expect_float_eq(sum, 3.5, 1e-12);
    cr_expect(store_each_cut(s, store_test_cut, &cuts, d) && cuts == 0);
    cr_expect(store_each_figure(s, run.id, store_test_figure, label, d));
    cr_expect_str_eq(label, "?");
    sum = 0;
    cr_expect(store_best(s, store_test_time, &sum, &found, d) && found && sum == 1.75);
    store_close(s);
    cr_assert_eq(stat(path, &after), 0);
    cr_expect(before.st_mtim.tv_sec == after.st_mtim.tv_sec &&
              before.st_mtim.tv_nsec == after.st_mtim.tv_nsec);
    unlink(path);
    diag_free(d);
}

/* ---- owners ---- */

static bool store_test_resumes(const char *path, struct diag *d)
{
    struct store_run run = store_test_run();
    struct store *s = store_open(path, false, d);
    cr_assert_not_null(s);
    bool resumed = store_run_resume(s, &run, d);
    store_close(s);
    return resumed;
}

/* A process of its own that begins a run and then waits for its end. */
static pid_t store_test_start_owner(const char *path)
{
    int ready[2];
    char byte;
    cr_assert_eq(pipe(ready), 0);
    pid_t pid = fork();
    if (pid == 0) {
        struct diag *d = diag_new();
        struct store_run run = store_test_run();
        struct store *s = store_open(path, true, d);
        bool ok = s && store_run_add(s, &run, d) && write(ready[1], "", 1) == 1;
        for (; ok;)
            pause();
        _exit(1);
    }
    cr_assert(pid > 0 && read(ready[0], &byte, 1) == 1);
    close(ready[0]);
    close(ready[1]);
    return pid;
}

Test(store, a_run_has_one_owner_until_it_is_killed)
{
    char path[64], host[128], names[256];
    struct diag *d = diag_new();
    struct store_run another = store_test_run();
    pid_t pid = store_test_start_owner(store_test_path(path));
    gethostname(host, sizeof host);
    snprintf(names, sizeof names, "run 1 belongs to process %ld on host '%s' since 20", (long)pid, host);
    cr_expect_not(store_test_resumes(path, d));
    cr_expect(diag_count(d) && strstr(diag_message(d, 0), names), "%s", diag_message(d, 0));
    struct store *s = store_open(path, false, d);
    cr_expect(s && store_run_add(s, &another, d) && another.id == 2, "a new run in the same store");
    store_close(s);
    store_test_execute(path, "DELETE FROM owner WHERE run = 2; DELETE FROM run WHERE id = 2");
    kill(pid, SIGKILL);
    cr_assert_eq(waitpid(pid, NULL, 0), pid);
    cr_expect(store_test_resumes(path, d), "the kernel has dropped its lock");
    cr_expect(store_test_resumes(path, d), "it was given back");
    unlink(path);
    diag_free(d);
}

/* Locks may not reach there: its last write decides. */
Test(store, an_owner_on_another_machine_is_free_after_silence)
{
    char path[64];
    struct diag *d = diag_new();
    struct store *s = store_open(store_test_path(path), true, d);
    struct store_run run = store_test_run();
    cr_assert(store_run_add(s, &run, d));
    store_close(s);
    store_test_execute(path, "UPDATE owner SET pid = 77, host = 'elsewhere', boot = 'another'");
    cr_expect_not(store_test_resumes(path, d));
    cr_expect(diag_count(d) && strstr(diag_message(d, 0), "process 77 on host 'elsewhere'") &&
                  strstr(diag_message(d, 0), "seconds ago: end it there"),
              "%s", diag_message(d, 0));
    store_test_execute(path, "UPDATE owner SET seen = seen - 1000");
    cr_expect(store_test_resumes(path, d));
    unlink(path);
    diag_free(d);
}

Test(store, an_owner_that_lost_its_run_writes_nothing_more)
{
    char path[64];
    double sum = 0;
    struct diag *d = diag_new();
    struct store *s = store_open(store_test_path(path), true, d);
    struct store_run run = store_test_run();
    const double sample = 100;
    struct store_evaluation e = {
        .number = 3, .actions = "", .status = "ok", .median_ns = 100, .samples = &sample, .n_samples = 1};
    struct store_cut cut = {"x=1", 1, 1, ""};
    store_test_fill(s, &run, d);
    store_test_execute(path, "UPDATE owner SET epoch = epoch + 1, pid = 77, host = 'elsewhere'");
    cr_expect_not(store_add(s, run.id, &e, d));
    cr_expect_not(store_cut_add(s, run.id, &cut, d));
    cr_expect_not(store_figures_set(s, run.id, NULL, 0, d));
    cr_expect_eq(diag_count(d), 3);
    cr_expect(strstr(diag_message(d, 0), "run 1 was taken over by process 77 on host 'elsewhere'"), "%s",
              diag_message(d, 0));
    cr_assert(store_each(s, 0, store_test_sum, &sum, d));
    cr_expect_float_eq(sum, 3.5, 1e-12);
    store_close(s);
    unlink(path);
    diag_free(d);
}

/* ---- a disk that is full ---- */

static bool store_test_count(void *context, const struct store_run *run, const struct store_evaluation *e)
{
    (void)run, (void)e;
    ++*(unsigned *)context;
    return true;
}

/* Every evaluation that was recorded is there, none in part, and the run goes on when there is room. */
Test(store, what_was_recorded_before_the_disk_was_full_stays)
{
    enum { ROOM = 300000, MOST = 10000 };
    char path[64];
    unsigned n = 0, read = 0;
    struct diag *d = diag_new();
    struct store *s = store_open(store_test_path(path), true, d);
    struct store_run run = store_test_run();
    struct rlimit limit;
    struct store_evaluation e = {.actions = "1=2", .status = "timeout", .message = "slow"};
    cr_assert(store_run_add(s, &run, d) && getrlimit(RLIMIT_FSIZE, &limit) == 0);
    rlim_t before = limit.rlim_cur;
    file_ignore_signals();
    limit.rlim_cur = ROOM;
    cr_assert_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
    for (e.number = 1; e.number < MOST && store_add(s, run.id, &e, d); e.number++)
        n++;
    store_close(s);
    limit.rlim_cur = before;
    cr_assert_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
    cr_expect(n > 1 && n < MOST - 2, "%u", n);
    cr_expect(diag_count(d) == 2 && strstr(diag_message(d, 1), "what it recorded before is in the store"));
    s = store_open_to_read(path, d);
    cr_assert(s && store_each(s, 0, store_test_count, &read, d));
    cr_expect_eq(read, n);
    store_close(s);
    s = store_open(path, false, d);
    cr_expect(s && store_run_resume(s, &run, d) && store_add(s, run.id, &e, d));
    store_close(s);
    unlink(path);
    diag_free(d);
}
