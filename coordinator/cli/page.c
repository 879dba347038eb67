/* A child that serves a page; see page.h. The parent binds the socket, so that it can say what is wrong and
 * where the page is. The child only reads, so that it may be killed at any moment. Signals stay blocked in it
 * and its group is its own: Ctrl-C is for the parent, after whose end there is no page. */
#include "coordinator/cli/page.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "coordinator/cli/table.h"

enum { READS = 60 }; /* 50 ms between two */

/* The campaign takes the store for writing at the same time: what was read of it then does not count, and is
 * read again. NULL after an error. */
static struct board *open_board(const char *store, const struct report_opener *opener, struct diag *d)
{
    const struct timespec pause = {.tv_nsec = 50000000};
    struct board *board = NULL;
    for (int i = 1; i < READS && !board; i++) {
        struct diag *unstable = diag_new();
        board = board_new(store, opener, cli_version, unstable);
        diag_free(unstable);
        if (!board) nanosleep(&pause, NULL);
    }
    return board ? board : board_new(store, opener, cli_version, d);
}

/* false after an error. */
static bool serve(const struct cli_args *a, const char *store, struct listener *l, struct diag *d)
{
    struct access access = {.loopback = true};
    const struct report_opener opener = {cli_open_run, (void *)(uintptr_t)a, NULL, -1};
    struct board *board = open_board(store, &opener, d);
    if (!board) return false;
    const struct server_options o = {l->fd, &access, board, cli_version};
    struct server *server = server_start(&o, d);
    if (server) cli_serve_until(server, board, -1);
    return false;
}

static void child_main(const struct cli_args *a, const char *store, struct listener *l, pid_t parent)
{
    struct diag *d = diag_new();
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(CLI_FAILED);
    setpgid(0, 0);
    if (!serve(a, store, l, d)) diag_print(d, stderr);
    fflush(stderr);
    _exit(CLI_FAILED);
}

bool cli_page_start(const struct cli_args *a, const char *store, uint16_t port, struct cli_page *out,
                    struct diag *d)
{
    struct listener l;
    pid_t parent = getpid();
    *out = (struct cli_page){0};
    if (!listen_open("127.0.0.1", port, "--page", &l, d)) return false;
    fflush(NULL);
    out->pid = fork();
    if (out->pid == 0) child_main(a, store, &l, parent);
    if (out->pid < 0) diag_plain(d, "cannot start a process for the page: %s", strerror(errno));
    if (out->pid < 0) out->pid = 0;
    memcpy(out->url, l.url, sizeof out->url);
    close(l.fd);
    return out->pid > 0;
}

void cli_page_end(struct cli_page *p)
{
    if (p->pid <= 0) return;
    kill(p->pid, SIGKILL);
    while (waitpid(p->pid, NULL, 0) < 0 && errno == EINTR)
        continue;
    p->pid = 0;
}
