/* The forest against known functions: y depends on some choices in a known way, and not at all on others. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>

#include "core/base/forest.h"
#include "core/base/pcg32.h"

enum { FOREST_ROWS = 400, FOREST_CHOICES = 6 };

struct forest_case {
    uint8_t codes[FOREST_ROWS][FOREST_CHOICES];
    double y[FOREST_ROWS];
    struct forest_data data;
};

/* Choices 0, 1, 2, 5 have 4 values, 3 has 200, 4 has one. */
static void forest_draw(struct forest_case *c, double (*f)(const uint8_t *codes), double noise)
{
    struct pcg32 rng = pcg32_seed(5, 1);
    for (unsigned i = 0; i < FOREST_ROWS; i++) {
        for (unsigned k = 0; k < FOREST_CHOICES; k++)
            c->codes[i][k] = (uint8_t)(k == 4 ? 7 : pcg32_below(&rng, k == 3 ? 200 : 4));
        c->y[i] = f(c->codes[i]) + noise * (pcg32_unit(&rng) - 0.5);
    }
    c->data = (struct forest_data){FOREST_ROWS, FOREST_CHOICES, c->codes[0], c->y};
}

/* The order of the codes has no meaning: 2 is the slowest, 1 the fastest. */
static double forest_sum(const uint8_t *codes)
{
    static const double first[4] = {4, 0, 9, 5};
    return first[codes[0]] + codes[1];
}

/* Neither choice tells anything alone. */
static double forest_either(const uint8_t *codes)
{
    return (codes[0] < 2) != (codes[5] < 2) ? 10 : 0;
}

static double forest_constant(const uint8_t *codes)
{
    (void)codes;
    return 3;
}

Test(forest, sum_of_two_choices)
{
    struct forest_case c;
    double importance[FOREST_CHOICES];
    struct forest_options options = forest_options_default();
    forest_draw(&c, forest_sum, 0.5);
    struct forest *f = forest_grow(&c.data, &options);
    cr_expect_gt(forest_explained(f), 0.9);
    forest_importance(f, importance);
    cr_expect_gt(importance[0], 1, "%g", importance[0]);
    cr_expect(importance[1] > 0.05 && importance[1] < importance[0] / 2, "%g", importance[1]);
    for (unsigned k = 2; k < FOREST_CHOICES; k++)
        cr_expect_lt(fabs(importance[k]), 0.02, "choice %u: %g", k, importance[k]);
    cr_expect_eq(importance[4], 0);
    for (unsigned i = 0; i < 4; i++) {
        double step = forest_marginal(f, 0, (uint8_t)i) - forest_marginal(f, 0, 1);
        cr_expect_float_eq(step, forest_sum((uint8_t[]){(uint8_t)i, 0}), 1, "value %u: %g", i, step);
    }
    forest_free(f);
}

Test(forest, choices_that_only_matter_together)
{
    struct forest_case c;
    double importance[FOREST_CHOICES];
    struct forest_options options = forest_options_default();
    options.tried = 1; /* at random: a first split gains nothing */
    forest_draw(&c, forest_either, 0);
    for (unsigned i = 0; i < FOREST_ROWS; i++)
        c.codes[i][3] = 0;
    struct forest *f = forest_grow(&c.data, &options);
    cr_expect_gt(forest_explained(f), 0.4, "%g", forest_explained(f));
    forest_importance(f, importance);
    for (unsigned k = 1; k < 5; k++)
        cr_expect(importance[k] < importance[0] / 4 && importance[k] < importance[5] / 4, "choice %u", k);
    forest_free(f);
}

Test(forest, nothing_to_learn)
{
    struct forest_case c;
    double importance[FOREST_CHOICES];
    struct forest_options options = forest_options_default();
    forest_draw(&c, forest_constant, 0);
    struct forest *f = forest_grow(&c.data, &options);
    forest_importance(f, importance);
    for (unsigned k = 0; k < FOREST_CHOICES; k++)
        cr_expect_eq(importance[k], 0);
    cr_expect_eq(forest_explained(f), 0);
    cr_expect_eq(forest_marginal(f, 0, c.codes[0][0]), 3);
    forest_free(f);
    forest_draw(&c, forest_constant, 1);
    f = forest_grow(&c.data, &options);
    forest_importance(f, importance);
    cr_expect_lt(forest_explained(f), 0.1, "noise is not explained");
    for (unsigned k = 0; k < FOREST_CHOICES; k++)
        cr_expect_lt(importance[k], 0.1, "choice %u: %g", k, importance[k]);
    forest_free(f);
}

Test(forest, one_row_and_equal_seeds)
{
    struct forest_case c;
    double once[FOREST_CHOICES], again[FOREST_CHOICES];
    struct forest_options options = forest_options_default();
    forest_draw(&c, forest_sum, 0.5);
    struct forest *f = forest_grow(&c.data, &options), *g = forest_grow(&c.data, &options);
    forest_importance(f, once);
    forest_importance(g, again);
    cr_expect_arr_eq(once, again, sizeof once);
    forest_free(f);
    forest_free(g);
    c.data.n_rows = 1;
    f = forest_grow(&c.data, &options);
    cr_expect_eq(forest_marginal(f, 0, c.codes[0][0]), c.y[0]);
    forest_importance(f, once);
    cr_expect_eq(once[0], 0);
    forest_free(f);
}
