/* thresh: finds the subcommand and hands over. */
#include <argp.h>
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "coordinator/cli/cli.h"
#include "core/base/file.h"

static const struct cli_command *const commands[] = {
    &cli_tune,  &cli_estimate, &cli_descend,    &cli_explain, &cli_replay, &cli_agent, &cli_device, &cli_lift,
    &cli_space, &cli_store,    &cli_heuristics, &cli_levels,  &cli_audit,  &cli_bound, &cli_verify};

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

/* What the subcommand does: the first sentence of its help. */
static void print_summary(FILE *out, const char *help)
{
    size_t n = strcspn(help, ".\v");
    while (help[n] == '.' && help[n + 1] != ' ' && help[n + 1] != '\v')
        n += 1 + strcspn(help + n + 1, ".\v");
    fprintf(out, "      %.*s\n", (int)n, help);
}

static void print_usage(FILE *out)
{
    fputs("usage: thresh COMMAND [OPTION...]\n\nthresh searches for the fastest implementation of a "
          "numerical kernel.\n\n",
          out);
    for (size_t i = 0; i < sizeof commands / sizeof commands[0]; i++) {
        fprintf(out, "  thresh %s%s%s\n", commands[i]->name, *commands[i]->positional ? " " : "",
                commands[i]->positional);
        print_summary(out, commands[i]->help);
    }
    fputs("\n'thresh COMMAND --help' says more, 'thresh --version' which thresh this is. Example:\n"
          "  thresh tune matmul.lift --size M=512,N=512,K=512 --evaluations 100\n",
          out);
}

int main(int argc, char **argv)
{
    argp_err_exit_status = CLI_USAGE;
    file_ignore_signals();
    atexit(finish_output);
    if (argc > 1 && (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "help") == 0)) {
        print_usage(stdout);
        return CLI_OK;
    }
    if (argc > 1 && strcmp(argv[1], "--version") == 0) {
        puts(cli_version);
        return CLI_OK;
    }
    for (size_t i = 0; argc > 1 && i < sizeof commands / sizeof commands[0]; i++)
        if (strcmp(commands[i]->name, argv[1]) == 0) return cli_run(commands[i], argc - 1, argv + 1);
    if (argc > 1)
        fprintf(stderr, "thresh: there is no command '%s'; 'thresh --help' lists them\n", argv[1]);
    else
        print_usage(stderr);
    return CLI_USAGE;
}
