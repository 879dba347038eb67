/* What every subcommand says of itself: --help with an example, --version. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "coordinator/cli/table.h"
#include "tests/e2e/run.h"

/* A version, and the revision if it was built from one. */
Test(usage, versions)
{
    char wanted[128];
    unsigned major, minor;
    int end = 0;
    cr_assert_eq(sscanf(cli_version, "thresh %u.%u%n", &major, &minor, &end), 2, "%s", cli_version);
    cr_expect(!cli_version[end] || !strncmp(cli_version + end, " (", 2), "%s", cli_version);
    snprintf(wanted, sizeof wanted, "%s\n", cli_version);
    for (size_t i = 0; cli_command_at(i); i++) {
        struct e2e_run r = E2E_RUN(cli_command_at(i), i % 2 ? "--version" : "-V");
        cr_expect_eq(r.status, CLI_OK, "%s", cli_command_at(i)->name);
        cr_expect_str_eq(r.out, wanted, "%s", cli_command_at(i)->name);
        cr_expect_str_eq(r.err, "", "%s", cli_command_at(i)->name);
        e2e_run_free(&r);
    }
}

/* Names, defaults, ranges: what --heuristic takes. */
Test(usage, heuristics_are_listed)
{
    struct e2e_run all = e2e_run(&cli_heuristics, (const char *const[]){NULL}),
                   one = E2E_RUN(&cli_heuristics, "uct"), json = E2E_RUN(&cli_heuristics, "tag", "--json"),
                   none = E2E_RUN(&cli_heuristics, "tug"), policy = E2E_RUN(&cli_heuristics, "leaders");
    cr_expect(strstr(all.out, "\nrandom\n  rollout      uniform\nbound\n  rollout      own\n"), "%s",
              all.out);
    cr_expect(strstr(all.out, "\nroundrobin\n  rollout      prior+bound+leaders+guess\n"), "%s", all.out);
    cr_expect(strstr(all.out, "\nguess          draw several rollouts"), "%s", all.out);
    cr_expect(strstr(policy.out, "\n  imitate      0.7      0 to 1 "), "%s", policy.out);
    cr_expect(strstr(json.out, "\"rollout\": \"prior+bound+leaders+guess\""), "%s", json.out);
    cr_expect_eq(strncmp(one.out, "uct\n  c ", 8), 0, "%s", one.out);
    cr_expect(strstr(one.out, "\n  formula      uct      uct|puct         exploration term\n"), "%s",
              one.out);
    cr_expect(strstr(json.out, "\"key\": \"topk\",\n     \"default\": \"10\""), "%s", json.out);
    cr_expect_eq(none.status, CLI_USAGE);
    e2e_run_free(&all);
    e2e_run_free(&one);
    e2e_run_free(&json);
    e2e_run_free(&none);
    e2e_run_free(&policy);
}

static struct e2e_run usage_thresh(const char *const *args)
{
    return e2e_run(NULL, args);
}
#define THRESH(...) usage_thresh((const char *const[]){__VA_ARGS__, NULL})

/* The usage line, and at the end a whole command to try. All ways to ask give the same page. */
Test(usage, help_has_an_example)
{
    for (size_t i = 0; cli_command_at(i); i++) {
        const char *name = cli_command_at(i)->name;
        char usage[64], example[64];
        snprintf(usage, sizeof usage, "Usage: thresh %s ", name);
        snprintf(example, sizeof example, "\nExample: thresh %s ", name);
        struct e2e_run r = THRESH(name, "--help"), brief = THRESH(name, "-h"), help = THRESH("help", name);
        cr_expect_eq(r.status, CLI_OK, "%s", name);
        cr_expect_eq(strncmp(r.out, usage, strlen(usage)), 0, "%s", r.out);
        cr_expect(strstr(r.out, example) || strcmp(name, "completion") == 0, "no example: %s", r.out);
        cr_expect_str_eq(brief.out, r.out);
        cr_expect_str_eq(help.out, r.out);
        cr_expect(brief.status == CLI_OK && help.status == CLI_OK && !*help.err);
        e2e_run_free(&r);
        e2e_run_free(&brief);
        e2e_run_free(&help);
    }
}

/* The manual text of tune has sections, in --help and in the manual page. */
Test(usage, help_has_paragraphs_and_titles)
{
    struct e2e_run help = THRESH("help", "tune"), man = THRESH("help", "--man", "tune");
    cr_expect(strstr(help.out, ".\n\nThe search:\n  An implementation is"), "%s", help.out);
    cr_expect(strstr(help.out, ".\n\n  Candidates whose lower bound"), "%s", help.out);
    cr_expect(strstr(help.out, "\nInput:\n"), "%s", help.out);
    cr_expect(strstr(man.out, ".SS The search\n.PP\nAn implementation is"), "%s", man.out);
    cr_expect(strstr(man.out, ".PP\nCandidates whose lower bound"), "%s", man.out);
    e2e_run_free(&help);
    e2e_run_free(&man);
}

/* Every option under the title of a section, and examples on a line each, however narrow the page is. */
Test(usage, pages_are_wrapped_but_examples_are_not)
{
    setenv("COLUMNS", "40", 1);
    for (size_t i = 0; cli_command_at(i); i++) {
        const struct cli_command *c = cli_command_at(i);
        struct e2e_run r = E2E_RUN(c, "--help");
        char *examples = strstr(r.out, cli_examples(c)), *save = NULL;
        cr_assert_not_null(examples, "%s", r.out);
        *examples = 0;
        for (enum cli_key key = 0; key < CLI_KEY_COUNT; key++) {
            char option[64];
            snprintf(option, sizeof option, "--%s", cli_option(key).name);
            if (cli_takes(c, key)) cr_expect(strstr(r.out, option), "%s: %s", c->name, option);
        }
        char *body = strstr(r.out, "\n\n");
        for (char *line = strtok_r(body, "\n", &save); line; line = strtok_r(NULL, "\n", &save))
            cr_expect(strlen(line) <= 40 || !strchr(line + strspn(line, " "), ' '), "%s", line);
        e2e_run_free(&r);
    }
}

Test(usage, the_overview_lists_every_command)
{
    struct e2e_run full = THRESH("--help"), brief = THRESH("-h"), help = THRESH("help"),
                   none = usage_thresh((const char *const[]){NULL});
    for (size_t i = 0; cli_command_at(i); i++) {
        char line[64];
        int n = snprintf(line, sizeof line, "\n  %s", cli_command_at(i)->name);
        const char *at = strstr(full.out, line);
        while (at && at[n] != ' ' && at[n] != '\n') /* of a longer name */
            at = strstr(at + 1, line);
        cr_expect(at, "%s", line);
    }
    cr_expect_str_eq(brief.out, full.out);
    cr_expect_str_eq(help.out, full.out);
    cr_expect_str_eq(none.err, full.out);
    cr_expect(full.status == CLI_OK && brief.status == CLI_OK && help.status == CLI_OK);
    cr_expect(none.status == CLI_USAGE && !*none.out);
    e2e_run_free(&full);
    e2e_run_free(&brief);
    e2e_run_free(&help);
    e2e_run_free(&none);
}

static void usage_refused(struct e2e_run r, const char *message)
{
    cr_expect_eq(r.status, CLI_USAGE, "%d: %s", r.status, r.err);
    cr_expect(strstr(r.err, message), "'%s' is not in: %s", message, r.err);
    cr_expect_str_eq(r.out, "");
    e2e_run_free(&r);
}

Test(usage, misspelt_names_are_guessed)
{
    usage_refused(THRESH("tnue"), "unknown command 'tnue'; did you mean 'tune'?");
    usage_refused(THRESH("help", "estimat"), "did you mean 'estimate'?");
    usage_refused(THRESH("xyzzy"), "unknown command 'xyzzy'\n");
    usage_refused(THRESH("tune", "--sede", "1"), "unknown option '--sede'; did you mean '--seed'?");
    usage_refused(THRESH("tune", "-json"), "unknown option '-json'; did you mean '--json'?");
    usage_refused(THRESH("bound", "--order", "size"), "--order does not apply to 'thresh bound'");
    usage_refused(THRESH("tune", "--s", "1"), "option '--s' is ambiguous");
    usage_refused(THRESH("tune", "--json=1"), "option '--json' takes no value");
    usage_refused(THRESH("tune", "--store"), "option '--store' needs a value");
    usage_refused(THRESH("tune", "-o"), "option '-o' needs a value");
    usage_refused(THRESH("tune", "-x"), "unknown option '-x'\n");
    usage_refused(THRESH("lift", "check", "a", "b"), "unexpected argument 'b'");
    usage_refused(THRESH("lift", "check"), "missing argument: check|print|run|cut KERNEL.lift");
    usage_refused(THRESH("completion", "fish"), "unknown shell 'fish'");
}
