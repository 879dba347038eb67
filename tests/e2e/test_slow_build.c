/* thresh verify where a build hangs: an OpenCL library before the real one never ends one of the builds. The
 * others go on, and the end of --time ends it. */
#include <criterion/criterion.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "tests/e2e/run.h"

/* Each build of a kernel adds a byte to the file of THRESH_TEST_BUILDS; the fifth one stands still. The first
 * is that of the reference. */
static const char library[] =
    "#define _GNU_SOURCE\n"
    "#define CL_TARGET_OPENCL_VERSION 120\n"
    "#include <CL/cl.h>\n"
    "#include <dlfcn.h>\n"
    "#include <stdlib.h>\n"
    "#include <string.h>\n"
    "#include <fcntl.h>\n"
    "#include <unistd.h>\n"
    "typedef cl_int build(cl_program, cl_uint, const cl_device_id *, const char *,\n"
    "                     void (CL_CALLBACK *)(cl_program, void *), void *);\n"
    "cl_int clBuildProgram(cl_program p, cl_uint n, const cl_device_id *devices, const char *options,\n"
    "                      void (CL_CALLBACK *f)(cl_program, void *), void *data)\n"
    "{\n"
    "    static char text[1 << 20];\n"
    "    clGetProgramInfo(p, CL_PROGRAM_SOURCE, sizeof text, text, NULL);\n"
    "    int file = open(getenv(\"THRESH_TEST_BUILDS\"), O_WRONLY | O_APPEND);\n"
    "    int fifth = strstr(text, \"thresh_kernel\") && write(file, \".\", 1) == 1 && lseek(file, 0, "
    "SEEK_CUR) == 5;\n"
    "    close(file);\n"
    "    while (fifth) pause();\n"
    "    return ((build *)dlsym(dlopen(\"libOpenCL.so.1\", RTLD_NOW), \"clBuildProgram\"))(p, n, devices,\n"
    "                                                                                   options, f, data);\n"
    "}\n";

static void use_slow_library(const char *folder)
{
    char path[64];
    e2e_use_library(folder, library);
    snprintf(path, sizeof path, "%s/builds", folder);
    fclose(fopen(path, "w"));
    setenv("THRESH_TEST_BUILDS", path, 1);
}

static json_int_t count_of(const json_t *o, const char *key)
{
    return json_integer_value(json_object_get(o, key));
}

/* More than 16 others are verified while it stands still: it would be ended after AGENT_SILENT_MS. */
Test(slow_build, holds_up_no_other, .timeout = 120)
{
    char folder[32], command[64];
    e2e_folder(folder);
    use_slow_library(folder);
    time_t start = time(NULL);
    struct e2e_run r = E2E_RUN(&cli_verify, "experiments/kernels/axpy.lift", "--size", "N=8", "--runners",
                               "2", "--time", "12s", "--seed", "5", "--json", "--quiet");
    time_t took = time(NULL) - start;
    json_t *o = json_loads(r.out, 0, NULL);
    cr_assert_not_null(o, "%s%s", r.out, r.err);
    cr_expect_eq(r.status, CLI_OK, "%s%s", r.out, r.err);
    cr_expect_gt(count_of(o, "verified"), 16);
    cr_expect(count_of(o, "abandoned") >= 1 && count_of(o, "abandoned") <= 4, "%s", r.out);
    cr_expect_eq(json_array_size(json_object_get(o, "failures")), 0, "%s", r.out);
    cr_expect_lt(took, 18, "%ld s", (long)took);
    json_decref(o);
    e2e_run_free(&r);
    snprintf(command, sizeof command, "rm -r %s", folder);
    cr_expect_eq(system(command), 0);
}
