/* Stratified sampling: every value that leaves have is reached, rare ones too, and the seed decides
 * everything. */
#include "coordinator/sampling.h"

#include <criterion/criterion.h>

#include "core/base/diag.h"
#include "tests/e2e/fixture.h"
#include "tests/mcts/queens.h"

enum { SAMPLING_LEAST = 5, SAMPLING_MOST_DRAWS = 20000 };

/* Draws and counts until everything is covered; every other leaf is right, if any. Returns the draws; *hash
 * is over all leaves. */
static unsigned sampling_cover(struct sampling *s, struct space_state *st, bool any_right, uint64_t *hash)
{
    unsigned draws = 0;
    for (*hash = 0; !sampling_covered(s) && draws < SAMPLING_MOST_DRAWS; draws++) {
        space_mark mark = space_snapshot(st);
        if (sampling_draw(s, st)) {
            cr_assert_eq(space_open_count(st), 0);
            sampling_count(s, st);
            if (any_right && draws % 2) sampling_confirm(s, st);
            *hash = *hash * 31 + space_state_hash(st);
        }
        space_rollback(st, mark);
    }
    return draws;
}

Test(sampling, values_of_queens)
{
    struct mcts_queens q = mcts_queens_new(6);
    struct sampling *s = sampling_new(q.root, SAMPLING_LEAST, 1);
    uint64_t hash;
    unsigned n, draws = sampling_cover(s, q.root, false, &hash);
    const struct sampling_value *v = sampling_values(s, &n);
    cr_assert_eq(n, 6, "one choice over the rows: six columns");
    for (unsigned i = 0; i < n; i++) {
        cr_assert(v[i].counted >= SAMPLING_LEAST && !v[i].excluded && !v[i].given_up);
        cr_assert(i == 0 || space_value_code(q.space, v[i].slot, v[i].value) >
                                space_value_code(q.space, v[i - 1].slot, v[i - 1].value));
    }
    cr_assert_lt(draws, SAMPLING_MOST_DRAWS);
    sampling_free(s);
    mcts_queens_free(&q);
}

static const struct bb_device sampling_device = {.max_work_group = 16,
                                                 .max_work_item = {16, 16, 16},
                                                 .local_bytes = 4096,
                                                 .n_vector_widths = 1,
                                                 .vector_widths = {4}};

/* A vector of 4 and an inner group axis are rare in uniform descents. */
Test(sampling, rare_values_of_the_gpu_space, .timeout = 120)
{
    struct diag *d = diag_new();
    struct bb_options options = {0};
    cr_assert(bb_parse_parameters("max_unroll=16", &options, d));
    diag_free(d);
    struct problem *p =
        e2e_problem(&(struct kernel_case){"transpose", "M=8,N=8"}, &sampling_device, &options);
    struct space_state *root = kernel_root(p->space);
    uint64_t hashes[2];
    for (int run = 0; run < 2; run++) {
        struct sampling *s = sampling_new(root, SAMPLING_LEAST, 7);
        unsigned n, reached = 0, draws = sampling_cover(s, root, run == 1, &hashes[run]);
        const struct sampling_value *v = sampling_values(s, &n);
        for (unsigned i = 0; i < n; i++) {
            cr_assert(v[i].counted >= SAMPLING_LEAST || v[i].excluded || v[i].given_up);
            reached += v[i].counted > 0;
            cr_assert(v[i].confirmed <= v[i].counted && (run == 1 || v[i].confirmed == 0));
        }
        cr_assert_lt(draws, SAMPLING_MOST_DRAWS);
        cr_assert_geq(reached, n / 2);
        sampling_free(s);
    }
    cr_assert_eq(hashes[0], hashes[1], "the seed alone decides, not what is right");
    space_state_free(root);
    problem_free(p);
}
