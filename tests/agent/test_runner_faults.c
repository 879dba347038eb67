/* Whatever a kernel, its compiler or its driver does: it costs one candidate, has a name, and the next
 * candidate is evaluated. */
#define _GNU_SOURCE /* unshare */
#include <criterion/criterion.h>
#include <ftw.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/cache.h"
#include "agent/limits.h"
#include "core/base/clock.h"
#include "tests/agent/doubling.h"
#include "tests/fixture/longer.h"

/* With sanitizers and two busy processors these tests take minutes; one of them leaves an endless kernel if
 * the compiler's library swallows a signal. */
static void faults_only_long(void)
{
    if (!tests_are_long()) cr_skip_test("only with THRESH_LONG=1");
}

/* The first work-group ends. */
static const char faults_endless[] = "volatile int go = i >= 16; while (go) y[i] = x[i]; y[i] = 1;";

/* A million statements. */
#define FAULTS_LARGE "\n#define A(x) x x x x x x x x x x\nA(A(A(A(A(A(y[i] += x[i];))))))"

static void faults_named(struct evaluator *ev, const struct evaluation *e, enum eval_status status,
                         const char *message)
{
    cr_expect_eq(e->status, status, "%s: %s", eval_status_name(e->status), e->message);
    cr_expect(strstr(e->message, message), "%s", e->message);
    evaluate_expect(ev, evaluate_good, 0, EVAL_OK);
    cr_expect_null(evaluator_lost(ev));
}

static void faults_expect(struct evaluator *ev, const char *body, enum eval_status status,
                          const char *message)
{
    struct evaluation e = evaluate_body(ev, body, 1e6);
    faults_named(ev, &e, status, message);
}

Test(agent_faults, each_fault_of_a_kernel_costs_one_candidate)
{
    struct evaluator *ev = evaluate_start(2);
    faults_expect(ev, "y[i] = *(__global float *)(ulong)(i + 8);", EVAL_CRASHED, "crashed (SIGSEGV: ");
    faults_expect(ev, faults_endless, EVAL_CUT, "time limit exceeded");
    faults_expect(ev, "y[i] = 3 * x[i];", EVAL_WRONG_RESULT, "expected");
    faults_expect(ev, "y[i] = 2 * x[i]; if (i == 0) y[1030] = 1;", EVAL_WRONG_RESULT,
                  "writes outside the output");
    faults_expect(ev, "y[i] = undeclared;", EVAL_BUILD_ERROR, "undeclared");
    evaluator_free(ev);
}

/* Inputs and reference are in memory that runners share: the next one would start with what a kernel has left
 * there. */
static void faults_store(struct evaluator *ev, float *array)
{
    char body[160];
    float before = *array;
    snprintf(body, sizeof body, "y[i] = 2 * x[i]; if (i == 0) *(__global float *)0x%llxul = %.9ef;",
             (unsigned long long)(uintptr_t)array, (double)before + 32);
    faults_expect(ev, body, EVAL_CRASHED, "crashed (SIGSEGV: ");
    cr_expect_eq(*array, before);
}

Test(agent_faults, a_kernel_changes_neither_inputs_nor_reference)
{
    struct evaluator *ev = evaluate_start(1);
    faults_store(ev, ev->task->buffers[0].data[VERIFY_EXACT]);
    faults_store(ev, ev->task->buffers[1].data[VERIFY_EXACT]);
    evaluator_free(ev);
}

Test(agent_faults, a_build_that_takes_all_memory_is_ended)
{
    faults_only_long();
    struct evaluator *ev = evaluate_start(1);
    cr_expect(ev->most_kib >= 1 << 20 && ev->most_kib <= 4 << 20, "%ld", ev->most_kib);
    ev->most_kib = 200 << 10;
    faults_expect(ev, FAULTS_LARGE, EVAL_OUT_OF_MEMORY,
                  "took more than 200 MiB beside its arrays while building");
    evaluator_free(ev);
}

/* Arrays of the job are no excess, also if they are larger than the limit. */
Test(agent_faults, memory_for_arrays_is_a_job_s_own)
{
    faults_only_long();
    enum { BYTES = 192 << 20 };
    struct evaluator *ev = evaluate_start(1);
    struct cg_arg args[3];
    char text[1024];
    evaluate_expect(ev, evaluate_good, 0, EVAL_OK);
    ev->most_kib = 160 << 10;
    struct cg_kernel k = evaluate_kernel(evaluate_good, args, text, sizeof text);
    snprintf(text, sizeof text,
             "__kernel void f(__global const float *x, __global float *y, __global float *t)\n"
             "{ int i = (int)get_global_id(0); t[i] = x[i]; y[i] = t[i] + x[i]; }\n");
    args[2] = (struct cg_arg){.buffer = BB_NONE, .bytes = BYTES};
    k.n_args = 3;
    struct evaluation e;
    evaluator_run(ev, &k, &(struct eval_settings){.verify = true}, &e);
    cr_expect_eq(e.status, EVAL_OK, "%s: %s", eval_status_name(e.status), e.message);
    evaluator_free(ev);
}

/* The compiler waits for a text that nobody writes. */
Test(agent_faults, a_build_that_stands_still_is_ended)
{
    faults_only_long();
    char path[64], body[128];
    snprintf(path, sizeof path, "/tmp/thresh-faults-%ld", (long)getpid());
    cr_assert_eq(mkfifo(path, 0600), 0);
    struct evaluator *ev = evaluate_start(1);
    cr_expect_eq(ev->silent_ms, AGENT_SILENT_MS);
    ev->silent_ms = 2000;
    snprintf(body, sizeof body, "\n#include \"%s\"\n%s", path, evaluate_good);
    faults_expect(ev, body, EVAL_TIMEOUT, "the compiler used no processor time for 2 s while building");
    evaluator_free(ev);
    unlink(path);
}

static void faults_spin(int fd, void *ctx)
{
    (void)fd, (void)ctx;
    for (volatile unsigned i = 0;; i++)
        continue;
}

static void faults_wait(int fd, void *ctx)
{
    (void)fd, (void)ctx;
    for (;;)
        pause();
}

/* What the evaluator says of a build by such a child after so many ms; it says nothing shortly before. */
static enum evaluate_end faults_watch(void (*body)(int fd, void *ctx), double after_ms)
{
    struct evaluator ev = {.n_slots = 1, .gpu = true};
    struct pending job = {0};
    struct slot s = {.job = &job};
    evaluate_limit(&ev);
    s.pid = child_fork(&s.fd, body, NULL);
    cr_assert_gt(s.pid, 0);
    while (body == faults_wait && child_runnable(s.pid))
        continue;
    evaluate_begin_build(&s);
    double start = s.busy_at;
    cr_expect_eq(evaluate_watch(&ev, &s, start + after_ms / 2), END_NONE);
    enum evaluate_end end = evaluate_watch(&ev, &s, start + after_ms);
    child_kill(s.pid, s.fd);
    return end;
}

/* The times are those that the evaluator has; they do not pass here. */
Test(agent_faults, a_build_may_take_long_but_not_stand_still)
{
    faults_only_long();
    cr_expect_eq(faults_watch(faults_wait, AGENT_SILENT_MS), END_SILENT);
    cr_expect_eq(faults_watch(faults_wait, AGENT_SILENT_MS - 1), END_NONE);
    cr_expect_eq(faults_watch(faults_spin, AGENT_SILENT_MS), END_NONE);
    cr_expect_eq(faults_watch(faults_spin, AGENT_BUILD_MS - 1), END_NONE);
    cr_expect_eq(faults_watch(faults_spin, AGENT_BUILD_MS), END_OVERDUE);
}

/* Submits an endless kernel and waits until it runs. */
static void faults_run_endless(struct evaluator *ev)
{
    struct cg_arg args[2];
    char text[1024];
    struct cg_kernel k = evaluate_kernel(faults_endless, args, text, sizeof text);
    evaluator_submit(ev, 1, &k, &(struct eval_settings){.limit_ns = 1e12});
    while (ev->slots[0].state != RUNNING)
        evaluate_step(ev, 10);
}

/* What else may end a runner, while its kernel runs. */
Test(agent_faults, a_runner_that_something_ends_is_named)
{
    faults_only_long();
    static const struct {
        int number;
        enum eval_status status;
        const char *message;
    } cases[] = {{SIGKILL, EVAL_CRASHED, "another process killed the runner process (SIGKILL) while running"},
                 {SIGABRT, EVAL_CRASHED, "crashed (SIGABRT: "},
                 {SIGBUS, EVAL_CRASHED, "crashed (SIGBUS: "},
                 {SIGXCPU, EVAL_TIMEOUT, "more processor time than it may"}};
    struct evaluator *ev = evaluate_start(1);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint64_t job;
        struct evaluation e;
        faults_run_endless(ev);
        kill(ev->slots[0].pid, cases[i].number);
        cr_assert(evaluator_poll(ev, -1, &job, &e));
        faults_named(ev, &e, cases[i].status, cases[i].message);
    }
    evaluator_free(ev);
}

/* Names of ends that cannot be had here. */
Test(agent_faults, every_end_has_a_name)
{
    faults_only_long();
    struct evaluator *ev = evaluate_start(1);
    struct evaluation e = {0};
    ev->oom_kills = -1; /* the system has killed since */
    evaluate_name_end(ev, END_DIED, SIGKILL, true, &e);
    cr_expect_eq(e.status, EVAL_OUT_OF_MEMORY);
    cr_expect_str_eq(e.message, "the system had no memory left and killed the runner process while building");
    evaluate_name_end(ev, END_DIED, 3 << 8, false, &e);
    cr_expect_eq(e.status, EVAL_CRASHED);
    cr_expect_str_eq(e.message, "the driver ended the runner process (status 3) while running");
    evaluate_name_end(ev, END_NONSENSE, SIGKILL, false, &e);
    cr_expect_eq(e.status, EVAL_CRASHED);
    cr_expect_str_eq(e.message, "killed: the runner process sent a malformed message while running");
    evaluate_name_end(ev, END_OVERDUE, SIGKILL, true, &e);
    cr_expect_eq(e.status, EVAL_TIMEOUT);
    evaluator_free(ev);
}

/* ---- retirement, and the compiler's folder ---- */

static long faults_bytes;

static int faults_count(const char *path, const struct stat *st, int kind, struct FTW *at)
{
    (void)path, (void)at;
    if (kind == FTW_F) faults_bytes += (long)st->st_blocks * 512;
    return 0;
}

static long faults_folder_bytes(const char *path)
{
    faults_bytes = 0;
    nftw(path, faults_count, 16, FTW_PHYS);
    return faults_bytes;
}

/* A right kernel that has not been compiled before. */
static struct cg_kernel faults_new_kernel(unsigned number, struct cg_arg args[2], char *text, size_t n)
{
    char body[128];
    snprintf(body, sizeof body, "y[i] = 2 * x[i] + %u; y[i] = 2 * x[i];", number);
    return evaluate_kernel(body, args, text, n);
}

/* Runners of which the first generation has the setup of the later ones. */
static void faults_replace_all(struct evaluator *ev)
{
    for (unsigned i = 0; i < ev->n_slots; i++)
        evaluate_kill_idle(ev, i);
    while (evaluator_poll(ev, 0, &(uint64_t){0}, &(struct evaluation){0}))
        continue;
}

/* Keeps the evaluator full of n jobs; each must come back once, as OK. Returns the bytes of files when none
 * is at work any more: a compiler has large ones for a moment. */
static long faults_campaign(struct evaluator *ev, const char *folder, unsigned n)
{
    struct cg_arg args[2];
    char text[1024];
    unsigned submitted = 0;
    bool *seen = calloc(n, sizeof *seen);
    for (unsigned done = 0; done < n; done++) {
        for (; submitted < n && submitted < done + evaluator_capacity(ev); submitted++) {
            struct cg_kernel k = faults_new_kernel(submitted, args, text, sizeof text);
            evaluator_submit(ev, submitted, &k, &(struct eval_settings){.verify = true, .batch_ns = 1e5});
        }
        uint64_t job;
        struct evaluation e;
        cr_assert(evaluator_poll(ev, -1, &job, &e));
        cr_assert_eq(e.status, EVAL_OK, "%s: %s", eval_status_name(e.status), e.message);
        cr_assert(job < n && !seen[job]);
        seen[job] = true;
    }
    free(seen);
    return (long)faults_folder_bytes(folder);
}

/* The files of all 40 would be five times as many. */
Test(agent_faults, a_campaign_goes_on_while_its_runners_retire, .timeout = 300)
{
    faults_only_long();
    unsetenv("POCL_CACHE_DIR"); /* a runner keeps the user's */
    enum { JOBS = 40, RETIRE = 4 };
    struct evaluator *ev = evaluate_start(2);
    if (!ev->setup.cache[0]) cr_skip_test("no file system in memory with room");
    long all = faults_campaign(ev, ev->setup.cache, 2 * RETIRE);
    ev->setup.retire_jobs = RETIRE;
    faults_replace_all(ev);
    long left = faults_campaign(ev, ev->setup.cache, JOBS);
    cr_expect_gt(all, 0);
    cr_expect_leq(left, 2 * all, "%ld, of two runners with as many jobs %ld", left, all);
    evaluator_free(ev);
}

/* How often the caller has found the device free during rounds. */
struct faults_watcher {
    struct evaluator *ev;
    unsigned looks, free;
    bool held;
};

static void faults_look(void *ctx)
{
    struct faults_watcher *w = ctx;
    bool held = device_lock_held(w->ev->lock);
    w->held = w->held || held;
    w->looks++;
    w->free += w->held && !held && w->ev->keeps;
}

Test(agent_faults, rounds_keep_the_device_while_runners_retire, .timeout = 300)
{
    faults_only_long();
    enum { ROUNDS = 6 };
    struct evaluator *ev = evaluate_start(1);
    struct faults_watcher w = {.ev = ev};
    struct cg_arg args[2];
    char text[1024];
    double ns[ROUNDS];
    cr_assert_not_null(ev->lock);
    ev->setup.retire_jobs = 1;
    faults_replace_all(ev);
    ev->caller.alive = faults_look;
    ev->caller.ctx = &w;
    struct cg_kernel k = evaluate_kernel(evaluate_good, args, text, sizeof text);
    const struct cg_kernel *kernels[] = {&k};
    evaluator_rounds(ev, kernels, 1, ROUNDS, 1, ns);
    for (int i = 0; i < ROUNDS; i++)
        cr_expect_gt(ns[i], 0);
    cr_expect(w.held && w.looks > ROUNDS);
    cr_expect_eq(w.free, 0, "%u of %u looks", w.free, w.looks);
    evaluator_free(ev);
}

/* A folder with room for some 90 kernels: what a runner has filled goes with it, and its candidate is built
 * again. */
Test(agent_faults, a_full_folder_of_kernels_costs_no_candidate, .timeout = 300)
{
    faults_only_long();
    unsetenv("POCL_CACHE_DIR"); /* a runner keeps the user's */
    enum { JOBS = 120 };
    char folder[] = "/tmp/thresh-faults-XXXXXX";
    cr_assert_not_null(mkdtemp(folder));
    if (unshare(CLONE_NEWNS) || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
        mount("tmpfs", folder, "tmpfs", 0, "size=5m")) {
        rmdir(folder);
        cr_skip_test("no file systems can be mounted here");
    }
    struct evaluator *ev = evaluate_start(1);
    cache_remove(ev->setup.cache);
    snprintf(ev->setup.cache, sizeof ev->setup.cache, "%s/kernels", folder);
    cr_assert_eq(mkdir(ev->setup.cache, 0700), 0);
    faults_replace_all(ev);
    pid_t first = ev->slots[0].pid;
    long most = faults_campaign(ev, folder, JOBS);
    cr_expect_neq(ev->slots[0].pid, first, "no runner was replaced: %ld bytes", most);
    cr_expect_null(evaluator_lost(ev));
    evaluator_free(ev);
    cr_assert_eq(umount(folder), 0);
    rmdir(folder);
}
