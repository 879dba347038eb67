/* The folder in memory for the driver's files: made where there is room, removed with what is in it, also for
 * processes that were killed. */
#define _DEFAULT_SOURCE /* MAP_ANONYMOUS */
#include "agent/cache.h"
#include "agent/limits.h"
#include "agent/retire.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static bool cache_exists(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0;
}

static void cache_fill(const char *path)
{
    char name[128];
    snprintf(name, sizeof name, "%s/a", path);
    cr_assert_eq(mkdir(name, 0700), 0);
    snprintf(name, sizeof name, "%s/a/b", path);
    FILE *f = fopen(name, "w");
    cr_assert_not_null(f);
    fclose(f);
}

Test(agent_cache, is_removed_with_its_files)
{
    char path[64], small[8];
    cache_make(small, sizeof small);
    cr_expect_str_eq(small, "", "a path that does not fit");
    cache_make(path, sizeof path);
    if (!path[0]) cr_skip_test("no file system in memory with room");
    cache_fill(path);
    cache_remove(path);
    cr_expect_not(cache_exists(path));
    cache_remove("");
}

Test(agent_cache, of_a_killed_process_goes_with_the_next)
{
    char path[64] = "";
    int pipes[2];
    cr_assert_eq(pipe(pipes), 0);
    pid_t pid = fork();
    if (pid == 0) {
        cache_make(path, sizeof path);
        ssize_t written = write(pipes[1], path, sizeof path);
        _exit(written == sizeof path ? 0 : 1);
    }
    cr_assert_eq(read(pipes[0], path, sizeof path), (ssize_t)sizeof path);
    cr_assert_eq(waitpid(pid, NULL, 0), pid);
    if (!path[0]) cr_skip_test("no file system in memory with room");
    cr_expect(cache_exists(path));
    char mine[64];
    cache_make(mine, sizeof mine);
    cr_expect_not(cache_exists(path));
    cr_expect(cache_exists(mine));
    cache_remove(mine);
}

/* The first job loads the compiler; after that growth counts, with as much for the next job as one took. */
Test(agent_cache, runners_retire_before_they_have_grown_too_much)
{
    struct retire steady = {0}, leaks = {0}, jumps = {0};
    unsigned jobs = 1;
    while (!retire_after(&steady, 300000))
        jobs++;
    cr_expect_eq(jobs, AGENT_RETIRE_JOBS);
    long now = 300000;
    for (; !retire_after(&leaks, now); now += 1000)
        continue;
    cr_expect_eq(now - 300000, AGENT_RETIRE_KIB);
    cr_expect_not(retire_after(&jumps, 100000));
    cr_expect(retire_after(&jumps, 130000), "another step like this would be too much");
    struct retire kept = {.kept_kib = 300000};
    cr_expect_not(retire_after(&kept, 100000));
    cr_expect_not(retire_after(&kept, 275000), "300000 are kept, and 50000 are growth");
    cr_expect(retire_after(&kept, 276000));
    cr_expect_gt(retire_own_kib(), 1000);
}

/* Inputs and reference are shared by all runners; touching them is no growth of one. */
Test(agent_cache, shared_memory_is_no_growth)
{
    enum { BYTES = 64 << 20 };
    long before = retire_own_kib();
    char *shared = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    cr_assert_neq(shared, MAP_FAILED);
    memset(shared, 1, BYTES);
    cr_expect_lt(retire_own_kib() - before, BYTES / 1024 / 8);
    char *own = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    cr_assert_neq(own, MAP_FAILED);
    memset(own, 1, BYTES);
    cr_expect_geq(retire_own_kib() - before, BYTES / 1024 / 2);
}

Test(agent_cache, has_a_part_for_each_runner)
{
    char part[CACHE_PATH] = "x";
    cache_part("", 7, part);
    cr_expect_str_empty(part);
    cache_part("/dev/shm/thresh-1-a", 7, part);
    cr_expect_str_eq(part, "/dev/shm/thresh-1-a/7");
}
