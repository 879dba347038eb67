/* The store's rows: what is written is read back, results are idempotent, runs are found again. */
#include "coordinator/store.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "coordinator/export.h"
#include "core/space/space.h"
#include "tests/coordinator/store_fixture.h"

Test(store, rows_are_read_back_once_each)
{
    struct store_fixture f = store_fixture_closed();
    struct store_run again = store_fixture_run();
    double sum = 0;
    bool found = false;
    store_fixture_reopen(&f, false);
    cr_assert(store_each(f.store, 0, store_fixture_sum, &sum, f.diag));
    cr_assert_float_eq(sum, 3.5, 1e-12);
    sum = 0;
    cr_assert(store_best(f.store, store_fixture_sum, &sum, &found, f.diag) && found);
    cr_assert(store_run_resume(f.store, &again, f.diag) && again.id == f.run.id);
    store_fixture_close(&f);
}

/* Times of another problem do not count for the best of the last run's problem. */
Test(store, the_best_is_of_the_last_problem)
{
    struct store_fixture f = store_fixture_open();
    struct store_run other = store_fixture_run();
    struct store_evaluation e = {.number = 1, .actions = "", .status = "ok", .median_ns = 9};
    double best = 0;
    bool found;
    other.fingerprint++;
    store_fixture_fill(&f);
    cr_assert(store_run_add(f.store, &other, f.diag) && store_add(f.store, other.id, &e, f.diag));
    cr_assert(store_best(f.store, store_fixture_time, &best, &found, f.diag) && found);
    cr_expect_eq(best, 9);
    other.seed++;
    e.median_ns = 10;
    cr_assert(store_run_add(f.store, &other, f.diag) && store_add(f.store, other.id, &e, f.diag));
    cr_assert(store_best(f.store, store_fixture_time, &best, &found, f.diag) && found);
    cr_expect_eq(best, 9, "by another run of the same problem");
    store_fixture_close(&f);
}

static bool store_test_status(void *context, const struct store_run *run, const struct store_evaluation *e)
{
    snprintf(context, 32, "%s of run %d", e->status, (int)run->id);
    return true;
}

Test(store, an_evaluation_is_found_by_its_number)
{
    struct store_fixture f = store_fixture_open();
    char status[32] = "";
    bool found;
    store_fixture_fill(&f);
    store_fixture_fill(&f);
    cr_assert(store_number(f.store, 2, store_test_status, status, &found, f.diag) && found);
    cr_expect_str_eq(status, "timeout of run 2", "%s", status);
    cr_assert(store_number(f.store, 3, store_test_status, status, &found, f.diag) && !found);
    store_fixture_close(&f);
}

Test(store, resume_needs_the_same_fingerprint)
{
    struct store_fixture f = store_fixture_open();
    cr_assert(!store_run_resume(f.store, &f.run, f.diag));
    cr_expect(strstr(store_fixture_error(&f, 0), "the store has no run to resume"));
    store_fixture_fill(&f);
    f.run.fingerprint++;
    cr_assert(!store_run_resume(f.store, &f.run, f.diag));
    cr_expect(strstr(store_fixture_error(&f, 1), "the run has another program, other sizes"), "%s",
              store_fixture_error(&f, 1));
    store_fixture_close(&f);
}

/* The message shows only the settings that differ. */
Test(store, resume_says_which_settings_differ)
{
    static const char *const now[] = {"heuristic=tag bound=1 pin=a=1 figures=13",
                                      "heuristic=tag bound=1 pin=a=1 figures=12 x", "heuristic=uct"};
    static const char *const told[] = {"the run has other settings ('figures=12', now 'figures=13')",
                                       "('figures=12', now 'figures=12 x')",
                                       "('heuristic=tag bound=1 pin=a=1 figures=12', now 'heuristic=uct')"};
    struct store_fixture f = store_fixture_open();
    f.run.settings = "heuristic=tag bound=1 pin=a=1 figures=12";
    store_fixture_fill(&f);
    for (size_t i = 0; i < 3; i++) {
        f.run.settings = now[i];
        cr_assert(!store_run_resume(f.store, &f.run, f.diag));
        cr_expect(strstr(store_fixture_error(&f, i), told[i]), "%s", store_fixture_error(&f, i));
    }
    store_fixture_close(&f);
}

static bool store_test_in_order(void *context, const struct store_run *run, const struct store_evaluation *e)
{
    int64_t *last = context;
    (void)e;
    cr_expect_geq(run->id, *last);
    *last = run->id;
    return true;
}

/* Two searches at once record in turns. */
Test(store, runs_are_visited_one_after_the_other)
{
    struct store_fixture f = store_fixture_open();
    struct store_run runs[2] = {store_fixture_run(), store_fixture_run()};
    int64_t last = 0;
    cr_assert(store_run_add(f.store, &runs[0], f.diag) && store_run_add(f.store, &runs[1], f.diag));
    for (int64_t i = 0; i < 4; i++) {
        struct store_evaluation e = {.number = i / 2 + 1, .actions = "", .status = "crashed"};
        cr_assert(store_add(f.store, runs[i % 2].id, &e, f.diag));
    }
    cr_assert(store_each(f.store, 0, store_test_in_order, &last, f.diag));
    cr_expect_eq(last, runs[1].id);
    store_fixture_close(&f);
}

/* An export of the store, "csv" or "jsonl". The caller frees it. */
static char *store_test_export(struct store_fixture *f, const char *format)
{
    char *text = NULL;
    size_t n = 0;
    FILE *out = open_memstream(&text, &n);
    cr_assert(export_rows(&(struct export_store){f->store, f->path}, 1, format, out, f->diag));
    fclose(out);
    return text;
}

Test(store, exports_have_a_line_per_evaluation)
{
    struct store_fixture f = store_fixture_open();
    store_fixture_fill(&f);
    char *csv = store_test_export(&f, "csv"), *jsonl = store_test_export(&f, "jsonl");
    cr_expect(strstr(csv, "\"a \"\"b\"\"\""), "%s", csv);
    cr_expect(strstr(jsonl, "\"samples_ns\":[1.0,2.5]"), "%s", jsonl);
    cr_expect(strstr(jsonl, "\"message\":\"cut off: ?\",\"resources\":null"), "%s", jsonl);
    cr_expect(strstr(jsonl, "\"resources\":{\"local_bytes\":7}"), "%s", jsonl);
    cr_expect(strstr(jsonl, "\"libraries\":\"lib 1\""), "%s", jsonl);
    cr_expect(export_is_of_rows("csv") && !export_is_of_rows("xml"));
    free(csv);
    free(jsonl);
    store_fixture_close(&f);
}

Test(store, actions_are_read_back)
{
    struct space_action list[] = {{0, 4}, {4294967295u, 0}}, *back;
    size_t n;
    char *text = store_actions_print(list, 2);
    cr_assert_str_eq(text, "0=4 4294967295=0");
    cr_assert(store_actions_parse(text, &back, &n) && n == 2 && memcmp(list, back, sizeof list) == 0);
    free(back);
    free(text);
    cr_assert(store_actions_parse("", &back, &n) && n == 0);
    free(back);
    const char *const bad[] = {"1", "1=", "=1", "a=b", "1=2,3=4", "99999999999=1", "1=2 x"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        cr_assert(!store_actions_parse(bad[i], &back, &n), "%s", bad[i]);
}

/* A cut is kept once, with its reason; those of an earlier run are not visited. A store without the table
 * gets it. */
Test(store, cuts_are_kept_with_their_reasons)
{
    struct store_fixture f = store_fixture_open();
    struct store_cut cut = {"size(m.0)=4", 200, 150, "200 ns: a reason\n"}, other = {"x=1", 1, 1, ""};
    unsigned n = 0;
    cr_assert(store_run_add(f.store, &f.run, f.diag) && store_cut_add(f.store, f.run.id, &other, f.diag));
    cr_assert(store_run_add(f.store, &f.run, f.diag));
    cr_assert(store_cut_add(f.store, f.run.id, &cut, f.diag));
    cr_assert(store_cut_add(f.store, f.run.id, &cut, f.diag));
    cr_assert(store_each_cut(f.store, store_fixture_count_cut, &n, f.diag));
    cr_assert_eq(n, 1);
    store_close(f.store);
    f.store = NULL;
    store_fixture_execute(f.path, "DROP TABLE cut");
    store_fixture_reopen(&f, false);
    cr_assert(store_each_cut(f.store, store_fixture_count_cut, &n, f.diag));
    cr_assert_eq(n, 1);
    store_fixture_close(&f);
}

static bool store_test_quoted(void *context, const struct store_run *run, const struct store_evaluation *e)
{
    (void)run;
    cr_expect_str_eq(e->label, "plain: x");
    *(double *)context = e->quoted.median_ns;
    return true;
}

static bool store_test_figure(void *context, const struct store_figure *f)
{
    char *text = context;
    size_t n = strlen(text);
    snprintf(text + n, 200 - n, "%s %d %s %u %g,%g,%g;", f->label, (int)f->number, f->actions, f->n_times,
             f->times[0], f->times[1], f->figure.median_ns);
    return true;
}

/* The quoted winner is the best, not the fastest of the search; figures of the same run are replaced; the
 * evaluation knows its own. */
Test(store, quoted_figures_are_kept_and_decide)
{
    struct store_fixture f = store_fixture_open();
    const double fast[] = {30, 32}, slow[] = {40, NAN};
    struct store_evaluation e = {
        .number = -1, .label = "plain: x", .actions = "3=4", .status = "ok", .median_ns = 20};
    struct store_figure figures[] = {
        {"plain: x", -1, figure_of_rounds(fast, 2), fast, 2, "3=4"},
        {"search", 1, figure_of_rounds(slow, 2), slow, 2, "1=2"},
    };
    char text[200] = "";
    double best = 0;
    bool found;
    store_fixture_fill(&f);
    cr_assert(store_add(f.store, f.run.id, &e, f.diag));
    cr_assert(store_best(f.store, store_fixture_time, &best, &found, f.diag) && found && best == 1.75);
    for (int i = 0; i < 2; i++)
        cr_assert(store_figures_set(f.store, f.run.id, figures, 2, f.diag));
    cr_assert(store_best(f.store, store_fixture_time, &best, &found, f.diag) && found && best == 20);
    cr_assert(store_each_figure(f.store, f.run.id, store_test_figure, text, f.diag));
    cr_expect_str_eq(text, "plain: x -1 3=4 2 30,32,31;search 1 1=2 2 40,nan,40;", "%s", text);
    cr_assert(store_number(f.store, -1, store_test_quoted, &best, &found, f.diag) && found && best == 31);
    cr_assert(store_naive(f.store, f.run.id, store_fixture_time, &best, &found, f.diag) && !found);
    char *csv = store_test_export(&f, "csv");
    cr_expect(strstr(csv, ",label,quoted_ns,quoted_low_ns,quoted_high_ns,quoted_rounds\n"), "%s", csv);
    cr_expect(strstr(csv, ",\"plain: x\",31,30.5,31.5,2\n"), "%s", csv);
    cr_expect(strstr(csv, ",\"\",,,,\n"), "%s", csv);
    free(csv);
    store_fixture_close(&f);
}

/* ---- attempts ---- */

static void store_test_sum_losses(void *context, uint64_t state_hash, unsigned lost, unsigned died)
{
    unsigned *seen = context;
    cr_expect_eq(state_hash, 9);
    seen[0] += lost;
    seen[1] += died;
}

/* Losses stay, what was returned does not count, and a result removes what is open. */
Test(store, attempts_end_with_their_result_or_stay_as_losses)
{
    struct store_fixture f = store_fixture_open();
    unsigned seen[2] = {0};
    struct store_evaluation e = {.number = 1, .state_hash = 9, .status = "ok", .median_ns = 1};
    cr_assert(store_run_add(f.store, &f.run, f.diag));
    static const char *const outcomes[] = {"lost", "returned", "lost"};
    for (int i = 0; i < 3; i++) {
        cr_assert(store_attempt_add(f.store, f.run.id, 1, 9, f.diag));
        cr_assert(store_attempt_end(f.store, f.run.id, 1, outcomes[i], 4, f.diag));
    }
    cr_assert(store_attempt_add(f.store, f.run.id, 1, 9, f.diag));
    cr_assert(store_add(f.store, f.run.id, &e, f.diag), "%s", store_fixture_error(&f, 0));
    cr_assert(store_attempt_add(f.store, f.run.id, 2, 9, f.diag));
    cr_assert(store_attempts_end(f.store, f.run.id, "died", f.diag));
    cr_assert(store_each_loss(f.store, f.run.id, store_test_sum_losses, seen, f.diag));
    cr_expect(seen[0] == 2 && seen[1] == 1, "%u lost, %u died", seen[0], seen[1]);
    store_fixture_close(&f);
}
