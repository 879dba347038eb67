/* A space with a user's program, from the command line: what is counted, searched, stored and exported. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/e2e/run.h"

#define TRANSPOSE "experiments/spaces/transpose.space"
#define SPACE_RUN_ALL "460" /* evaluations: its candidates */

/* The run must have ended with CLI_OK; its standard output, which the caller frees. */
static char *space_run_output(struct e2e_run r)
{
    char *out = r.out;
    cr_assert_eq(r.status, CLI_OK, "%s", r.err);
    free(r.err);
    return out;
}

Test(space_run, repeated_parameters_add_up)
{
    char *once = space_run_output(
             E2E_RUN(&cli_space, "count", TRANSPOSE, "--param", "cache=4096,n=512", "--json")),
         *twice = space_run_output(
             E2E_RUN(&cli_space, "count", TRANSPOSE, "--param", "cache=4096", "--param", "n=512", "--json"));
    cr_expect(strstr(once, "\"solutions\": 318,"), "%s", once);
    cr_expect(strstr(twice, "\"solutions\": 318,"), "%s", twice);
    free(once);
    free(twice);
}

/* The queens stand where they did, and are listed by the last row. */
Test(space_run, patterns_order_a_listing)
{
    char *list = space_run_output(E2E_RUN(&cli_space, "enumerate", "spacedsl/spaces/queens.space", "--param",
                                          "n=4", "--order", "column( 3 ),column(*1), column"));
    cr_expect_str_eq(list, "column(0)=2 column(1)=0 column(2)=3 column(3)=1\n"
                           "column(0)=1 column(1)=3 column(2)=0 column(3)=2\n");
    free(list);
}

/* A search of the transpose space with a store and a folder, where the smallest tile is the best one. */
struct space_run {
    char folder[32], store[64], best[64], out[64];
};

static struct e2e_run space_run_search(struct space_run *s, const char *evaluations)
{
    e2e_folder(s->folder);
    snprintf(s->store, sizeof s->store, "%s/runs.db", s->folder);
    snprintf(s->out, sizeof s->out, "%s/best", s->folder);
    snprintf(s->best, sizeof s->best, "%s/best/best.json", s->folder);
    const char *command =
        "sh -c 'test $1 -lt 256 && echo $1 || { echo too tall >&2; exit 3; }' - {tile_rows}";
    return E2E_RUN(&cli_tune, "--space", TRANSPOSE, "--command", command, "--evaluations", evaluations,
                   "--verbose", "--store", s->store, "--out", s->out);
}

static void space_run_remove(const struct space_run *s)
{
    char command[64];
    snprintf(command, sizeof command, "rm -r %s", s->folder);
    cr_expect_eq(system(command), 0);
}

/* --verbose tells the decisions of each candidate, and why one failed. */
Test(space_run, verbose_lines_tell_the_decisions, .timeout = 120)
{
    struct space_run s;
    struct e2e_run r = space_run_search(&s, SPACE_RUN_ALL);
    cr_expect_eq(r.status, CLI_OK, "%s", r.err);
    cr_expect(strstr(r.err, "  ok  1 ns  {\"tile_rows\":1,\"tile_columns\":"), "%s", r.err);
    cr_expect(strstr(r.err, "  launch_error  -  ended with status 3: too tall  {\"tile_rows\":256,"), "%s",
              r.err);
    e2e_run_free(&r);
    space_run_remove(&s);
}

/* Final rounds end after their time, but three are made. */
Test(space_run, final_rounds_have_a_time, .timeout = 120)
{
    static const char *const times[] = {"60", "0.001"}, *const rounds[] = {"\"rounds\": 11", "\"rounds\": 3"};
    for (size_t i = 0; i < 2; i++) {
        char *out =
            space_run_output(E2E_RUN(&cli_tune, "--space", TRANSPOSE, "--command", "echo {tile_rows}",
                                     "--evaluations", "3", "--rounds-time", times[i], "--quiet", "--json"));
        cr_expect(strstr(out, rounds[i]), "%s", out);
        free(out);
    }
}

/* Exports have the decisions: an object in JSON lines, columns in CSV. */
Test(space_run, exports_tell_the_decisions, .timeout = 120)
{
    struct space_run s;
    free(space_run_output(space_run_search(&s, SPACE_RUN_ALL)));
    char *csv = space_run_output(E2E_RUN(&cli_store, "export", s.store, "--format", "csv")),
         *lines = space_run_output(E2E_RUN(&cli_store, "export", s.store));
    static const char head[] = "run,kernel,sizes,device,number,status,median_ns,kernel_hash,found_at,message,"
                               "\"tile_rows\",\"tile_columns\",\"unroll\",\"order\","
                               "label,quoted_ns,quoted_low_ns,quoted_high_ns,quoted_rounds\n";
    cr_expect_eq(strncmp(csv, head, strlen(head)), 0, "%.200s", csv);
    cr_expect(strstr(csv, "\"ended with status 3: too tall\",256,"), "%.500s", csv);
    cr_expect(strstr(csv, ",\"\",1,1,1,\"READ\",\"\","));
    cr_expect(
        strstr(lines, "\"decisions\":{\"tile_rows\":1,\"tile_columns\":1,\"unroll\":1,\"order\":\"READ\"}"));
    free(csv);
    free(lines);
    space_run_remove(&s);
}

static void space_run_refused(struct e2e_run r, const char *message)
{
    cr_expect_eq(r.status, CLI_USAGE, "%s", r.err);
    cr_expect(strstr(r.err, message), "wanted \"%s\", got \"%s\"", message, r.err);
    e2e_run_free(&r);
}

/* Further numbers are members in JSON lines, columns in CSV, and shown for the best one. */
Test(space_run, further_numbers_are_exported, .timeout = 120)
{
    char folder[32], store[64], command[64];
    e2e_folder(folder);
    snprintf(store, sizeof store, "%s/runs.db", folder);
    struct e2e_run r = E2E_RUN(&cli_tune, "--space", TRANSPOSE, "--command",
                               "printf 'gflops: %s.5\\n%s\\n' {tile_rows} {tile_rows}", "--evaluations",
                               "460", "--quiet", "--store", store);
    cr_expect_eq(r.status, CLI_OK, "%s", r.err);
    cr_expect(strstr(r.out, "best         1 ns (1 to 1, 11 rounds), found at evaluation "), "%s", r.out);
    cr_expect(strstr(r.out, "its output\n  gflops       1.5\n"), "%s", r.out);
    cr_expect_str_eq(
        r.err, "warning: --command has no placeholder for the choices 'tile_columns', 'unroll', 'order': "
               "candidates that differ only there run the same command line\n");
    e2e_run_free(&r);
    char *csv = space_run_output(E2E_RUN(&cli_store, "export", store, "--format", "csv")),
         *lines = space_run_output(E2E_RUN(&cli_store, "export", store));
    cr_expect(strstr(csv, "\"order\",\"gflops\",label,quoted_ns,"), "%.300s", csv);
    cr_expect(strstr(csv, ",\"READ\",64.5,\"\",,,,\n"), "%.300s", csv);
    cr_expect(strstr(lines, "\"numbers\":{\"gflops\":64.5}"), "%.900s", lines);
    free(csv);
    free(lines);
    r = E2E_RUN(&cli_tune, "--space", TRANSPOSE, "--recorded", store, "--heuristic", "random",
                "--evaluations", "460", "--quiet", "--json");
    cr_expect_eq(r.status, CLI_OK, "%s", r.err);
    cr_expect(strstr(r.out, "\"best_ns\": 1.0,") && strstr(r.out, "\"quoted\": false"), "%s", r.out);
    e2e_run_free(&r);
    space_run_refused(E2E_RUN(&cli_tune, "--space", TRANSPOSE, "--recorded", store, "--timeout", "3"),
                      "--timeout does not apply to --recorded: the command is not run");
    snprintf(command, sizeof command, "rm -r %s", folder);
    cr_expect_eq(system(command), 0);
}

/* What asks for a program says that there is none. */
Test(space_run, is_no_program, .timeout = 120)
{
    struct space_run s;
    free(space_run_output(space_run_search(&s, "20")));
    space_run_refused(E2E_RUN(&cli_explain, s.best),
                      "a result of 'thresh tune --space' has no kernel to rebuild");
    space_run_refused(E2E_RUN(&cli_replay, s.best),
                      "a result of 'thresh tune --space' has no kernel to rebuild");
    space_run_refused(E2E_RUN(&cli_explain, s.store, "--best"), "run 1 is of `tune --space`");
    space_run_refused(E2E_RUN(&cli_audit, s.store), "run 1 is of `tune --space`");
    space_run_refused(E2E_RUN(&cli_tune, "--space", TRANSPOSE, "--command", "true", "--param", "n=512",
                              "--store", s.store, "--resume"),
                      "the run has another space or other parameters");
    space_run_remove(&s);
}

/* `space check` of a file that needs no instance finds what only one shows: a list of no values. */
Test(space_run, check_looks_at_lists_of_values)
{
    char path[32], place[128];
    e2e_file(path, "space a\nparameter n: int = 1\nchoice x: int in 2..n\n");
    snprintf(place, sizeof place,
             "%s:3:1: error: the list of values of 'x' is empty\n    choice x: int in 2..n\n", path);
    space_run_refused(E2E_RUN(&cli_space, "check", path), place);
    free(space_run_output(E2E_RUN(&cli_space, "check", path, "--param", "n=2")));
    unlink(path);
}

/* `space check --explain-cost` names the constraint, the limit and what to change. */
Test(space_run, check_explains_costs)
{
    char path[32], line[128];
    e2e_file(path, "space a\nchoice x: int in 1..65\nchoice y: int in 1..9\nrequire x <= y\n");
    snprintf(line, sizeof line, "%s:4: x <= y (1 instance)\n    why:    a choice of 65 values", path);
    char *out = space_run_output(E2E_RUN(&cli_space, "check", path, "--explain-cost"));
    cr_expect(strstr(out, line) && strstr(out, "    cost:   bounds instead of a table") &&
                  strstr(out, "    change: give the choice fewer values"),
              "%s", out);
    free(out);
    out = space_run_output(E2E_RUN(&cli_space, "check", path, "--explain-cost", "--json"));
    cr_expect(strstr(out, "\"slower\"") && strstr(out, "\"line\": 4"), "%s", out);
    free(out);
    out = space_run_output(E2E_RUN(&cli_space, "check", path, "--json"));
    cr_expect(!strstr(out, "slower"), "%s", out);
    free(out);
    out = space_run_output(E2E_RUN(&cli_space, "check", TRANSPOSE, "--explain-cost"));
    cr_expect(strstr(out, "every constraint is propagated in the fastest way"), "%s", out);
    free(out);
    space_run_refused(E2E_RUN(&cli_space, "count", path, "--explain-cost"),
                      "does not apply to 'thresh space count'");
    unlink(path);
}

/* An empty space has a count, and a constraint to blame. */
Test(space_run, empty_spaces_tell_why)
{
    char path[32], note[128];
    e2e_file(path, "space a\nparameter n: int = 1\nchoice x: int in 1..3\nrequire x < n\n");
    snprintf(note, sizeof note, "note: the space has no solution (%s:4: x < n)\n", path);
    struct e2e_run r = E2E_RUN(&cli_space, "count", path);
    cr_expect_eq(r.status, CLI_OK);
    cr_expect_eq(strncmp(r.out, "0 solutions, ", 13), 0, "%s", r.out);
    cr_expect_str_eq(r.err, note);
    e2e_run_free(&r);
    unlink(path);
}

/* A space is told from a program by its name. */
Test(space_run, spaces_are_no_programs)
{
    char *out =
        space_run_output(E2E_RUN(&cli_estimate, TRANSPOSE, "--param", "cache=4096", "--pin", "unroll=1"));
    cr_expect_eq(strncmp(out, "solutions        ", 17), 0, "%s", out);
    cr_expect(strstr(out, " (exact)\n"), "%s", out);
    free(out);
    out = space_run_output(E2E_RUN(&cli_estimate, TRANSPOSE, "--json"));
    cr_expect(strstr(out, "\"method\": \"exact\"") && strstr(out, "\"estimate\": 460.0,"), "%s", out);
    cr_expect(strstr(out, "\"complete\": true"), "%s", out);
    free(out);
    out = space_run_output(E2E_RUN(&cli_estimate, TRANSPOSE, "--method", "knuth", "--json"));
    cr_expect(strstr(out, "\"method\": \"knuth\"") && strstr(out, "\"samples\": 10000,"), "%s", out);
    free(out);
    space_run_refused(E2E_RUN(&cli_estimate, TRANSPOSE, "--size", "M=3"), "--size does not apply to a space");
    space_run_refused(E2E_RUN(&cli_estimate, "experiments/kernels/axpy.lift", "--param", "n=3"),
                      "the space of Lift programs has no parameter 'n'");
    space_run_refused(E2E_RUN(&cli_descend, TRANSPOSE), "use 'thresh space descend " TRANSPOSE "'");
}

/* More solutions than a double holds: 4^600. */
Test(space_run, huge_spaces_are_estimated)
{
    char path[32];
    e2e_file(path, "space a\n");
    FILE *out = fopen(path, "a");
    for (int i = 0; i < 600; i++)
        fprintf(out, "choice x%d: int in 1..4\n", i);
    cr_assert_eq(fclose(out), 0);
    char *counted = space_run_output(E2E_RUN(&cli_space, "count", path, "--json")),
         *estimated = space_run_output(E2E_RUN(&cli_space, "descend", path, "--samples", "3", "--json"));
    cr_expect(strstr(counted, "\"log10\": 361.2359947"), "%s", counted);
    cr_expect(strstr(estimated, "\"log10_leaves\": 361.2359947"), "%s", estimated);
    cr_expect(strstr(estimated, "\"ci95_high\": null"), "%s", estimated);
    free(counted);
    free(estimated);
    unlink(path);
}
