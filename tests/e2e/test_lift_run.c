/* The language from the command line: programs are checked, printed and interpreted. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/e2e/run.h"

#define MATMUL "experiments/kernels/matmul.lift"

/* The run must have ended with CLI_OK; its standard output, which the caller frees. */
static char *lift_run_output(struct e2e_run r)
{
    char *out = r.out;
    cr_assert_eq(r.status, CLI_OK, "%s", r.err);
    cr_expect_str_eq(r.err, "");
    free(r.err);
    return out;
}

Test(lift_run, check_says_what_comes_out)
{
    char *out = lift_run_output(E2E_RUN(&cli_lift, "check", MATMUL, "--size", "M=2", "--size", "N=3,K=4"));
    cr_expect_str_eq(out, MATMUL ": ok, a [[float]N]M\n");
    free(out);
}

/* A printed program is the same program. */
Test(lift_run, what_is_printed_prints_the_same)
{
    char path[32], *once = lift_run_output(E2E_RUN(&cli_lift, "print", MATMUL));
    e2e_file(path, once);
    char *twice = lift_run_output(E2E_RUN(&cli_lift, "print", path));
    cr_expect_str_eq(once, twice);
    free(once);
    free(twice);
    unlink(path);
}

/* Inputs are random by their seeds, and of their types. */
Test(lift_run, inputs_are_of_their_types)
{
    char path[32];
    e2e_file(path, "size N\ninput x: [int]N\noutput map(fun v -> v * 2, x)\n");
    char *one = lift_run_output(E2E_RUN(&cli_lift, "run", path, "--size", "N=5")),
         *same = lift_run_output(E2E_RUN(&cli_lift, "run", path, "--size", "N=5", "--input", "x=random:1")),
         *other = lift_run_output(E2E_RUN(&cli_lift, "run", path, "--size", "N=5", "--input", "x=random:2"));
    cr_expect_str_eq(one, same);
    cr_expect_str_neq(one, other);
    unsigned n = 0;
    for (char *line = strtok(one, "\n"); line; line = strtok(NULL, "\n"), n++) {
        double value = strtod(line, NULL);
        cr_expect(fabs(value) <= 16 && fmod(value, 2) == 0, "%s is no whole number, doubled", line);
    }
    cr_expect_eq(n, 5);
    free(one);
    free(same);
    free(other);
    unlink(path);
}

Test(lift_run, inputs_that_are_none)
{
    static const struct {
        const char *input, *message;
    } cases[] = {{"Q=random:1", "'Q=random:1' names no input of the program"},
                 {"A", "'A' names no input of the program"},
                 {"A=random:", "'A=random:' is not NAME=random:SEED"},
                 {"A=file.npy", "'A=file.npy' is not NAME=random:SEED"}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct e2e_run r =
            E2E_RUN(&cli_lift, "run", MATMUL, "--size", "M=2,N=2,K=2", "--input", cases[i].input);
        cr_expect_eq(r.status, CLI_USAGE, "%s", cases[i].input);
        cr_expect(strstr(r.err, cases[i].message), "%s", r.err);
        e2e_run_free(&r);
    }
}

/* JSON has no infinity: every element is there. */
Test(lift_run, elements_that_are_not_finite_are_null)
{
    char path[32], *out;
    e2e_file(path, "size N\ninput x: [float]N\noutput map(fun v -> v / (v - v), x)\n");
    out = lift_run_output(E2E_RUN(&cli_lift, "run", path, "--size", "N=3", "--json"));
    cr_expect_str_eq(out, "{\n \"output\": [\n  null,\n  null,\n  null\n ]\n}\n");
    free(out);
    unlink(path);
}
