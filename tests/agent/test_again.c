/* The second look at wrong results. PoCL's compiler defines __OPTIMIZE__ unless it is told not to optimize,
 * so that a text can be wrong in the way of a faulty compiler's code. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "agent/limits.h"
#include "tests/agent/doubling.h"

/* A body that is one thing with optimizations and another without. */
#define AGAIN_BODY(with, without) "\n#ifdef __OPTIMIZE__\n" with "\n#else\n" without "\n#endif\n"

#define AGAIN_DOUBLES "y[i] = 2 * x[i];"
#define AGAIN_TRIPLES "y[i] = 3 * x[i];"
#define AGAIN_RIGHT                                                                                          \
    "(exact inputs); right if built with -cl-opt-disable: probably a fault of the device's compiler"
#define AGAIN_WRONG "(exact inputs); also wrong if built with -cl-opt-disable"
#define AGAIN_UNKNOWN "(exact inputs)"

static const struct eval_settings again_settings = {
    .verify = true, .untimed = true, .second_look = true, .limit_ns = 2e9};

/* The message must end so. */
static void again_ends(const struct evaluation *e, const char *end, enum eval_unoptimized unoptimized)
{
    size_t n = strlen(e->message), m = strlen(end);
    cr_expect_eq(e->status, EVAL_WRONG_RESULT, "%s: %s", eval_status_name(e->status), e->message);
    cr_expect(n >= m && !strcmp(e->message + n - m, end), "'%s' does not end with '%s'", e->message, end);
    cr_expect_eq(e->unoptimized, unoptimized, "%s", e->message);
}

static void again_expect(struct evaluator *ev, const char *body, const struct eval_settings *settings,
                         const char *end, enum eval_unoptimized unoptimized)
{
    struct cg_arg args[2];
    char text[1024];
    struct cg_kernel k = evaluate_kernel(body, args, text, sizeof text);
    struct evaluation e;
    evaluator_run(ev, &k, settings, &e);
    again_ends(&e, end, unoptimized);
}

Test(agent_again, what_is_right_without_optimizations_is_told, .timeout = 60)
{
    struct evaluator *ev = evaluate_start(1);
    again_expect(ev, AGAIN_BODY(AGAIN_TRIPLES, AGAIN_DOUBLES), &again_settings, AGAIN_RIGHT,
                 EVAL_UNOPTIMIZED_RIGHT);
    again_expect(ev, AGAIN_TRIPLES, &again_settings, AGAIN_WRONG, EVAL_UNOPTIMIZED_WRONG);
    again_expect(
        ev, "y[i] = 2 * x[i];" AGAIN_BODY("if (i == 0) y[1030] = 1;", ""), &again_settings,
        "writes outside the output (buffer 1); right if built with -cl-opt-disable: probably a fault "
        "of the device's compiler",
        EVAL_UNOPTIMIZED_RIGHT);
    evaluate_expect(ev, evaluate_good, 0, EVAL_OK);
    evaluator_free(ev);
}

/* A second look that ends badly says nothing. */
Test(agent_again, the_first_verdict_stays, .timeout = 60)
{
    static const char *const bodies[] = {
        AGAIN_BODY(AGAIN_TRIPLES, "y[i] = undeclared;"),
        AGAIN_BODY(AGAIN_TRIPLES, "y[i] = *(__global float *)(ulong)(i + 8);")};
    struct evaluator *ev = evaluate_start(2);
    for (size_t i = 0; i < sizeof bodies / sizeof *bodies; i++) {
        again_expect(ev, bodies[i], &again_settings, AGAIN_UNKNOWN, EVAL_UNOPTIMIZED_UNKNOWN);
        cr_expect_eq(ev->second_looks, i + 1);
        evaluate_expect(ev, evaluate_good, 0, EVAL_OK);
    }
    evaluator_free(ev);
}

/* Only where it is asked for, and not for ever. */
Test(agent_again, second_looks_are_few, .timeout = 60)
{
    static const struct eval_settings search = {.verify = true};
    static const char body[] = AGAIN_BODY(AGAIN_TRIPLES, AGAIN_DOUBLES);
    struct evaluator *ev = evaluate_start(1);
    again_expect(ev, body, &search, AGAIN_UNKNOWN, EVAL_UNOPTIMIZED_UNKNOWN);
    cr_expect_eq(ev->second_looks, 0);
    evaluate_expect(ev, evaluate_good, 0, EVAL_OK);
    ev->second_looks = AGENT_SECOND_LOOKS - 1;
    again_expect(ev, body, &again_settings, AGAIN_RIGHT, EVAL_UNOPTIMIZED_RIGHT);
    again_expect(ev, body, &again_settings, AGAIN_UNKNOWN, EVAL_UNOPTIMIZED_UNKNOWN);
    evaluator_free(ev);
}

Test(agent_again, a_user_s_options_are_kept, .timeout = 60)
{
    struct evaluator *ev = evaluate_start(1);
    struct cg_arg args[2];
    char text[1024], options[] = "-cl-std=CL1.2 -cl-kernel-arg-info -DTWO=2";
    struct cg_kernel k =
        evaluate_kernel(AGAIN_BODY(AGAIN_TRIPLES, "y[i] = TWO * x[i];"), args, text, sizeof text);
    struct evaluation e;
    k.options = options;
    evaluator_run(ev, &k, &again_settings, &e);
    again_ends(&e, AGAIN_RIGHT, EVAL_UNOPTIMIZED_RIGHT);
    evaluator_free(ev);
}

/* An interruption meanwhile ends it with what is known. */
Test(agent_again, a_stop_leaves_the_first_verdict, .timeout = 60)
{
    int ends[2];
    cr_assert_eq(pipe(ends), 0);
    struct evaluator *ev = evaluate_start_on(0, 1, ends[0]);
    struct cg_arg args[2];
    char text[1024];
    struct cg_kernel k = evaluate_kernel(
        AGAIN_BODY(AGAIN_TRIPLES, "for (volatile int go = 1; go;) y[i] = x[i];"), args, text, sizeof text);
    uint64_t job;
    struct evaluation e;
    evaluator_submit(ev, 0, &k, &again_settings);
    while (!ev->second_looks)
        evaluate_step(ev, -1);
    cr_assert_eq(write(ends[1], "", 1), 1);
    cr_assert(evaluator_poll(ev, -1, &job, &e));
    again_ends(&e, AGAIN_UNKNOWN, EVAL_UNOPTIMIZED_UNKNOWN);
    evaluator_free(ev);
}
