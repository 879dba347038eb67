/* evaluator_new() from a Lift program: the naive kernel fills the reference, the interpreter agrees, and the
 * naive kernel passes its own evaluation. */
#include <criterion/criterion.h>
#include <stdio.h>

#include "agent/evaluate.h"
#include "core/base/diag.h"
#include "core/space/space.h"

static const char reference_matmul[] =
    "size M, N, K\ninput A: [[float]K]M\ninput B: [[float]N]K\n"
    "output map(fun row -> map(fun col -> reduce(add, 0.0, map(mult, zip(row, col))), transpose(B)), A)\n";

/* The naive kernel of a program passes its own evaluation. */
static void reference_check(const char *program, const char *sizes)
{
    struct diag *d = diag_new();
    struct device dev;
    struct bb_options options = {.parallel_levels = 2, .reduction_levels = 2, .no_staging = true};
    cr_assert(device_select("cpu", &dev, d));
    struct problem *p = problem_new("m.lift", program, sizes, &dev.limits, &options, d);
    struct evaluator *ev = p ? evaluator_new(p, &dev, 1, 11, d) : NULL;
    if (!ev) diag_print(d, stderr);
    cr_assert_not_null(ev);
    struct space_state *st = problem_naive(p, d);
    struct cg_kernel k;
    char why[160] = "";
    cr_assert(st && problem_kernel(p, st, NULL, &k, why, sizeof why), "%s", why);
    struct evaluation e;
    evaluator_run(ev, &k, &(struct eval_settings){.verify = true}, &e);
    cr_assert_eq(e.status, EVAL_OK, "%s: %s", eval_status_name(e.status), e.message);
    cg_kernel_free(&k);
    space_state_free(st);
    evaluator_free(ev);
    problem_free(p);
    diag_free(d);
}

Test(agent_reference, the_naive_kernel_matches_the_interpreter)
{
    reference_check(reference_matmul, "M=16,N=8,K=12");
}

/* Roots of negative numbers, and differences of 0 to divide by. */
Test(agent_reference, results_may_be_infinite_or_no_number)
{
    reference_check("size N\ninput x: [float]N\noutput map(fun v -> sqrt(v), x)\n", "N=256");
    reference_check("size N\ninput x: [float]N\ninput y: [float]N\n"
                    "output map(fun (u, v) -> 1.0 / (u - v), zip(x, y))\n",
                    "N=256");
}
