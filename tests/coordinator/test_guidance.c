/* What a search is told of a program on a device: the shipped prior against the space that it is for, and
 * features of an implementation. */
#include <criterion/criterion.h>
#include <math.h>

#include "agent/device.h"
#include "coordinator/guidance.h"
#include "core/backbone/combine.h"
#include "core/base/diag.h"
#include "core/pipeline/code.h"
#include "core/pipeline/problem.h"

static const char guidance_text[] =
    "size M, N\ninput A: [[float]N]M\n"
    "output map(fun row -> let s = reduce(add, 0.0, row) in map(fun x -> add(x, s), row), A)\n";

struct guidance_case {
    struct diag *diag;
    struct device device;
    struct problem *problem;
    struct mcts_prior *prior;
};

static struct guidance_case guidance_open(bool gpu)
{
    struct guidance_case c = {.diag = diag_new(), .device = {.gpu = gpu, .compute_units = 8}};
    struct bb_options options = {0};
    c.device.limits = (struct bb_device){.max_work_group = 64,
                                         .max_work_item = {64, 64, 64},
                                         .local_bytes = 4096,
                                         .n_vector_widths = 1,
                                         .vector_widths = {4}};
    cr_assert(bb_parse_parameters("max_unroll=64", &options, c.diag));
    c.problem = problem_new("t.lift", guidance_text, "M=64,N=64", &c.device.limits, &options, c.diag);
    cr_assert_not_null(c.problem);
    c.prior = guidance_prior(c.problem, &c.device, c.diag);
    cr_assert_not_null(c.prior, "%s", diag_count(c.diag) ? diag_message(c.diag, 0) : "");
    return c;
}

static void guidance_close(struct guidance_case *c)
{
    mcts_prior_free(c->prior);
    problem_free(c->problem);
    diag_free(c->diag);
}

/* The implementation with the first live value of each choice; *weighted: values with a weight other than 1.
 */
static struct space_state *guidance_leaf(const struct guidance_case *c, unsigned *weighted)
{
    struct space_failure why;
    struct space_state *st = space_root(c->problem->space, &why);
    *weighted = 0;
    for (uint32_t slot; (slot = space_next_choice(st, NULL, 0)) != UINT32_MAX;) {
        uint32_t values[4096], n = space_values(st, slot, values);
        bool applied = false;
        for (uint32_t i = 0; i < n && !applied; i++) {
            struct space_action action = {slot, values[i]};
            double weight = mcts_prior_weight(c->prior, st, action);
            cr_assert(weight >= 0 && weight < 1e9);
            *weighted += weight != 1;
            space_mark mark = space_snapshot(st);
            applied = space_apply(st, action, &why);
            if (!applied) space_rollback(st, mark);
        }
        cr_assert(applied);
    }
    return st;
}

Test(guidance, the_shipped_prior_fits_its_space)
{
    for (int gpu = 0; gpu < 2; gpu++) {
        struct guidance_case c = guidance_open(gpu);
        unsigned weighted;
        space_state_free(guidance_leaf(&c, &weighted));
        cr_expect_gt(weighted, 0);
        guidance_close(&c);
    }
}

Test(guidance, facts_are_of_the_device_and_the_program)
{
    static const char *const NAMES[GUIDANCE_FACTS] = {"gpu", "compute_units", "max_work_group", "results"};
    static const double OF_GPU[GUIDANCE_FACTS] = {1, 8, 64, 64};
    struct guidance_case c = guidance_open(true);
    struct mcts_fact facts[GUIDANCE_FACTS];
    guidance_facts(c.problem, &c.device, facts);
    for (int i = 0; i < GUIDANCE_FACTS; i++) {
        cr_expect_str_eq(facts[i].name, NAMES[i]);
        cr_expect_eq(facts[i].value, OF_GPU[i], "%s: %g", NAMES[i], facts[i].value);
    }
    c.device.gpu = false;
    guidance_facts(c.problem, &c.device, facts);
    cr_expect_eq(facts[0].value, 0);
    cr_expect_eq(facts[3].value, bb_split_results(c.problem->backbone, false));
    guidance_close(&c);
}

Test(guidance, features_are_those_of_the_kernel)
{
    struct guidance_case c = guidance_open(true);
    double counts[CG_COUNT_COUNT], expected[ESTIMATE_FEATURES], features[ESTIMATE_FEATURES];
    unsigned weighted;
    struct space_state *leaf = guidance_leaf(&c, &weighted);
    cr_assert(pipeline_count(c.problem, leaf, counts));
    cr_assert_geq(counts[CG_COUNT_OPERATIONS], 2 * 64 * 64);
    estimate_features(counts, 8, true, expected);
    guidance_features(c.problem, &c.device, leaf, features);
    for (int i = 0; i < ESTIMATE_FEATURES; i++)
        cr_expect_eq(features[i], expected[i], "%d: %g, expected %g", i, features[i], expected[i]);
    space_state_free(leaf);
    guidance_close(&c);
}
