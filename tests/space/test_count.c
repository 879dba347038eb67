/* Counting by components against enumeration: random sparse graphs and formulas, small enough for the table
 * of words and too large for it. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/base/arena.h"
#include "core/base/diag.h"
#include "core/base/pcg32.h"
#include "core/space/count.h"
#include "core/space/data.h"
#include "spacedsl/model.h"

/* With `wide` values a slot has more than 64, which is beyond the small case. */
static const char count_text[] = "space s set N property edge(N, N): bool property far(N, N): bool parameter "
                                 "wide: int parameter most: int\n"
                                 "choice c(n: N): int in 0..2\n"
                                 "choice d(n: N): int in 0..wide\n"
                                 "require forall a, b in N: edge(a, b) -> c(a) != c(b)\n"
                                 "choice mode: { P, Q }\n"
                                 "require forall a, b in N: far(a, b) -> c(a) + d(a) <= c(b) + d(b) + most\n"
                                 "require forall a, b in N: edge(a, b) && mode is P -> c(a) + d(b) != 2\n"
                                 "require forall n in N: d(n) <= 1\n";

struct count_case {
    struct arena *arena;
    struct diag *diag;
    struct space_data *data;
    struct space *space;
    struct space_state *root;
};

static struct count_case count_make(unsigned seed, uint32_t n, int64_t wide)
{
    static const struct source src = {"t", count_text, sizeof count_text - 1};
    struct count_case c = {.arena = arena_new(), .diag = diag_new(), .data = space_data_new()};
    struct pcg32 rng = pcg32_seed(seed, 11);
    for (uint32_t i = 0; i < n; i++)
        space_data_object(c.data, "N", arena_printf(c.arena, "n%u", i));
    for (uint32_t a = 0; a < n; a++)
        for (uint32_t b = 0; b < n; b++) {
            space_data_int(c.data, "edge", (uint32_t[]){a, b}, 2, pcg32_below(&rng, 4) == 0);
            space_data_int(c.data, "far", (uint32_t[]){a, b}, 2, pcg32_below(&rng, 6) == 0);
        }
    space_data_parameter(c.data, "wide", wide);
    space_data_parameter(c.data, "most", pcg32_below(&rng, 2));
    c.space = space_instantiate(spacedsl_compile(&src, c.arena, c.diag), c.data, c.diag);
    cr_assert_not_null(c.space);
    c.root = space_root(c.space, NULL);
    return c;
}

static void count_free(struct count_case *c)
{
    space_state_free(c->root);
    space_free(c->space);
    space_data_free(c->data);
    arena_free(c->arena);
    diag_free(c->diag);
}

static uint64_t count_leaves_one_by_one(struct space_state *st)
{
    uint32_t slot = space_next_choice(st, NULL, 0), values[256];
    if (slot == UINT32_MAX) return 1;
    uint32_t n = space_values(st, slot, values);
    uint64_t total = 0;
    for (uint32_t i = 0; i < n; i++) {
        space_mark m = space_snapshot(st);
        if (space_apply(st, (struct space_action){slot, values[i]}, NULL))
            total += count_leaves_one_by_one(st);
        space_rollback(st, m);
    }
    return total;
}

Test(space_count, equals_enumeration)
{
    uint64_t several = 0;
    for (unsigned seed = 1; seed <= 60; seed++) {
        struct count_case c = count_make(seed, 5, seed % 2 ? 2 : 70);
        if (c.root) {
            uint64_t leaves = count_leaves_one_by_one(c.root);
            struct space_count n = space_count(c.root, 0);
            cr_assert(n.complete);
            cr_assert_eq((uint64_t)n.solutions, leaves, "seed %u: %.0Lf, %lu leaves", seed, n.solutions,
                         (unsigned long)leaves);
            several += leaves > 1;
        }
        count_free(&c);
    }
    cr_assert_gt(several, 20);
}

/* Every operation over more slots than a table has, with its operands on either side of what is decided last.
 */
Test(space_count, formulas_over_many_slots)
{
    static const char *const scalars = "choice m: { ON, OFF } choice a: int in 1..6 choice b: int in 2..7\n"
                                       "choice c: int in 1..6 choice d: int in 1..5 choice e: int in 1..3\n";
    static const char *const families =
        "set I = 0..2 choice x(i: I): int in 1..3 choice y(i: I): { ON, OFF }\n"
        "choice a: int in 1..6 choice b: int in 2..7\n";
    static const char *const conditions[] = {
        "a * b + c - d % 3 == 7",
        "max(a, b) / min(c, d) != 2 || a % c == b % d",
        "(a < b ? c : d) * 2 <= a + e",
        "(e == 2 ? a : b) != (e == 1 ? c : d)",
        "!(a + b == c * d) && (-a < b - c * d || a == d)",
        "a * b * c * d <= 99 && (m is ON -> a + b + c + d > 12)",
        "7 / (a - 5) + 9 % (b - 4) < c * d",
        "(sum of x(i) * x(i) over i in I where y(i) is ON) <= a * b",
        "(max of x(i) over i in I where y(i) is ON) * a == b + x(0)",
    };
    for (size_t i = 0; i < sizeof conditions / sizeof conditions[0]; i++) {
        bool family = strstr(conditions[i], " in I");
        struct count_case c = {.arena = arena_new(), .diag = diag_new(), .data = space_data_new()};
        const char *text =
            arena_printf(c.arena, "space s %srequire %s", family ? families : scalars, conditions[i]);
        struct source src = {"t", text, strlen(text)};
        const struct space_def *def = spacedsl_compile(&src, c.arena, c.diag);
        cr_assert_not_null(def, "%s", diag_message(c.diag, 0));
        c.space = space_instantiate(def, c.data, c.diag);
        c.root = space_root(c.space, NULL);
        uint64_t leaves = count_leaves_one_by_one(c.root);
        struct space_count n = space_count(c.root, 0);
        cr_expect_gt(leaves, 1, "%s", conditions[i]);
        cr_expect_eq((uint64_t)n.solutions, leaves, "%s: %.0Lf, %lu leaves", conditions[i], n.solutions,
                     (unsigned long)leaves);
        count_free(&c);
    }
}

/* 3-colourings of a grid of n x n, beside nodes without edges. */
static long double count_colourings(uint32_t n, uint32_t alone)
{
    static const char text[] = "space s set N set M property edge(N, N): bool\n"
                               "choice c(n: N): { R, G, B } choice d(m: M): { R, G, B }\n"
                               "require forall a, b in N: edge(a, b) -> c(a) != c(b)\n";
    struct source src = {"t", text, sizeof text - 1};
    struct count_case c = {.arena = arena_new(), .diag = diag_new(), .data = space_data_new()};
    for (uint32_t i = 0; i < n * n; i++)
        space_data_object(c.data, "N", arena_printf(c.arena, "n%u", i));
    for (uint32_t i = 0; i < alone; i++)
        space_data_object(c.data, "M", arena_printf(c.arena, "m%u", i));
    for (uint32_t i = 0; i < n * n; i++) {
        if (i % n + 1 < n) space_data_int(c.data, "edge", (uint32_t[]){i, i + 1}, 2, 1);
        if (i + n < n * n) space_data_int(c.data, "edge", (uint32_t[]){i, i + n}, 2, 1);
    }
    c.space = space_instantiate(spacedsl_compile(&src, c.arena, c.diag), c.data, c.diag);
    c.root = space_root(c.space, NULL);
    struct space_count count = space_count(c.root, 0);
    cr_assert(count.complete);
    count_free(&c);
    return count.solutions;
}

/* The numbers are sequence A068253 of the On-Line Encyclopedia of Integer Sequences. */
Test(space_count, grids)
{
    static const uint64_t known[] = {246, 7812, 580986, 101596896, 41869995708, 40724629633188};
    for (uint32_t n = 3; n <= 8; n++)
        cr_assert_eq((uint64_t)count_colourings(n, 0), known[n - 3], "%u x %u", n, n);
}

Test(space_count, a_grid_too_large_for_words)
{
    cr_assert_lt(fabsl(count_colourings(6, 30) / powl(3, 30) - 101596896), 1e-6L);
}

Test(space_count, a_grid_beside_thousands)
{
    cr_assert_lt(fabsl(count_colourings(5, 3000) / powl(3, 3000) - 580986), 1e-6L);
}

/* One after the other, none smaller than the last: as many solutions as places for the step, and one. */
Test(space_count, a_chain_of_thousands)
{
    enum { LENGTH = 2100 };
    static const char text[] = "space s set N property next(N): N choice c(n: N): { OFF, ON }\n"
                               "require forall a in N: c(a) is ON -> c(next(a)) is ON\n";
    struct source src = {"t", text, sizeof text - 1};
    struct count_case c = {.arena = arena_new(), .diag = diag_new(), .data = space_data_new()};
    for (uint32_t i = 0; i < LENGTH; i++)
        space_data_object(c.data, "N", arena_printf(c.arena, "n%u", i));
    for (uint32_t i = 0; i < LENGTH; i++)
        space_data_int(c.data, "next", &i, 1, i + 1 < LENGTH ? i + 1 : i);
    const struct space_def *def = spacedsl_compile(&src, c.arena, c.diag);
    cr_assert_not_null(def, "%s", diag_message(c.diag, 0));
    c.space = space_instantiate(def, c.data, c.diag);
    c.root = space_root(c.space, NULL);
    struct space_count n = space_count(c.root, 0);
    cr_assert(n.complete && n.solutions == LENGTH + 1, "%.0Lf", n.solutions);
    count_free(&c);
}

Test(space_count, independent_groups_are_a_product)
{
    static const char text[] =
        "space s set N = 0..199 choice c(n: N): int in 0..9 require forall n in N: c(n) != 3";
    struct source src = {"t", text, sizeof text - 1};
    struct arena *a = arena_new();
    struct diag *d = diag_new();
    struct space_data *data = space_data_new();
    struct space *s = space_instantiate(spacedsl_compile(&src, a, d), data, d);
    struct space_state *root = space_root(s, NULL);
    struct space_count n = space_count(root, 0);
    cr_assert_eq(n.nodes, 0, "nothing is branched on");
    cr_assert_float_eq((double)log10l(n.solutions), 200 * log10(9), 1e-9);
    space_state_free(root);
    space_free(s);
    space_data_free(data);
    diag_free(d);
    arena_free(a);
}

Test(space_count, limits_are_kept)
{
    struct count_case c = count_make(3, 5, 2);
    struct space_count all = space_count(c.root, 0), some = space_count(c.root, 2);
    cr_assert(all.complete && !some.complete);
    cr_assert_leq(some.nodes, 3);
    cr_assert(some.solutions <= all.solutions);
    count_free(&c);
}
