/* Spaces against brute force: arithmetic at its limits, that is divisors that are 0 or negative, factors
 * of 0. */
#include <criterion/criterion.h>

#include "core/space/internal.h"
#include "tests/space/brute_force.h"

/* Quotients and remainders of choices of more than 64 values: their divisors may be 0 or negative. */
static const char BRUTE_WIDE_DIVISION[] = "space wide_division set A parameter k: int\n"
                                          "choice x(a: A): int in -35..35\n"
                                          "require exists a, b in A: a != b && x(a) / x(b) == k\n"
                                          "require forall a, b in A: a == b || x(a) % (x(b) - 2) != k\n";

/* Products with factors that may be 0. */
static const char BRUTE_ZEROS[] =
    "space zeros set A property least(A): int property most(A): int parameter k: int\n"
    "choice x(a: A): int in least(a)..most(a)\n"
    "require product of x(a) over a in A <= k\n";

static void brute_fill_wide_division(struct brute *b)
{
    brute_objects(b, "A", 2);
    space_data_parameter(b->data, "k", (int64_t)pcg32_below(&b->rng, 9) - 4);
}

static void brute_fill_zeros(struct brute *b)
{
    brute_objects(b, "A", 7);
    for (uint32_t i = 0; i < 7; i++) {
        int64_t least = pcg32_below(&b->rng, 2);
        space_data_int(b->data, "least", &i, 1, least);
        space_data_int(b->data, "most", &i, 1, least + 1 + pcg32_below(&b->rng, 2));
    }
    space_data_parameter(b->data, "k", pcg32_below(&b->rng, 9));
}

Test(space_brute_numbers, quotients_of_wide_choices)
{
    brute_run(BRUTE_WIDE_DIVISION, brute_fill_wide_division, 6, NULL);
}

Test(space_brute_numbers, factors_of_zero)
{
    brute_run(BRUTE_ZEROS, brute_fill_zeros, 10, NULL);
}
