/* thresh: the process around cli_main(). */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "coordinator/cli/cli.h"
#include "core/base/file.h"

/* Whether standard output is a pipe that nobody reads any more. */
static bool is_unread(void)
{
    struct pollfd out = {.fd = STDOUT_FILENO};
    return poll(&out, 1, 0) > 0 && out.revents & POLLERR;
}

/* Runs at exit, argp's included. A result that standard output did not take is work that failed. A reader
 * that has seen enough, as `head` has, is no error. */
static void finish_output(void)
{
    int error = file_stream_error(stdout);
    if (!error && close(STDOUT_FILENO) && errno != EBADF) error = errno;
    if (!error || error == EPIPE || is_unread()) return;
    fprintf(stderr, "error: cannot write to standard output: %s\n", file_error_text(error));
    _exit(CLI_FAILED);
}

int main(int argc, char **argv)
{
    file_ignore_signals();
    atexit(finish_output);
    return cli_main(argc, argv);
}
