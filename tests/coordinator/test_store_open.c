/* Opening stores: foreign, damaged and newer files are refused; earlier versions are upgraded or read as they
 * are; reading needs no write access and leaves nothing behind. */
#include "coordinator/store.h"

#include <criterion/criterion.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/coordinator/store_fixture.h"
#include "tests/e2e/run.h"

/* ---- what is refused ---- */

static void store_test_refused(const char *path, const char *expect)
{
    struct diag *d = diag_new();
    cr_expect_null(store_open(path, true, d));
    cr_assert(strstr(diag_message(d, 0), expect), "%s", diag_message(d, 0));
    diag_free(d);
}

Test(store_open, text_files_and_foreign_databases_are_refused)
{
    char path[32];
    e2e_file(path, "these are my notes, not a database; they are longer than the header of one, which is 100 "
                   "bytes long\n");
    store_test_refused(path, "not a thresh store: not a database");
    unlink(path);
    store_fixture_execute(path, "CREATE TABLE t (x)");
    store_test_refused(path, "not a thresh store: a database of another program");
    unlink(path);
}

Test(store_open, newer_schemas_are_refused)
{
    struct store_fixture f = store_fixture_closed();
    store_fixture_execute(f.path, "PRAGMA user_version=99");
    store_test_refused(f.path, "schema version 99 is not supported");
    store_fixture_close(&f);
}

Test(store_open, missing_folders_and_full_disks_are_errors)
{
    store_test_refused("/nonexistent/a.db",
                       "/nonexistent/a.db: cannot open the store: folder '/nonexistent' does not exist");
    store_test_refused("/dev/full", "/dev/full: ");
}

/* ---- earlier versions ---- */

/* Makes a store of the first version. */
static void store_test_downgrade(const char *path)
{
    store_fixture_execute(
        path,
        "ALTER TABLE run DROP COLUMN libraries; ALTER TABLE evaluation DROP COLUMN resources; "
        "ALTER TABLE evaluation DROP COLUMN decisions; ALTER TABLE evaluation DROP COLUMN draws; "
        "ALTER TABLE evaluation DROP COLUMN label; ALTER TABLE evaluation DROP COLUMN numbers; "
        "ALTER TABLE evaluation DROP COLUMN agent; ALTER TABLE evaluation DROP COLUMN rollouts; DROP TABLE "
        "agent; DROP TABLE event; "
        "DROP TABLE figure; DROP TABLE cut; DROP TABLE attempt; DROP TABLE owner; PRAGMA user_version=1");
}

/* The columns that it lacked are empty. */
Test(store_open, the_first_version_is_upgraded)
{
    struct store_fixture f = store_fixture_closed();
    double sum = 0;
    store_test_downgrade(f.path);
    for (int i = 0; i < 2; i++) {
        store_fixture_reopen(&f, false);
        cr_assert(store_each(f.store, 0, store_fixture_sum, &sum, f.diag), "%s", store_fixture_error(&f, 0));
    }
    cr_assert_float_eq(sum, 7, 1e-12);
    store_fixture_close(&f);
}

static void store_test_loss(void *context, uint64_t state_hash, unsigned lost, unsigned died)
{
    unsigned *seen = context;
    cr_expect_eq(state_hash, 9);
    seen[0] += lost;
    seen[1] += died;
}

Test(store_open, version_6_gets_attempts)
{
    struct store_fixture f = store_fixture_closed();
    unsigned seen[2] = {0};
    store_fixture_execute(
        f.path, "ALTER TABLE evaluation DROP COLUMN rollouts; DROP TABLE attempt; PRAGMA user_version=6");
    store_fixture_reopen(&f, true);
    cr_assert(store_each_loss(f.store, f.run.id, store_test_loss, seen, f.diag));
    cr_expect(seen[0] == 0 && seen[1] == 0);
    store_fixture_reopen(&f, false);
    cr_assert(store_run_resume(f.store, &f.run, f.diag), "%s", store_fixture_error(&f, 0));
    cr_assert(store_attempt_add(f.store, f.run.id, 3, 9, f.diag), "%s", store_fixture_error(&f, 0));
    cr_assert(store_attempt_end(f.store, f.run.id, 3, "lost", 0, f.diag));
    cr_assert(store_each_loss(f.store, f.run.id, store_test_loss, seen, f.diag));
    cr_expect(seen[0] == 1 && seen[1] == 0);
    store_fixture_close(&f);
}

static bool store_test_no_figure(void *context, const struct store_figure *f)
{
    (void)context;
    cr_expect(false, "%s", f->label);
    return true;
}

static bool store_test_same_time(const struct stat *a, const struct stat *b)
{
    return a->st_mtim.tv_sec == b->st_mtim.tv_sec && a->st_mtim.tv_nsec == b->st_mtim.tv_nsec;
}

/* Reading changes nothing. */
Test(store_open, the_first_version_is_read_without_an_upgrade)
{
    struct store_fixture f = store_fixture_closed();
    struct stat before, after;
    double sum = 0;
    unsigned cuts = 0;
    bool found;
    store_test_downgrade(f.path);
    cr_assert_eq(stat(f.path, &before), 0);
    store_fixture_reopen(&f, true);
    cr_assert(store_each(f.store, 0, store_fixture_sum, &sum, f.diag), "%s", store_fixture_error(&f, 0));
    cr_expect_float_eq(sum, 3.5, 1e-12);
    cr_expect(store_each_cut(f.store, store_fixture_count_cut, &cuts, f.diag) && cuts == 0);
    cr_expect(store_each_figure(f.store, f.run.id, store_test_no_figure, NULL, f.diag));
    cr_expect(store_best(f.store, store_fixture_time, &sum, &found, f.diag) && found && sum == 1.75);
    cr_assert_eq(stat(f.path, &after), 0);
    cr_expect(store_test_same_time(&before, &after));
    store_fixture_close(&f);
}

/* ---- reading without write access ---- */

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

/* If this process is root: becomes a user without any rights, or root again. */
static void store_test_lose_rights(bool lose)
{
    enum { NOBODY = 65534 };
    if (getuid() == 0) cr_assert_eq(seteuid(lose ? NOBODY : 0), 0);
}

/* Copies a filled store to DIR/a.db, where nobody may write to the file or to its folder. with_log: with the
 * log of a search that is running. */
static void store_test_protected(char dir[32], char path[64], bool with_log)
{
    char log[80], copied_log[80];
    struct store_fixture f = store_fixture_open();
    e2e_folder(dir);
    snprintf(path, 64, "%s/a.db", dir);
    snprintf(log, sizeof log, "%s-wal", f.path);
    snprintf(copied_log, sizeof copied_log, "%s-wal", path);
    store_fixture_fill(&f);
    if (!with_log) {
        store_close(f.store);
        f.store = NULL;
    }
    store_test_copy(f.path, path);
    if (with_log) store_test_copy(log, copied_log);
    chmod(path, 0444);
    chmod(copied_log, 0444);
    chmod(dir, 0555);
    store_fixture_close(&f);
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

Test(store_open, reading_needs_no_write_access)
{
    for (int with_log = 0; with_log < 2; with_log++) {
        char dir[32], path[64];
        double sum = 0;
        struct diag *d = diag_new();
        store_test_protected(dir, path, with_log);
        store_test_lose_rights(true);
        struct store *s = store_open_to_read(path, d);
        bool read = s && store_each(s, 0, store_fixture_sum, &sum, d);
        store_close(s);
        store_test_lose_rights(false);
        cr_expect(read, "%s", diag_count(d) ? diag_message(d, 0) : "");
        cr_expect_float_eq(sum, 3.5, 1e-12, "results that are only in the log are read, too");
        store_test_remove(dir, path);
        diag_free(d);
    }
}

Test(store_open, a_search_needs_write_access)
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

Test(store_open, reading_leaves_nothing_beside_it)
{
    struct store_fixture f = store_fixture_closed();
    char beside[80];
    double sum = 0;
    store_fixture_reopen(&f, true);
    cr_assert(store_each(f.store, 0, store_fixture_sum, &sum, f.diag));
    store_close(f.store);
    f.store = NULL;
    snprintf(beside, sizeof beside, "%s-wal", f.path);
    cr_expect(access(beside, F_OK) != 0);
    snprintf(beside, sizeof beside, "%s-shm", f.path);
    cr_expect(access(beside, F_OK) != 0);
    store_fixture_close(&f);
}

/* ---- beside a writer ---- */

/* Another process also finds no writer, and begins a run while the store is read. */
static bool store_test_intrude(void *context, const struct store_run *run, const struct store_evaluation *e)
{
    struct diag *d = diag_new();
    struct store_run other = store_fixture_run();
    (void)run, (void)e;
    struct store *s = store_open(context, false, d);
    cr_assert(s && store_run_add(s, &other, d));
    store_close(s);
    diag_free(d);
    return false;
}

Test(store_open, reading_fails_if_another_process_writes_meanwhile)
{
    struct store_fixture f = store_fixture_closed();
    store_fixture_reopen(&f, true);
    cr_expect_not(store_each(f.store, 0, store_test_intrude, f.path, f.diag));
    cr_expect(strstr(store_fixture_error(&f, 0), "another process wrote to the store"));
    store_fixture_close(&f);
}

Test(store_open, an_open_store_is_read_beside_its_writer)
{
    struct store_fixture f = store_fixture_open();
    double sum = 0;
    store_fixture_fill(&f);
    struct store *reader = store_open_to_read(f.path, f.diag);
    cr_assert(reader && store_each(reader, 0, store_fixture_sum, &sum, f.diag));
    cr_expect_float_eq(sum, 3.5, 1e-12);
    store_close(reader);
    store_fixture_close(&f);
}

/* Whether another process could lock the whole database. The last process that closes it does so, and then
 * removes the log. */
static bool store_test_is_unlocked(const char *path)
{
    int status;
    pid_t pid = fork();
    if (pid == 0) {
        struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = 0x40000002, .l_len = 510};
        int fd = open(path, O_RDWR);
        _exit(fd < 0 || fcntl(fd, F_GETLK, &lock) || lock.l_type == F_UNLCK);
    }
    cr_assert(pid > 0 && waitpid(pid, &status, 0) == pid);
    return WEXITSTATUS(status) != 0;
}

/* Closing any descriptor of a file releases the locks that the process holds on it. */
Test(store_open, a_writer_that_reads_keeps_its_locks)
{
    struct store_fixture f = store_fixture_open();
    double sum = 0;
    store_fixture_fill(&f);
    cr_expect_not(store_test_is_unlocked(f.path));
    cr_assert(store_each(f.store, f.run.id, store_fixture_sum, &sum, f.diag));
    cr_expect_not(store_test_is_unlocked(f.path));
    store_close(f.store);
    f.store = NULL;
    cr_expect(store_test_is_unlocked(f.path));
    store_fixture_close(&f);
}
