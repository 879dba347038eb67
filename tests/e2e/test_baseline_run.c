/* A search beside the user's own kernels: the example, and kernels that are wrong. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/e2e/run.h"

#define MATMUL_CL "experiments/baseline/matmul.cl:matmul,global=N,M"

static void baseline_run_remove(const char *folder)
{
    char command[64];
    snprintf(command, sizeof command, "rm -r %s", folder);
    cr_assert_eq(system(command), 0);
}

/* One that is right and one that is not: one is compared everywhere, the other is named and left out. */
Test(baseline_run, is_compared_in_table_store_and_explain, .timeout = 120)
{
    char folder[32], best[64], store[64], wrong[32], option[64];
    e2e_folder(folder);
    snprintf(best, sizeof best, "%s/best.json", folder);
    snprintf(store, sizeof store, "%s/s.db", folder);
    e2e_file(wrong,
             "__kernel void zero(__global const float *A, __global const float *B, __global float *C)\n"
             "{ C[get_global_id(0)] = 0; }\n");
    snprintf(option, sizeof option, "%s:zero,global=M*N", wrong);
    struct e2e_run r =
        E2E_RUN(&cli_tune, E2E_QUICK, "experiments/kernels/matmul.lift", "--size", "M=16,N=16,K=16",
                "--baseline", MATMUL_CL ",local=8,8,option=-DTILE=8", "--baseline", option, "--evaluations",
                "1", "--out", folder, "--store", store, "--json", "--quiet");
    cr_assert_eq(r.status, CLI_OK, "%s", r.err);
    json_t *o = json_loads(r.out, 0, NULL), *list = json_object_get(o, "baselines"),
           *good = json_array_get(list, 0), *bad = json_array_get(list, 1);
    cr_assert_eq(json_array_size(list), 2, "%s", r.out);
    cr_expect_str_eq(json_string_value(json_object_get(good, "label")),
                     "baseline matmul.cl:matmul,global=N,M,local=8,8,option=-DTILE=8");
    cr_expect_str_eq(json_string_value(json_object_get(good, "status")), "ok");
    cr_expect(json_number_value(json_object_get(good, "speedup")) > 0, "%s", r.out);
    cr_expect(json_integer_value(json_object_get(json_object_get(good, "figure"), "rounds")) >= 3, "%s",
              r.out);
    cr_expect_str_eq(json_string_value(json_object_get(bad, "status")), "wrong_result");
    cr_expect(json_is_string(json_object_get(bad, "message")) &&
              json_is_null(json_object_get(bad, "speedup")));
    struct e2e_run explained = E2E_RUN(&cli_explain, best), stored = E2E_RUN(&cli_explain, store, "--best");
    cr_expect(strstr(explained.out, "\nbaseline   "), "%s", explained.out);
    cr_expect(strstr(stored.out, "matmul.cl:matmul,global=N,M,local=8,8"), "%s", stored.out);
    e2e_run_free(&explained);
    e2e_run_free(&stored);
    e2e_run_free(&r);
    json_decref(o);
    unlink(wrong);
    baseline_run_remove(folder);
}

Test(baseline_run, what_is_refused, .timeout = 60)
{
    static const char *const cases[][2] = {
        {MATMUL_CL ",local=8,8", "global=N,M,local=8,8: CL_BUILD_PROGRAM_FAILURE"},
        {"experiments/baseline/matmul.cl:matmul", "it has no global size"}};
    char folder[32];
    e2e_folder(folder);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        /* The program has no size K: the kernel does not build. */
        struct e2e_run r = E2E_RUN(&cli_tune, E2E_QUICK, "experiments/kernels/batched_gemv.lift", "--size",
                                   "P=8,M=8,N=8", "--baseline", cases[i][0], "--out", folder, "--quiet");
        cr_expect_eq(r.status, CLI_USAGE, "%s", r.err);
        cr_expect(strstr(r.err, cases[i][1]), "%s", r.err);
        e2e_run_free(&r);
    }
    struct e2e_run r =
        E2E_RUN(&cli_tune, E2E_QUICK, "experiments/kernels/matmul.lift", "--size", "M=16,N=16,K=16",
                "--baseline", MATMUL_CL, "--listen", "ipc://nowhere", "--out", folder);
    cr_expect_eq(r.status, CLI_USAGE, "%s", r.err);
    cr_expect(strstr(r.err, "agents of other processes: they accept no OpenCL text"), "%s", r.err);
    e2e_run_free(&r);
    rmdir(folder);
}
