/* The 95 % intervals of both estimators against the exact counts of three enumerable spaces: a toy with many
 * dead ends, an ordinary parameter space, and a small GPU space, whose samples are as skewed as those of the
 * large ones (coefficient of variation 9). Seeds 1 to 20; with THRESH_LONG 1 to 2,000, whose coverage must be
 * honest in both directions. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/base/diag.h"
#include "core/space/data.h"
#include "mcts/estimate.h"
#include "tests/e2e/fixture.h"
#include "tests/mcts/queens.h"
#include "tests/fixture/longer.h"

extern const struct space_def space_def_blocked_stencil;

enum { FEW = 20, MANY = 2000 };

struct coverage {
    enum mcts_method method;
    uint64_t samples;
    unsigned seeds, tried, covered;
};

static double exact(struct space_state *root)
{
    struct mcts_estimate_config config = {.method = MCTS_EXACT, .samples = 1, .cut = INFINITY};
    struct mcts_estimate e = mcts_estimate(&config, root);
    cr_assert(e.complete);
    return e.log_leaves;
}

/* Counts the seeds whose interval holds the count. */
static void cover(struct coverage *c, const char *name, struct space_state *root)
{
    double log_leaves = exact(root), margin = 1e-9;
    unsigned covered = 0;
    for (unsigned seed = 1; seed <= c->seeds; seed++) {
        struct mcts_estimate_config config = {
            .method = c->method, .samples = c->samples, .seed = seed, .cut = INFINITY};
        struct mcts_estimate e = mcts_estimate(&config, root);
        cr_assert(e.log_low <= e.log_leaves && e.log_leaves <= e.log_high);
        covered += e.log_low <= log_leaves + margin && log_leaves <= e.log_high + margin;
    }
    c->covered += covered;
    c->tried += c->seeds;
    fprintf(stderr, "%s of %s, %.0f leaves: %u of %u intervals hold the count\n",
            c->method == MCTS_KNUTH ? "knuth" : "chen", name, exp(log_leaves), covered, c->seeds);
}

static void cover_queens(struct coverage *c)
{
    struct mcts_queens q = mcts_queens_new(8);
    cover(c, "queens", q.root);
    mcts_queens_free(&q);
}

static void cover_stencil(struct coverage *c)
{
    struct diag *d = diag_new();
    struct space_data *data = space_data_new();
    struct space *space = space_instantiate(&space_def_blocked_stencil, data, d);
    cr_assert_not_null(space, "%s", diag_count(d) ? diag_message(d, 0) : "");
    struct space_state *root = space_root(space, NULL);
    cover(c, "stencil", root);
    space_state_free(root);
    space_free(space);
    space_data_free(data);
    diag_free(d);
}

static void cover_axpy(struct coverage *c)
{
    static const struct bb_options options = {.parallel_levels = 2, .no_staging = true};
    struct problem *p = e2e_problem(&(struct kernel_case){"axpy", "N=4"}, &kernel_small_device, &options);
    struct space_state *root = kernel_root(p->space);
    cover(c, "axpy", root);
    space_state_free(root);
    problem_free(p);
}

/* At least 54 of 60; of 6,000, 92 to 98 %. */
static void check_coverage(enum mcts_method method, uint64_t samples)
{
    bool all = tests_are_long();
    struct coverage c = {.method = method, .samples = samples, .seeds = all ? MANY : FEW};
    cover_queens(&c);
    cover_stencil(&c);
    cover_axpy(&c);
    cr_assert_geq(c.covered, c.tried * (all ? 92 : 90) / 100, "%u of %u", c.covered, c.tried);
    if (all) cr_assert_leq(c.covered, c.tried * 98 / 100, "%u of %u", c.covered, c.tried);
}

Test(mcts_coverage, of_knuth, .timeout = 3600)
{
    check_coverage(MCTS_KNUTH, 150);
}

Test(mcts_coverage, of_chen, .timeout = 3600)
{
    check_coverage(MCTS_CHEN, 30);
}
