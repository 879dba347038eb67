/* A device whose compiler is at fault: an OpenCL library before the real one changes the texts with barriers,
 * such that they are wrong if they are optimized. */
#include <criterion/criterion.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/limits.h"
#include "tests/e2e/run.h"

#define RIGHT "; right if built with -cl-opt-disable: probably a fault of the device's compiler"

static const char library[] =
    "#define CL_TARGET_OPENCL_VERSION 120\n"
    "#include <CL/cl.h>\n"
    "#include <dlfcn.h>\n"
    "#include <string.h>\n"
    "typedef cl_program create(cl_context, cl_uint, const char **, const size_t *, cl_int *);\n"
    "cl_program clCreateProgramWithSource(cl_context c, cl_uint n, const char **texts, const size_t *sizes,\n"
    "                                     cl_int *error)\n"
    "{\n"
    "    void *real = dlsym(dlopen(\"libOpenCL.so.1\", RTLD_NOW), \"clCreateProgramWithSource\");\n"
    "    const char *faulty[] = {\"#ifdef __OPTIMIZE__\\n#define fma(a, b, c) ((a) * (b) - "
    "(c))\\n#endif\\n\","
    " *texts};\n"
    "    int some = n == 1 && strstr(*texts, \"thresh_kernel\") && strstr(*texts, \"barrier(\");\n"
    "    return ((create *)real)(c, some ? 2 : n, some ? faulty : texts, some ? 0 : sizes, error);\n"
    "}\n";

static const char *text(const json_t *o, const char *key)
{
    const char *s = json_string_value(json_object_get(o, key));
    return s ? s : "";
}

Test(compiler_fault, is_told_from_a_fault_of_thresh, .timeout = 240)
{
    char folder[32], out[64], command[64];
    e2e_folder(folder);
    snprintf(out, sizeof out, "%s/out", folder);
    e2e_use_library(folder, library);
    const char *args[] = {"experiments/kernels/gemv.lift",
                          "--size",
                          "M=8,N=8",
                          "--samples",
                          "3",
                          "--time",
                          "10s",
                          "--seed",
                          "5",
                          "--out",
                          out,
                          "--quiet",
                          NULL,
                          NULL};
    struct e2e_run r = e2e_run(&cli_verify, args);
    cr_expect_eq(r.status, CLI_FAILED, "%s", r.err);
    cr_expect(strstr(r.out, "\nunoptimized  ") && strstr(r.out, RIGHT), "%s", r.out);
    e2e_run_free(&r);
    args[12] = "--json";
    r = e2e_run(&cli_verify, args);
    json_t *o = json_loads(r.out, 0, NULL), *failures = json_object_get(o, "failures"), *failure;
    size_t i, looks = 0;
    cr_assert_gt(json_array_size(failures), 0, "%s%s", r.out, r.err);
    json_array_foreach(failures, i, failure)
    {
        const json_t *right = json_object_get(failure, "right_unoptimized");
        bool looked = strstr(text(failure, "message"), RIGHT) != NULL;
        cr_expect_str_eq(text(failure, "status"), "wrong_result");
        cr_expect(looked ? json_is_true(right) : json_is_null(right), "%s", text(failure, "message"));
        looks += looked;
    }
    /* A fast device has more wrong results in that time than are looked at again. */
    cr_expect_eq(looks,
                 json_array_size(failures) < AGENT_SECOND_LOOKS ? json_array_size(failures)
                                                                : AGENT_SECOND_LOOKS,
                 "%zu of %zu", looks, json_array_size(failures));
    struct e2e_run again = E2E_RUN(&cli_replay, text(json_array_get(failures, 0), "file"));
    cr_expect_eq(again.status, CLI_FAILED);
    cr_expect(strstr(again.out, RIGHT), "%s%s", again.out, again.err);
    e2e_run_free(&again);
    e2e_run_free(&r);
    json_decref(o);
    snprintf(command, sizeof command, "rm -r %s", folder);
    cr_expect_eq(system(command), 0);
}
