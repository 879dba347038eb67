/* The declared prior: parsing, conditions, likeness, errors. */
#include "mcts/prior.h"

#include <criterion/criterion.h>
#include <string.h>

#include "core/base/diag.h"
#include "tests/mcts/queens.h"

static uint32_t prior_column(const struct space *s, unsigned row)
{
    uint32_t object = row;
    bool flipped;
    return space_slot_find(s, (unsigned)space_group_find(s, "column"), &object, 1, &flipped);
}

static double prior_weigh(const char *text, const struct mcts_fact *fact, struct mcts_queens *q, unsigned row,
                          uint32_t value)
{
    struct diag *d = diag_new();
    struct mcts_prior *p = mcts_prior_new(text, q->space, fact, fact ? 1 : 0, d);
    cr_assert_not_null(p, "%s: %s", text, diag_count(d) ? diag_message(d, 0) : "");
    double weight = mcts_prior_weight(p, q->root, (struct space_action){prior_column(q->space, row), value});
    mcts_prior_free(p);
    diag_free(d);
    return weight;
}

Test(mcts_prior, ranges_and_facts)
{
    struct mcts_queens q = mcts_queens_new(8);
    struct mcts_fact fact = {"wide", 3};
    cr_expect_eq(prior_weigh("", NULL, &q, 0, 5), 1);
    cr_expect_eq(prior_weigh("# nothing\n\ncolumn: 0=5 1..4=2 5..=0.5 # that was it", NULL, &q, 0, 0), 5);
    cr_expect_eq(prior_weigh("column: 0=5 1..4=2 5..=0.5", NULL, &q, 0, 4), 2);
    cr_expect_eq(prior_weigh("column: 0=5 1..4=2 5..=0.5", NULL, &q, 0, 7), 0.5);
    cr_expect_eq(prior_weigh("column: 0..=3\ncolumn: 2=4", NULL, &q, 0, 2), 12, "rules multiply");
    cr_expect_eq(prior_weigh("column: 2=4 0..=3", NULL, &q, 0, 2), 4, "the first entry counts");
    cr_expect_eq(prior_weigh("column: least=3", NULL, &q, 0, 0), 3);
    cr_expect_eq(prior_weigh("column: least=3", NULL, &q, 0, 1), 1);
    cr_expect_eq(prior_weigh("column if wide 2..: 1=7", &fact, &q, 0, 1), 7);
    cr_expect_eq(prior_weigh("column if wide 4..: 1=7", &fact, &q, 0, 1), 1);
    mcts_queens_free(&q);
}

Test(mcts_prior, conditions_on_choices_wait_for_the_decision)
{
    struct mcts_queens q = mcts_queens_new(8);
    struct space_failure why;
    static const char text[] = "column if column 3: 3=9";
    cr_expect_eq(prior_weigh(text, NULL, &q, 1, 3), 1);
    cr_assert(space_apply(q.root, (struct space_action){prior_column(q.space, 1), 3}, &why));
    cr_expect_eq(prior_weigh(text, NULL, &q, 1, 3), 9);
    mcts_queens_free(&q);
}

Test(mcts_prior, errors_name_their_line)
{
    static const char *const BAD[] = {"row: 1=2",
                                      "column 1=2",
                                      "column: 1",
                                      "column:",
                                      "column: 1=-2",
                                      "column: 1=x",
                                      "column if: 1=2",
                                      "column if wide: 1=2",
                                      "column if wide a..b: 1=2",
                                      "column if wide 1..2 3: 1=2",
                                      "column like: 3",
                                      "column like column: x",
                                      "column if tall 1: 1=2"};
    struct mcts_queens q = mcts_queens_new(4);
    struct mcts_fact fact = {"wide", 3};
    for (size_t i = 0; i < sizeof BAD / sizeof BAD[0]; i++) {
        struct diag *d = diag_new();
        char text[64];
        snprintf(text, sizeof text, "# one\n%s\n", BAD[i]);
        cr_expect_null(mcts_prior_new(text, q.space, &fact, 1, d), "%s", BAD[i]);
        cr_expect(diag_count(d) == 1 && strstr(diag_message(d, 0), "line 2"), "%s: %s", BAD[i],
                  diag_count(d) ? diag_message(d, 0) : "");
        diag_free(d);
    }
    mcts_queens_free(&q);
}
