/* The time that a search says is left. */
#include "coordinator/progress.h"

#include <criterion/criterion.h>
#include <math.h>

Test(progress, the_first_evaluation_tells_no_rate)
{
    struct progress p = progress_start(true);
    cr_expect_eq(progress_left(&p, 0, 300, 2, 0), INFINITY);
    cr_expect_eq(progress_left(&p, 1, 300, 20, 0), INFINITY, "starting took 20 s");
    cr_expect_eq(progress_left(&p, 2, 300, 20.25, 0), INFINITY);
    cr_expect_float_eq(progress_left(&p, 5, 300, 21, 0), 295 * 0.25, 1e-9);
    cr_expect_eq(progress_left(&p, 300, 300, 95, 0), 0);
}

Test(progress, what_was_restored_tells_no_rate)
{
    struct progress p = progress_start(true);
    cr_expect_eq(progress_left(&p, 200, 300, 1, 0), INFINITY);
    cr_expect_float_eq(progress_left(&p, 210, 300, 6, 0), 90 * 0.5, 1e-9);
}

Test(progress, a_time_limit_is_known_at_once)
{
    struct progress p = progress_start(true);
    cr_expect_eq(progress_left(&p, 0, 0, 2, 60), 58);
    cr_expect_eq(progress_left(&p, 1, 100, 20, 60), 40);
    cr_expect_float_eq(progress_left(&p, 11, 100, 21, 60), 8.9, 1e-9, "the count ends it first");
    cr_expect_eq(progress_left(&p, 12, 0, 61, 60), 0);
}
