/* The subcommands in the order of help, and `thresh ARGS...`: `thresh tune ...` runs cli_tune. */
#include <stdio.h>
#include <string.h>

#include "coordinator/cli/cli.h"
#include "coordinator/cli/table.h"
#include "core/base/arena.h"

const struct cli_family *cli_family(size_t i)
{
    static const struct cli_family families[] = {
        {"Search", {&cli_tune, &cli_campaign, &cli_explain, &cli_replay, &cli_replay_search, &cli_store}},
        {"Reports", {&cli_report, &cli_serve, &cli_export}},
        {"Programs and devices", {&cli_lift, &cli_verify, &cli_device, &cli_agent, &cli_keys}},
        {"Spaces", {&cli_choices, &cli_estimate, &cli_space, &cli_heuristics}},
        {"Lower bounds and the engine", {&cli_bound, &cli_audit, &cli_levels, &cli_descend}},
        {"Help", {&cli_help, &cli_completion}}};
    return i < sizeof families / sizeof families[0] ? &families[i] : NULL;
}

const struct cli_command *cli_command_at(size_t i)
{
    const struct cli_family *family;
    for (size_t f = 0; (family = cli_family(f)); f++)
        for (size_t k = 0; family->commands[k]; k++)
            if (i-- == 0) return family->commands[k];
    return NULL;
}

enum { MOST_COMMANDS = 64 };

const struct cli_command *cli_find_command(const char *name, struct diag *d)
{
    const char *known[MOST_COMMANDS];
    size_t n = 0;
    for (const struct cli_command *c; n < MOST_COMMANDS && (c = cli_command_at(n)); n++) {
        if (strcmp(c->name, name) == 0) return c;
        known[n] = c->name;
    }
    struct arena *a = arena_new();
    diag_plain(d, "unknown command '%s'%s", name, cli_did_you_mean(a, name, known, n));
    arena_free(a);
    return NULL;
}

static bool is_one_of(const char *word, const char *full, const char *brief)
{
    return strcmp(word, full) == 0 || strcmp(word, brief) == 0;
}

static int run_command(int argc, char **argv)
{
    struct diag *d = diag_new();
    const struct cli_command *command = cli_find_command(argv[1], d);
    if (command) {
        diag_free(d);
        return cli_run(argv[0], command, argc - 1, argv + 1);
    }
    fprintf(stderr, "thresh: %s\nTry 'thresh --help' for a list of commands.\n",
            diag_message(d, 0) + strlen("error: "));
    diag_free(d);
    return CLI_USAGE;
}

int cli_main(int argc, char **argv)
{
    if (argc < 2) {
        cli_print_overview(stderr);
        return CLI_USAGE;
    }
    int status = CLI_OK;
    if (is_one_of(argv[1], "--help", "-h"))
        cli_print_overview(stdout);
    else if (is_one_of(argv[1], "--version", "-V"))
        puts(cli_version);
    else
        status = run_command(argc, argv);
    return status;
}
