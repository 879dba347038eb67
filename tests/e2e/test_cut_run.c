/* Sequences of kernels from the command line: tune --cut, its result files, explain, replay and host.c, and
 * what is refused. A search of a part ends with final rounds, too. */
#include <criterion/criterion.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/e2e/run.h"

#define ATAX "experiments/kernels/atax.lift"

struct cut_folder {
    char path[32], best[64], store[64];
};

static void cut_open(struct cut_folder *f)
{
    e2e_folder(f->path);
    snprintf(f->best, sizeof f->best, "%s/best.json", f->path);
    snprintf(f->store, sizeof f->store, "%s/s.db", f->path);
}

static void cut_close(struct cut_folder *f)
{
    char command[64];
    snprintf(command, sizeof command, "rm -r %s", f->path);
    cr_assert_eq(system(command), 0);
}

static json_t *cut_json(struct e2e_run r, int status)
{
    cr_assert_eq(r.status, status, "%s%s", r.out, r.err);
    json_t *o = json_loads(r.out, 0, NULL);
    cr_assert(o, "%s", r.out);
    e2e_run_free(&r);
    return o;
}

static long long cut_integer(const json_t *o, const char *key)
{
    cr_assert(json_is_integer(json_object_get(o, key)), "%s", key);
    return json_integer_value(json_object_get(o, key));
}

static void cut_expect(struct e2e_run r, int status, const char *message)
{
    cr_expect_eq(r.status, status, "%s", r.err);
    cr_expect(strstr(r.err, message), "'%s' lacks '%s'", r.err, message);
    e2e_run_free(&r);
}

/* What was found has two kernels and is right when it is built again. */
static void cut_two_kernels_are_right(const struct cut_folder *f)
{
    json_t *explained = cut_json(E2E_RUN(&cli_explain, f->best, "--json"), CLI_OK);
    cr_expect_eq(json_array_size(json_object_get(explained, "steps")), 2);
    json_decref(explained);
    struct e2e_run replayed = E2E_RUN(&cli_replay, f->best, "--launches", "20");
    cr_expect_eq(replayed.status, CLI_OK, "%s", replayed.err);
    cr_expect(strstr(replayed.out, "ok: verified"), "%s", replayed.out);
    e2e_run_free(&replayed);
}

/* The names of its cuts are not in the text of the program; the file is read again, and runs. */
Test(cut_run, scans_read_in_another_order_are_kernels, .timeout = 600)
{
    struct cut_folder f;
    char path[256];
    cut_open(&f);
    snprintf(path, sizeof path, "%s/scan.lift", f.path);
    FILE *file = fopen(path, "w");
    cr_assert_not_null(file);
    fputs("size M, N\ninput A: [[float]N]M\n"
          "output map(fun r -> pad(1, 0, clamp, tail(scan(add, sum(r), r))), A)\n",
          file);
    fclose(file);
    json_t *o = cut_json(E2E_RUN(&cli_tune, E2E_QUICK, path, "--size", "M=16,N=8", "--evaluations", "4",
                                 "--out", f.path, "--store", f.store, "--quiet", "--json"),
                         CLI_OK);
    cr_expect_eq(cut_integer(o, "kernels"), 2);
    cr_expect_str_eq(json_string_value(json_object_get(o, "cut")), "t");
    json_decref(o);
    cut_two_kernels_are_right(&f);
    cut_close(&f);
}

Test(cut_run, atax_is_two_kernels_that_are_verified_as_a_whole, .timeout = 600)
{
    struct cut_folder f;
    char command[256];
    cut_open(&f);
    json_t *o =
        cut_json(E2E_RUN(&cli_tune, E2E_QUICK, ATAX, "--size", "M=24,N=16", "--cut", "y", "--evaluations",
                         "4", "--out", f.path, "--store", f.store, "--quiet", "--json"),
                 CLI_OK);
    cr_expect_eq(cut_integer(o, "kernels"), 2);
    cr_expect_eq(cut_integer(o, "not_finite"), 0);
    cr_expect_eq(json_array_size(json_object_get(o, "parts")), 2);
    cr_expect_leq(cut_integer(o, "evaluations"), 4);
    json_decref(o);
    cut_two_kernels_are_right(&f);
    snprintf(command, sizeof command,
             "cd %s && cc -std=c11 -Wall -Wextra -Wconversion -Werror -O2 host.c -lOpenCL -o host && ./host "
             ">/dev/null",
             f.path);
    cr_expect_eq(system(command), 0);
    cut_expect(E2E_RUN(&cli_tune, E2E_QUICK, ATAX, "--size", "M=24,N=16", "--cut", "y", "--evaluations", "4",
                       "--out", f.path, "--store", f.store, "--resume", "--quiet"),
               CLI_OK, "");
    snprintf(command, sizeof command, "sed -i 's/\"cut\": \"y\"/\"cut\": \"\"/' %s", f.best);
    cr_assert_eq(system(command), 0);
    cut_expect(E2E_RUN(&cli_replay, f.best), CLI_USAGE, "'cut' was changed after the file was written");
    cut_close(&f);
}

/* Attention is a map with arrays of its own, at which it is cut. */
Test(cut_run, arrays_within_a_map_are_kernels, .timeout = 600)
{
    struct cut_folder f;
    cut_open(&f);
    json_t *o = cut_json(E2E_RUN(&cli_tune, E2E_QUICK, "experiments/kernels/attention.lift", "--size",
                                 "N=8,M=16,D=4", "--cut", "scores", "--evaluations", "4", "--out", f.path,
                                 "--store", f.store, "--quiet", "--json"),
                         CLI_OK);
    cr_expect_eq(cut_integer(o, "kernels"), 2);
    cr_expect_str_eq(json_string_value(json_object_get(o, "cut")), "scores");
    json_decref(o);
    cut_two_kernels_are_right(&f);
    cut_close(&f);
}

Test(cut_run, auto_tries_one_kernel_and_the_sequence, .timeout = 600)
{
    struct cut_folder f;
    cut_open(&f);
    struct e2e_run r = E2E_RUN(&cli_tune, E2E_QUICK, "experiments/kernels/matmul_chain.lift", "--size",
                               "M=16,N=16,K=16,L=16", "--evaluations", "4", "--out", f.path);
    cr_expect_eq(r.status, CLI_OK, "%s", r.err);
    cr_expect(strstr(r.err, "variant 1 of 2: one kernel"), "%s", r.err);
    cr_expect(strstr(r.err, "variant 2 of 2: cut at t"), "%s", r.err);
    cr_expect(strstr(r.out, "naive        "), "%s", r.out);
    cr_expect(strstr(r.out, "written "), "%s", r.out);
    e2e_run_free(&r);
    cut_close(&f);
}

Test(cut_run, outputs_of_different_dimensions_and_time_steps, .timeout = 600)
{
    struct cut_folder f;
    cut_open(&f);
    json_t *o =
        cut_json(E2E_RUN(&cli_tune, E2E_QUICK, "experiments/kernels/covariance.lift", "--size", "M=16,N=8",
                         "--cut", "none", "--evaluations", "2", "--out", f.path, "--quiet", "--json"),
                 CLI_OK);
    cr_expect_eq(cut_integer(o, "kernels"), 2);
    json_decref(o);
    o = cut_json(E2E_RUN(&cli_tune, E2E_QUICK, "experiments/kernels/stencil_steps.lift", "--size",
                         "H=16,W=16", "--cut", "all", "--evaluations", "1", "--out", f.path, "--quiet",
                         "--json"),
                 CLI_OK);
    cr_expect_eq(cut_integer(o, "kernels"), 8);
    cr_expect_eq(json_array_size(json_object_get(o, "parts")), 1);
    json_decref(o);
    cut_close(&f);
}

Test(cut_run, bad_names_and_options_are_refused, .timeout = 60)
{
    cut_expect(E2E_RUN(&cli_tune, ATAX, "--size", "M=16,N=16", "--cut", "z"), CLI_USAGE,
               "the program has no cut 'z'; its cuts are y");
    cut_expect(E2E_RUN(&cli_tune, "experiments/kernels/softmax.lift", "--size", "M=16,N=16", "--cut", "s"),
               CLI_USAGE, "softmax.lift:4:27: error: the program cannot be cut at 's'");
    cut_expect(E2E_RUN(&cli_tune, ATAX, "--size", "M=16,N=16", "--cut", "y", "--listen", "ipc:///tmp/no"),
               CLI_USAGE, "--listen applies to one kernel");
    cut_expect(E2E_RUN(&cli_tune, ATAX, "--size", "M=16,N=16", "--cut", "y", "--input", "z=/dev/null"),
               CLI_USAGE, "the program has no input 'z'");
    cut_expect(E2E_RUN(&cli_lift, "cut", ATAX, "--size", "M=16,N=16", "--at", "x"), CLI_USAGE,
               "the program has no cut 'x'");
}
