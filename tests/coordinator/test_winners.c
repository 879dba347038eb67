/* The best implementation of each problem: which runs are of the same problem, and which time wins. */
#include "coordinator/winners.h"

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

#include "coordinator/export.h"
#include "tests/coordinator/store_fixture.h"

/* Adds a run with evaluations 0 (naive), 1, 2 of these times. */
static int64_t winners_add_run(struct store_fixture *f, const char *path, const char *sizes,
                               const double ns[3])
{
    struct store_run run = store_fixture_run();
    run.path = path;
    run.sizes = sizes;
    cr_assert(store_run_add(f->store, &run, f->diag));
    for (int i = 0; i < 3; i++) {
        struct store_evaluation e = {.number = i, .actions = i ? "1=2" : "", .status = "ok"};
        e.median_ns = ns[i];
        cr_assert(store_add(f->store, run.id, &e, f->diag));
    }
    return run.id;
}

static void winners_quote(struct store_fixture *f, int64_t run, int64_t number, double best, double naive)
{
    struct store_figure figures[2] = {{.label = "search", .number = number, .actions = "1=2"},
                                      {.label = "naive", .number = 0, .actions = ""}};
    figures[0].figure = (struct figure){best, best - 1, best + 1, 11};
    figures[1].figure = (struct figure){naive, naive, naive, 11};
    cr_assert(store_figures_set(f->store, run, figures, 2, f->diag));
}

static const struct winner *winners_of(struct winners **w, struct store_fixture *f, size_t *n)
{
    *w = winners_new();
    cr_assert(winners_add(*w, f->store, "a.db", f->diag), "%s", store_fixture_error(f, 0));
    return winners_list(*w, n);
}

Test(winners, problems_are_told_apart_by_text_sizes_and_device)
{
    struct store_fixture f = store_fixture_open();
    struct winners *w;
    size_t n;
    winners_add_run(&f, "dir/mm.lift", "M=512,N=4", (double[]){90, 30, 20});
    winners_add_run(&f, "mm.lift", "N=4, M=512", (double[]){90, 18, 25});
    winners_add_run(&f, "mm.lift", "M=64,N=4", (double[]){9, 3, 2});
    f.run.text = "another";
    cr_assert(store_run_add(f.store, &f.run, f.diag)); /* nothing valid */
    const struct winner *list = winners_of(&w, &f, &n);
    cr_assert_eq(n, 2, "%zu", n);
    cr_expect_str_eq(list[0].run.sizes, "M=64,N=4", "sizes in order of their values");
    cr_expect_str_eq(list[1].kernel, "mm");
    cr_expect_eq(list[1].figure.median_ns, 18);
    cr_expect_eq(list[1].number, 1);
    cr_expect_eq(list[1].run.id, 2);
    cr_expect_eq(list[1].naive.median_ns, 90);
    cr_expect_eq(list[1].runs, 2);
    cr_expect_eq(list[1].evaluations, 4);
    cr_expect_str_eq(list[1].store, "a.db");
    winners_free(w);
    store_fixture_close(&f);
}

/* A quoted time wins over a time of the search, which is often lower; the naive time is of the same kind. */
Test(winners, quoted_times_come_first)
{
    struct store_fixture f = store_fixture_open();
    struct winners *w;
    size_t n;
    winners_quote(&f, winners_add_run(&f, "mm.lift", "M=4", (double[]){90, 30, 20}), 1, 44, 99);
    winners_add_run(&f, "mm.lift", "M=4", (double[]){80, 10, 10});
    winners_quote(&f, winners_add_run(&f, "mm.lift", "M=4", (double[]){90, 5, 6}), 2, 43, 98);
    const struct winner *list = winners_of(&w, &f, &n);
    cr_assert_eq(n, 1);
    cr_expect_eq(list[0].run.id, 3);
    cr_expect_eq(list[0].number, 2);
    cr_expect_eq(list[0].figure.median_ns, 43);
    cr_expect_eq(list[0].figure.rounds, 11);
    cr_expect_eq(list[0].naive.median_ns, 98);
    winners_free(w);
    store_fixture_close(&f);
}

/* Two stores are one list; of equal times the first stays. */
Test(winners, stores_are_joined)
{
    struct store_fixture f = store_fixture_open();
    winners_add_run(&f, "mm.lift", "M=4", (double[]){90, 30, 20});
    struct winners *w = winners_new();
    size_t n;
    cr_assert(winners_add(w, f.store, "a.db", f.diag) && winners_add(w, f.store, "b.db", f.diag));
    const struct winner *list = winners_list(w, &n);
    cr_assert_eq(n, 1);
    cr_expect_str_eq(list[0].store, "a.db");
    cr_expect_eq(list[0].evaluations, 4);
    winners_free(w);
    store_fixture_close(&f);
}

/* ---- portable choices ---- */

enum { PORTABLE_TEXTS = 3 };

/* A run on a device with these times of the search of texts 11, 12, ...; 0: not measured there. */
static int64_t portable_run(struct store_fixture *f, const char *device, const double ns[PORTABLE_TEXTS])
{
    struct store_run run = store_fixture_run();
    run.device = device;
    cr_assert(store_run_add(f->store, &run, f->diag));
    for (int i = 0; i < PORTABLE_TEXTS; i++) {
        struct store_evaluation e = {.number = i, .actions = "", .status = ns[i] > 0 ? "ok" : "crashed"};
        e.label = i ? "" : "naive";
        e.median_ns = ns[i];
        e.kernel_hash = 11 + (uint64_t)i;
        cr_assert(store_add(f->store, run.id, &e, f->diag));
    }
    return run.id;
}

static const struct portable *portable_of(struct winners **w, struct store_fixture *f, size_t *n)
{
    const struct export_store store = {f->store, "a.db"};
    winners_of(w, f, n);
    return portable_list(*w, &store, 1, n, f->diag);
}

/* The table of portable.h, with another text that is best in the worst case. */
Test(winners, portable_choices_weigh_all_devices)
{
    struct store_fixture f = store_fixture_open();
    struct winners *w;
    size_t n;
    portable_run(&f, "cpu", (double[]){10, 20, 25});
    cr_assert_not_null(portable_of(&w, &f, &n));
    cr_expect_eq(n, 0, "one device");
    winners_free(w);
    portable_run(&f, "gpu", (double[]){9, 5, 3});
    const struct portable *list = portable_of(&w, &f, &n);
    cr_assert_eq(n, PORTABLE_RULES);
    cr_expect_eq(list[0].rule, PORTABLE_MEAN);
    cr_expect_eq(list[0].entry->number, 2, "1.58 against 1.73 and 1.83");
    cr_expect_float_eq(list[0].mean, sqrt(2.5), 1e-12);
    cr_expect_float_eq(list[0].worst, 2.5, 1e-12);
    cr_expect_eq(list[1].entry->number, 1, "2 against 3 and 2.5");
    cr_expect_float_eq(list[1].worst, 2, 1e-12);
    cr_expect_eq(list[1].candidates, 3);
    cr_assert_eq(list[1].n_times, 2);
    cr_expect_str_eq(list[1].times[1].device, "gpu");
    cr_expect_eq(list[1].times[1].figure.median_ns, 5);
    winners_free(w);
    store_fixture_close(&f);
}

/* What failed on one device is no choice; quoted times are compared with quoted ones. */
Test(winners, portable_choices_are_measured_everywhere)
{
    struct store_fixture f = store_fixture_open();
    struct winners *w;
    size_t n;
    int64_t cpu = portable_run(&f, "cpu", (double[]){30, 10, 12});
    portable_run(&f, "gpu", (double[]){9, 0, 3});
    winners_quote(&f, cpu, 1, 15, 45);
    const struct portable *list = portable_of(&w, &f, &n);
    cr_assert_eq(n, PORTABLE_RULES);
    cr_expect_eq(list[0].entry->number, 2, "number 1 failed on the gpu");
    cr_expect_float_eq(list[0].worst, 1.2, 1e-12, "of the search: 12 over 10");
    cr_expect_eq(list[0].candidates, 2);
    winners_free(w);
    portable_run(&f, "third", (double[]){0, 4, 0});
    cr_assert_not_null(portable_of(&w, &f, &n));
    cr_expect_eq(n, 0, "no text was measured on all three");
    winners_free(w);
    store_fixture_close(&f);
}
