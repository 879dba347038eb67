/* Spaces against brute force: arithmetic at its limits, that is divisors that are 0 or negative. */
#include <criterion/criterion.h>

#include "core/space/internal.h"
#include "tests/space/brute_force.h"

/* Quotients and remainders of choices of more than 64 values: their divisors may be 0 or negative. */
static const char BRUTE_WIDE_DIVISION[] = "space wide_division set A parameter k: int\n"
                                          "choice x(a: A): int in -35..35\n"
                                          "require exists a, b in A: a != b && x(a) / x(b) == k\n"
                                          "require forall a, b in A: a == b || x(a) % (x(b) - 2) != k\n";

static void brute_fill_wide_division(struct brute *b)
{
    brute_objects(b, "A", 2);
    space_data_parameter(b->data, "k", (int64_t)pcg32_below(&b->rng, 9) - 4);
}

Test(space_brute_numbers, quotients_of_wide_choices)
{
    brute_run(BRUTE_WIDE_DIVISION, brute_fill_wide_division, 6, NULL);
}
