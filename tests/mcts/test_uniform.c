/* Uniform draws: every solution as often as any other, in a space where random descents are far from that. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/arena.h"
#include "core/base/diag.h"
#include "core/base/pcg32.h"
#include "core/space/count.h"
#include "core/space/data.h"
#include "mcts/uniform.h"
#include "spacedsl/model.h"

/* 41 solutions: random descents draw the one with NO half of the time. */
static const char skewed_text[] = "space skewed choice big: { NO, YES } choice x: int in 1..40\n"
                                  "require big is NO -> x == 1\n";
enum { SOLUTIONS = 41, EACH = 500 };

struct skewed {
    struct arena *arena;
    struct source source;
    struct space_data *data;
    struct space *space;
    struct space_state *root;
    uint32_t seen[SOLUTIONS], total, calls;
};

static struct skewed *skewed_new(void)
{
    struct skewed *s = base_calloc(1, sizeof *s);
    struct diag *d = diag_new();
    s->arena = arena_new();
    s->source = (struct source){"t", skewed_text, strlen(skewed_text)};
    s->data = space_data_new();
    s->space = space_instantiate(spacedsl_compile(&s->source, s->arena, d), s->data, d);
    s->root = space_root(s->space, NULL);
    cr_assert(s->root && !diag_failed(d));
    diag_free(d);
    return s;
}

static void skewed_free(struct skewed *s)
{
    space_state_free(s->root);
    space_free(s->space);
    space_data_free(s->data);
    arena_free(s->arena);
    free(s);
}

/* NO is solution 0, YES with x is solution x. */
static void note_solution(void *context, const struct space_state *leaf, uint32_t times)
{
    struct skewed *s = context;
    bool flipped;
    uint32_t big = space_slot_named(s->space, "big", &flipped), x = space_slot_named(s->space, "x", &flipped);
    uint32_t solution = space_first_value(leaf, big) ? 1 + space_first_value(leaf, x) : 0;
    cr_assert(times > 0 && space_value_count(leaf, x) == 1);
    s->seen[solution] += times;
    s->total += times;
    s->calls++;
}

static void skewed_draw(struct skewed *s, uint64_t seed)
{
    const struct mcts_branching branching = {0};
    const struct mcts_uniform draws = {.n = SOLUTIONS * EACH, .arrive = note_solution, .context = s};
    struct pcg32 rng = pcg32_seed(seed, 0);
    uint64_t before = space_state_hash(s->root);
    cr_assert(mcts_draw_uniform(&branching, s->root, &draws, &rng));
    cr_assert_eq(space_state_hash(s->root), before);
}

/* Pearson's chi-square has 40 degrees of freedom: mean 40, deviation 9; above 90 once in 100,000. */
Test(mcts_uniform, each_solution_is_as_likely)
{
    for (uint64_t seed = 1; seed <= 20; seed++) {
        struct skewed *s = skewed_new();
        double chi_square = 0;
        skewed_draw(s, seed);
        cr_assert_eq(s->total, SOLUTIONS * EACH);
        cr_assert_eq(s->calls, SOLUTIONS, "equal draws arrive together");
        for (int i = 0; i < SOLUTIONS; i++)
            chi_square += ((double)s->seen[i] - EACH) * ((double)s->seen[i] - EACH) / EACH;
        cr_assert(chi_square > 12 && chi_square < 90, "seed %d: %f", (int)seed, chi_square);
        skewed_free(s);
    }
}

/* The count that is given up tells a part of the solutions, that which is not is exact. */
Test(mcts_uniform, counts_at_once_what_is_small)
{
    struct skewed *s = skewed_new();
    struct space_count c = space_count_at_once(s->root);
    cr_assert(c.complete && c.solutions == SOLUTIONS);
    skewed_free(s);
}

/* Draws that would take too long are given up, with the state as before; a limit that is not reached changes
 * nothing. */
Test(mcts_uniform, work_is_limited)
{
    const struct mcts_branching branching = {0};
    bool enough = false;
    for (uint64_t limit = 1; limit <= 1 << 20; limit *= 2) {
        struct skewed *s = skewed_new();
        struct mcts_uniform draws = {.n = 1000, .arrive = note_solution, .context = s, .work_limit = limit};
        struct pcg32 rng = pcg32_seed(1, 0);
        uint64_t before = space_state_hash(s->root);
        bool drawn = mcts_draw_uniform(&branching, s->root, &draws, &rng);
        cr_assert_eq(space_state_hash(s->root), before);
        cr_assert(drawn || !enough, "limit %d", (int)limit);
        cr_assert(!drawn || s->total == 1000);
        enough = drawn;
        cr_assert(drawn || limit < 1 << 20);
        cr_assert(!drawn || limit > 1);
        skewed_free(s);
    }
}
