/* Kernels that the user wrote: more is checked of them than of generated ones, and a bad one costs nobody. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "tests/agent/doubling.h"

static char foreign_options[] = "-cl-std=CL1.2 -cl-kernel-arg-info -DN=1024";

/* The kernel `k` of a text over y[i] = 2 x[i]; its verdict, with the message. */
static void foreign_expect(struct evaluator *ev, const char *parameters, const char *body,
                           enum eval_status status, const char *message)
{
    char text[512];
    struct cg_arg args[2];
    struct evaluation e;
    struct cg_kernel k = evaluate_kernel("", args, text, sizeof text);
    snprintf(text, sizeof text, "__kernel void %s(%s) { int i = get_global_id(0); %s }\n", k.name, parameters,
             body);
    k.options = foreign_options;
    evaluator_run(ev, &k, &(struct eval_settings){.verify = true, .untimed = true, .limit_ns = 2e9}, &e);
    cr_expect_eq(e.status, status, "%s: %s: %s", body, eval_status_name(e.status), e.message);
    cr_expect(strstr(e.message, message), "'%s' lacks '%s'", e.message, message);
}

#define FOREIGN_USUAL "__global const float *x, __global float *y"

Test(agent_foreign, is_verified_as_a_whole, .timeout = 60)
{
    struct evaluator *ev = evaluate_start(1);
    foreign_expect(ev, FOREIGN_USUAL, "y[i] = 2 * x[i];", EVAL_OK, "");
    foreign_expect(
        ev, FOREIGN_USUAL,
        "int n = N / get_num_groups(0); for (int k = get_local_id(0); k < n; k += get_local_size(0))"
        " y[get_group_id(0) * n + k] = 2 * x[get_group_id(0) * n + k];",
        EVAL_OK, "");
    foreign_expect(ev, FOREIGN_USUAL, "y[i] = 3 * x[i];", EVAL_WRONG_RESULT, "output 0 is ");
    foreign_expect(ev, FOREIGN_USUAL, "y[i] = 2 * x[i]; if (i == 0) y[N] = 1;", EVAL_WRONG_RESULT,
                   "the kernel writes outside the output");
    evaluator_free(ev);
}

Test(agent_foreign, arguments_are_those_of_the_program, .timeout = 60)
{
    struct evaluator *ev = evaluate_start(1);
    foreign_expect(
        ev, "__global float *y", "y[i] = 1;", EVAL_BUILD_ERROR,
        "the kernel has 1 arguments; the program has 2, each an array in global memory: input, output");
    foreign_expect(ev, "int n, __global float *y", "y[i] = n;", EVAL_BUILD_ERROR,
                   "argument 0 (int n) is no array in global memory");
    foreign_expect(ev, "__global const double *x, __global float *y", "y[i] = x[i];", EVAL_BUILD_ERROR,
                   "argument 0 (double* x) is no array of float, as the program's input is");
    foreign_expect(ev, FOREIGN_USUAL, "y[i] = undefined;", EVAL_BUILD_ERROR, "undefined");
    evaluator_free(ev);
}

/* Who takes the output for the first argument writes to an input: what comes after sees the input as it was.
 */
Test(agent_foreign, inputs_are_not_written, .timeout = 60)
{
    struct evaluator *ev = evaluate_start(1);
    foreign_expect(ev, "__global float *y, __global float *x", "y[i] = 2 * x[i]; x[i] = 2 * i;",
                   EVAL_WRONG_RESULT, "the kernel writes to an input (argument 0)");
    evaluate_expect(ev, evaluate_good, 0, EVAL_OK);
    evaluator_free(ev);
}
