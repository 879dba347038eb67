/* Running a user's programs, several at once. Each has pipes for its input and output, a time limit, and a
 * process group of its own, so that everything that it started ends with it. */
#include "coordinator/command.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "coordinator/limits.h"
#include "core/base/arena.h"
#include "core/base/clock.h"
#include "core/base/pipe.h"
#include "core/base/stop.h"
#include "core/base/strbuf.h"
#include "core/base/utf8.h"

enum { EXEC_FAILED = 127 };

/* The descriptors are ours; -1: closed. */
struct command_process {
    pid_t pid;                          /* -1: not started */
    int input, output, errors, failure; /* failure: its errno if it cannot be run */
    struct strbuf out, err;
    char *name, *text; /* the program; its input */
    const char *rest;  /* of its input */
    double limit_s, deadline_s;
    int start_error; /* errno */
    int status;      /* of waitpid */
    bool ended, late;
};

enum { PIPES = 4 /* of a program */, SPARE_FDS = 64 };

void command_make_room(size_t programs)
{
    struct rlimit limit;
    rlim_t needed = programs * PIPES + SPARE_FDS;
    if (getrlimit(RLIMIT_NOFILE, &limit) || limit.rlim_cur >= needed) return;
    limit.rlim_cur = limit.rlim_max < needed ? limit.rlim_max : needed;
    setrlimit(RLIMIT_NOFILE, &limit);
}

/* ---- starting ---- */

/* In the child: never returns. It does not outlive the parent, which may be gone already. */
static void become(char *const *words, const int *theirs, pid_t parent)
{
    sigset_t none;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(EXEC_FAILED);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    signal(SIGPIPE, SIG_DFL); /* ignored here, which a program would inherit */
    signal(SIGXFSZ, SIG_DFL);
    setpgid(0, 0);
    for (int i = 0; i < 3; i++)
        if (dup2(theirs[i], i) < 0) _exit(EXEC_FAILED);
    execvp(words[0], words);
    int error = errno;
    ssize_t sent = write(theirs[3], &error, sizeof error);
    _exit(sent == (ssize_t)sizeof error ? EXEC_FAILED : EXEC_FAILED + 1);
}

static bool start(struct command_process *p, char *const *words)
{
    int *ours[PIPES] = {&p->input, &p->output, &p->errors, &p->failure}, theirs[PIPES], n = 0;
    while (n < PIPES && pipe_make(n == 0, ours[n], &theirs[n]))
        n++;
    pid_t parent = getpid();
    p->pid = n == PIPES ? fork() : -1;
    if (p->pid == 0) become(words, theirs, parent);
    if (p->pid > 0) setpgid(p->pid, p->pid);
    for (int i = 0; i < n; i++)
        close(theirs[i]);
    return p->pid > 0;
}

/* ---- talking ---- */

/* Writes what the program takes of its input; SIGPIPE is blocked. */
static void feed(struct command_process *p)
{
    while (p->input >= 0 && *p->rest) {
        ssize_t n = write(p->input, p->rest, strlen(p->rest));
        if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return;
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) break;
        p->rest += n;
    }
    pipe_close(&p->input);
}

static void exchange(struct command_process *p)
{
    if (p->input >= 0) feed(p);
    pipe_drain(&p->output, &p->out, LIMIT_OUTPUT_BYTES);
    pipe_drain(&p->errors, &p->err, LIMIT_OUTPUT_BYTES);
}

/* Whether it has ended; it stays a zombie, so that its number and group are its own. */
static bool has_ended(const struct command_process *p)
{
    siginfo_t info = {0};
    return waitid(P_PID, (id_t)p->pid, &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid == p->pid;
}

/* Ends what is left of its group, and it. */
static void end_group(struct command_process *p)
{
    kill(-p->pid, SIGKILL);
    while (waitpid(p->pid, &p->status, 0) < 0 && errno == EINTR)
        continue;
}

/* ---- the outcome ---- */

/* The last line of what the program said about its failure. */
static void add_complaint(struct command_result *r, const struct strbuf *err)
{
    size_t end = err->length, used = strlen(r->message);
    while (end > 0 && strchr(" \t\r\n", err->text[end - 1]))
        end--;
    size_t start = end;
    while (start > 0 && err->text[start - 1] != '\n')
        start--;
    if (end > start)
        snprintf(r->message + used, sizeof r->message - used, ": %.*s",
                 (int)(end - start < 200 ? end - start : 200), err->text + start);
}

static struct command_result outcome(const struct command_process *p)
{
    struct command_result r = {.status = EVAL_LAUNCH_ERROR};
    if (!p->ended) {
        r.status = EVAL_TIMEOUT;
        snprintf(r.message, sizeof r.message, "no result within %g s", p->limit_s);
    } else if (WIFSIGNALED(p->status)) {
        r.status = EVAL_CRASHED;
        snprintf(r.message, sizeof r.message, "ended by signal %d", WTERMSIG(p->status));
    } else if (WEXITSTATUS(p->status)) {
        snprintf(r.message, sizeof r.message, "ended with status %d", WEXITSTATUS(p->status));
    } else {
        return command_read_output(p->out.text ? p->out.text : "");
    }
    add_complaint(&r, &p->err);
    return r;
}

static bool could_not_run(struct command_process *p, struct command_result *out)
{
    int error = 0;
    ssize_t n = read(p->failure, &error, sizeof error);
    if (n != (ssize_t)sizeof error) return false;
    snprintf(out->message, sizeof out->message, "cannot run '%s': %s", p->name, strerror(error));
    return true;
}

/* Writing to a program that does not read raises SIGPIPE: blocked, and taken away afterwards. */
static void block_pipe_signal(sigset_t *before)
{
    sigset_t pipes;
    sigemptyset(&pipes);
    sigaddset(&pipes, SIGPIPE);
    pthread_sigmask(SIG_BLOCK, &pipes, before);
}

static void restore_signals(const sigset_t *before)
{
    sigset_t pipes;
    sigemptyset(&pipes);
    sigaddset(&pipes, SIGPIPE);
    while (sigtimedwait(&pipes, NULL, &(struct timespec){0}) > 0)
        continue;
    pthread_sigmask(SIG_SETMASK, before, NULL);
}

/* ---- several at once ---- */

struct command_process *command_start(char *const *words, const char *input, double limit_s)
{
    struct command_process *p = base_calloc(1, sizeof *p);
    p->input = p->output = p->errors = p->failure = -1;
    p->name = base_strdup(words[0]);
    p->rest = p->text = base_strdup(input ? input : "");
    p->limit_s = limit_s;
    p->deadline_s = clock_s() + limit_s;
    if (!start(p, words)) {
        p->start_error = errno;
        p->pid = -1;
        p->ended = true;
    }
    return p;
}

bool command_is_over(const struct command_process *p)
{
    return p->ended || p->late;
}

static void look_at(struct command_process *p)
{
    if (command_is_over(p)) return;
    exchange(p);
    p->ended = has_ended(p);
    p->late = !p->ended && clock_s() >= p->deadline_s;
}

/* How long to sleep, in ms: until the first deadline, and briefly if a program is silent; the end of one that
 * is not silent is seen at once. */
static int turn_of(struct command_process *const *programs, size_t n)
{
    double turn = LIMIT_PROGRAM_TURN_MS, now = clock_s();
    for (size_t i = 0; i < n; i++) {
        double left_ms = (programs[i]->deadline_s - now) * 1e3 + 1;
        bool silent = programs[i]->output < 0 && programs[i]->errors < 0;
        turn = fmin(turn, silent ? 1 : left_ms > 0 ? left_ms : 0);
    }
    return (int)turn;
}

static int ms_until(int64_t end)
{
    int64_t left = end - clock_ms();
    return left > 0 ? (int)left : 0;
}

static bool any_over(struct command_process *const *programs, size_t n)
{
    bool over = false;
    for (size_t i = 0; i < n; i++)
        over = over || command_is_over(programs[i]);
    return over;
}

void command_wait(struct command_process *const *programs, size_t n, int timeout_ms, int stop_fd)
{
    int64_t end = timeout_ms < 0 ? INT64_MAX : clock_ms() + timeout_ms;
    struct pollfd *fds = base_calloc(3 * n + 1, sizeof *fds);
    sigset_t signals;
    block_pipe_signal(&signals);
    for (bool late = false; !late && !any_over(programs, n) && !stop_requested(stop_fd);) {
        fds[0] = (struct pollfd){stop_fd, POLLIN, 0};
        for (size_t i = 0; i < n; i++) {
            fds[3 * i + 1] = (struct pollfd){programs[i]->input, POLLOUT, 0};
            fds[3 * i + 2] = (struct pollfd){programs[i]->output, POLLIN, 0};
            fds[3 * i + 3] = (struct pollfd){programs[i]->errors, POLLIN, 0};
        }
        int turn = turn_of(programs, n), left = timeout_ms < 0 ? turn : ms_until(end);
        poll(fds, (nfds_t)(3 * n + 1), left < turn ? left : turn);
        for (size_t i = 0; i < n; i++)
            look_at(programs[i]);
        late = clock_ms() >= end;
    }
    restore_signals(&signals);
    free(fds);
}

static void release(struct command_process *p)
{
    pipe_close(&p->input);
    pipe_close(&p->output);
    pipe_close(&p->errors);
    pipe_close(&p->failure);
    strbuf_free(&p->out);
    strbuf_free(&p->err);
    free(p->name);
    free(p->text);
    free(p);
}

enum command_end command_finish(struct command_process *p, struct command_result *out)
{
    enum command_end end = COMMAND_CANNOT_RUN;
    *out = (struct command_result){.status = EVAL_LAUNCH_ERROR};
    if (p->pid < 0) {
        snprintf(out->message, sizeof out->message, "cannot start a process: %s", strerror(p->start_error));
    } else {
        end_group(p);
        pipe_drain(&p->output, &p->out, LIMIT_OUTPUT_BYTES);
        pipe_drain(&p->errors, &p->err, LIMIT_OUTPUT_BYTES);
        if (!could_not_run(p, out)) {
            end = command_is_over(p) ? COMMAND_DONE : COMMAND_INTERRUPTED;
            *out = outcome(p);
            utf8_clean_line(out->message);
        }
    }
    release(p);
    return end;
}
