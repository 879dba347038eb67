/* Spaces against brute force: arithmetic at its limits, that is divisors that are 0 or negative, numbers up
 * to 2^60, factors of 0. */
#include <criterion/criterion.h>

#include "core/space/formula/expression.h"
#include "tests/space/brute_force.h"

/* Quotients and remainders of choices of more than 64 values: their divisors may be 0 or negative. */
static const char BRUTE_WIDE_DIVISION[] = "space wide_division set A parameter k: int\n"
                                          "choice x(a: A): int in -35..35\n"
                                          "require exists a, b in A: a != b && x(a) / x(b) == k\n"
                                          "require forall a, b in A: a == b || x(a) % (x(b) - 2) != k\n";

/* Sums and products that reach 2^60; `rule` says what is asked of them. */
static const char BRUTE_SATURATED[] =
    "space saturated set B set A property part(A): B property vals(A): int list property rest(B): int "
    "parameter rule: int parameter k: int parameter j: int\n"
    "choice x(a: A): int in vals(a)\n"
    "choice use(b: B): { NO, YES }\n"
    "counter volume(b: B) = product of x(a) over a in A where part(a) == b\n"
    "counter all = sum of (use(b) is YES ? volume(b) : rest(b)) over b in B\n"
    "counter whole = product of (use(b) is YES ? volume(b) : 1) over b in B\n"
    "counter debt = sum of (use(b) is YES ? 0 - volume(b) : 0 - rest(b)) over b in B\n"
    "require rule != 0 || all >= k && (forall b in B: use(b) is YES || volume(b) <= j)\n"
    "require rule != 1 || all <= k && (forall b in B: volume(b) + whole >= j)\n"
    "require rule != 2 || whole >= k && all - whole <= j\n"
    "require rule != 3 || whole == k || all == j || all + whole == j\n"
    "require rule != 4 || whole / all <= k && (forall b in B: whole / volume(b) >= j / 1000)\n"
    "require rule != 5 || whole >= k && whole <= k + 5 && all >= whole - j\n"
    "require rule != 6 || whole == k && (all >= j || whole + all >= j)\n"
    "require rule != 7 || debt <= 0 - k && debt >= 0 - j * 2\n";

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

static int64_t brute_factor(struct brute *b)
{
    static const int64_t factors[] = {1, 2, 3, 5, 1 << 20, 1 << 30, (1 << 30) + 7, 3 << 28};
    return factors[pcg32_below(&b->rng, sizeof factors / sizeof *factors)];
}

static int64_t brute_limit(struct brute *b)
{
    switch (pcg32_below(&b->rng, 6)) {
    case 0:
        return SPACE_BIG;
    case 1:
        return SPACE_BIG - 1 - pcg32_below(&b->rng, 10);
    case 2:
        return 10 + pcg32_below(&b->rng, 100);
    case 3:
        return expression_mul(brute_factor(b), brute_factor(b));
    default:
        return SPACE_BIG - brute_factor(b) * 5;
    }
}

static void brute_fill_saturated(struct brute *b)
{
    brute_objects(b, "B", 2);
    brute_objects(b, "A", 5);
    for (uint32_t i = 0; i < 2; i++)
        space_data_int(b->data, "rest", &i, 1, pcg32_below(&b->rng, 200));
    for (uint32_t i = 0; i < 5; i++) {
        int64_t vals[] = {brute_factor(b), brute_factor(b), brute_factor(b)};
        space_data_list(b->data, "vals", &i, 1, vals, 3);
        space_data_int(b->data, "part", &i, 1, pcg32_below(&b->rng, 2));
    }
    space_data_parameter(b->data, "rule", pcg32_below(&b->rng, 8));
    space_data_parameter(b->data, "k", brute_limit(b));
    space_data_parameter(b->data, "j", brute_limit(b));
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

Test(space_brute_numbers, saturation)
{
    brute_run(BRUTE_SATURATED, brute_fill_saturated, 200, NULL);
}

Test(space_brute_numbers, factors_of_zero)
{
    brute_run(BRUTE_ZEROS, brute_fill_zeros, 10, NULL);
}
