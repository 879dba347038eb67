/* A sequence of kernels as one job of a runner: t[i] = x[i] + x[i], then y[i] = t[i], in which every kernel
 * and every temporary is checked as those of a single kernel are. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "tests/agent/doubling.h"

enum { X, Y, TEMPORARY /* beyond the buffers of the task */ };

/* Evaluates two kernels of one text; `middle` is the body of the first, `last` that of the second. */
static struct evaluation run_two(struct evaluator *ev, const char *middle, const char *last)
{
    char text[1024], first_text[512];
    struct cg_arg args[2], more[2];
    struct evaluation e;
    struct cg_kernel first = evaluate_kernel("", args, first_text, sizeof first_text), second = first;
    snprintf(text, sizeof text,
             "__kernel void one(__global const float *x, __global float *t)"
             " { int i = get_global_id(0); %s }\n"
             "__kernel void two(__global const float *t, __global float *y)"
             " { int i = get_global_id(0); %s }\n",
             middle, last);
    memcpy(more, args, sizeof more);
    args[1].buffer = more[0].buffer = TEMPORARY;
    first.name = (char[]){"one"};
    second.name = (char[]){"two"};
    first.source = text;
    second.args = more;
    first.next = &second;
    evaluator_run(ev, &first, &(struct eval_settings){.verify = true, .limit_ns = 2e9}, &e);
    return e;
}

static void expect_two(struct evaluator *ev, const char *middle, const char *last, enum eval_status status,
                       const char *message)
{
    struct evaluation e = run_two(ev, middle, last);
    cr_expect_eq(e.status, status, "%s: %s", eval_status_name(e.status), e.message);
    cr_expect(strstr(e.message, message), "'%s' lacks '%s'", e.message, message);
}

Test(agent_sequence, kernels_see_what_earlier_ones_have_written, .timeout = 60)
{
    struct evaluator *ev = evaluate_start(1);
    expect_two(ev, "t[i] = x[i] + x[i];", "y[i] = t[i];", EVAL_OK, "");
    expect_two(ev, "t[i] = x[i];", "y[i] = t[i];", EVAL_WRONG_RESULT, "output 0 is ");
    evaluator_free(ev);
}

Test(agent_sequence, a_temporary_is_not_set_and_ends_at_a_zone, .timeout = 60)
{
    struct evaluator *ev = evaluate_start(1);
    expect_two(ev, "if (i > 0) t[i] = x[i] + x[i];", "y[i] = t[i];", EVAL_WRONG_RESULT, "output 0 is ");
    expect_two(ev, "t[i] = x[i] + x[i]; if (i == 0) t[1024] = 1;", "y[i] = t[i];", EVAL_WRONG_RESULT,
               "the kernel writes outside a temporary");
    evaluator_free(ev);
}

Test(agent_sequence, both_are_built_from_one_text, .timeout = 60)
{
    struct evaluator *ev = evaluate_start(1);
    expect_two(ev, "t[i] = x[i] + x[i];", "y[i] = u[i];", EVAL_BUILD_ERROR, "");
    expect_two(ev, "t[i] = x[i] + x[i]; }\n__kernel void other(__global float *t) { int i = 0;",
               "y[i] = t[i];", EVAL_OK, "");
    evaluator_free(ev);
}

/* Its time is that of all kernels: whichever of the two is slow, hundreds of times as slow as the other. */
Test(agent_sequence, a_time_is_that_of_all_kernels, .timeout = 60)
{
    static const char slow_first[] = "float s = 0; for (int k = 1; k < 20000; k++) s += 1.0f / (k + x[i]);"
                                     " t[i] = s > -1e30f ? x[i] + x[i] : 0;",
                      slow_last[] = "float s = 0; for (int k = 1; k < 20000; k++) s += 1.0f / (k + t[i]);"
                                    " y[i] = s > -1e30f ? t[i] : 0;";
    struct evaluator *ev = evaluate_start(1);
    struct evaluation neither = run_two(ev, "t[i] = x[i] + x[i];", "y[i] = t[i];"),
                      first = run_two(ev, slow_first, "y[i] = t[i];"),
                      last = run_two(ev, "t[i] = x[i] + x[i];", slow_last);
    cr_assert_eq(neither.status, EVAL_OK, "%s", neither.message);
    cr_assert_eq(first.status, EVAL_OK, "%s", first.message);
    cr_assert_eq(last.status, EVAL_OK, "%s", last.message);
    cr_expect_gt(first.median_ns, 3 * neither.median_ns);
    cr_expect_gt(last.median_ns, 3 * neither.median_ns);
    evaluator_free(ev);
}
