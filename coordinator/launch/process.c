/* See process.h. Between fork() and execvp() the child makes system calls only: the parent has threads. */
#include "coordinator/launch/process.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "coordinator/limits.h"
#include "core/base/clock.h"
#include "core/base/pipe.h"
#include "core/base/utf8.h"

enum { LAST_LINE = 300, MOST_FDS = 65536 };

/* ---- the child ---- */

static void close_others(void)
{
    struct rlimit limit = {0};
    getrlimit(RLIMIT_NOFILE, &limit);
    int most = limit.rlim_cur > 0 && limit.rlim_cur < MOST_FDS ? (int)limit.rlim_cur : MOST_FDS;
    for (int fd = STDERR_FILENO + 1; fd < most; fd++)
        close(fd);
}

static void default_signals(void)
{
    static const int reset[] = {SIGPIPE, SIGXFSZ, SIGINT, SIGTERM, SIGHUP, SIGCHLD};
    sigset_t none;
    for (size_t i = 0; i < sizeof reset / sizeof reset[0]; i++)
        signal(reset[i], SIG_DFL);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
}

static void say(const char *text)
{
    ssize_t written = write(STDERR_FILENO, text, strlen(text));
    (void)written;
}

static void become(char *const *words, const int fds[3], pid_t parent)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(PROCESS_NEVER);
    setpgid(0, 0);
    for (int i = 0; i < 3; i++)
        if (dup2(fds[i], i) < 0) _exit(PROCESS_NEVER);
    close_others();
    default_signals();
    execvp(words[0], words);
    say("cannot run ");
    say(words[0]);
    say(errno == ENOENT ? ": there is no such program\n" : errno == EACCES ? ": no permission\n" : "\n");
    _exit(PROCESS_NEVER);
}

/* ---- starting ---- */

static bool open_ends(struct process *p, int input, int output, int theirs[3])
{
    if (input == PROCESS_NONE)
        theirs[0] = pipe_above_standard(open("/dev/null", O_RDONLY | O_CLOEXEC));
    else if (input == PROCESS_OURS && !pipe_make(true, &p->input, &theirs[0]))
        return false;
    else if (input >= 0)
        theirs[0] = fcntl(input, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    if (output == PROCESS_KEPT && !pipe_make(false, &p->out_fd, &theirs[1])) return false;
    if (output >= 0) theirs[1] = fcntl(output, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    return pipe_make(false, &p->err_fd, &theirs[2]) && theirs[0] >= 0 && theirs[1] >= 0;
}

bool process_start(struct process *p, char *const *words, int input, int output)
{
    int theirs[3] = {-1, -1, -1};
    *p = (struct process){.input = -1, .out_fd = -1, .err_fd = -1};
    pid_t parent = getpid(), pid = open_ends(p, input, output, theirs) ? fork() : -1;
    if (pid == 0) become(words, theirs, parent);
    int error = errno;
    for (int i = 0; i < 3; i++)
        pipe_close(&theirs[i]);
    if (pid > 0) {
        setpgid(pid, pid);
        p->pid = pid;
        return true;
    }
    process_end(p);
    errno = error;
    return false;
}

/* ---- watching ---- */

static bool reap(struct process *p)
{
    pid_t got = waitpid(p->pid, &p->status, WNOHANG);
    if (got == 0 || (got < 0 && errno == EINTR)) return false;
    pipe_drain(&p->out_fd, &p->out, LIMIT_OUTPUT_BYTES);
    pipe_drain(&p->err_fd, &p->err, LIMIT_OUTPUT_BYTES);
    p->pid = 0;
    pipe_close(&p->input);
    pipe_close(&p->out_fd);
    pipe_close(&p->err_fd);
    return true;
}

bool process_turn(struct process *p)
{
    pipe_drain(&p->out_fd, &p->out, LIMIT_OUTPUT_BYTES);
    pipe_drain(&p->err_fd, &p->err, LIMIT_OUTPUT_BYTES);
    return p->pid == 0 || reap(p);
}

bool process_wait(struct process *p, int timeout_ms)
{
    int64_t end = clock_ms() + timeout_ms;
    while (!process_turn(p)) {
        if (clock_ms() >= end) return false;
        struct pollfd fds[] = {{.fd = p->out_fd, .events = POLLIN}, {.fd = p->err_fd, .events = POLLIN}};
        poll(fds, 2, LIMIT_TOOL_LOOK_MS);
    }
    return true;
}

void process_close_input(struct process *p)
{
    if (p->pid > 0) pipe_close(&p->input);
}

void process_signal(const struct process *p, int number)
{
    if (p->pid > 0) kill(p->pid, number);
}

void process_end(struct process *p)
{
    if (p->pid > 0) {
        kill(-p->pid, SIGKILL);
        while (waitpid(p->pid, &p->status, 0) < 0 && errno == EINTR)
            continue;
        p->pid = 0;
    }
    int *fds[] = {&p->input, &p->out_fd, &p->err_fd};
    for (size_t i = 0; i < 3; i++)
        if (*fds[i] > STDERR_FILENO) pipe_close(fds[i]);
    strbuf_free(&p->out);
    strbuf_free(&p->err);
}

bool process_succeeded(const struct process *p)
{
    return WIFEXITED(p->status) && WEXITSTATUS(p->status) == 0;
}

/* The last line that has something in it, without control characters: a remote machine wrote it. */
static void add_last_line(const struct strbuf *err, struct strbuf *out)
{
    size_t end = err->length;
    while (end > 0 && strchr(" \t\r\n", err->text[end - 1]))
        end--;
    size_t start = end;
    while (start > 0 && err->text[start - 1] != '\n' && end - start < LAST_LINE)
        start--;
    if (start == end) return;
    strbuf_add(out, ": ");
    size_t at = out->length;
    strbuf_addn(out, err->text + start, end - start);
    for (char *c = out->text + at; *c; c++)
        if ((unsigned char)*c < ' ' || *c == 127) *c = ' ';
    utf8_clean(out->text + at);
}

void process_reason(const struct process *p, struct strbuf *out)
{
    if (WIFSIGNALED(p->status))
        strbuf_printf(out, "signal %d", WTERMSIG(p->status));
    else
        strbuf_printf(out, "exit status %d", WEXITSTATUS(p->status));
    add_last_line(&p->err, out);
}
