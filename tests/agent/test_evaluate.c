/* The evaluator on the CPU device with hand-written kernels over y[i] = 2 x[i]: good ones, wrong ones, and
 * ones that crash or hang their runner. */
#include <criterion/criterion.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "agent/evaluate.h"
#include "agent/evaluate_state.h"
#include "agent/guarded.h"
#include "agent/limits.h"
#include "agent/opencl.h"
#include "core/base/clock.h"
#include "core/base/diag.h"
#include "tests/agent/doubling.h"
#include "tests/agent/task.h"

Test(agent_evaluate, measures_a_correct_kernel)
{
    struct evaluator *ev = evaluate_start(1);
    struct evaluation e = evaluate_body(ev, evaluate_good, 0);
    cr_assert_eq(e.status, EVAL_OK, "%s", e.message);
    cr_assert(e.n_samples >= 5 && e.n_samples <= 40 && e.median_ns > 0);
    e = evaluate_body(ev, evaluate_good, e.median_ns); /* near the best: a second batch */
    cr_assert_eq(e.status, EVAL_OK, "%s", e.message);
    evaluator_free(ev);
}

/* An array that is updated in place has its values again before each verified run, whatever the launches of
 * the batch before made of them. */
Test(agent_evaluate, restores_what_is_updated_in_place)
{
    struct evaluator *ev = evaluate_start_updating();
    static struct cg_arg arg = {.buffer = 0, .bytes = EVALUATE_N * sizeof(float)};
    static char name[] = "f", good[] = "__kernel void f(__global float *y) { y[get_global_id(0)] *= 2; }",
                wrong[] =
                    "__kernel void f(__global float *y) { if (get_global_id(0)) y[get_global_id(0)] *= 2; }";
    struct cg_kernel k = {.source = good,
                          .name = name,
                          .global = {EVALUATE_N, 1, 1},
                          .local = {16, 1, 1},
                          .n_args = 1,
                          .args = &arg};
    struct evaluation e;
    for (int i = 0; i < 3; i++) {
        evaluator_run(ev, &k, &(struct eval_settings){.verify = true}, &e);
        cr_assert_eq(e.status, EVAL_OK, "%s", e.message);
        cr_assert(e.n_samples >= 5);
    }
    k.source = wrong;
    evaluator_run(ev, &k, &(struct eval_settings){.verify = true}, &e);
    cr_assert_eq(e.status, EVAL_WRONG_RESULT, "%s", e.message);
    evaluator_free(ev);
}

Test(agent_evaluate, leaves_the_group_size_to_the_device)
{
    struct evaluator *ev = evaluate_start(1);
    struct cg_arg args[2];
    char text[1024];
    struct cg_kernel k = evaluate_kernel(evaluate_good, args, text, sizeof text);
    k.local[0] = 0;
    struct evaluation e;
    evaluator_run(ev, &k, &(struct eval_settings){.verify = true}, &e);
    cr_assert_eq(e.status, EVAL_OK, "%s", e.message);
    evaluator_free(ev);
}

Test(agent_evaluate, rejects_wrong_results)
{
    struct evaluator *ev = evaluate_start(1);
    evaluate_expect(ev, "y[i] = 2 * x[i] + (i == 1023);", 0, EVAL_WRONG_RESULT);
    evaluate_expect(ev, "if (i != 17) y[i] = 2 * x[i];", 0, EVAL_WRONG_RESULT);
    evaluate_expect(ev, "y[i] = 2 * x[i]; if (i == 0) y[1030] = 1;", 0, EVAL_WRONG_RESULT);
    evaluate_expect(ev, "y[i] = 2 * x[i]; if (i == 0) y[-3] = 1;", 0, EVAL_WRONG_RESULT);
    evaluate_expect(ev, evaluate_good, 0, EVAL_OK);
    evaluator_free(ev);
}

Test(agent_evaluate, verifies_the_timing_inputs_too)
{
    struct evaluator *ev = evaluate_start(1);
    struct evaluation e = evaluate_body(ev, "y[i] = 2 * rint(x[i]);", 0);
    cr_assert_eq(e.status, EVAL_WRONG_RESULT, "%s", e.message);
    cr_assert(strstr(e.message, "timing inputs"), "%s", e.message);
    evaluator_free(ev);
}

Test(agent_evaluate, reports_build_errors)
{
    struct evaluator *ev = evaluate_start(1);
    struct evaluation e = evaluate_body(ev, "y[i] = undeclared;", 0);
    cr_assert_eq(e.status, EVAL_BUILD_ERROR);
    cr_assert(strstr(e.message, "undeclared"), "%s", e.message);
    evaluate_expect(ev, evaluate_good, 0, EVAL_OK);
    evaluator_free(ev);
}

Test(agent_evaluate, rejects_kernels_that_do_not_fit)
{
    struct evaluator *ev = evaluate_start(1);
    struct cg_arg args[2];
    char text[1024];
    struct cg_kernel k = evaluate_kernel(evaluate_good, args, text, sizeof text);
    args[1].bytes = 12;
    struct evaluation e;
    evaluator_run(ev, &k, &(struct eval_settings){.verify = true}, &e);
    cr_assert_eq(e.status, EVAL_LAUNCH_ERROR, "%s", e.message);
    evaluator_free(ev);
}

Test(agent_evaluate, survives_crashes)
{
    struct evaluator *ev = evaluate_start(1);
    evaluate_expect(ev, "y[i] = *(__global float *)(ulong)(i + 8);", 0, EVAL_CRASHED);
    evaluate_expect(ev, evaluate_good, 0, EVAL_OK);
    evaluator_free(ev);
}

Test(agent_evaluate, kills_endless_kernels)
{
    struct evaluator *ev = evaluate_start(2);
    static const char endless[] = "volatile int go = 1; while (go) y[i] = x[i]; y[i] = 1;";
    evaluate_expect(ev, endless, 0, EVAL_TIMEOUT);
    evaluate_expect(ev, evaluate_good, 0, EVAL_OK);
    evaluator_free(ev);
}

Test(agent_evaluate, cuts_what_is_much_slower_than_the_best)
{
    struct evaluator *ev = evaluate_start(1);
    static const char slow[] =
        "volatile float s = 0; for (int j = 0; j < 1000000; j++) s += x[i]; y[i] = s * 0 + 2 * x[i];";
    struct evaluation e = evaluate_body(ev, slow, 1e5);
    cr_assert_eq(e.status, EVAL_CUT, "%s: %s", eval_status_name(e.status), e.message);
    cr_assert(strstr(e.message, "work-groups"), "%s", e.message);
    evaluator_free(ev);
}

Test(agent_evaluate, runs_many_jobs_on_two_runners)
{
    struct evaluator *ev = evaluate_start(2);
    struct cg_arg args[2];
    char text[1024];
    struct cg_kernel k = evaluate_kernel(evaluate_good, args, text, sizeof text);
    cr_assert_eq(evaluator_capacity(ev), 4);
    for (uint64_t i = 0; i < 4; i++)
        evaluator_submit(ev, 100 + i, &k, &(struct eval_settings){.verify = true});
    unsigned seen = 0;
    for (int i = 0; i < 4; i++) {
        uint64_t job;
        struct evaluation e;
        cr_assert(evaluator_poll(ev, 60000, &job, &e));
        cr_assert_eq(e.status, EVAL_OK, "%s", e.message);
        seen |= 1u << (job - 100);
    }
    uint64_t job;
    struct evaluation e;
    cr_assert_eq(seen, 15);
    cr_assert_not(evaluator_poll(ev, 0, &job, &e));
    evaluator_free(ev);
}

Test(agent_evaluate, rounds_measure_every_kernel)
{
    struct evaluator *ev = evaluate_start(1);
    struct cg_arg args[2];
    char good[1024], bad[1024];
    struct cg_kernel a = evaluate_kernel(evaluate_good, args, good, sizeof good);
    struct cg_kernel b = evaluate_kernel("y[i] = nothing;", args, bad, sizeof bad);
    const struct cg_kernel *kernels[2] = {&a, &b};
    double ns[6];
    evaluator_rounds(ev, kernels, 2, 3, 1, ns);
    for (int r = 0; r < 3; r++)
        cr_assert(ns[r] > 0 && ns[3 + r] != ns[3 + r]);
    evaluator_free(ev);
}

/* Counters are 0 before the launches that count: the warm-up, of one group, leaves others. */
Test(agent_evaluate, rounds_start_with_counters_of_0)
{
    static char text[] =
        "__kernel void f(__global const float *x, __global float *y, __global int *counters)\n"
        "{\n"
        "    int i = (int)get_global_id(0);\n"
        "    y[i] = 2 * x[i];\n"
        "    if (get_num_groups(0) == 1) counters[0] = 1;\n"
        "    else if (counters[0] != 0) *(volatile __global int *)(size_t)8 = 0;\n"
        "}\n";
    struct evaluator *ev = evaluate_start(1);
    struct cg_arg args[3];
    char unused[1024];
    struct cg_kernel k = evaluate_kernel(evaluate_good, args, unused, sizeof unused);
    args[2] = (struct cg_arg){.buffer = BB_NONE, .zero = true, .bytes = sizeof(int)};
    k.source = text;
    k.n_args = 3;
    const struct cg_kernel *kernels[] = {&k};
    double ns[2];
    evaluator_rounds(ev, kernels, 1, 2, 1, ns);
    for (int r = 0; r < 2; r++)
        cr_expect_gt(ns[r], 0);
    evaluator_free(ev);
}

/* A round of a long launch takes little more of the processor than the launch, also where the device chooses
 * the groups. */
Test(agent_evaluate, a_long_launch_is_a_round)
{
    static const char slow[] =
        "volatile float s = 0; for (int j = 0; j < 300000; j++) s += x[i]; y[i] = s * 0 + 2 * x[i];";
    struct evaluator *ev = evaluate_start(1);
    struct cg_arg args[2];
    char text[1024];
    struct cg_kernel k = evaluate_kernel(slow, args, text, sizeof text);
    const struct cg_kernel *kernels[] = {&k};
    struct evaluation e;
    double ns, start = evaluator_processor_ms(ev);
    evaluator_run(ev, &k, &(struct eval_settings){.untimed = true, .limit_ns = 60e9}, &e);
    cr_assert_eq(e.status, EVAL_OK, "%s", e.message);
    double once = evaluator_processor_ms(ev) - start;
    for (size_t local = 0; local <= 16; local += 16) {
        start = evaluator_processor_ms(ev);
        k.local[0] = local;
        evaluator_rounds(ev, kernels, 1, 1, 1, &ns);
        cr_assert_geq(ns, AGENT_LONG_NS, "the kernel is too short for this test");
        cr_expect_lt(evaluator_processor_ms(ev) - start, 2 * once);
    }
    evaluator_free(ev);
}

/* A naive sum is one work-group: its rounds launch it once. During a search, a long launch is no batch of
 * several. */
Test(agent_evaluate, long_kernels_of_one_group_are_launched_once)
{
    static const char slow[] =
        "volatile float s = 0; for (int j = 0; j < 600000; j++) s += x[i]; y[i] = s * 0 + 2 * x[i];";
    struct evaluator *ev = evaluate_start(1);
    struct cg_arg args[2];
    char text[1024];
    struct cg_kernel k = evaluate_kernel(slow, args, text, sizeof text);
    const struct cg_kernel *kernels[] = {&k};
    struct evaluation e;
    double ns;
    k.local[0] = EVALUATE_N;
    evaluator_run(ev, &k, &(struct eval_settings){.limit_ns = 60e9}, &e);
    cr_assert_eq(e.status, EVAL_OK, "%s", e.message);
    cr_expect_eq(e.n_samples, 1, "%u", e.n_samples);
    double start = evaluator_processor_ms(ev);
    evaluator_rounds(ev, kernels, 1, 1, 1, &ns);
    cr_assert_geq(ns, 2 * AGENT_LONG_NS, "the kernel is too short for this test");
    cr_expect_lt(evaluator_processor_ms(ev) - start, 1.6e-6 * ns, "%g ms", ns * 1e-6);
    evaluator_free(ev);
}

Test(agent_evaluate, says_why_no_runner_starts)
{
    struct diag *d = diag_new();
    struct device dev = {.name = "nowhere", .index = 99};
    struct verify_buffer shape[1] = {{.type = SCALAR_FLOAT, .elements = 4, .output = true}};
    struct verify_task *t = task_make(shape, 1, 7, d);
    const struct verify_tolerance tolerance[VERIFY_EXTREME] = {{.exact = true}, {.exact = true}};
    cr_assert_null(evaluator_start(&t, &dev, 1, tolerance, NULL, d));
    cr_assert(strstr(diag_message(d, 0), "device 99 is no longer available"), "%s", diag_message(d, 0));
    diag_free(d);
}

/* Which of the two there are is for the device to say; it is asked last, since that loads the driver here. */
Test(agent_evaluate, says_which_numbers_the_device_has_not)
{
    enum { TYPES = 2 };
    static const struct {
        enum scalar_type type;
        const char *extension, *message; /* NULL: a device without it has the numbers in memory */
    } cases[TYPES] = {{SCALAR_DOUBLE, "cl_khr_fp64", "does not support double (cl_khr_fp64)"},
                      {SCALAR_HALF, NULL, ""}};
    const struct verify_tolerance tolerance[VERIFY_EXTREME] = {{.exact = true}, {.exact = true}};
    struct device dev;
    bool starts[TYPES];
    for (int i = 0; i < TYPES; i++) {
        struct diag *d = diag_new();
        cr_assert(device_select("cpu", &dev, d));
        struct verify_buffer shape[1] = {{.type = cases[i].type, .elements = 4, .output = true}};
        struct verify_task *t = task_make(shape, 1, 7, d);
        struct evaluator *ev = evaluator_start(&t, &dev, 1, tolerance, NULL, d);
        starts[i] = ev != NULL;
        cr_expect(ev || strstr(diag_message(d, 0), cases[i].message), "%s", ev ? "" : diag_message(d, 0));
        evaluator_free(ev);
        diag_free(d);
    }
    for (int i = 0; i < TYPES; i++)
        cr_expect_eq(starts[i],
                     !cases[i].extension || opencl_has(opencl_device(dev.index), cases[i].extension), "%d",
                     i);
    cr_expect(!opencl_has(opencl_device(dev.index), "cl_khr_fp"), "the beginning of a word is none");
}

Test(agent_evaluate, a_stop_ends_jobs_and_runners)
{
    int ends[2];
    cr_assert_eq(pipe(ends), 0);
    struct evaluator *ev = evaluate_start_on(0, 2, ends[0]);
    struct cg_arg args[2];
    char text[1024];
    struct cg_kernel k =
        evaluate_kernel("volatile int go = 1; while (go) y[i] = x[i]; y[i] = 1;", args, text, sizeof text);
    uint64_t job;
    struct evaluation e;
    for (uint64_t i = 0; i < 3; i++)
        evaluator_submit(ev, i, &k, &(struct eval_settings){.limit_ns = 1e12});
    cr_assert_not(evaluator_poll(ev, 0, &job, &e));
    cr_assert_eq(write(ends[1], "", 1), 1);
    for (int i = 0; i < 3; i++) {
        cr_assert(evaluator_poll(ev, 60000, &job, &e));
        cr_assert_eq(e.status, EVAL_DEVICE_LOST);
        cr_assert_str_eq(e.message, "interrupted");
    }
    for (int i = 0; i < 2; i++)
        cr_assert_eq(ev->slots[i].pid, 0);
    evaluator_free(ev);
}

/* Ctrl-Z stops runner and evaluator; when both go on, neither counts the time. Here the evaluator stands
 * still by not being called. */
Test(agent_evaluate, a_stop_of_all_processes_costs_no_candidate, .timeout = 300)
{
    static const char slow[] =
        "volatile float s = 0; for (int j = 0; j < 40000; j++) s += x[i]; y[i] = s * 0 + 2 * x[i];";
    struct evaluator *ev = evaluate_start(1);
    struct cg_arg args[2];
    char text[1024];
    struct cg_kernel k = evaluate_kernel(slow, args, text, sizeof text);
    uint64_t job;
    struct evaluation e;
    evaluator_submit(ev, 1, &k, &(struct eval_settings){.verify = true, .untimed = true, .limit_ns = 5e9});
    while (ev->slots[0].state != RUNNING)
        evaluate_step(ev, 10);
    for (double end = clock_now_ms() + 60; clock_now_ms() < end && ev->slots[0].state == RUNNING;)
        evaluate_step(ev, 10);
    kill(ev->slots[0].pid, SIGSTOP);
    ev->slots[0].kill_at = clock_now_ms() + 6000;
    sleep(7);
    kill(ev->slots[0].pid, SIGCONT);
    cr_assert(evaluator_poll(ev, 60000, &job, &e));
    cr_expect_eq(e.status, EVAL_OK, "%s: %s", eval_status_name(e.status), e.message);
    evaluator_free(ev);
}

static void evaluate_count_call(void *ctx)
{
    ++*(int *)ctx;
}

/* Whoever waits in a call is heard of at least once a second. */
Test(agent_evaluate, the_caller_of_a_long_wait_shows_that_it_is_alive, .timeout = 300)
{
    int calls = 0;
    struct evaluator *ev = evaluate_start(1);
    ev->caller.alive = evaluate_count_call;
    ev->caller.ctx = &calls;
    static const char slow[] =
        "volatile float s = 0; for (int j = 0; j < 600000; j++) s += x[i]; y[i] = s * 0 + 2 * x[i];";
    struct cg_arg args[2];
    char text[1024];
    struct cg_kernel k = evaluate_kernel(slow, args, text, sizeof text);
    struct evaluation e;
    double start = clock_s();
    evaluator_run(ev, &k, &(struct eval_settings){.untimed = true, .limit_ns = 60e9}, &e);
    cr_expect_geq(calls, (int)(clock_s() - start), "%d", calls);
    evaluator_free(ev);
}

Test(agent_evaluate, default_runners_depend_on_cores_memory_and_builds)
{
    static const struct {
        bool gpu;
        unsigned cores;
        long memory_mib;
        uint64_t builds;
        unsigned runners;
    } cases[] = {{false, 16, 1 << 17, 0, 2},
                 {true, 16, 1 << 17, 0, 16},
                 {true, 8, 1 << 17, 0, 8},
                 {true, 2, 1 << 17, 0, 4},
                 {true, 16, 16384, 0, 8},
                 {true, 16, 2048, 0, 4},
                 {true, 16, 0, 0, 4},
                 {true, 16, 1 << 17, 72, 9},
                 {true, 16, 1 << 17, 1, 4},
                 {true, 16, 1 << 17, 300, 16},
                 {true, 8, 1 << 17, 72, 8},
                 {false, 16, 1 << 17, 1, 2},
                 {true, 16, 1 << 17, UINT64_MAX, 16}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        cr_expect_eq(
            evaluate_default_runners(cases[i].gpu, cases[i].cores, cases[i].memory_mib, cases[i].builds),
            cases[i].runners, "case %zu", i);
}

/* Each runner has the input twice and the output between its zones. */
Test(agent_evaluate, no_more_runners_than_the_memory_takes)
{
    const int64_t array = EVALUATE_N * sizeof(float), one = 2 * array + array + 2 * GUARDED_ZONE;
    const struct {
        int64_t bytes;
        unsigned runners;
    } cases[] = {{3 * one, 3}, {3 * one - 1, 2}, {one, 1}, {one - 1, 1}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct evaluator *ev = evaluate_start_on(cases[i].bytes, 4, -1);
        cr_expect_eq(ev->n_slots, cases[i].runners, "%u of %zu", ev->n_slots, i);
        evaluate_expect(ev, evaluate_good, 0, EVAL_OK);
        evaluator_free(ev);
    }
}

/* What waits for the first runner, as the reference does, does not wait for the others. */
Test(agent_evaluate, the_first_runner_starts_alone_and_then_a_few_at_a_time)
{
    struct evaluator *ev = evaluate_start(AGENT_STARTS + 2);
    cr_expect_eq(ev->n_begun, 1 + AGENT_STARTS, "%u", ev->n_begun);
    cr_expect_eq(ev->slots[0].state, IDLE);
    for (unsigned i = 1; i < ev->n_slots; i++)
        cr_expect_eq(ev->slots[i].state, STARTING, "%u", i);
    evaluate_expect(ev, evaluate_good, 0, EVAL_OK);
    while (ev->n_begun < ev->n_slots)
        evaluate_step(ev, -1);
    evaluate_kill_idle(ev, ev->n_slots - 1);
    evaluator_free(ev);
}

/* The last of the runners is tried three times, the others do without those that do not start. */
Test(agent_evaluate, a_runner_that_does_not_start_is_done_without)
{
    struct evaluator *ev = evaluate_start(2);
    for (unsigned i = 0; i < 2; i++)
        while (ev->slots[i].state == STARTING)
            evaluate_step(ev, -1);
    ev->setup.device = 99;
    evaluate_kill_idle(ev, 1);
    while (ev->slots[1].pid > 0)
        evaluate_step(ev, -1);
    cr_assert_not(ev->lost);
    evaluate_expect(ev, evaluate_good, 0, EVAL_OK);
    evaluate_kill_idle(ev, 0);
    struct evaluation e = evaluate_body(ev, evaluate_good, 0);
    cr_assert_eq(e.status, EVAL_DEVICE_LOST, "%s", e.message);
    cr_assert_str_eq(e.message, "device 99 is no longer available");
    evaluator_free(ev);
}

Test(agent_evaluate, a_runner_that_died_idle_costs_no_candidate)
{
    struct evaluator *ev = evaluate_start(1);
    for (int i = 0; i < 4; i++) {
        evaluate_kill_idle(ev, 0);
        evaluate_expect(ev, evaluate_good, 0, EVAL_OK);
    }
    evaluator_free(ev);
}

Test(agent_evaluate, runners_that_only_die_are_not_started_for_ever)
{
    struct evaluator *ev = evaluate_start(1);
    for (int i = 0; i < 3; i++) {
        cr_assert_not(ev->lost);
        evaluate_kill_idle(ev, 0);
        evaluate_step(ev, -1);
    }
    struct evaluation e = evaluate_body(ev, evaluate_good, 0);
    cr_assert_eq(e.status, EVAL_DEVICE_LOST);
    cr_assert(strstr(e.message, "crash while idle"), "%s", e.message);
    evaluator_free(ev);
}

Test(agent_evaluate, says_that_no_process_can_be_started)
{
    struct diag *d = diag_new();
    struct device dev;
    cr_assert(device_select("cpu", &dev, d));
    struct verify_buffer shape[1] = {{.type = SCALAR_FLOAT, .elements = 4, .output = true}};
    struct verify_task *t = task_make(shape, 1, 7, d);
    const struct verify_tolerance tolerance[VERIFY_EXTREME] = {{.exact = true}, {.exact = true}};
    int next = dup(0);
    close(next);
    struct rlimit limit = {(rlim_t)next + 1, (rlim_t)next + 1}; /* room for the timer alone */
    cr_assert_eq(setrlimit(RLIMIT_NOFILE, &limit), 0);
    cr_assert_null(evaluator_start(&t, &dev, 2, tolerance, NULL, d));
    cr_assert(strstr(diag_message(d, 0), "cannot start a runner process: Too many"), "%s",
              diag_message(d, 0));
    diag_free(d);
}

Test(agent_evaluate, its_descriptors_wake_a_poll)
{
    struct evaluator *ev = evaluate_start(1);
    struct cg_arg args[2];
    char text[1024];
    struct cg_kernel k = evaluate_kernel(evaluate_good, args, text, sizeof text);
    uint64_t job = 0;
    struct evaluation e;
    evaluator_submit(ev, 5, &k, &(struct eval_settings){.verify = true});
    while (!evaluator_poll(ev, 0, &job, &e)) {
        int fds[8];
        struct pollfd p[8];
        unsigned n = evaluator_fds(ev, fds, 8);
        for (unsigned i = 0; i < n; i++)
            p[i] = (struct pollfd){.fd = fds[i], .events = POLLIN};
        cr_assert(poll(p, n, 60000) > 0);
    }
    cr_assert_eq(job, 5);
    cr_assert_eq(e.status, EVAL_OK, "%s", e.message);
    evaluator_free(ev);
}

Test(agent_evaluate, status_names_round_trip)
{
    for (unsigned s = 0; s < EVAL_STATUS_COUNT; s++)
        cr_assert_eq(eval_status_find(eval_status_name((enum eval_status)s)), s);
    cr_assert_eq(eval_status_find("nonsense"), EVAL_STATUS_COUNT);
}
