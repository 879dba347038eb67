/* Quoted figures: medians and quartiles over rounds, their text, JSON, quotients; and as the store and
 * best.json keep them. */
#include "coordinator/figure.h"

#include <criterion/criterion.h>
#include <math.h>

static void figure_test_text(const struct figure *f, const char *expect)
{
    char text[FIGURE_TEXT];
    cr_expect_str_eq(figure_print(f, text), expect, "%s", text);
}

Test(figure, is_the_median_and_the_middle_half_of_its_rounds)
{
    const double times[] = {84e3, 81e3, NAN, 82e3, 83e3, 85e3};
    struct figure f = figure_of_rounds(times, 6);
    cr_expect_eq(f.rounds, 5);
    cr_expect_float_eq(f.median_ns, 83e3, 1e-6);
    cr_expect_float_eq(f.low_ns, 82e3, 1e-6);
    cr_expect_float_eq(f.high_ns, 84e3, 1e-6);
    cr_expect(figure_quoted(&f));
    figure_test_text(&f, "83 us (82 to 84, 5 rounds)");
    f = figure_of_rounds(times, 1);
    figure_test_text(&f, "84 us (84 to 84, 1 round)");
}

Test(figure, of_nothing_and_of_the_search_say_so)
{
    const double none[] = {NAN, 0, -1, INFINITY};
    struct figure f = figure_of_rounds(none, 4);
    cr_expect(!figure_known(&f) && !figure_quoted(&f));
    figure_test_text(&f, "-");
    f = figure_of_search(36460);
    cr_expect(figure_known(&f) && !figure_quoted(&f));
    figure_test_text(&f, "36.46 us (search)");
    f = figure_of_search(NAN);
    cr_expect(!figure_known(&f));
}

/* The spread is told in the unit of the median, so that the three are compared at a glance. */
Test(figure, has_one_unit)
{
    const struct figure f = {1.02e6, 0.98e6, 1.2e6, 11};
    figure_test_text(&f, "1.02 ms (0.98 to 1.2, 11 rounds)");
}

Test(figure, json_is_read_back)
{
    const struct figure figures[] = {{1.02e6, 0.98e6, 1.2e6, 11}, {5, 5, 5, 0}, {0, 0, 0, 0}};
    for (size_t i = 0; i < 3; i++) {
        struct figure back;
        json_t *o = figure_json(&figures[i]);
        cr_assert(figure_read_json(o, &back));
        cr_expect(back.median_ns == figures[i].median_ns && back.low_ns == figures[i].low_ns, "%zu", i);
        cr_expect(back.high_ns == figures[i].high_ns && back.rounds == figures[i].rounds, "%zu", i);
        json_decref(o);
    }
    static const char *const bad[] = {"3", "{}", "{\"median_ns\":1.0,\"low_ns\":1.0,\"high_ns\":1.0}",
                                      "{\"median_ns\":-1.0,\"low_ns\":1.0,\"high_ns\":1.0,\"rounds\":1}",
                                      "{\"median_ns\":1.0,\"low_ns\":1.0,\"high_ns\":1.0,\"rounds\":-1}"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct figure f;
        json_t *o = json_loads(bad[i], JSON_DECODE_ANY, NULL);
        cr_assert_not_null(o);
        cr_expect(!figure_read_json(o, &f), "%s", bad[i]);
        json_decref(o);
    }
}

/* The case of the issue: the median of the ratios is another number than the quotient of the medians. */
Test(figure, a_speedup_is_the_quotient_of_what_is_shown)
{
    const double naive[] = {100, 200, 900, NAN}, best[] = {50, 40, 300, 60};
    struct figure a = figure_of_rounds(naive, 4), b = figure_of_rounds(best, 4);
    struct figure_ratio r = figure_ratio(&a, &b, naive, best, 4);
    cr_expect_float_eq(r.quotient, a.median_ns / b.median_ns, 1e-12);
    cr_expect_float_eq(r.quotient, 200.0 / 55.0, 1e-12);
    cr_expect_eq(r.rounds, 3);
    cr_expect_float_eq(r.low, 2.5, 1e-12);
    cr_expect_float_eq(r.high, 4, 1e-12);
    struct figure search = figure_of_search(10);
    r = figure_ratio(&a, &search, NULL, NULL, 0);
    cr_expect(r.rounds == 0 && r.quotient == 20 && r.low == 20 && r.high == 20);
    r = figure_ratio(&(struct figure){0}, &b, NULL, NULL, 0);
    cr_expect_eq(r.quotient, 0);
    cr_expect(figure_comparable(&a, &b) && figure_comparable(&search, &search));
    cr_expect(!figure_comparable(&a, &search) && !figure_comparable(&a, &(struct figure){0}));
}
