/* Courses and medians of searches: against what they are by definition, and intervals against many draws. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>

#include "core/base/pcg32.h"
#include "core/base/stats.h"
#include "experiments/search/statistics.h"

static struct course course_of(const char *text)
{
    struct course c;
    cr_assert(course_parse(text, &c), "%s", text);
    return c;
}

Test(search_statistics, a_course_tells_the_best_so_far)
{
    struct course c = course_of("2:5.5 7:1.9 31:1.04 33:1.04");
    cr_assert_eq(course_ratio(&c, 1), INFINITY);
    cr_assert_eq(course_ratio(&c, 2), 5.5);
    cr_assert_eq(course_ratio(&c, 30), 1.9);
    cr_assert_eq(course_ratio(&c, 31), 1.04);
    cr_assert_eq(course_ratio(&c, 400), 1.04);
    course_free(&c);
}

Test(search_statistics, seeds_that_do_not_come_so_far_count_as_the_limit)
{
    struct course c = course_of("2:5.5 7:1.05 31:1.04"), none = course_of("");
    cr_assert_eq(course_within(&c, 1.05, 400), 7);
    cr_assert_eq(course_within(&c, 1.01, 400), 400);
    cr_assert_eq(course_within(&c, 1.04, 20), 20);
    cr_assert(course_reaches(&c, 1.05, 7));
    cr_assert_not(course_reaches(&c, 1.05, 6));
    cr_assert_not(course_reaches(&c, 1.01, 400));
    cr_assert_eq(course_within(&none, 1.5, 400), 400);
    cr_assert_not(course_reaches(&none, 1.5, 400));
    course_free(&c);
}

Test(search_statistics, malformed_courses_are_refused)
{
    static const char *const BAD[] = {"1",          "1:",      "1:x",        "1:2 ,", "1:0.5",
                                      "0:2",        "1:2 2:3", "1:2 1:1.5",  "1:nan", "1:inf",
                                      "1:2  3:1.5", "x:2",     "1:2\t3:1.5", "1:2 3"};
    for (size_t i = 0; i < sizeof BAD / sizeof BAD[0]; i++) {
        struct course c;
        cr_assert_not(course_parse(BAD[i], &c), "%s", BAD[i]);
        cr_assert_eq(c.n, 0);
    }
}

Test(search_statistics, medians_and_their_geometric_mean)
{
    static const double a[] = {4, 1, 2, 2, 9}, b[] = {8, 8, 8};
    const double *lists[] = {a, b};
    const size_t n[] = {5, 3};
    struct estimate one = median_of(a, 5), both = mean_of_medians((struct samples){lists, n, 2});
    cr_assert_float_eq(one.middle, 2, 1e-12);
    cr_assert_float_eq(both.middle, 4, 1e-12);
    cr_assert_leq(one.low, one.middle);
    cr_assert_leq(one.middle, one.high);
    cr_assert_geq(one.low, 1 - 1e-12);
    cr_assert_leq(one.high, 9 + 1e-12);
    struct estimate equal = median_of(b, 3);
    cr_assert_float_eq(equal.low, 8, 1e-12);
    cr_assert_float_eq(equal.high, 8, 1e-12);
}

Test(search_statistics, the_ratio_of_a_half_is_a_half)
{
    static const double before[] = {100, 80, 120, 90, 110}, now[] = {50, 40, 60, 45, 55};
    const double *x = now, *y = before;
    const size_t n = 5;
    struct estimate e = ratio_of_medians((struct samples){&x, &n, 1}, (struct samples){&y, &n, 1});
    cr_assert_float_eq(e.middle, 0.5, 1e-12);
    cr_assert_lt(e.low, 0.5);
    cr_assert_gt(e.high, 0.5);
}

/* Seeds without a time are infinite: the median is as soon as most are. */
Test(search_statistics, infinite_numbers_are_the_largest)
{
    static const double few[] = {1, 2, INFINITY}, most[] = {1, INFINITY, INFINITY};
    struct estimate e = median_of(few, 3);
    cr_assert_float_eq(e.middle, 2, 1e-12);
    cr_assert_eq(e.high, INFINITY);
    cr_assert_eq(median_of(most, 3).middle, INFINITY);
}

/* The interval of the median of 50 numbers holds the median of their distribution in about 95 % of draws. */
Test(search_statistics, intervals_hold_the_median)
{
    enum { DRAWS = 200, N = 50 };
    struct pcg32 rng = pcg32_seed(17, 0);
    double x[N], low, high;
    unsigned held = 0;
    for (unsigned i = 0; i < DRAWS; i++) {
        for (unsigned k = 0; k < N; k++)
            x[k] = exp(2 * pcg32_unit(&rng));
        struct estimate e = median_of(x, N);
        held += e.low <= exp(1) && exp(1) <= e.high;
    }
    stats_share(held, DRAWS, &low, &high);
    cr_assert(low <= 0.97 && high >= 0.92, "%u of %d", held, DRAWS);
}
