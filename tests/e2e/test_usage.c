/* What every subcommand says of itself: --help with an example, --version. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "tests/e2e/run.h"

static const struct cli_command *const usage_commands[] = {
    &cli_tune,  &cli_estimate, &cli_descend,    &cli_explain, &cli_replay, &cli_agent, &cli_device, &cli_lift,
    &cli_space, &cli_store,    &cli_heuristics, &cli_levels,  &cli_audit,  &cli_bound, &cli_verify};
enum { USAGE_COMMANDS = sizeof usage_commands / sizeof usage_commands[0] };

/* A version, and the revision if it was built from one. */
Test(usage, versions)
{
    char wanted[128];
    unsigned major, minor;
    int end = 0;
    cr_assert_eq(sscanf(cli_version, "thresh %u.%u%n", &major, &minor, &end), 2, "%s", cli_version);
    cr_expect(!cli_version[end] || !strncmp(cli_version + end, " (", 2), "%s", cli_version);
    snprintf(wanted, sizeof wanted, "%s\n", cli_version);
    for (int i = 0; i < USAGE_COMMANDS; i++) {
        struct e2e_run r = E2E_RUN(usage_commands[i], "--version");
        cr_expect_eq(r.status, CLI_OK, "%s", usage_commands[i]->name);
        cr_expect_str_eq(r.out, wanted, "%s", usage_commands[i]->name);
        cr_expect_str_eq(r.err, "", "%s", usage_commands[i]->name);
        e2e_run_free(&r);
    }
}

/* Names, defaults, ranges: what --heuristic takes. */
Test(usage, heuristics_are_listed)
{
    struct e2e_run all = e2e_run(&cli_heuristics, (const char *const[]){NULL}),
                   one = E2E_RUN(&cli_heuristics, "uct"), json = E2E_RUN(&cli_heuristics, "tag", "--json"),
                   none = E2E_RUN(&cli_heuristics, "tug");
    cr_expect(strstr(all.out, "\nrandom\nbound\nroundrobin\n"), "%s", all.out);
    cr_expect_eq(strncmp(one.out, "uct\n  c ", 8), 0, "%s", one.out);
    cr_expect(strstr(one.out, "\n  formula      uct      uct|puct         exploration term\n"), "%s",
              one.out);
    cr_expect(strstr(json.out, "\"key\": \"topk\",\n     \"default\": \"10\""), "%s", json.out);
    cr_expect_eq(none.status, CLI_USAGE);
    e2e_run_free(&all);
    e2e_run_free(&one);
    e2e_run_free(&json);
    e2e_run_free(&none);
}

/* The usage line, and at the end a whole command to try. */
Test(usage, help_has_an_example)
{
    for (int i = 0; i < USAGE_COMMANDS; i++) {
        char usage[64], example[64];
        snprintf(usage, sizeof usage, "Usage: thresh %s ", usage_commands[i]->name);
        snprintf(example, sizeof example, "\nExample: thresh %s ", usage_commands[i]->name);
        struct e2e_run r = E2E_RUN(usage_commands[i], "--help");
        cr_expect_eq(r.status, CLI_OK, "%s", usage_commands[i]->name);
        cr_expect_eq(strncmp(r.out, usage, strlen(usage)), 0, "%s", r.out);
        cr_expect(strstr(r.out, example), "no example: %s", r.out);
        e2e_run_free(&r);
    }
}
