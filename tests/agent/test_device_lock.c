/* The device lock of a machine: processes that hammer it, one that is killed or stopped with it, and two
 * evaluators on one CPU device. Every test has a lock of its own. */
#define _DEFAULT_SOURCE /* MAP_ANONYMOUS */
#include "agent/device_lock.h"

#include <criterion/criterion.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "agent/characterize.h"
#include "agent/child.h"
#include "agent/evaluate_state.h"
#include "agent/limits.h"
#include "core/base/clock.h"
#include "core/base/diag.h"
#include "tests/agent/task.h"

static struct device lock_test_device(void)
{
    struct device dev = {.name = "test"};
    snprintf(dev.identity, sizeof dev.identity, "test %ld", (long)getpid());
    return dev;
}

static void lock_test_remove(const struct device *dev)
{
    char path[DEVICE_LOCK_PATH];
    device_lock_path(dev, path);
    unlink(path);
}

static struct device_lock *lock_test_open(const struct device *dev)
{
    char why[256] = "";
    struct device_lock *l = device_lock_open(dev, why, sizeof why);
    cr_assert_not_null(l, "%s", why);
    return l;
}

/* A process that ends with the test. */
static pid_t lock_test_fork(void)
{
    pid_t pid = fork();
    cr_assert_geq(pid, 0);
    if (pid == 0) prctl(PR_SET_PDEATHSIG, SIGKILL);
    return pid;
}

static void lock_test_nap(void)
{
    nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
}

/* What the processes of a test share. */
struct lock_test_shared {
    atomic_int inside, overlaps, ready;
    atomic_int taken[3];
};

/* Until another process says so, at most 50 s. */
static void lock_test_await(struct lock_test_shared *s)
{
    double end = clock_now_ms() + 50e3;
    while (!atomic_load(&s->ready) && clock_now_ms() < end)
        lock_test_nap();
    cr_assert(atomic_load(&s->ready));
}

static struct lock_test_shared *lock_test_map(void)
{
    void *at = mmap(NULL, sizeof(struct lock_test_shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
                    -1, 0);
    cr_assert_neq(at, MAP_FAILED);
    return at;
}

Test(device_lock, is_taken_once_and_given_back)
{
    struct device dev = lock_test_device();
    struct device_lock *a = lock_test_open(&dev), *b = lock_test_open(&dev);
    cr_assert(device_lock_try(a) && device_lock_held(a) && device_lock_try(a));
    cr_assert(!device_lock_busy(a), "one's own");
    cr_assert(device_lock_busy(b) && !device_lock_try(b) && !device_lock_held(b));
    cr_assert(!device_lock_busy_elsewhere(b), "it is this process");
    device_lock_release(a);
    cr_assert(!device_lock_try(a), "b wants it, and is first");
    cr_assert(device_lock_try(b));
    cr_assert(!device_lock_try(a));
    device_lock_close(b);
    cr_assert(device_lock_try(a));
    device_lock_work(a, true);
    cr_assert(!device_lock_others_work(a));
    b = lock_test_open(&dev);
    cr_assert(device_lock_others_work(b));
    device_lock_work(a, false);
    cr_assert(!device_lock_others_work(b));
    device_lock_close(a);
    device_lock_close(b);
    lock_test_remove(&dev);
}

/* Without a file everything goes on as if nobody else were there. */
Test(device_lock, that_cannot_be_made_does_no_harm)
{
    struct device dev = lock_test_device();
    char path[DEVICE_LOCK_PATH], why[256] = "";
    device_lock_path(&dev, path);
    cr_assert_eq(symlink("/dev/null", path), 0);
    cr_assert_null(device_lock_open(&dev, why, sizeof why));
    cr_assert(strstr(why, path), "%s", why);
    unlink(path);
    cr_assert(device_lock_try(NULL) && device_lock_held(NULL) && !device_lock_busy(NULL));
    device_lock_work(NULL, true);
    device_lock_release(NULL);
    device_lock_close(NULL);
}

Test(device_lock, is_open_to_every_user)
{
    struct device dev = lock_test_device();
    char path[DEVICE_LOCK_PATH];
    struct stat st;
    umask(077);
    struct device_lock *l = lock_test_open(&dev);
    device_lock_path(&dev, path);
    cr_assert_eq(stat(path, &st), 0);
    cr_expect_eq(st.st_mode & 0777, 0666);
    device_lock_close(l);
    lock_test_remove(&dev);
}

/* Processes that all find no file make one, and one of them has the lock. */
Test(device_lock, is_made_once_by_processes_that_start_together, .timeout = 120)
{
    enum { PROCESSES = 8, ROUNDS = 20 };
    struct device dev = lock_test_device();
    for (int round = 0; round < ROUNDS; round++) {
        struct lock_test_shared *s = lock_test_map();
        pid_t pids[PROCESSES];
        lock_test_remove(&dev);
        for (int i = 0; i < PROCESSES; i++) {
            if ((pids[i] = lock_test_fork())) continue;
            char why[256] = "";
            lock_test_await(s);
            struct device_lock *l = device_lock_open(&dev, why, sizeof why);
            atomic_fetch_add(&s->overlaps, l == NULL);
            atomic_fetch_add(&s->taken[0], l && device_lock_try(l));
            atomic_fetch_add(&s->inside, 1);
            while (atomic_load(&s->inside) < PROCESSES)
                lock_test_nap();
            _exit(0);
        }
        atomic_store(&s->ready, 1);
        for (int i = 0; i < PROCESSES; i++)
            cr_assert_eq(waitpid(pids[i], NULL, 0), pids[i]);
        cr_expect_eq(atomic_load(&s->overlaps), 0, "some could not open it");
        cr_expect_eq(atomic_load(&s->taken[0]), 1, "%d had it at once", atomic_load(&s->taken[0]));
        munmap(s, sizeof *s);
    }
    lock_test_remove(&dev);
}

/* While it is made it may have two names for a moment; one that keeps them is not used. */
Test(device_lock, with_two_names_is_waited_for_and_then_refused)
{
    struct device dev = lock_test_device();
    char path[DEVICE_LOCK_PATH], other[DEVICE_LOCK_PATH + 8], why[256] = "";
    device_lock_close(lock_test_open(&dev));
    device_lock_path(&dev, path);
    snprintf(other, sizeof other, "%s.other", path);
    cr_assert_eq(link(path, other), 0);
    cr_expect_null(device_lock_open(&dev, why, sizeof why));
    cr_expect(strstr(why, path), "%s", why);
    pid_t pid = lock_test_fork();
    if (pid == 0) {
        for (int i = 0; i < 20; i++)
            lock_test_nap();
        unlink(other);
        _exit(0);
    }
    struct device_lock *l = NULL;
    for (int i = 0; i < 100 && !l; i++)
        l = device_lock_open(&dev, why, sizeof why);
    cr_expect_not_null(l);
    device_lock_close(l);
    cr_assert_eq(waitpid(pid, NULL, 0), pid);
    lock_test_remove(&dev);
}

enum { LOCK_TEST_TURNS = 40 };

/* Takes the lock so many times, and as long as the others have not. */
static void lock_test_hammer(const struct device *dev, struct lock_test_shared *s, int me, int n)
{
    struct device_lock *l = lock_test_open(dev);
    for (int least = 0; least < LOCK_TEST_TURNS;) {
        if (!device_lock_try(l)) {
            lock_test_nap();
        } else {
            if (atomic_fetch_add(&s->inside, 1) > 0) atomic_fetch_add(&s->overlaps, 1);
            lock_test_nap();
            atomic_fetch_add(&s->taken[me], 1);
            atomic_fetch_sub(&s->inside, 1);
            device_lock_release(l);
        }
        least = LOCK_TEST_TURNS;
        for (int i = 0; i < n; i++)
            if (atomic_load(&s->taken[i]) < least) least = atomic_load(&s->taken[i]);
    }
    device_lock_close(l);
}

/* Each waits for the slowest of them, so that one that starves would hold up all. */
Test(device_lock, is_had_by_one_process_at_a_time_and_by_all_in_turn, .timeout = 120)
{
    enum { PROCESSES = 3 };
    struct device dev = lock_test_device();
    struct lock_test_shared *s = lock_test_map();
    pid_t pids[PROCESSES];
    for (int i = 0; i < PROCESSES; i++) {
        pids[i] = lock_test_fork();
        if (pids[i]) continue;
        lock_test_hammer(&dev, s, i, PROCESSES);
        _exit(0);
    }
    int sum = 0;
    for (int i = 0; i < PROCESSES; i++) {
        cr_assert_eq(waitpid(pids[i], NULL, 0), pids[i]);
        sum += atomic_load(&s->taken[i]);
    }
    cr_expect_eq(atomic_load(&s->overlaps), 0);
    cr_expect_leq(sum, 3 * PROCESSES * LOCK_TEST_TURNS, "%d: some had it far more often", sum);
    lock_test_remove(&dev);
}

/* A process that holds the lock until it is killed. */
static pid_t lock_test_holder(const struct device *dev, struct lock_test_shared *s)
{
    pid_t pid = lock_test_fork();
    if (pid == 0) {
        struct device_lock *l = lock_test_open(dev);
        if (!device_lock_try(l)) _exit(1);
        atomic_store(&s->ready, 1);
        for (;;) {
            device_lock_renew(l);
            lock_test_nap();
        }
    }
    lock_test_await(s);
    return pid;
}

Test(device_lock, of_a_killed_process_is_free, .timeout = 60)
{
    struct device dev = lock_test_device();
    struct lock_test_shared *s = lock_test_map();
    struct device_lock *l = lock_test_open(&dev);
    pid_t pid = lock_test_holder(&dev, s);
    cr_assert(!device_lock_try(l) && device_lock_busy_elsewhere(l));
    kill(pid, SIGKILL);
    cr_assert_eq(waitpid(pid, NULL, 0), pid);
    cr_assert(device_lock_try(l));
    device_lock_close(l);
    lock_test_remove(&dev);
}

/* It does not renew the lock, and is passed over; once it goes on it is heeded again. */
Test(device_lock, of_a_stopped_process_is_passed_over, .timeout = 60)
{
    struct device dev = lock_test_device();
    struct lock_test_shared *s = lock_test_map();
    struct device_lock *l = lock_test_open(&dev);
    pid_t pid = lock_test_holder(&dev, s);
    cr_assert(!device_lock_try(l));
    int status;
    kill(pid, SIGSTOP);
    cr_assert(waitpid(pid, &status, WUNTRACED) == pid && WIFSTOPPED(status));
    cr_assert(!device_lock_try(l));
    double start = clock_now_ms();
    while (!device_lock_try(l))
        lock_test_nap();
    cr_expect_geq(clock_now_ms() - start, AGENT_LOCK_SILENT_MS / 2);
    device_lock_release(l);
    cr_assert(device_lock_try(l), "it stays passed over");
    device_lock_release(l);
    kill(pid, SIGCONT);
    while (!device_lock_busy(l))
        lock_test_nap();
    cr_assert(!device_lock_try(l));
    kill(pid, SIGKILL);
    cr_assert_eq(waitpid(pid, NULL, 0), pid);
    device_lock_close(l);
    lock_test_remove(&dev);
}

/* ---- evaluators ---- */

enum { LOCK_TEST_N = 256 };

static const char lock_test_good[] = "__kernel void f(__global float *y) { y[get_global_id(0)] = 1; }\n";
/* But its first work-group, which is launched before the device is taken. */
static const char lock_test_endless[] =
    "__kernel void f(__global float *y)\n"
    "{ volatile int go = get_group_id(0) > 0; do y[get_global_id(0)] = 1; while (go); }\n";

static struct evaluator *lock_test_evaluator(const struct device *dev)
{
    struct diag *d = diag_new();
    struct verify_buffer shape[1] = {{.type = SCALAR_FLOAT, .elements = LOCK_TEST_N, .output = true}};
    struct verify_task *t = task_make(shape, 1, 7, d);
    for (int set = 0; set < VERIFY_EXTREME; set++)
        for (int i = 0; i < LOCK_TEST_N; i++)
            ((float *)t->buffers[0].data[set])[i] = 1;
    const struct verify_tolerance tolerance[VERIFY_EXTREME] = {{.exact = true}, {.exact = true}};
    struct evaluator *ev = evaluator_start(&t, dev, 1, tolerance, NULL, d);
    cr_assert_not_null(ev);
    cr_assert_str_empty(evaluator_note(ev));
    diag_free(d);
    return ev;
}

static struct cg_kernel lock_test_kernel(const char *source, char *text, size_t n)
{
    static struct cg_arg arg = {.buffer = 0, .bytes = LOCK_TEST_N * sizeof(float)};
    static char name[] = "f";
    snprintf(text, n, "%s", source);
    return (struct cg_kernel){.source = text,
                              .name = name,
                              .global = {LOCK_TEST_N, 1, 1},
                              .local = {16, 1, 1},
                              .n_args = 1,
                              .args = &arg};
}

static void lock_test_submit(struct evaluator *ev, const char *source, double limit_ns)
{
    char text[256];
    struct cg_kernel k = lock_test_kernel(source, text, sizeof text);
    evaluator_submit(ev, 1, &k, &(struct eval_settings){.verify = true, .limit_ns = limit_ns});
}

/* The CPU device with a lock of its own. */
static struct device lock_test_cpu(void)
{
    struct diag *d = diag_new();
    struct device dev, own = lock_test_device();
    cr_assert(device_select("cpu", &dev, d));
    memcpy(dev.identity, own.identity, sizeof dev.identity);
    diag_free(d);
    return dev;
}

/* A process that measures a kernel for ever. It has the device when this returns. */
static pid_t lock_test_measure_forever(const struct device *dev, struct lock_test_shared *s)
{
    pid_t pid = lock_test_fork();
    if (pid == 0) {
        struct evaluator *ev = lock_test_evaluator(dev);
        lock_test_submit(ev, lock_test_endless, 1e12);
        for (;;) {
            evaluate_step(ev, 10);
            if (ev->holder) atomic_store(&s->ready, 1);
        }
    }
    lock_test_await(s);
    return pid;
}

/* While one measures, the other's runner stands still, whatever it is at; its clock too. */
Test(device_lock, evaluators_of_two_processes_take_turns, .timeout = 120)
{
    struct device dev = lock_test_cpu();
    struct lock_test_shared *s = lock_test_map();
    struct evaluator *ev = lock_test_evaluator(&dev);
    pid_t pid = lock_test_measure_forever(&dev, s);
    lock_test_submit(ev, lock_test_good, 0);
    for (double end = clock_now_ms() + 500; clock_now_ms() < end;) {
        evaluate_step(ev, 10);
        cr_assert_null(ev->holder);
        cr_assert_neq(ev->slots[0].state, RUNNING);
        cr_assert(ev->paused && ev->slots[0].stopped_at > 0);
    }
    cr_assert(ev->slots[0].kill_at > clock_now_ms());
    kill(pid, SIGKILL);
    uint64_t job;
    struct evaluation e;
    cr_assert(evaluator_poll(ev, 60000, &job, &e));
    cr_assert_eq(e.status, EVAL_OK, "%s: %s", eval_status_name(e.status), e.message);
    cr_assert_eq(waitpid(pid, NULL, 0), pid);
    evaluator_free(ev);
    lock_test_remove(&dev);
}

/* A runner that builds when another process takes the device is stopped, and goes on afterwards. */
Test(device_lock, stops_a_build, .timeout = 120)
{
    struct device dev = lock_test_cpu();
    struct device_lock *other = lock_test_open(&dev);
    struct evaluator *ev = lock_test_evaluator(&dev);
    lock_test_submit(ev, lock_test_good, 0);
    while (ev->slots[0].state != BUILDING)
        evaluate_step(ev, 10);
    if (!device_lock_try(other)) cr_skip_test("it was built at once");
    cr_expect(device_lock_others_work(other));
    for (int i = 0; i < 100 && !ev->paused && ev->slots[0].state == BUILDING; i++)
        evaluate_step(ev, 10);
    cr_expect(ev->paused == (ev->slots[0].state == BUILDING));
    evaluate_step(ev, 10);
    cr_expect(!device_lock_others_work(other));
    double kill_at = ev->slots[0].kill_at;
    device_lock_close(other);
    uint64_t job;
    struct evaluation e;
    while (ev->paused)
        evaluate_step(ev, 10);
    cr_expect_geq(ev->slots[0].kill_at, kill_at);
    cr_assert(evaluator_poll(ev, 60000, &job, &e));
    cr_assert_eq(e.status, EVAL_OK, "%s: %s", eval_status_name(e.status), e.message);
    evaluator_free(ev);
    lock_test_remove(&dev);
}

static uint64_t lock_test_count(const struct device *dev)
{
    char path[DEVICE_LOCK_PATH];
    uint64_t record[2] = {0};
    device_lock_path(dev, path);
    FILE *in = fopen(path, "rb");
    cr_assert(in && fread(record, sizeof record, 1, in) == 1);
    fclose(in);
    return record[1];
}

/* Who keeps it shows that he is alive also while a kernel is built and nothing is measured. */
Test(device_lock, that_is_kept_is_renewed_between_jobs, .timeout = 120)
{
    struct device dev = lock_test_cpu();
    struct evaluator *ev = lock_test_evaluator(&dev);
    uint64_t job;
    struct evaluation e;
    ev->keeps = true;
    lock_test_submit(ev, lock_test_good, 0);
    cr_assert(evaluator_poll(ev, 60000, &job, &e));
    cr_assert(device_lock_held(ev->lock) && !ev->holder);
    cr_expect_leq(evaluate_next_look(ev), clock_now_ms() + AGENT_LOCK_RENEW_MS);
    uint64_t count = lock_test_count(&dev);
    evaluate_step(ev, 0);
    cr_expect_gt(lock_test_count(&dev), count);
    evaluator_free(ev);
    lock_test_remove(&dev);
}

Test(device_lock, is_held_by_a_characterization, .timeout = 120)
{
    struct device dev = lock_test_cpu();
    struct lock_test_shared *s = lock_test_map();
    struct device_lock *l = lock_test_open(&dev);
    cr_assert(device_lock_try(l));
    pid_t pid = lock_test_fork();
    if (pid == 0) {
        struct characterize_result r;
        atomic_store(&s->ready, 1);
        characterize(&dev, &r, diag_new());
        _exit(0);
    }
    lock_test_await(s);
    device_lock_release(l);
    while (!device_lock_busy_elsewhere(l))
        lock_test_nap();
    kill(pid, SIGKILL);
    cr_assert_eq(waitpid(pid, NULL, 0), pid);
    device_lock_close(l);
    lock_test_remove(&dev);
}

/* Quoted rounds keep it from the first kernel to the last. */
Test(device_lock, is_kept_in_rounds, .timeout = 120)
{
    enum { ROUNDS = 3 };
    struct device dev = lock_test_cpu();
    struct lock_test_shared *s = lock_test_map();
    struct evaluator *ev = lock_test_evaluator(&dev);
    pid_t pid = lock_test_fork();
    if (pid == 0) {
        struct device_lock *l = lock_test_open(&dev);
        for (bool was = false;;) {
            bool busy = device_lock_busy(l);
            atomic_fetch_add(&s->taken[0], busy && !was);
            was = busy;
            atomic_store(&s->ready, 1);
        }
    }
    lock_test_await(s);
    char text[256];
    struct cg_kernel k = lock_test_kernel(lock_test_good, text, sizeof text);
    const struct cg_kernel *kernels[1] = {&k};
    double ns[ROUNDS];
    evaluator_rounds(ev, kernels, 1, ROUNDS, 1, ns);
    kill(pid, SIGKILL);
    cr_assert_eq(waitpid(pid, NULL, 0), pid);
    for (int r = 0; r < ROUNDS; r++)
        cr_expect_gt(ns[r], 0);
    cr_expect_leq(atomic_load(&s->taken[0]), 1, "given back between rounds");
    cr_expect_not(device_lock_held(ev->lock));
    evaluator_free(ev);
    lock_test_remove(&dev);
}
