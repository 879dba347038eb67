/* Fork, files for the output, and the exit status that main() would give. */
#include "tests/e2e/run.h"

#include <criterion/criterion.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/base/diag.h"
#include "core/base/file.h"

/* For mkstemp() and mkdtemp(), which fill in the name. */
static const char E2E_TEMPLATE[] = "/tmp/thresh-e2e-XXXXXX";

void e2e_folder(char path[32])
{
    strcpy(path, E2E_TEMPLATE);
    cr_assert_not_null(mkdtemp(path));
}

void e2e_use_library(const char *folder, const char *text)
{
    char path[64], command[128];
    snprintf(path, sizeof path, "%s/libtest.so", folder);
    snprintf(command, sizeof command, "cc -shared -fPIC -x c -o %s - -Wl,--no-as-needed -lOpenCL -ldl", path);
    FILE *compiler = popen(command, "w");
    cr_assert_not_null(compiler);
    fputs(text, compiler);
    cr_assert_eq(pclose(compiler), 0);
    setenv("THRESH_OPENCL", path, 1);
}

void e2e_file(char path[32], const char *text)
{
    strcpy(path, E2E_TEMPLATE);
    int fd = mkstemp(path);
    cr_assert_geq(fd, 0);
    cr_assert_eq(write(fd, text, strlen(text)), (ssize_t)strlen(text));
    close(fd);
}

static void run_child(const struct e2e_process *p, const struct cli_command *command, const char *const *args)
{
    char program[] = "thresh", *argv[E2E_MOST_ARGS + 3] = {program};
    int argc = 1;
    if (command) argv[argc++] = strdup(command->name);
    for (; *args && argc <= E2E_MOST_ARGS + 1; args++)
        argv[argc++] = strdup(*args);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    file_ignore_signals();
    if (!freopen(p->out, "w", stdout) || !freopen(p->err, "w", stderr)) _exit(127);
    int status = cli_main(argc, argv);
    if (!cli_flush_output()) status = CLI_FAILED;
    fflush(stderr);
    _exit(status);
}

struct e2e_process e2e_start_to(const char *out, const struct cli_command *command, const char *const *args)
{
    struct e2e_process p = {.keeps_out = out != NULL};
    if (out)
        snprintf(p.out, sizeof p.out, "%s", out);
    else
        e2e_file(p.out, "");
    e2e_file(p.err, "");
    p.pid = fork();
    cr_assert_geq(p.pid, 0);
    if (p.pid == 0) run_child(&p, command, args);
    return p;
}

struct e2e_process e2e_start(const struct cli_command *command, const char *const *args)
{
    return e2e_start_to(NULL, command, args);
}

static char *read_back(const char *path)
{
    struct diag *d = diag_new();
    size_t n;
    char *text = source_read_file(path, 1 << 24, &n, d);
    cr_assert_not_null(text);
    unlink(path);
    diag_free(d);
    return text;
}

bool e2e_has_ended(const struct e2e_process *p)
{
    siginfo_t info = {0};
    cr_assert_eq(waitid(P_PID, (id_t)p->pid, &info, WEXITED | WNOHANG | WNOWAIT), 0);
    return info.si_pid == p->pid;
}

struct e2e_run e2e_finish(const struct e2e_process *p)
{
    int status;
    cr_assert_eq(waitpid(p->pid, &status, 0), p->pid);
    struct e2e_run r = {.status = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status)};
    r.out = p->keeps_out ? strdup("") : read_back(p->out);
    r.err = read_back(p->err);
    return r;
}

struct e2e_run e2e_run(const struct cli_command *command, const char *const *args)
{
    struct e2e_process p = e2e_start(command, args);
    return e2e_finish(&p);
}

struct e2e_run e2e_run_to(const char *out, const struct cli_command *command, const char *const *args)
{
    struct e2e_process p = e2e_start_to(out, command, args);
    return e2e_finish(&p);
}

void e2e_run_free(struct e2e_run *r)
{
    free(r->out);
    free(r->err);
    *r = (struct e2e_run){0};
}
