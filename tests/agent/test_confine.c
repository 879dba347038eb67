/* What a process that has confined itself cannot do, also as root, and what it still can. */
#define _GNU_SOURCE /* CLONE_NEWUSER */
#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "agent/child.h"
#include "agent/confine.h"
#include "agent/limits.h"

enum { CONFINE_REFUSED = 13, CONFINE_LIMITS = 4 };

/* What a confined child has seen: errors of calls, 0 where one succeeded; limits. */
struct confine_seen {
    int refused[CONFINE_REFUSED], local, netlink, pair, too_large, new_privileges;
    long limits[CONFINE_LIMITS];
};

static int confine_error(long result)
{
    return result < 0 ? errno : 0;
}

static int confine_socket(int family, int type)
{
    int fd = socket(family, type, 0), error = confine_error(fd);
    if (fd >= 0) close(fd);
    return error;
}

static void confine_try_calls(int error[CONFINE_REFUSED])
{
    int n = 0;
    error[n++] = confine_socket(AF_INET, SOCK_STREAM);
    error[n++] = confine_socket(AF_INET, SOCK_DGRAM);
    error[n++] = confine_socket(AF_INET6, SOCK_STREAM);
    error[n++] = confine_socket(AF_PACKET, SOCK_RAW);
    error[n++] = confine_error(syscall(SYS_ptrace, 0, 0, 0, 0));
    error[n++] = confine_error(syscall(SYS_mount, "none", "/nowhere", "tmpfs", 0, NULL));
    error[n++] = confine_error(syscall(SYS_unshare, CLONE_NEWUSER));
    error[n++] = confine_error(syscall(SYS_bpf, 0, NULL, 0));
    error[n++] = confine_error(syscall(SYS_keyctl, 0, 0, 0, 0, 0));
    error[n++] = confine_error(syscall(SYS_io_uring_setup, 1, NULL));
    error[n++] = confine_error(syscall(SYS_finit_module, -1, "", 0));
    error[n++] = confine_error(syscall(SYS_process_vm_writev, getppid(), NULL, 0, NULL, 0, 0));
    error[n++] = confine_error(syscall(SYS_clock_settime, CLOCK_REALTIME, NULL));
}

static int confine_write_at(off_t at)
{
    char path[] = "/tmp/thresh-confine-XXXXXX";
    int fd = mkstemp(path), error = confine_error(pwrite(fd, "x", 1, at));
    close(fd);
    unlink(path);
    return error;
}

static void confine_look(int fd, void *ctx)
{
    static const int resources[CONFINE_LIMITS] = {RLIMIT_CORE, RLIMIT_FSIZE, RLIMIT_NOFILE, RLIMIT_CPU};
    struct confine_seen seen;
    (void)ctx;
    confine_self();
    confine_try_calls(seen.refused);
    seen.local = confine_socket(AF_UNIX, SOCK_STREAM);
    seen.netlink = confine_socket(AF_NETLINK, SOCK_RAW);
    int pair[2];
    seen.pair = confine_error(socketpair(AF_UNIX, SOCK_STREAM, 0, pair));
    seen.too_large = confine_write_at(AGENT_FILE_BYTES);
    seen.new_privileges = prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0);
    for (int i = 0; i < CONFINE_LIMITS; i++) {
        struct rlimit limit;
        getrlimit((__rlimit_resource_t)resources[i], &limit);
        seen.limits[i] = (long)limit.rlim_max;
    }
    child_write(fd, &seen, sizeof seen);
}

Test(agent_confine, refuses_the_network_and_the_machine)
{
    char why[256];
    struct confine_seen seen;
    int fd;
    if (!confine_refuses(why, sizeof why)) cr_skip_test("this system does not refuse calls");
    pid_t pid = child_fork(&fd, confine_look, NULL);
    cr_assert(child_read(fd, &seen, sizeof seen));
    child_kill(pid, fd);
    for (int i = 0; i < CONFINE_REFUSED; i++)
        cr_expect_eq(seen.refused[i], EPERM, "call %d: %d", i, seen.refused[i]);
    cr_expect(seen.local == 0 && seen.netlink == 0 && seen.pair == 0, "%d %d %d", seen.local, seen.netlink,
              seen.pair);
    cr_expect_eq(seen.too_large, EFBIG, "an error, and no signal: %d", seen.too_large);
    cr_expect_eq(seen.new_privileges, 1);
    cr_expect_leq(seen.limits[0], 1);
    cr_expect_leq(seen.limits[1], AGENT_FILE_BYTES);
    cr_expect_leq(seen.limits[2], AGENT_FILES);
}

/* A program that a runner starts, as PoCL does its linker, is confined like it. */
static void confine_start_program(int fd, void *ctx)
{
    (void)ctx;
    confine_self();
    pid_t pid = fork();
    if (pid == 0) _exit(confine_socket(AF_INET, SOCK_STREAM) == EPERM ? 7 : 1);
    int status = 0;
    waitpid(pid, &status, 0);
    child_write(fd, &status, sizeof status);
}

Test(agent_confine, what_it_starts_is_confined_too)
{
    char why[256];
    int fd, status = 0;
    if (!confine_refuses(why, sizeof why)) cr_skip_test("this system does not refuse calls");
    pid_t pid = child_fork(&fd, confine_start_program, NULL);
    cr_assert(child_read(fd, &status, sizeof status));
    child_kill(pid, fd);
    cr_expect(WIFEXITED(status) && WEXITSTATUS(status) == 7, "%d", status);
}

static void confine_spin(int fd, void *ctx)
{
    (void)fd, (void)ctx;
    for (volatile unsigned i = 0;; i++)
        continue;
}

/* The last resort: the evaluator has set the limit and cannot act. */
Test(agent_confine, the_system_ends_what_uses_too_much_processor_time)
{
    int fd, status = 0;
    pid_t pid = child_fork(&fd, confine_spin, NULL);
    confine_processor(pid, child_processor_ms(pid) + 1);
    cr_assert_eq(waitpid(pid, &status, 0), pid);
    cr_expect(WIFSIGNALED(status) && WTERMSIG(status) == SIGXCPU, "%d", status);
    close(fd);
}

static void confine_wait(int fd, void *ctx)
{
    (void)ctx;
    confine_self();
    child_write(fd, "", 1);
    for (;;)
        pause();
}

/* The child has nothing open of its parent but the standard streams: the end of its standard error is its
 * own. */
Test(agent_confine, a_runner_dies_with_its_parent)
{
    int ends[2];
    char byte;
    cr_assert_eq(pipe(ends), 0);
    pid_t parent = fork();
    if (parent == 0) {
        int fd;
        dup2(ends[1], STDERR_FILENO);
        close(ends[1]);
        if (child_fork(&fd, confine_wait, NULL) > 0 && child_read(fd, &byte, 1) &&
            write(STDERR_FILENO, "r", 1) == 1)
            pause();
        _exit(1);
    }
    close(ends[1]);
    cr_assert_eq(read(ends[0], &byte, 1), 1);
    kill(parent, SIGKILL);
    cr_assert_eq(waitpid(parent, NULL, 0), parent);
    cr_expect_eq(read(ends[0], &byte, 1), 0, "the child lives and has its standard error open");
    close(ends[0]);
}
