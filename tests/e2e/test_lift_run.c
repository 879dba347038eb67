/* The language from the command line: programs are checked, printed and interpreted. */
#include <criterion/criterion.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/base/npy.h"
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
    const char *wanted = MATMUL ": ok, a [[float]N]M\n"
                                "input      A: [[float]K]M, 2 x 4, 32 bytes\n"
                                "input      B: [[float]N]K, 4 x 3, 48 bytes\n"
                                "output     out: [[float]N]M, 2 x 3, 24 bytes\n"
                                "dimension  m: 2\n"
                                "dimension  n: 3\n"
                                "dimension  k: 4, reduced\n"
                                "device     ";
    cr_expect_eq(strncmp(out, wanted, strlen(wanted)), 0, "%s", out);
    cr_expect_not(strstr(out, "note: "), "%s", out);
    free(out);
}

/* Several outputs, one of which is an input, and an input of tuples. */
Test(lift_run, arrays_of_a_program)
{
    char path[32];
    e2e_file(path, "size N\ninput a: float\ninput x: [(float, int)]N\ninput y: [float]N\n"
                   "output y = map(fun ((v, k), w) -> a * v + w, zip(x, y))\noutput k = map(get(1), x)\n");
    char *out = lift_run_output(E2E_RUN(&cli_lift, "check", path, "--size", "N=4")),
         *json = lift_run_output(E2E_RUN(&cli_lift, "run", path, "--size", "N=4", "--json"));
    cr_expect(strstr(out, "input      a: float, 4 bytes\n"
                          "input      x_0: [float]N, 4, 16 bytes\n"
                          "input      x_1: [int]N, 4, 16 bytes\n"
                          "in-out     y: [float]N, 4, 16 bytes\n"
                          "output     k: [int]N, 4, 16 bytes\n"),
              "%s", out);
    json_t *o = json_loads(json, 0, NULL), *outputs = json_object_get(o, "outputs");
    cr_expect_eq(json_array_size(json_object_get(outputs, "y")), 4, "%s", json);
    cr_expect_eq(json_array_size(json_object_get(outputs, "k")), 4, "%s", json);
    json_decref(o);
    free(out);
    free(json);
    unlink(path);
}

/* Without the sizes, names are checked, and what is missing is said. */
Test(lift_run, check_without_sizes)
{
    char path[32], *out = lift_run_output(E2E_RUN(&cli_lift, "check", MATMUL)),
                   *json = lift_run_output(E2E_RUN(&cli_lift, "check", MATMUL, "--json"));
    cr_expect_str_eq(out, MATMUL ": syntax and names are ok; for types, extents and limits add --size "
                                 "M=...,N=...,K=...\n");
    cr_expect(strstr(json, "\"missing_sizes\""), "%s", json);
    free(out);
    free(json);
    e2e_file(path, "input x: [float]4\noutput map(fun v -> 2.0 * v, x)\n");
    out = lift_run_output(E2E_RUN(&cli_lift, "check", path));
    cr_expect(strstr(out, ": ok, a [float]4\n"), "%s", out);
    free(out);
    unlink(path);
}

/* What tune refuses of a program check refuses, in the same words, with the same place and caret. */
Test(lift_run, check_refuses_what_tune_refuses)
{
    static const char *const cases[][2] = {
        {"size N\ninput x: [float]N\noutput map(fun v -> v * , x)\n", "N=4"},
        {"size N\ninput x: [float]N\noutput slide(5, 1, x)\n", "N=4"},
        {"size N\ninput x: [float]N\noutput zip(x, tail(x))\n", "N=4"},
        {"size N\ninput x: [float]N\noutput x\n", "N=4,M=4"},
        {"size N\ninput x: [float]N\noutput x\n", "N=1000000000000"},
        {"size M, N\ninput A: [[float]N]M\noutput reduce(fun s r -> reduce(max, 0.0, map(fun v -> v * s, "
         "r)), 0.0, A)\n",
         "M=4,N=4"},
        {"size N\ninput x: [bool]N\noutput x\n", "N=4"},
        {"size N\ninput x: [float]N\noutput (x, sum(x))\n", "N=4"},
        {"size N\ninput x: [[float]N]N\noutput reduce(fun s r -> map(add, zip(reverse(s), r)), head(x), x)\n",
         "N=4"},
        {"size N\ninput x: float\nfun f(v) = 3.7 * v * (1.0 - v)\nfun g(v) = f(f(f(f(v))))\n"
         "output g(g(g(x)))\n",
         "N=4"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char path[32];
        e2e_file(path, cases[i][0]);
        struct e2e_run tune =
                           E2E_RUN(&cli_tune, path, "--size", cases[i][1], "--evaluations", "1", "--quiet"),
                       check = E2E_RUN(&cli_lift, "check", path, "--size", cases[i][1]);
        cr_expect_eq(tune.status, CLI_USAGE, "tune takes %s", cases[i][0]);
        cr_expect_eq(check.status, CLI_USAGE, "check takes %s", cases[i][0]);
        cr_expect_str_eq(check.err, tune.err);
        cr_expect(strstr(check.err, "error: "), "%s", check.err);
        e2e_run_free(&tune);
        e2e_run_free(&check);
        unlink(path);
    }
}

/* What tune makes several kernels of check looks at part by part. */
Test(lift_run, check_takes_outputs_of_different_dimensions)
{
    char path[32];
    e2e_file(path, "size N\ninput x: [float]N\noutput a = x\noutput b = sum(x)\n");
    struct e2e_run r = E2E_RUN(&cli_lift, "check", path, "--size", "N=4");
    cr_expect_eq(r.status, CLI_OK, "%s", r.err);
    cr_expect(strstr(r.out, "ok, 2 kernels, outputs apart"), "%s", r.out);
    cr_expect(strstr(r.out, "output     b: float"), "%s", r.out);
    e2e_run_free(&r);
    unlink(path);
}

/* What limits a program is said by check and by tune, which goes on. */
Test(lift_run, limits_are_said, .timeout = 120)
{
    char path[32], folder[32], file[64];
    const char *limit = "note: one work-item reduces all 512 elements to one result: expect a slow kernel; ";
    e2e_file(path,
             "size N\ninput x: [float]N\noutput reduce(fun s v -> 0.5 * s + v, 0.0, x)\n"); /* not divided */
    e2e_folder(folder);
    char *out = lift_run_output(E2E_RUN(&cli_lift, "check", path, "--size", "N=512")),
         *json = lift_run_output(E2E_RUN(&cli_lift, "check", path, "--size", "N=512", "--json"));
    cr_expect(strstr(out, limit), "%s", out);
    cr_expect(strstr(json, "\"advice\": [\n  \"one work-item reduces all 512"), "%s", json);
    struct e2e_run r =
        E2E_RUN(&cli_tune, E2E_QUICK, path, "--size", "N=512", "--evaluations", "1", "--out", folder);
    cr_expect_eq(r.status, CLI_OK, "%s", r.err);
    cr_expect(strstr(r.err, limit), "%s", r.err);
    free(out);
    free(json);
    e2e_run_free(&r);
    unlink(path);
    static const char *const names[] = {"best.json", "best.cl", "host.c"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        snprintf(file, sizeof file, "%s/%s", folder, names[i]);
        unlink(file);
    }
    rmdir(folder);
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
    } cases[] = {{"Q=random:1", "the program has no input 'Q'; its inputs are A, B"},
                 {"A", "'A' is not NAME=FILE.npy or NAME=random:SEED"},
                 {"A=random:", "'A=random:' is not NAME=random:SEED"},
                 {"A=file.npy", "cannot open file.npy: No such file or directory"}};
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

/* What is read and computed is written again: the result of a copy is the file of its input. */
Test(lift_run, files_are_read_and_written)
{
    char program[32], from[32], to[32], command[80];
    const float x[] = {1.5f, -2, 0.25f, 1e30f};
    struct diag *d = diag_new();
    e2e_file(program, "size M, N\ninput x: [[float]N]M\noutput map(fun r -> map(fun v -> 1.0 * v, r), x)\n");
    e2e_file(from, "");
    e2e_file(to, "");
    cr_assert(npy_write(
        from, &(struct npy_header){.kind = NPY_FLOAT, .bytes = 4, .n_extents = 2, .extents = {2, 2}}, x, d));
    char input[40];
    snprintf(input, sizeof input, "x=%s", from);
    char *out = lift_run_output(
        E2E_RUN(&cli_lift, "run", program, "--size", "M=2,N=2", "--input", input, "--output", to));
    cr_expect_str_eq(out, "");
    snprintf(command, sizeof command, "cmp %s %s", from, to);
    cr_expect_eq(system(command), 0);
    struct e2e_run wrong = E2E_RUN(&cli_lift, "run", program, "--size", "M=2,N=3", "--input", input);
    cr_expect_eq(wrong.status, CLI_USAGE);
    cr_expect(strstr(wrong.err, "has float32, shape (2, 2); the input x is [[float]N]M: expected float32, "
                                "shape (2, 3)"),
              "%s", wrong.err);
    e2e_run_free(&wrong);
    free(out);
    diag_free(d);
    unlink(program);
    unlink(from);
    unlink(to);
}
