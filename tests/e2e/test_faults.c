/* What the world can do to a command that is right: no write access, a full disk, a limit of file sizes, an
 * end by kill -9, a second process on the same run. The message names the cause and what to do, results are
 * whole or as they were, and nothing of what was recorded is lost. */
#define _GNU_SOURCE /* unshare */
#include <criterion/criterion.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "core/base/diag.h"
#include "core/base/strbuf.h"
#include "tests/e2e/run.h"

#define SPACE "experiments/spaces/transpose.space"
#define QUEENS "spacedsl/spaces/queens.space"
#define AXPY "experiments/kernels/axpy.lift"

enum { PATH_ROOM = 64, NOBODY = 65534 };

/* A folder with names in it. */
struct place {
    char folder[32], store[PATH_ROOM], best[PATH_ROOM];
};

static struct place make_place(void)
{
    struct place p;
    e2e_folder(p.folder);
    snprintf(p.store, sizeof p.store, "%s/runs.db", p.folder);
    snprintf(p.best, sizeof p.best, "%s/best.json", p.folder);
    return p;
}

static void remove_place(const struct place *p)
{
    char command[PATH_ROOM];
    snprintf(command, sizeof command, "rm -rf %s", p->folder);
    cr_expect_eq(system(command), 0);
}

/* The run must have ended with that status and said each of the messages. */
static void ended(struct e2e_run r, int status, const char *message, const char *another)
{
    cr_expect_eq(r.status, status, "status %d, %s", r.status, r.err);
    cr_expect(strstr(r.err, message), "wanted \"%s\", got \"%s\"", message, r.err);
    cr_expect(strstr(r.err, another), "wanted \"%s\", got \"%s\"", another, r.err);
    e2e_run_free(&r);
}

static char *content(const char *path)
{
    struct diag *d = diag_new();
    size_t n;
    char *text = source_read_file(path, 1 << 20, &n, d);
    diag_free(d);
    return text ? text : strdup("");
}

/* Files above `bytes` cannot be written by what is started from here on; RLIM_INFINITY: no limit. */
static void limit_files(rlim_t bytes)
{
    struct rlimit limit;
    cr_assert_eq(getrlimit(RLIMIT_FSIZE, &limit), 0);
    limit.rlim_cur = bytes == RLIM_INFINITY ? limit.rlim_max : bytes;
    cr_assert_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

/* Mounts a file system of so many bytes on the folder, for this process alone; false: that is not permitted
 * here. */
static bool mount_small(const char *folder, const char *options)
{
    return unshare(CLONE_NEWNS) == 0 && mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0 &&
           mount("tmpfs", folder, "tmpfs", 0, options) == 0;
}

/* ---- standard output ---- */

Test(faults, a_full_standard_output_is_a_failure)
{
    static const char *const help[] = {"--help", NULL}, *const version[] = {"--version", NULL};
    static const char *const count[] = {"count", QUEENS, "--param", "n=6", "--json", NULL};
    static const char *const list[] = {"enumerate", QUEENS, "--param", "n=9", NULL};
    const char *message = "error: cannot write to standard output: No space left on device";
    ended(e2e_run_to("/dev/full", NULL, version), CLI_FAILED, message, "");
    struct e2e_run told = e2e_run_to("/dev/full", NULL, version);
    cr_expect_null(strstr(told.err + 1, "error:"), "it is said once: %s", told.err);
    e2e_run_free(&told);
    ended(e2e_run_to("/dev/full", NULL, help), CLI_FAILED, message, "");
    ended(e2e_run_to("/dev/full", &cli_tune, help), CLI_FAILED, message, "");
    ended(e2e_run_to("/dev/full", &cli_space, count), CLI_FAILED, message, "");
    ended(e2e_run_to("/dev/full", &cli_space, list), CLI_FAILED, message, "");
}

/* `thresh space enumerate ... | head -1`: the output is larger than what a pipe holds. */
Test(faults, a_reader_that_has_seen_enough_is_no_failure)
{
    char path[32], byte;
    const char *const list[] = {"enumerate", QUEENS, "--param", "n=11", NULL};
    e2e_file(path, "");
    unlink(path);
    cr_assert_eq(mkfifo(path, 0600), 0);
    struct e2e_process p = e2e_start_to(path, &cli_space, list);
    int reader = open(path, O_RDONLY);
    cr_assert(reader >= 0 && read(reader, &byte, 1) == 1);
    close(reader);
    struct e2e_run r = e2e_finish(&p);
    cr_expect_eq(r.status, CLI_OK);
    cr_expect_str_eq(r.err, "");
    e2e_run_free(&r);
    unlink(path);
}

/* ---- PoCL's folder ---- */

static void forget_folders(void)
{
    unsetenv("POCL_CACHE_DIR");
    unsetenv("XDG_CACHE_HOME");
    setenv("HOME", "/", 1);
}

Test(faults, the_folder_that_keeps_kernels_is_named)
{
    const char *say = "set POCL_CACHE_DIR to another folder";
    static const char *const list[] = {"list", NULL}, *const tune[] = {AXPY, "--size", "N=64", NULL};
    static const struct {
        const char *variable, *value, *message;
    } cases[] = {
        {"HOME", "/proc/none", "in '/proc/none/.cache/pocl/kcache' (from HOME), which cannot be written: "},
        {"XDG_CACHE_HOME", "/proc/none", "in '/proc/none/pocl/kcache' (from XDG_CACHE_HOME), which cannot"},
        {"POCL_CACHE_DIR", "/proc/none", "in '/proc/none' (from POCL_CACHE_DIR), which cannot be written: "}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        forget_folders();
        setenv(cases[i].variable, cases[i].value, 1);
        ended(e2e_run(&cli_device, list), CLI_USAGE, cases[i].message, say);
        ended(e2e_run(&cli_tune, tune), CLI_USAGE, cases[i].message, say);
    }
}

/* The compiler ends its process when the disk is full: the campaign says why. */
Test(faults, a_full_folder_of_kernels_is_named, .timeout = 120)
{
    struct place p = make_place();
    static const char *const options[] = {"size=64k", "size=1500k"};
    for (size_t i = 0; i < 2; i++) {
        if (!mount_small(p.folder, options[i])) {
            remove_place(&p);
            cr_skip_test("no file systems can be mounted here");
        }
        setenv("POCL_CACHE_DIR", p.folder, 1);
        ended(E2E_RUN(&cli_tune, AXPY, "--size", "N=4096", "--evaluations", "100", "--out",
                      "/tmp/thresh-faults-out", "--quiet"),
              CLI_FAILED, "(from POCL_CACHE_DIR), which cannot be written: No space left on device",
              "the device's agent ended");
        cr_assert_eq(umount(p.folder), 0);
    }
    cr_expect_eq(system("rm -rf /tmp/thresh-faults-out"), 0);
    remove_place(&p);
}

/* ---- results ---- */

/* Searches a space; the result is larger than 400 bytes. */
static struct e2e_run search(const struct place *p, const char *store, const char *evaluations)
{
    char command[500] = "sh -c 'echo 5' ";
    size_t n = strlen(command);
    memset(command + n, 'x', sizeof command - n - 1);
    const char *args[] = {"--space", SPACE,     "--command",     command,     "--out",
                          p->folder, "--quiet", "--evaluations", evaluations, store ? "--store" : NULL,
                          store,     NULL};
    return e2e_run_to("/dev/null", &cli_tune, args);
}

Test(faults, a_size_limit_leaves_the_earlier_result)
{
    struct place p = make_place();
    struct e2e_run r = search(&p, NULL, "2");
    char *before = content(p.best), *after;
    cr_assert(r.status == CLI_OK && strlen(before) > 400, "%s", r.err);
    e2e_run_free(&r);
    limit_files(400);
    r = search(&p, NULL, "3");
    limit_files(RLIM_INFINITY);
    ended(r, CLI_FAILED, "/best.json': File too large (the limit of file sizes: ulimit -f)", "");
    after = content(p.best);
    cr_expect_str_eq(after, before);
    cr_expect(unlink(p.best) == 0 && rmdir(p.folder) == 0, "a temporary file is left");
    free(before);
    free(after);
}

Test(faults, an_export_is_whole_or_not_there)
{
    struct place p = make_place();
    char csv[PATH_ROOM];
    struct stat st;
    snprintf(csv, sizeof csv, "%s/a.csv", p.folder);
    struct e2e_run r = search(&p, p.store, "20");
    cr_assert_eq(r.status, CLI_OK, "%s", r.err);
    e2e_run_free(&r);
    limit_files(400);
    r = E2E_RUN(&cli_store, "export", p.store, "--out", csv);
    limit_files(RLIM_INFINITY);
    ended(r, CLI_FAILED, "/a.csv': File too large", "");
    cr_expect(stat(csv, &st) != 0);
    r = E2E_RUN(&cli_store, "export", p.store, "--format", "csv", "--out", csv);
    cr_expect_eq(r.status, CLI_OK, "%s", r.err);
    cr_expect(stat(csv, &st) == 0 && st.st_size > 400);
    e2e_run_free(&r);
    ended(E2E_RUN(&cli_store, "export", p.store, "--out", "/proc/none/a.csv"), CLI_USAGE,
          "cannot write '/proc/none/a.csv': folder '/proc/none' does not exist", "");
    remove_place(&p);
}

/* ---- stores ---- */

/* A number after a key in the JSON of `store query`, the first one. */
static long queried(const char *store, const char *key)
{
    struct e2e_run r = E2E_RUN(&cli_store, "query", store, "--json");
    char *at = r.status == CLI_OK ? strstr(r.out, key) : NULL;
    long n = at ? atol(at + strlen(key)) : -1;
    e2e_run_free(&r);
    return n;
}

#define EVALUATIONS "\"evaluations\": "

/* Waits until no block is free. */
static void await_full(const char *folder)
{
    struct statvfs v;
    do
        nanosleep(&(struct timespec){.tv_nsec = 50000000}, NULL);
    while (statvfs(folder, &v) == 0 && v.f_bavail > 0);
}

/* With room again it goes on, and has every evaluation once. */
Test(faults, a_search_pauses_while_the_disk_is_full, .timeout = 300)
{
    struct place p = make_place();
    if (!mount_small(p.folder, "size=480k")) {
        remove_place(&p);
        cr_skip_test("no file systems can be mounted here");
    }
    const char *args[] = {
        "--space",       SPACE, "--command", "echo 5", "--quiet", "--out", "/tmp/thresh-pause-out",
        "--evaluations", "300", "--store",   p.store,  NULL};
    struct e2e_process search = e2e_start(&cli_tune, args);
    await_full(p.folder);
    nanosleep(&(struct timespec){.tv_sec = 2}, NULL);
    cr_assert_eq(mount(NULL, p.folder, NULL, MS_REMOUNT, "size=40m"), 0);
    struct e2e_run r = e2e_finish(&search);
    cr_expect_eq(r.status, CLI_OK, "%s", r.err);
    cr_expect(strstr(r.err, "the disk of the store is full: the search pauses"), "%s", r.err);
    cr_expect(strstr(r.err, "there is room again"), "%s", r.err);
    cr_expect_eq(queried(p.store, EVALUATIONS), 300);
    e2e_run_free(&r);
    cr_expect_eq(umount(p.folder), 0);
    cr_expect_eq(system("rm -rf /tmp/thresh-pause-out"), 0);
    remove_place(&p);
}

/* A campaign whose store has no room any more ends; what it recorded stays, and it goes on when there is. */
Test(faults, a_search_ends_when_its_store_is_full, .timeout = 120)
{
    struct place p = make_place();
    static const char *const args[] = {"--space", SPACE, "--command", "echo 5", "--quiet", "--evaluations"};
    const char *start[12] = {0}, *resume[12] = {0};
    memcpy(start, args, sizeof args);
    memcpy(resume, args, sizeof args);
    start[6] = "300", start[7] = "--store", start[8] = p.store;
    resume[7] = "--store", resume[8] = p.store, resume[9] = "--resume";
    limit_files(300000);
    struct e2e_run r = e2e_run_to("/dev/null", &cli_tune, start);
    limit_files(RLIM_INFINITY);
    ended(r, CLI_FAILED, "the limit of file sizes (ulimit -f) is 300000 bytes",
          "all earlier evaluations are in the store, and --resume continues the run");
    long n = queried(p.store, EVALUATIONS);
    cr_assert(n > 0 && n < 300, "%ld", n);
    char more[24];
    snprintf(more, sizeof more, "%ld", n + 2);
    resume[6] = more;
    r = e2e_run_to("/dev/null", &cli_tune, resume);
    cr_expect_eq(r.status, CLI_OK, "%s", r.err);
    cr_expect_eq(queried(p.store, EVALUATIONS), n + 2);
    e2e_run_free(&r);
    remove_place(&p);
}

/* Commands that read, as a user who may not write; as root, by giving the rights up. */
Test(faults, stores_are_read_without_write_access)
{
    struct place p = make_place();
    struct e2e_run r = search(&p, p.store, "3");
    cr_assert_eq(r.status, CLI_OK, "%s", r.err);
    e2e_run_free(&r);
    cr_assert(chmod(p.store, 0444) == 0 && chmod(p.folder, 0555) == 0);
    if (getuid() == 0) cr_assert_eq(seteuid(NOBODY), 0);
    long n = queried(p.store, EVALUATIONS);
    struct e2e_run export = E2E_RUN(&cli_store, "export", p.store),
                   cuts = E2E_RUN(&cli_explain, p.store, "--cuts"),
                   tune = E2E_RUN(&cli_tune, "--space", SPACE, "--command", "echo 5", "--store", p.store);
    if (getuid() == 0) cr_assert_eq(seteuid(0), 0);
    cr_assert_eq(chmod(p.folder, 0755), 0);
    cr_expect_eq(n, 3);
    cr_expect(export.status == CLI_OK && strstr(export.out, "\"decisions\":{"), "%s", export.err);
    cr_expect(cuts.status == CLI_OK && strstr(cuts.out, "0 pruned candidates"), "%s", cuts.err);
    e2e_run_free(&export);
    e2e_run_free(&cuts);
    ended(tune, CLI_USAGE, "runs.db: no write access to the store; a search needs it", "");
    remove_place(&p);
}

/* ---- owners ---- */

/* A program that takes a while. */
static void slow_program(char path[32])
{
    e2e_file(path, "#!/bin/sh\nsleep 0.1\necho 5\n");
    cr_assert_eq(chmod(path, 0700), 0);
}

static const char *const *owner_args(const char *args[12], const struct place *p, const char *program,
                                     const char *evaluations, bool resume)
{
    const char *const list[] = {
        "--space", SPACE,     "--command",     program,     "--store",
        p->store,  "--quiet", "--evaluations", evaluations, resume ? "--resume" : NULL,
        NULL};
    memcpy(args, list, sizeof list);
    return args;
}

/* Waits until the first evaluations of a run are in the store. */
static void await_evaluations(const char *store)
{
    const struct timespec pause = {.tv_nsec = 50000000};
    for (int i = 0; i < 400 && queried(store, EVALUATIONS) < 2; i++)
        nanosleep(&pause, NULL);
}

/* A run that another process searches is not resumed, a new one may begin in the same store; kill -9 frees
 * it.
 */
Test(faults, a_run_is_searched_by_one_process, .timeout = 180)
{
    struct place p = make_place();
    char program[32], owner[64];
    const char *args[12];
    slow_program(program);
    struct e2e_process first =
        e2e_start_to("/dev/null", &cli_tune, owner_args(args, &p, program, "300", false));
    await_evaluations(p.store);
    snprintf(owner, sizeof owner, "run 1 belongs to process %d on host '", first.pid);
    ended(e2e_run_to("/dev/null", &cli_tune, owner_args(args, &p, program, "300", true)), CLI_USAGE, owner,
          "omit --resume to begin a new run in the same store");
    struct e2e_run r = e2e_run_to("/dev/null", &cli_tune,
                                  (const char *[]){"--space", SPACE, "--command", "echo 6", "--store",
                                                   p.store, "--quiet", "--evaluations", "3", NULL});
    cr_expect_eq(r.status, CLI_OK, "%s", r.err);
    e2e_run_free(&r);
    kill(first.pid, SIGKILL);
    r = e2e_finish(&first);
    cr_expect_eq(r.status, 128 + SIGKILL);
    e2e_run_free(&r);
    long n = queried(p.store, EVALUATIONS);
    char more[24];
    snprintf(more, sizeof more, "%ld", n + 1);
    r = e2e_run_to("/dev/null", &cli_tune, owner_args(args, &p, program, more, true));
    cr_expect_eq(r.status, CLI_OK, "%s", r.err);
    cr_expect_eq(queried(p.store, EVALUATIONS), n + 1);
    e2e_run_free(&r);
    unlink(program);
    remove_place(&p);
}
