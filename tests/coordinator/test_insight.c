/* Shares of variance against tables made by hand, in which they can be worked out with a pencil. */
#include "coordinator/insight.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>

#include "core/base/pcg32.h"

enum { INSIGHT_NONE = INSIGHT_ABSENT };

/* The effect of a choice; NULL: it is not in the report by itself. */
static const struct insight_effect *insight_of(const struct insight_report *r, uint32_t choice)
{
    for (uint32_t i = 0; i < r->n_effects; i++)
        if (r->effects[i].choice == choice) return &r->effects[i];
    return NULL;
}

/* Log-times 0 2 4 6 about a mean of 3: squares 9 + 1 + 1 + 9 = 20. By the first choice: means 1 and 5, four
 * times 2^2 = 16. By the second: means 2 and 4, 4. By the third, which two have: 2 and 4 about 3, 2. */
Test(insight, shares_of_a_table_made_by_hand)
{
    static const uint16_t values[4][3] = {{7, 0, INSIGHT_NONE}, {7, 1, 5}, {9, 0, 6}, {9, 1, INSIGHT_NONE}};
    struct insight *s = insight_new();
    struct insight_report r;
    for (int i = 0; i < 4; i++)
        insight_add(s, exp(2.0 * i), values[i], 3);
    insight_report(s, &r);
    cr_expect_eq(r.evaluations, 4);
    cr_expect_float_eq(r.mean_log_ns, 3, 1e-12);
    cr_expect_float_eq(r.variance, 20.0 / 3, 1e-12);
    cr_expect_float_eq(r.least_ns, 1, 1e-12);
    cr_expect_float_eq(r.most_ns, exp(6), 1e-9);
    cr_assert_eq(r.n_effects, 3);
    cr_expect_eq(r.effects[0].choice, 0);
    cr_expect_float_eq(r.effects[0].share, 16.0 / 20, 1e-12);
    cr_expect_eq(r.effects[1].choice, 1);
    cr_expect_float_eq(r.effects[1].share, 4.0 / 20, 1e-12);
    cr_expect_eq(r.effects[2].choice, 2);
    cr_expect_float_eq(r.effects[2].share, 2.0 / 20, 1e-12);
    cr_expect_eq(r.effects[2].count, 2);
    cr_expect_float_eq(r.effects[0].chance, 1.0 / 3, 1e-12);
    const struct insight_value *v = r.effects[0].values;
    cr_assert_eq(r.effects[0].n_values, 2);
    cr_expect(v[0].value == 7 && v[0].count == 2 && v[1].value == 9 && v[1].count == 2);
    cr_expect_float_eq(v[0].mean_log_ns, 1, 1e-12);
    cr_expect_float_eq(v[1].mean_log_ns, 5, 1e-12);
    insight_report_clear(&r);
    insight_free(s);
}

/* A choice that follows from another one, under other names of its values, is given with it. */
Test(insight, choices_that_cannot_be_told_apart_are_one)
{
    static const uint16_t values[4][4] = {{1, 30, 0, 2}, {2, 20, 0, 2}, {1, 30, 1, 2}, {3, 10, 1, 2}};
    struct insight *s = insight_new();
    struct insight_report r;
    for (int i = 0; i < 4; i++)
        insight_add(s, 10 + i, values[i], 4);
    insight_report(s, &r);
    cr_assert_eq(r.n_effects, 2);
    const struct insight_effect *e = insight_of(&r, 0);
    cr_assert_not_null(e);
    cr_assert_eq(e->n_same, 1);
    cr_expect_eq(e->same[0], 1);
    cr_expect_eq(insight_of(&r, 2)->n_same, 0);
    cr_expect_null(insight_of(&r, 3), "it has one value only");
    insight_report_clear(&r);
    insight_free(s);
}

Test(insight, nothing_is_told_where_there_is_nothing)
{
    static const uint16_t values[2][1] = {{0}, {1}};
    struct insight *s = insight_new();
    struct insight_report r;
    insight_report(s, &r);
    cr_expect(r.evaluations == 0 && r.n_effects == 0);
    insight_add(s, 5, values[0], 1);
    insight_report(s, &r);
    cr_expect(r.evaluations == 1 && r.n_effects == 0);
    insight_report_clear(&r);
    insight_add(s, 5, values[1], 1);
    insight_report(s, &r);
    cr_assert_eq(r.n_effects, 1);
    cr_expect_eq(r.effects[0].share, 0, "all times are the same");
    insight_report_clear(&r);
    insight_free(s);
}

/* A choice of k values that has no effect: the mean share over many draws is (k - 1) / (n - 1). */
Test(insight, chance_is_the_share_of_what_has_no_effect)
{
    enum { DRAWS = 2000, ROWS = 20, VALUES = 4 };
    struct pcg32 rng = pcg32_seed(7, 0);
    double sum = 0;
    size_t drawn = 0;
    for (int draw = 0; draw < DRAWS; draw++) {
        struct insight *s = insight_new();
        struct insight_report r;
        for (int i = 0; i < ROWS; i++) {
            uint16_t value = (uint16_t)(i % VALUES);
            insight_add(s, 1 + pcg32_below(&rng, 1000), &value, 1);
        }
        insight_report(s, &r);
        for (uint32_t e = 0; e < r.n_effects; e++, drawn++)
            sum += r.effects[e].share;
        cr_assert_float_eq(r.effects[0].chance, 3.0 / 19, 1e-12);
        insight_report_clear(&r);
        insight_free(s);
    }
    cr_expect_float_eq(sum / (double)drawn, 3.0 / 19, 0.01);
}
