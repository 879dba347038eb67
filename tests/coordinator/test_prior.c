/* The shipped prior against the space that it is for. */
#include <criterion/criterion.h>

#include "core/pipeline/problem.h"
#include "core/base/diag.h"
#include "mcts/prior.h"

extern const char prior_gpu[];

Test(gpu_prior, the_shipped_prior_fits_its_space)
{
    static const char text[] =
        "size M, N\ninput A: [[float]N]M\n"
        "output map(fun row -> let s = reduce(add, 0.0, row) in map(fun x -> add(x, s), row), A)\n";
    static const struct bb_device limits = {.max_work_group = 64,
                                            .max_work_item = {64, 64, 64},
                                            .local_bytes = 4096,
                                            .n_vector_widths = 1,
                                            .vector_widths = {4}};
    const struct mcts_fact facts[] = {
        {"gpu", 1}, {"compute_units", 8}, {"max_work_group", 64}, {"results", 64}};
    struct diag *d = diag_new();
    struct bb_options options = {0};
    cr_assert(bb_parse_parameters("max_unroll=64", &options, d));
    struct problem *p = problem_new("t.lift", text, "M=64,N=64", &limits, &options, d);
    cr_assert_not_null(p);
    struct mcts_prior *prior = mcts_prior_new(prior_gpu, p->space, facts, 4, d);
    cr_assert_not_null(prior, "%s", diag_count(d) ? diag_message(d, 0) : "");
    struct space_failure why;
    struct space_state *st = space_root(p->space, &why);
    unsigned weighted = 0;
    for (uint32_t slot; (slot = space_next_choice(st, NULL, 0)) != UINT32_MAX;) {
        uint32_t values[4096], n = space_values(st, slot, values);
        bool applied = false;
        for (uint32_t i = 0; i < n && !applied; i++) {
            struct space_action action = {slot, values[i]};
            double weight = mcts_prior_weight(prior, st, action);
            cr_assert(weight >= 0 && weight < 1e9);
            weighted += weight != 1;
            space_mark mark = space_snapshot(st);
            applied = space_apply(st, action, &why);
            if (!applied) space_rollback(st, mark);
        }
        cr_assert(applied);
    }
    cr_expect_gt(weighted, 0);
    space_state_free(st);
    mcts_prior_free(prior);
    problem_free(p);
    diag_free(d);
}
