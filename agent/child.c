/* fork(), the tidy-up that makes a forked process independent of its parent, and frames over a socket pair.
 *
 * The parent may have threads: between fork() and body() the child only makes system calls and uses malloc,
 * which the C library keeps usable. The parent never initialises OpenCL itself; a driver's state does not
 * survive a fork. */
#include "agent/child.h"

#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { PROC_PATH = 128 };

static void close_inherited(int keep)
{
    DIR *dir = opendir("/proc/self/fd");
    if (!dir) return;
    for (struct dirent *e; (e = readdir(dir));) {
        int fd = atoi(e->d_name);
        if (fd > STDERR_FILENO && fd != keep && fd != dirfd(dir)) close(fd);
    }
    closedir(dir);
}

static void reset_signals(void)
{
    static const int reset[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTERM, SIGCHLD, SIGALRM};
    struct sigaction action = {.sa_handler = SIG_DFL};
    for (size_t i = 0; i < sizeof reset / sizeof *reset; i++)
        sigaction(reset[i], &action, NULL);
    action.sa_handler = SIG_IGN;
    sigaction(SIGINT, &action, NULL); /* and the end of the terminal: the parent says what comes of them */
    sigaction(SIGHUP, &action, NULL);
    sigaction(SIGPIPE, &action, NULL);
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
}

pid_t child_fork(int *fd, void (*body)(int fd, void *ctx), void *ctx)
{
    int pair[2];
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair)) return -1;
    pid_t parent = getpid(), pid = fork();
    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (getppid() != parent) _exit(1);
        close_inherited(pair[1]);
        reset_signals();
        body(pair[1], ctx);
        _exit(0);
    }
    int error = errno;
    close(pair[1]);
    if (pid < 0)
        close(pair[0]);
    else
        *fd = pair[0];
    errno = error;
    return pid;
}

int child_kill(pid_t pid, int fd)
{
    int status = 0;
    kill(pid, SIGKILL);
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        continue;
    close(fd);
    return status;
}

bool child_write(int fd, const void *data, size_t bytes)
{
    for (const char *p = data; bytes > 0;) {
        ssize_t n = send(fd, p, bytes, MSG_NOSIGNAL);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return false;
        p += n;
        bytes -= (size_t)n;
    }
    return true;
}

bool child_read(int fd, void *data, size_t bytes)
{
    for (char *p = data; bytes > 0;) {
        ssize_t n = read(fd, p, bytes);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return false;
        p += n;
        bytes -= (size_t)n;
    }
    return true;
}

bool child_send(int fd, uint32_t kind, const void *payload, size_t bytes)
{
    struct child_frame frame = {.length = (uint32_t)bytes, .kind = kind};
    return child_write(fd, &frame, sizeof frame) && child_write(fd, payload, bytes);
}

double child_processor_ms(pid_t pid)
{
    clockid_t clock;
    struct timespec t = {0};
    if (clock_getcpuclockid(pid, &clock) || clock_gettime(clock, &t)) return 0;
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

long child_memory_kib(pid_t pid)
{
    char path[PROC_PATH];
    long resident = 0, shared = 0;
    snprintf(path, sizeof path, "/proc/%ld/statm", (long)pid);
    FILE *in = fopen(path, "r");
    if (in && fscanf(in, "%*s %ld %ld", &resident, &shared) != 2) resident = shared = 0;
    if (in) fclose(in);
    return (resident - shared) * (sysconf(_SC_PAGESIZE) / 1024);
}

/* The state of a thread is the letter behind its name, which is in brackets and may have any. */
static bool thread_runnable(pid_t pid, const char *thread)
{
    char path[PROC_PATH], text[PROC_PATH] = "";
    snprintf(path, sizeof path, "/proc/%ld/task/%.16s/stat", (long)pid, thread);
    FILE *in = fopen(path, "r");
    if (!in) return false;
    const char *end = fgets(text, sizeof text, in) ? strrchr(text, ')') : NULL;
    fclose(in);
    return end && end[1] == ' ' && end[2] == 'R';
}

bool child_runnable(pid_t pid)
{
    char path[PROC_PATH];
    bool any = false;
    snprintf(path, sizeof path, "/proc/%ld/task", (long)pid);
    DIR *dir = opendir(path);
    for (struct dirent *e; dir && !any && (e = readdir(dir));)
        any = e->d_name[0] != '.' && thread_runnable(pid, e->d_name);
    if (dir) closedir(dir);
    return any;
}
