/* Owners of runs, and a disk that is full: who may record in a run, and what is left when recording fails. */
#include "coordinator/store.h"

#include <criterion/criterion.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/base/file.h"
#include "tests/coordinator/store_fixture.h"

static bool store_test_resumes(struct store_fixture *f)
{
    struct store_run run = store_fixture_run();
    struct store *s = store_open(f->path, false, f->diag);
    cr_assert_not_null(s);
    bool resumed = store_run_resume(s, &run, f->diag);
    store_close(s);
    return resumed;
}

/* Starts a process that begins a run and then waits until it is killed. */
static pid_t store_test_start_owner(const char *path)
{
    int ready[2];
    char byte;
    cr_assert_eq(pipe(ready), 0);
    pid_t pid = fork();
    if (pid == 0) {
        struct diag *d = diag_new();
        struct store_run run = store_fixture_run();
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

Test(store_owner, a_run_has_one_owner_until_it_is_killed)
{
    struct store_fixture f = store_fixture_open();
    struct store_run another = store_fixture_run();
    char host[128], names[256];
    store_close(f.store);
    f.store = NULL;
    pid_t pid = store_test_start_owner(f.path);
    gethostname(host, sizeof host);
    snprintf(names, sizeof names, "run 1 belongs to process %ld on host '%s' since 20", (long)pid, host);
    cr_expect_not(store_test_resumes(&f));
    cr_expect(strstr(store_fixture_error(&f, 0), names), "%s", store_fixture_error(&f, 0));
    struct store *s = store_open(f.path, false, f.diag);
    cr_expect(s && store_run_add(s, &another, f.diag) && another.id == 2, "a new run in the same store");
    store_close(s);
    store_fixture_execute(f.path, "DELETE FROM owner WHERE run = 2; DELETE FROM run WHERE id = 2");
    kill(pid, SIGKILL);
    cr_assert_eq(waitpid(pid, NULL, 0), pid);
    cr_expect(store_test_resumes(&f), "the kernel has released its lock");
    cr_expect(store_test_resumes(&f), "it was given back");
    store_fixture_close(&f);
}

/* File locks may not work between machines: the last write decides. */
Test(store_owner, an_owner_on_another_machine_is_free_after_silence)
{
    struct store_fixture f = store_fixture_closed();
    store_fixture_execute(f.path, "UPDATE owner SET pid = 77, host = 'elsewhere', boot = 'another'");
    cr_expect_not(store_test_resumes(&f));
    cr_expect(strstr(store_fixture_error(&f, 0), "process 77 on host 'elsewhere'") &&
                  strstr(store_fixture_error(&f, 0), "seconds ago; stop it there"),
              "%s", store_fixture_error(&f, 0));
    store_fixture_execute(f.path, "UPDATE owner SET seen = seen - 1000");
    cr_expect(store_test_resumes(&f));
    store_fixture_close(&f);
}

Test(store_owner, an_owner_that_lost_its_run_writes_nothing_more)
{
    struct store_fixture f = store_fixture_open();
    const double sample = 100;
    struct store_evaluation e = {
        .number = 3, .actions = "", .status = "ok", .median_ns = 100, .samples = &sample, .n_samples = 1};
    struct store_cut cut = {"x=1", 1, 1, ""};
    double sum = 0;
    store_fixture_fill(&f);
    store_fixture_execute(f.path, "UPDATE owner SET epoch = epoch + 1, pid = 77, host = 'elsewhere'");
    cr_expect_not(store_add(f.store, f.run.id, &e, f.diag));
    cr_expect_not(store_cut_add(f.store, f.run.id, &cut, f.diag));
    cr_expect_not(store_figures_set(f.store, f.run.id, NULL, 0, f.diag));
    cr_expect_eq(diag_count(f.diag), 3);
    cr_expect(strstr(store_fixture_error(&f, 0), "run 1 was taken over by process 77 on host 'elsewhere'"),
              "%s", store_fixture_error(&f, 0));
    cr_assert(store_each(f.store, 0, store_fixture_sum, &sum, f.diag));
    cr_expect_float_eq(sum, 3.5, 1e-12);
    store_fixture_close(&f);
}

/* ---- a full disk ---- */

/* Sets the limit of file sizes of this process; returns the earlier one. */
static rlim_t store_test_limit_files(rlim_t bytes)
{
    struct rlimit limit;
    cr_assert_eq(getrlimit(RLIMIT_FSIZE, &limit), 0);
    rlim_t before = limit.rlim_cur;
    limit.rlim_cur = bytes;
    cr_assert_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
    return before;
}

static bool store_test_count(void *context, const struct store_run *run, const struct store_evaluation *e)
{
    (void)run, (void)e;
    ++*(unsigned *)context;
    return true;
}

/* Every recorded evaluation is there, none in part, and the run can be resumed when there is room. */
Test(store_owner, evaluations_before_the_disk_was_full_stay)
{
    enum { ROOM = 300000, MOST = 10000 };
    struct store_fixture f = store_fixture_open();
    struct store_evaluation e = {.actions = "1=2", .status = "timeout", .message = "slow"};
    unsigned n = 0, read = 0;
    cr_assert(store_run_add(f.store, &f.run, f.diag));
    file_ignore_signals();
    rlim_t before = store_test_limit_files(ROOM);
    for (e.number = 1; e.number < MOST && store_add(f.store, f.run.id, &e, f.diag); e.number++)
        n++;
    store_close(f.store);
    f.store = NULL;
    store_test_limit_files(before);
    cr_expect(n > 1 && n < MOST - 2, "%u", n);
    cr_expect(diag_count(f.diag) == 2 &&
              strstr(store_fixture_error(&f, 1), "all earlier evaluations are in the store"));
    store_fixture_reopen(&f, true);
    cr_assert(store_each(f.store, 0, store_test_count, &read, f.diag));
    cr_expect_eq(read, n);
    store_fixture_reopen(&f, false);
    cr_expect(store_run_resume(f.store, &f.run, f.diag) && store_add(f.store, f.run.id, &e, f.diag));
    store_fixture_close(&f);
}

/* The rows of the store as another process sees them now. */
static unsigned store_test_seen(const struct store_fixture *f)
{
    unsigned n = 0;
    struct store *s = store_open_to_read(f->path, f->diag);
    cr_assert(s && store_each(s, 0, store_test_count, &n, f->diag));
    store_close(s);
    return n;
}

/* The second batch is larger than SQLite's cache and meets a limit of the file at one of its rows: nothing of
 * it stays, nor of what is recorded in it afterwards, and the same batch succeeds when there is room. */
Test(store_owner, a_batch_is_kept_whole_or_not_at_all)
{
    enum { ROOM = 120000, FIRST = 3, MANY = 1000 };
    struct store_fixture f = store_fixture_open();
    char message[4000] = "";
    struct store_evaluation e = {.actions = "1=2", .status = "timeout", .message = message};
    memset(message, 'x', sizeof message - 1);
    cr_assert(store_run_add(f.store, &f.run, f.diag) && store_begin(f.store, f.run.id, f.diag));
    for (e.number = 1; e.number <= FIRST; e.number++)
        cr_assert(store_add(f.store, f.run.id, &e, f.diag));
    cr_expect_eq(store_test_seen(&f), 0);
    cr_expect(store_commit(f.store, f.diag));
    cr_expect_eq(store_test_seen(&f), FIRST);
    file_ignore_signals();
    rlim_t before = store_test_limit_files(ROOM);
    cr_assert(store_begin(f.store, f.run.id, f.diag));
    for (; e.number <= MANY && store_add(f.store, f.run.id, &e, f.diag); e.number++)
        continue;
    cr_expect_not(store_add(f.store, f.run.id, &e, f.diag), "after an error nothing is recorded");
    cr_expect_not(store_commit(f.store, f.diag));
    store_test_limit_files(before);
    cr_expect_eq(store_test_seen(&f), FIRST);
    cr_assert(store_begin(f.store, f.run.id, f.diag));
    for (e.number = FIRST + 1; e.number <= MANY; e.number++)
        cr_assert(store_add(f.store, f.run.id, &e, f.diag));
    cr_expect(store_commit(f.store, f.diag));
    cr_expect_eq(store_test_seen(&f), MANY);
    store_fixture_execute(f.path, "UPDATE owner SET epoch = epoch + 1, pid = 77, host = 'elsewhere'");
    cr_expect_not(store_begin(f.store, f.run.id, f.diag), "another process has the run");
    cr_expect_not(store_add(f.store, f.run.id, &e, f.diag));
    store_fixture_close(&f);
}
