/* The pipeline from a program's text to OpenCL text: the same code from a leaf and from its actions, reasons
 * for what cannot be lowered. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/strbuf.h"
#include "core/pipeline/code.h"
#include "tests/fixture/kernel.h"

static const struct kernel_case pipeline_cases[] = {
    {"gemv", "M=8,N=8"}, {"matmul", "M=4,N=4,K=8"}, {"softmax", "M=4,N=8"}};
enum { PIPELINE_CASES = sizeof pipeline_cases / sizeof *pipeline_cases, PIPELINE_LEAVES = 2 };

static struct problem *pipeline_problem(const struct kernel_case *c)
{
    size_t n;
    struct diag *d = diag_new();
    char *text = kernel_read(c->kernel, &n);
    struct problem *p = problem_new(c->kernel, text, c->sizes, &kernel_device, NULL, d);
    cr_assert_not_null(p, "%s", diag_failed(d) ? diag_message(d, 0) : "");
    free(text);
    diag_free(d);
    return p;
}

/* A random leaf below the root; its decisions go to actions[], in the order in which they are taken. */
static struct space_state *pipeline_leaf(const struct problem *p, struct pcg32 *rng,
                                         struct space_action *actions, size_t *n)
{
    struct space_state *st = kernel_root(p->space);
    space_mark root = space_snapshot(st);
    uint32_t slot = 0;
    do {
        space_rollback(st, root);
        *n = 0;
        while ((slot = space_next_choice(st, NULL, 0)) != UINT32_MAX && kernel_step(st, rng))
            actions[(*n)++] = (struct space_action){slot, space_first_value(st, slot)};
    } while (slot != UINT32_MAX);
    return st;
}

static void pipeline_compare(const struct problem *p, const struct space_state *leaf,
                             const struct space_action *actions, size_t n)
{
    struct pipeline_code here, there;
    char why[200] = "";
    cr_assert(pipeline_lower(p, leaf, &here, why, sizeof why), "%s", why);
    cr_assert(pipeline_lower_actions(p, actions, n, &there, why, sizeof why), "%s", why);
    cr_expect_str_eq(here.kernel.source, there.kernel.source);
    cr_expect_eq(here.hash, there.hash);
    cr_expect(here.items == there.items && here.item_steps == there.item_steps);
    cr_expect(here.items >= 1 && here.item_steps >= 1);
    pipeline_code_clear(&here);
    pipeline_code_clear(&there);
    cr_expect_null(here.kernel.source);
}

/* What the coordinator lowers from its state, an agent lowers from the actions. */
Test(pipeline, a_leaf_and_its_actions_have_the_same_code)
{
    for (size_t i = 0; i < PIPELINE_CASES; i++) {
        struct problem *p = pipeline_problem(&pipeline_cases[i]);
        struct space_action *actions = calloc(space_slot_count(p->space), sizeof *actions);
        struct pcg32 rng = pcg32_seed(3, i);
        for (int k = 0; k < PIPELINE_LEAVES; k++) {
            size_t n;
            struct space_state *leaf = pipeline_leaf(p, &rng, actions, &n);
            pipeline_compare(p, leaf, actions, n);
            space_state_free(leaf);
        }
        free(actions);
        problem_free(p);
    }
}

Test(pipeline, the_order_of_actions_does_not_matter)
{
    struct problem *p = pipeline_problem(&pipeline_cases[0]);
    struct space_action *actions = calloc(space_slot_count(p->space), sizeof *actions);
    struct pcg32 rng = pcg32_seed(4, 0);
    const char *why = "";
    size_t n;
    struct space_state *leaf = pipeline_leaf(p, &rng, actions, &n), *again = NULL;
    for (size_t i = 0; i < n / 2; i++) {
        struct space_action other = actions[i];
        actions[i] = actions[n - 1 - i];
        actions[n - 1 - i] = other;
    }
    cr_assert(again = problem_replay(p, actions, n, &why), "%s", why);
    cr_expect_eq(space_state_hash(again), space_state_hash(leaf));
    space_state_free(again);
    space_state_free(leaf);
    free(actions);
    problem_free(p);
}

/* An evaluation after it was drawn: the state that the search has left is lowered as it is; who has the list
 * of actions propagates them once. */
Test(pipeline, lowering_propagates_nothing_and_a_replay_once)
{
    for (size_t i = 0; i < PIPELINE_CASES; i++) {
        struct problem *p = pipeline_problem(&pipeline_cases[i]);
        struct space_action *actions = calloc(space_slot_count(p->space), sizeof *actions);
        struct pcg32 rng = pcg32_seed(5, i);
        struct pipeline_code code;
        char why[200] = "";
        size_t n;
        struct space_state *leaf = pipeline_leaf(p, &rng, actions, &n);
        uint64_t drawn = space_propagation_count(p->space);
        cr_assert(pipeline_lower(p, leaf, &code, why, sizeof why), "%s", why);
        pipeline_code_clear(&code);
        cr_expect_eq(space_propagation_count(p->space), drawn);
        cr_assert(pipeline_lower_actions(p, actions, n, &code, why, sizeof why), "%s", why);
        pipeline_code_clear(&code);
        cr_expect_eq(space_propagation_count(p->space), drawn + 1);
        space_state_free(leaf);
        free(actions);
        problem_free(p);
    }
}

/* Both sides have the same space if and only if program, sizes and limits are the same. */
Test(pipeline, a_fingerprint_is_of_program_sizes_and_limits)
{
    static const struct kernel_case other_sizes = {"gemv", "M=8,N=4"};
    struct problem *a = pipeline_problem(&pipeline_cases[0]), *b = pipeline_problem(&pipeline_cases[0]);
    struct problem *sizes = pipeline_problem(&other_sizes);
    struct diag *d = diag_new();
    struct problem *limits =
        problem_new(a->source.path, a->source.text, pipeline_cases[0].sizes, &problem_any_device, NULL, d);
    cr_assert_not_null(limits);
    cr_expect_eq(a->fingerprint, b->fingerprint);
    cr_expect_neq(a->fingerprint, sizes->fingerprint);
    cr_expect_neq(a->fingerprint, limits->fingerprint);
    problem_free(limits);
    problem_free(sizes);
    problem_free(b);
    problem_free(a);
    diag_free(d);
}

/* A peer's list may hold anything. */
Test(pipeline, actions_that_are_none_are_refused_with_a_reason)
{
    struct problem *p = pipeline_problem(&pipeline_cases[0]);
    const uint32_t slots = space_slot_count(p->space);
    uint32_t open = 0;
    struct space_state *root = kernel_root(p->space);
    while (!space_is_open(root, open))
        open++;
    uint32_t values[4096], n_values = space_values(root, open, values);
    cr_assert_geq(n_values, 2);
    const struct space_action lists[][2] = {
        {{slots, 0}, {slots, 0}},
        {{open, space_universe(p->space, open)}, {open, values[0]}},
        {{open, values[0]}, {open, values[1]}},
    };
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        struct pipeline_code code;
        char why[200] = "";
        cr_expect_not(pipeline_lower_actions(p, lists[i], 2, &code, why, sizeof why), "list %zu", i);
        cr_expect(why[0], "list %zu has no reason", i);
        cr_expect_null(code.kernel.source);
    }
    space_state_free(root);
    problem_free(p);
}

Test(pipeline, the_loop_tree_of_a_naive_kernel_has_its_loops)
{
    struct problem *p = pipeline_problem(&pipeline_cases[0]);
    struct diag *d = diag_new();
    struct strbuf loops = {0};
    struct space_state *leaf = problem_naive(p, d);
    cr_assert(leaf && pipeline_print_loops(p, leaf, &loops));
    cr_expect(strstr(loops.text, "8"), "%s", loops.text);
    strbuf_free(&loops);
    space_state_free(leaf);
    diag_free(d);
    problem_free(p);
}
