/* An example with every construct of the language in one file: it compiles, its instance is read, and at
 * random leaves the defined axis and the work-group size through the quotient are what a direct evaluation of
 * their definitions gives. */
#include <criterion/criterion.h>

#include "core/base/pcg32.h"
#include "core/space/space.h"
#include "tests/spacedsl/fixture.h"

enum { EXAMPLE_I, EXAMPLE_J, EXAMPLE_D0, EXAMPLE_D1, EXAMPLE_E0, EXAMPLE_STATEMENTS };

/* The code of a choice; -1: it does not exist or is not live. */
static int64_t example_code(const struct space_state *leaf, const char *choice, uint32_t a, uint32_t b)
{
    const struct space *s = space_of(leaf);
    bool flipped = false, pair = b != UINT32_MAX;
    uint32_t slot =
        space_slot_find(s, (unsigned)space_group_find(s, choice), (uint32_t[]){a, b}, pair ? 2 : 1, &flipped);
    if (slot == UINT32_MAX || !space_is_live(leaf, slot)) return -1;
    uint32_t value = space_first_value(leaf, slot);
    return space_value_code(s, slot, flipped ? space_value_mirror(s, slot, value) : value);
}

static int64_t example_order(const struct space_state *leaf, uint32_t a, uint32_t b)
{
    return example_code(leaf, "order", a, b); /* 0 BEFORE, 1 AFTER, 2 INNER, 3 OUTER, 4 MERGED */
}

static bool example_outer(const struct space_state *leaf, uint32_t a, uint32_t b)
{
    return a != b && example_order(leaf, a, b) == 3;
}

/* The first dimension around d with none between; EXAMPLE_STATEMENTS: there is none. */
static uint32_t example_run_parent(const struct space_state *leaf, uint32_t d)
{
    uint32_t p = EXAMPLE_D0;
    for (; p < EXAMPLE_STATEMENTS; p++) {
        bool direct = example_outer(leaf, p, d);
        for (uint32_t q = EXAMPLE_D0; q < EXAMPLE_STATEMENTS && direct; q++)
            direct = !(example_outer(leaf, p, q) && example_outer(leaf, q, d));
        if (direct) break;
    }
    return p;
}

/* The code of the first dimension that is not fused, of d and those around it; 0 if it meets none before it
 * has visited as many as there are. */
static int64_t example_axis(const struct space_state *leaf, uint32_t d)
{
    for (int steps = EXAMPLE_STATEMENTS - EXAMPLE_D0; steps > 0 && d < EXAMPLE_STATEMENTS; steps--) {
        int64_t code = example_code(leaf, "map_encoding", d, UINT32_MAX);
        if (code != 1) return code;
        d = example_run_parent(leaf, d);
    }
    return 0;
}

/* Work-items along an axis around an instruction: each class of merged loops once. */
static int64_t example_lcl(const struct space_state *leaf, uint32_t inst, int64_t axis)
{
    int64_t product = 1;
    for (uint32_t d = EXAMPLE_D0; d < EXAMPLE_STATEMENTS; d++) {
        bool counts = example_order(leaf, d, inst) == 3 && example_axis(leaf, d) == 10 + axis;
        for (uint32_t e = EXAMPLE_D0; e < d; e++)
            if (example_order(leaf, e, inst) == 3 && example_order(leaf, e, d) == 4) counts = false;
        if (counts) product *= example_code(leaf, "size", d == EXAMPLE_D1, UINT32_MAX);
    }
    return product;
}

/* j is a statement only if the value is staged. */
static void example_check(const struct space_state *leaf)
{
    int64_t items = 1;
    bool staged = example_code(leaf, "staged", 0, UINT32_MAX) == 1;
    for (int64_t axis = 0; axis < 3; axis++) {
        int64_t most = example_lcl(leaf, EXAMPLE_I, axis),
                other = staged ? example_lcl(leaf, EXAMPLE_J, axis) : 0;
        items *= most > other ? most : other;
    }
    cr_assert_leq(items, 4, "max_threads");
    for (uint32_t d = EXAMPLE_D0; d < EXAMPLE_STATEMENTS; d++) {
        bool thread = example_code(leaf, "dim_kind", d, UINT32_MAX) == 3;
        cr_assert_eq(thread, example_axis(leaf, d) / 10 == 1);
    }
    cr_assert_eq(example_code(leaf, "size", 0, UINT32_MAX) * example_code(leaf, "size", 1, UINT32_MAX), 8);
    cr_assert_eq(example_code(leaf, "mem_space", 0, UINT32_MAX) >= 0, staged);
    cr_assert(!staged || example_order(leaf, EXAMPLE_D0, EXAMPLE_E0) == 4, "the pair of the relation");
    int64_t outer = example_code(leaf, "map_encoding", EXAMPLE_D0, UINT32_MAX);
    cr_assert(example_order(leaf, EXAMPLE_D0, EXAMPLE_D1) == 3 && outer >= 20 && outer <= 22, "the chain");
}

/* A random leaf below the root, or false at a dead end. */
static bool example_descend(struct space_state *st, struct pcg32 *rng)
{
    uint32_t slot, values[64];
    while ((slot = space_next_choice(st, NULL, 0)) != UINT32_MAX) {
        uint32_t n = space_values(st, slot, values);
        if (!space_apply(st, (struct space_action){slot, values[pcg32_below(rng, n)]}, NULL)) return false;
    }
    return true;
}

Test(spacedsl_example, leaves_mean_what_the_definitions_say)
{
    struct spacedsl_files f =
        spacedsl_files_open("tests/spacedsl/example.space", "tests/spacedsl/example.json");
    struct pcg32 rng = pcg32_seed(5, 1);
    unsigned leaves = 0;
    for (int i = 0; i < 400; i++) {
        space_mark m = space_snapshot(f.root);
        if (example_descend(f.root, &rng)) {
            example_check(f.root);
            leaves++;
        }
        space_rollback(f.root, m);
    }
    cr_assert_gt(leaves, 50, "%u leaves", leaves);
    spacedsl_files_close(&f);
}
