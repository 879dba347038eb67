/* The programs that a runner keeps from one final round to the next. */
#include <criterion/criterion.h>
#include <stdio.h>

#include "agent/device.h"
#include "agent/runner_programs.h"
#include "core/base/diag.h"

static cl_context programs_context(void)
{
    struct diag *d = diag_new();
    struct device dev;
    cl_int error;
    cr_assert(device_select("", &dev, d));
    diag_free(d);
    cl_device_id id = opencl_device(dev.index);
    cl_context context = clCreateContext(NULL, 1, &id, NULL, NULL, &error);
    cr_assert_eq(error, CL_SUCCESS);
    return context;
}

static cl_program programs_make(cl_context context, const char *source)
{
    cl_int error;
    cl_program program = clCreateProgramWithSource(context, 1, &source, NULL, &error);
    cr_assert_eq(error, CL_SUCCESS);
    return program;
}

/* The whole text and the options count; the texts may change afterwards. */
Test(runner_programs, are_found_by_text_and_options)
{
    cl_context context = programs_context();
    struct runner_programs kept = {0};
    char text[] = "kernel void a(void) { }", options[] = "-cl-std=CL1.2";
    cr_expect_null(runner_programs_find(&kept, options, text));
    cl_program a = programs_make(context, text), slow = programs_make(context, text);
    runner_programs_keep(&kept, a, options, text);
    runner_programs_keep(&kept, slow, "-cl-std=CL1.2 -cl-opt-disable", text);
    text[12] = 'b';
    options[0] = '+';
    cr_expect_eq(runner_programs_find(&kept, "-cl-std=CL1.2", "kernel void a(void) { }"), a);
    cr_expect_eq(runner_programs_find(&kept, "-cl-std=CL1.2 -cl-opt-disable", "kernel void a(void) { }"),
                 slow);
    cr_expect_null(runner_programs_find(&kept, "-cl-std=CL1.2", text));
    cr_expect_null(runner_programs_find(&kept, "", "kernel void a(void) { }"));
    clReleaseContext(context);
}

/* The oldest makes room. */
Test(runner_programs, keep_the_newest)
{
    cl_context context = programs_context();
    struct runner_programs kept = {0};
    cl_program programs[AGENT_PROGRAMS + 1];
    char text[64];
    for (int i = 0; i <= AGENT_PROGRAMS; i++) {
        snprintf(text, sizeof text, "kernel void k%d(void) { }", i);
        programs[i] = programs_make(context, text);
        runner_programs_keep(&kept, programs[i], "", text);
    }
    for (int i = 0; i <= AGENT_PROGRAMS; i++) {
        snprintf(text, sizeof text, "kernel void k%d(void) { }", i);
        cr_expect_eq(runner_programs_find(&kept, "", text), i == 0 ? NULL : programs[i], "%d", i);
    }
    clReleaseContext(context);
}
