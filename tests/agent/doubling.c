/* See doubling.h. */
#include "tests/agent/doubling.h"

#include <criterion/criterion.h>
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>

#include "core/base/diag.h"
#include "tests/agent/task.h"

/* global_bytes: the device's memory; 0: what it has. */
struct evaluator *evaluate_start_on(int64_t global_bytes, unsigned runners, int stop_fd)
{
    struct diag *d = diag_new();
    struct device dev;
    cr_assert(device_select("cpu", &dev, d));
    if (global_bytes) dev.global_bytes = global_bytes;
    struct verify_buffer shape[2] = {{.type = SCALAR_FLOAT, .elements = EVALUATE_N},
                                     {.type = SCALAR_FLOAT, .elements = EVALUATE_N, .output = true}};
    struct verify_task *t = task_make(shape, 2, 7, d);
    for (int set = 0; set < VERIFY_EXTREME; set++)
        for (int i = 0; i < EVALUATE_N; i++)
            ((float *)t->buffers[1].data[set])[i] = 2 * ((const float *)t->buffers[0].data[set])[i];
    struct verify_tolerance tolerance[VERIFY_EXTREME] = {{.exact = true}, {.absolute = 1e-6}};
    const struct eval_caller caller = {.stop_fd = stop_fd};
    struct evaluator *ev = evaluator_start(&t, &dev, runners, tolerance, &caller, d);
    if (!ev) diag_print(d, stderr);
    diag_free(d);
    cr_assert_not_null(ev);
    return ev;
}

struct evaluator *evaluate_start_updating(void)
{
    struct diag *d = diag_new();
    struct device dev;
    cr_assert(device_select("cpu", &dev, d));
    struct verify_buffer shape[1] = {
        {.type = SCALAR_FLOAT, .elements = EVALUATE_N, .output = true, .updated = true}};
    struct verify_task *t = task_make(shape, 1, 7, d);
    for (int set = 0; set < VERIFY_EXTREME; set++)
        for (int i = 0; i < EVALUATE_N; i++)
            ((float *)t->buffers[0].data[set])[i] = 2 * ((const float *)t->buffers[0].before[set])[i];
    const struct verify_tolerance tolerance[VERIFY_EXTREME] = {{.exact = true}, {.exact = true}};
    struct evaluator *ev = evaluator_start(&t, &dev, 1, tolerance, NULL, d);
    diag_free(d);
    cr_assert_not_null(ev);
    return ev;
}

struct evaluator *evaluate_start(unsigned runners)
{
    return evaluate_start_on(0, runners, -1);
}

/* A kernel of 64 work-groups of 16 with arguments x (const), y and its own index i. */
struct cg_kernel evaluate_kernel(const char *body, struct cg_arg args[2], char *text, size_t n)
{
    args[0] = (struct cg_arg){.buffer = 0, .bytes = EVALUATE_N * sizeof(float)};
    args[1] = (struct cg_arg){.buffer = 1, .bytes = EVALUATE_N * sizeof(float)};
    snprintf(text, n,
             "__kernel void f(__global const float *x, __global float *y)\n"
             "{\n    int i = (int)get_global_id(0);\n    %s\n}\n",
             body);
    static char name[] = "f";
    return (struct cg_kernel){.source = text,
                              .name = name,
                              .global = {EVALUATE_N, 1, 1},
                              .local = {16, 1, 1},
                              .n_args = 2,
                              .args = args};
}

struct evaluation evaluate_body(struct evaluator *ev, const char *body, double best_ns)
{
    struct cg_arg args[2];
    char text[1024];
    struct cg_kernel k = evaluate_kernel(body, args, text, sizeof text);
    struct evaluation e;
    evaluator_run(ev, &k, &(struct eval_settings){.verify = true, .best_ns = best_ns}, &e);
    return e;
}

void evaluate_expect(struct evaluator *ev, const char *body, double best_ns, enum eval_status status)
{
    struct evaluation e = evaluate_body(ev, body, best_ns);
    cr_assert_eq(e.status, status, "%s: %s (%s)", body, eval_status_name(e.status), e.message);
}

const char evaluate_good[] = "y[i] = 2 * x[i];";

/* Kills a runner while it has nothing to do; the evaluator has not noticed yet. */
void evaluate_kill_idle(struct evaluator *ev, unsigned slot)
{
    siginfo_t info;
    while (ev->slots[slot].state == STARTING)
        evaluate_step(ev, -1);
    cr_assert_eq(ev->slots[slot].state, IDLE);
    kill(ev->slots[slot].pid, SIGKILL);
    cr_assert_eq(waitid(P_PID, (id_t)ev->slots[slot].pid, &info, WEXITED | WNOWAIT), 0);
}
