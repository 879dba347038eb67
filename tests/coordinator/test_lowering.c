/* Lowering on a thread of its own tells the same of a candidate as lowering it at once. */
#include "coordinator/lowering.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "core/pipeline/code.h"
#include "tests/codegen/contenders.h"
#include "tests/fixture/kernel.h"

enum { LOWERING_LEAVES = 6 };

struct lowering_case {
    struct problem *problem;
    struct space_state *leaves[LOWERING_LEAVES];
    struct lowering *lowering;
};

static struct lowering_case lowering_open(void)
{
    size_t n;
    struct diag *d = diag_new();
    char *text = kernel_read("matmul", &n);
    struct lowering_case c = {.problem =
                                  problem_new("matmul.lift", text, "M=4,N=4,K=8", &kernel_device, NULL, d)};
    cr_assert_not_null(c.problem);
    struct pcg32 rng = pcg32_seed(11, 0);
    for (int i = 0; i < LOWERING_LEAVES; i++) {
        c.leaves[i] = kernel_root(c.problem->space);
        while (!kernel_descend(c.leaves[i], &rng)) {
            space_state_free(c.leaves[i]);
            c.leaves[i] = kernel_root(c.problem->space);
        }
    }
    c.lowering = lowering_new(c.problem);
    free(text);
    diag_free(d);
    return c;
}

static void lowering_close(struct lowering_case *c)
{
    lowering_free(c->lowering);
    for (int i = 0; i < LOWERING_LEAVES; i++)
        space_state_free(c->leaves[i]);
    problem_free(c->problem);
}

static void lowering_check(const struct lowering_case *c, int leaf)
{
    struct pipeline_code code;
    struct lowered got;
    char why[200] = "";
    cr_assert(pipeline_lower(c->problem, c->leaves[leaf], &code, why, sizeof why), "%s", why);
    lowering_take(c->lowering, c->leaves[leaf], &got);
    cr_expect(got.ok && got.hash == code.hash && got.bytes == strlen(code.kernel.source), "leaf %d", leaf);
    cr_expect(got.item_steps == code.item_steps && got.items == code.items, "leaf %d", leaf);
    pipeline_code_clear(&code);
}

Test(lowering, tells_what_lowering_at_once_tells)
{
    struct lowering_case c = lowering_open();
    lowering_check(&c, 0); /* nothing was asked for */
    for (int i = 1; i < LOWERING_LEAVES; i++) {
        lowering_ask(c.lowering, c.leaves[i]);
        lowering_check(&c, i);
    }
    lowering_check(&c, LOWERING_LEAVES - 1); /* it was taken */
    lowering_close(&c);
}

/* Of a text with loops that the compiler unrolls. */
Test(lowering, bytes_are_those_of_the_unrolled_text)
{
    struct contenders c =
        contenders_open("matmul", "M=512,N=512,K=512", &contenders_gpu, "groups of 128 x 128");
    struct space_state *leaf = contenders_leaf(&c, c.first);
    struct lowering *lowering = lowering_new(c.problem);
    struct pipeline_code code;
    struct lowered got;
    char why[200] = "";
    cr_assert(pipeline_lower(c.problem, leaf, &code, why, sizeof why), "%s", why);
    lowering_take(lowering, leaf, &got);
    cr_expect(got.ok);
    cr_expect_eq(got.bytes, code.kernel.unrolled);
    cr_expect_gt(got.bytes, 2 * strlen(code.kernel.source));
    pipeline_code_clear(&code);
    lowering_free(lowering);
    space_state_free(leaf);
    contenders_close(&c);
}

/* One at a time: a second leaf is lowered when it is taken, and the first one is not lost. */
Test(lowering, keeps_the_leaf_that_it_was_asked_for_first)
{
    struct lowering_case c = lowering_open();
    lowering_ask(c.lowering, c.leaves[0]);
    lowering_ask(c.lowering, c.leaves[1]);
    lowering_check(&c, 1);
    lowering_check(&c, 0);
    lowering_ask(c.lowering, c.leaves[2]); /* and is never taken */
    lowering_close(&c);
}
