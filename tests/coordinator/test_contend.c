/* Plain implementations and the work of a program. */
#include "coordinator/contend.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "agent/device.h"
#include "coordinator/guidance.h"
#include "coordinator/solution.h"
#include "coordinator/work.h"
#include "core/base/diag.h"
#include "core/base/strbuf.h"
#include "core/pipeline/code.h"
#include "tests/fixture/kernel.h"

static const struct bb_device contend_device = {.max_work_group = 256,
                                                .max_work_item = {256, 256, 256},
                                                .local_bytes = 16384,
                                                .n_vector_widths = 3,
                                                .vector_widths = {4, 8, 16}};

struct contend_case {
    struct diag *diag;
    struct problem *problem;
    struct mcts_prior *prior;
    unsigned n;
    struct contend_plain plain[BB_MAX_PLAIN];
};

static struct contend_case contend_open(const char *kernel, const char *sizes, const char *pin)
{
    size_t n;
    struct contend_case c = {.diag = diag_new()};
    char *text = kernel_read(kernel, &n);
    c.problem = problem_new(kernel, text, sizes, &contend_device, NULL, c.diag);
    cr_assert_not_null(c.problem);
    const struct device device = {.compute_units = 2, .limits = contend_device};
    c.prior = guidance_prior(c.problem, &device, c.diag);
    cr_assert_not_null(c.prior);
    c.n = contend_plain(c.problem, &pin, pin != NULL, c.prior, 0, c.plain);
    free(text);
    return c;
}

static void contend_close(struct contend_case *c)
{
    for (unsigned i = 0; i < c->n; i++)
        contend_plain_clear(&c->plain[i]);
    mcts_prior_free(c->prior);
    problem_free(c->problem);
    diag_free(c->diag);
}

/* The loops of the plain implementation of that label; NULL: there is none. malloc'd. */
static char *contend_loops(const struct contend_case *c, const char *label)
{
    struct strbuf loops = {0};
    const char *why = "";
    for (unsigned i = 0; i < c->n; i++) {
        if (strcmp(c->plain[i].label, label)) continue;
        struct space_state *leaf =
            problem_replay(c->problem, c->plain[i].actions, c->plain[i].n_actions, &why);
        cr_assert(leaf && pipeline_print_loops(c->problem, leaf, &loops), "%s", why);
        space_state_free(leaf);
    }
    return loops.text;
}

/* Where rows are work-items their shared sum comes before the loop over the elements. */
Test(contend, a_shared_reduction_is_computed_once_a_row)
{
    struct contend_case c = contend_open("softmax", "M=8,N=64", NULL);
    char *loops = contend_loops(&c, "plain: one work-item per row");
    cr_assert_not_null(loops);
    const char *sum = strstr(loops, "red\n"), *elements = strstr(loops, "loop 64: X.load.n.0");
    cr_expect(sum && elements && sum < elements, "%s", loops);
    cr_expect_eq(bb_naive_repeats(c.problem->backbone), 64);
    free(loops);
    contend_close(&c);
}

Test(contend, vectors_and_groups_are_made_where_they_fit)
{
    struct contend_case c = contend_open("bias_relu", "M=8,N=64", NULL);
    char *loops = contend_loops(&c, "plain: one work-item per row, in vectors of 16");
    cr_assert_not_null(loops);
    cr_expect(strstr(loops, "vector 16") && strstr(loops, "loop 4"), "%s", loops);
    free(loops);
    loops = contend_loops(&c, "plain: one work-item per element, groups of 64");
    cr_expect_not_null(loops);
    cr_expect_eq(bb_naive_repeats(c.problem->backbone), 1);
    free(loops);
    contend_close(&c);
    c = contend_open("bias_relu", "M=8,N=7", NULL);
    for (unsigned i = 0; i < c.n; i++)
        cr_expect_null(strstr(c.plain[i].label, "vector"), "%s", c.plain[i].label);
    contend_close(&c);
    c = contend_open("bias_relu", "M=8,N=61", NULL);
    loops = contend_loops(&c, "plain: one work-item per row, in vectors of 16");
    cr_assert_not_null(loops);
    cr_expect(strstr(loops, "vector 16") && strstr(loops, "loop 4"), "%s", loops);
    free(loops);
    contend_close(&c);
}

/* What contradicts the user's pins is no contender. */
Test(contend, pins_are_respected)
{
    struct contend_case c = contend_open("bias_relu", "M=8,N=64", "dim_kind(store.n.0)=LOOP");
    cr_assert_gt(c.n, 0);
    for (unsigned i = 0; i < c.n; i++)
        cr_expect_not_null(strstr(c.plain[i].label, "per row"), "%s", c.plain[i].label);
    contend_close(&c);
    c = contend_open("matmul", "M=16,N=16,K=16", "staged(A)=YES");
    cr_expect_eq(c.n, 0);
    contend_close(&c);
}

Test(contend, naive_is_allowed_unless_pins_say_otherwise)
{
    struct contend_case c = contend_open("bias_relu", "M=8,N=64", NULL);
    static const char *const pins[] = {"dim_kind(store.n.0)=GLOBAL", "dim_kind(store.n.0)=LOOP"};
    struct space_state *naive = problem_naive(c.problem, c.diag);
    size_t n;
    struct space_action *actions = solution_actions(NULL, naive, &n);
    for (unsigned i = 0; i < 2; i++) {
        struct space_state *root = space_pinned_root(c.problem->space, &pins[i], 1, c.diag);
        cr_expect_eq(contend_allowed(root, actions, n), i == 0);
        space_state_free(root);
    }
    free(actions);
    space_state_free(naive);
    contend_close(&c);
}

Test(work, counts_each_operation_and_each_array_once)
{
    static const struct {
        const char *kernel, *sizes;
        double operations, bytes;
    } cases[] = {
        {"matmul", "M=8,N=16,K=32", 2 * 8 * 16 * 32, 4 * (8 * 32 + 32 * 16 + 8 * 16)},
        {"axpy", "N=64", 2 * 64, 4 * (1 + 64 + 64 + 64)},
        {"transpose", "M=8,N=16", 0, 4 * 2 * 8 * 16},
        {"softmax", "M=8,N=64", 8 * 64 * 4, 4 * 2 * 8 * 64}, /* exp, add; exp, div */
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct contend_case c = contend_open(cases[i].kernel, cases[i].sizes, NULL);
        struct work w = work_of(c.problem->backbone);
        cr_expect_eq(w.operations, cases[i].operations, "%s: %g", cases[i].kernel, w.operations);
        cr_expect_eq(w.bytes, cases[i].bytes, "%s: %g", cases[i].kernel, w.bytes);
        contend_close(&c);
    }
}
