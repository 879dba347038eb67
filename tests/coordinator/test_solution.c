/* A leaf as actions: the list of a draw leads to the drawn leaf, whatever the pins restrict, and is made
 * without propagation. Result files do not depend on the list that led to the leaf. */
#include "coordinator/solution.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "coordinator/best.h"
#include "core/base/diag.h"
#include "core/pipeline/problem.h"
#include "tests/fixture/kernel.h"

enum { SOLUTION_LEAVES = 2, SOLUTION_PINS = 2 };

struct solution_case {
    const char *name, *pins[SOLUTION_PINS + 1];
};

/* Pins of choices that always exist; of choices of a copy that the leaf has; of those that it may lack, and
 * whose pin may even exclude the copy. */
static const struct solution_case solution_cases[] = {
    {"none", {NULL}},
    {"sizes", {"size(m.*)=2|4", "size(n.*)=1|2|4|8", NULL}},
    {"a copy", {"staged(A)=YES", "mem_space(A.tile)=LOCAL", NULL}},
    {"a copy that is not made", {"staged(A)=NO", "staged(x)=YES", NULL}},
    {"a copy that may be made", {"mem_space(x.tile)=LOCAL", "size(A.copy.n.*)=1|2|8", NULL}},
};

static struct problem *solution_problem(struct diag *d)
{
    size_t n;
    char *text = kernel_read("gemv", &n);
    const struct bb_options few = {.parallel_levels = 2, .reduction_levels = 1, .copy_levels = 2};
    struct problem *p = problem_new("gemv", text, "M=4,N=8", &kernel_device, &few, d);
    cr_assert_not_null(p);
    free(text);
    return p;
}

/* Draws a leaf below the root, and what was decided. */
static void solution_draw(struct space_state *st, struct pcg32 *rng, struct space_action *made, size_t *n)
{
    space_mark root = space_snapshot(st);
    uint32_t slot = 0;
    do {
        space_rollback(st, root);
        *n = 0;
        while ((slot = space_next_choice(st, NULL, 0)) != UINT32_MAX && kernel_step(st, rng))
            made[(*n)++] = (struct space_action){slot, space_first_value(st, slot)};
    } while (slot != UINT32_MAX);
}

static void solution_expect(const struct problem *p, const struct space_state *leaf,
                            const struct space_action *actions, size_t n, const char *name)
{
    const char *why = "";
    struct space_state *again = problem_replay(p, actions, n, &why);
    cr_assert_not_null(again, "%s: %s", name, why);
    cr_expect_eq(space_next_choice(again, NULL, 0), UINT32_MAX, "%s: not a leaf", name);
    cr_expect_eq(space_state_hash(again), space_state_hash(leaf), "%s: another leaf", name);
    space_state_free(again);
}

static void solution_check(const struct problem *p, const struct solution_case *c, struct diag *d)
{
    struct space_action *made = calloc(space_slot_count(p->space), sizeof *made);
    struct pcg32 rng = pcg32_seed(7, 0);
    unsigned n_pins = 0;
    while (c->pins[n_pins])
        n_pins++;
    struct space_state *root = space_pinned_root(p->space, c->pins, n_pins, d);
    cr_assert_not_null(root, "%s: %s", c->name, diag_failed(d) ? diag_message(d, 0) : "");
    for (int i = 0; i < SOLUTION_LEAVES; i++) {
        size_t n_made, n_drawn, n_shortest;
        struct space_state *leaf = space_state_clone(root);
        solution_draw(leaf, &rng, made, &n_made);
        uint64_t propagations = space_propagation_count(p->space);
        struct space_action *drawn = solution_drawn(root, leaf, made, n_made, &n_drawn);
        cr_expect_eq(space_propagation_count(p->space), propagations);
        struct space_action *shortest = solution_actions(NULL, leaf, &n_shortest);
        solution_expect(p, leaf, drawn, n_drawn, c->name);
        solution_expect(p, leaf, shortest, n_shortest, c->name);
        cr_expect_leq(n_shortest, space_slot_count(p->space));
        free(shortest);
        free(drawn);
        space_state_free(leaf);
    }
    space_state_free(root);
    free(made);
}

Test(solution, the_list_of_a_draw_leads_to_the_leaf)
{
    struct diag *d = diag_new();
    struct problem *p = solution_problem(d);
    for (size_t i = 0; i < sizeof solution_cases / sizeof *solution_cases; i++)
        solution_check(p, &solution_cases[i], d);
    problem_free(p);
    diag_free(d);
}

/* ---- result files ---- */

enum { SOLUTION_FILES = 3, SOLUTION_PATH = 64 };

struct solution_result {
    char *texts[SOLUTION_FILES];
};

/* Writes the files of an implementation whose only contender it is itself, reads them, and removes them. */
static struct solution_result solution_write(const struct problem *p, const struct space_action *actions,
                                             size_t n, struct diag *d)
{
    static const char *const names[SOLUTION_FILES] = {"best.json", "best.cl", "host.c"};
    static const struct device device = {.name = "device", .driver = "driver"};
    const struct figure figure = {.median_ns = 2, .low_ns = 1, .high_ns = 3, .rounds = 11};
    struct best_contender itself = {
        .label = "search", .number = 1, .figure = figure, .actions = (struct space_action *)actions, n};
    const struct bb_options lowering = {0};
    const struct best b = {.problem = p,
                           .device = &device,
                           .lowering = &lowering,
                           .sizes = "M=4,N=8",
                           .actions = actions,
                           .n_actions = n,
                           .figure = figure,
                           .naive = figure,
                           .contenders = &itself,
                           .n_contenders = 1};
    struct solution_result r;
    char folder[] = "/tmp/thresh-solution-XXXXXX", path[SOLUTION_PATH];
    cr_assert_not_null(mkdtemp(folder));
    cr_assert(best_write(folder, &b, d), "%s", diag_count(d) ? diag_message(d, 0) : "");
    for (int i = 0; i < SOLUTION_FILES; i++) {
        size_t bytes;
        snprintf(path, sizeof path, "%s/%s", folder, names[i]);
        r.texts[i] = source_read_file(path, 1 << 20, &bytes, d);
        cr_assert_not_null(r.texts[i]);
        unlink(path);
    }
    rmdir(folder);
    return r;
}

static void solution_expect_equal(const struct solution_result *a, const struct solution_result *b)
{
    for (int i = 0; i < SOLUTION_FILES; i++)
        cr_expect_str_eq(a->texts[i], b->texts[i]);
}

static void solution_result_clear(struct solution_result *r)
{
    for (int i = 0; i < SOLUTION_FILES; i++)
        free(r->texts[i]);
}

/* The list of a draw, the same backwards, and every decision of the leaf. */
Test(solution, results_of_equal_leaves_are_equal)
{
    struct diag *d = diag_new();
    struct problem *p = solution_problem(d);
    struct pcg32 rng = pcg32_seed(3, 0);
    struct space_action *made = calloc(space_slot_count(p->space), sizeof *made);
    struct space_action *all = calloc(space_slot_count(p->space), sizeof *all);
    size_t n, n_all = 0, n_shortest;
    struct space_state *leaf = space_root(p->space, NULL);
    solution_draw(leaf, &rng, made, &n);
    for (uint32_t i = 0; i < space_slot_count(p->space); i++)
        if (space_is_live(leaf, i)) all[n_all++] = (struct space_action){i, space_first_value(leaf, i)};
    struct space_action *shortest = solution_actions(NULL, leaf, &n_shortest);
    cr_assert_gt(n_all, n_shortest);
    struct solution_result expected = solution_write(p, shortest, n_shortest, d);
    struct solution_result of_draw = solution_write(p, made, n, d);
    struct solution_result of_all = solution_write(p, all, n_all, d);
    for (size_t i = 0; i < n / 2; i++) {
        struct space_action first = made[i];
        made[i] = made[n - 1 - i];
        made[n - 1 - i] = first;
    }
    cr_assert(n != n_shortest || memcmp(made, shortest, n * sizeof *made) != 0);
    struct solution_result of_reverse = solution_write(p, made, n, d);
    solution_expect_equal(&expected, &of_draw);
    solution_expect_equal(&expected, &of_all);
    solution_expect_equal(&expected, &of_reverse);
    solution_result_clear(&expected);
    solution_result_clear(&of_draw);
    solution_result_clear(&of_all);
    solution_result_clear(&of_reverse);
    free(shortest);
    free(made);
    free(all);
    space_state_free(leaf);
    problem_free(p);
    diag_free(d);
}
