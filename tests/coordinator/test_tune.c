/* Whole campaigns on a small matrix product with the embedded agent: needs an OpenCL device. */
#include "coordinator/tune.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent/limits.h"
#include "coordinator/agents_state.h"
#include "coordinator/best.h"
#include "coordinator/session_state.h"
#include "coordinator/tune_state.h"
#include "core/base/diag.h"
#include "mcts/heuristic.h"
#include "tests/coordinator/tune_fixture.h"
#include "tests/e2e/described.h"

/* A program with one implementation where N is 1. */
static const char tune_test_small[] = "size N\ninput x: [float]N\noutput map(fun v -> v * 2.0, x)\n";

static void tune_test_best(const char *dir)
{
    struct diag *d = diag_new();
    struct best_file b;
    char path[96], command[256];
    snprintf(path, sizeof path, "%s/best.json", dir);
    cr_assert(best_read(path, &b, d), "%s", diag_count(d) ? diag_message(d, 0) : "");
    cr_assert(figure_known(&b.figure));
    best_file_clear(&b);
    snprintf(command, sizeof command, "sed -i 's/^ \"median_ns\": / \"median_ns\": 1/' %s", path);
    cr_assert_eq(system(command), 0);
    cr_assert(!best_read(path, &b, d));
    cr_assert(strstr(diag_message(d, 0), "'median_ns' was changed after the file was written"), "%s",
              diag_message(d, 0));
    snprintf(command, sizeof command, "rm -r %s", dir);
    cr_assert_eq(system(command), 0);
    diag_free(d);
}

Test(tune, default_heuristics_are_known)
{
    static const char *const DEFAULTS[] = {TUNE_HEURISTIC_GPU, TUNE_HEURISTIC_CPU};
    for (size_t i = 0; i < sizeof DEFAULTS / sizeof DEFAULTS[0]; i++) {
        struct diag *d = diag_new();
        struct mcts_heuristic *h = mcts_heuristic_load(DEFAULTS[i], d);
        cr_expect(h, "%s: %s", DEFAULTS[i], diag_count(d) ? diag_message(d, 0) : "");
        mcts_heuristic_free(h);
        diag_free(d);
    }
}

Test(tune, a_small_campaign_finds_verified_kernels_and_writes_them)
{
    struct diag *d = diag_new();
    char dir[64];
    char *text = tune_test_text(d);
    snprintf(dir, sizeof dir, "/tmp/thresh-tune-%ld", (long)getpid());
    struct tune_options o = tune_test_options(text, NULL, 6);
    struct tune_report r = tune_test_run(&o, dir);
    cr_assert_eq(r.search.evaluations, 6);
    cr_assert_eq(r.search.ok + r.search.failed + r.search.cut, 6);
    cr_assert(r.search.quoted && r.search.speedup.quotient > 0);
    tune_test_best(dir);
    free(text);
    diag_free(d);
}

/* At which evaluation actions were measured: 0, never. */
struct tune_finding {
    const char *actions;
    uint64_t evaluations, found_at;
};

static bool tune_test_find(void *context, const struct store_run *run, const struct store_evaluation *e)
{
    struct tune_finding *f = context;
    (void)run;
    bool left_out = strcmp(e->status, "duplicate") == 0 || strcmp(e->status, "oversized") == 0;
    if (e->number <= 0 || left_out) return true;
    f->evaluations++;
    if (strcmp(e->actions, f->actions) == 0) f->found_at = f->evaluations;
    return true;
}

/* Measuring again puts another one first, which was not found when the search's best was. */
Test(tune, each_of_the_best_knows_when_it_was_found)
{
    struct diag *d = diag_new();
    char store[TUNE_TEST_PATH];
    char *text = tune_test_text(d);
    tune_test_store(store, "found");
    struct tune_options o = tune_test_options(text, store, 6);
    struct tune *t = tune_new(&o, d);
    cr_assert(t && tune_search(t, d));
    cr_assert(tune_quote(t, d));
    const struct tune_report *r = tune_report(t);
    cr_assert_gt(r->search.n_top, 0);
    struct store *s = store_open(store, false, d);
    for (unsigned i = 0; i < r->search.n_top; i++) {
        char *actions = store_actions_print(r->search.top[i].actions, r->search.top[i].n_actions);
        struct tune_finding f = {.actions = actions};
        cr_assert(store_each(s, 0, tune_test_find, &f, d));
        cr_expect_gt(f.found_at, 0);
        cr_expect_eq(r->search.top[i].found_at, f.found_at);
        free(actions);
    }
    store_close(s);
    tune_free(t);
    unlink(store);
    free(text);
    diag_free(d);
}

/* No budget counts texts that are not measured: a search that finds nothing else ends all the same. */
Test(tune, a_search_of_nothing_but_large_texts_ends)
{
    struct diag *d = diag_new();
    char *text = tune_test_text(d);
    struct tune_options o = tune_test_options(text, NULL, 6);
    o.most_text_bytes = 1;
    o.patience = 50;
    struct tune *t = tune_new(&o, d);
    cr_assert_not_null(t);
    bool ok = tune_search(t, d);
    diag_print(d, stderr);
    cr_assert(ok);
    const struct tune_report *r = tune_report(t);
    cr_assert(r->search.barren && !r->search.exhausted);
    cr_assert_eq(r->search.evaluations, 0);
    cr_assert_eq(r->search.oversized + r->search.duplicates, 50);
    tune_free(t);
    free(text);
    diag_free(d);
}

/* The jobs that it takes at once tell how many it has. */
Test(tune, the_embedded_agent_has_the_runners_that_the_user_wants, .timeout = 60)
{
    struct diag *d = diag_new();
    char *text = tune_test_text(d);
    for (unsigned runners = 1; runners <= 3; runners += 2) {
        struct tune_options o = tune_test_options(text, NULL, 6);
        o.runners = runners;
        struct tune *t = tune_new(&o, d);
        cr_assert_not_null(t);
        while (agents_evaluator.room(t->agents) == 0)
            agents_evaluator.collect(t->agents, 1000);
        unsigned jobs = 0;
        while (roster_take_credit(t->agents->roster) >= 0)
            jobs++;
        cr_expect_eq(jobs, runners * AGENT_RUNNER_JOBS);
        tune_free(t);
    }
    free(text);
    diag_free(d);
}

/* A resume of a run whose rows were edited; the message says how many cannot be replayed. */
static void tune_test_edited(struct tune_options *o)
{
    struct diag *d = diag_new();
    tune_test_sql(o->store, "UPDATE evaluation SET state_hash = '12' WHERE number = 2");
    cr_assert_null(tune_new(o, d));
    cr_assert(strstr(diag_message(d, 0), "cannot be replayed; the first is number 2"), "%s",
              diag_message(d, 0));
    diag_free(d);
}

Test(tune, a_resumed_campaign_goes_on_from_the_store)
{
    struct diag *d = diag_new();
    char store[TUNE_TEST_PATH];
    char *text = tune_test_text(d);
    tune_test_store(store, "tune");
    struct tune_options o = tune_test_options(text, store, 3);
    struct tune_report first = tune_test_run(&o, NULL);
    o.resume = true;
    o.evaluations = 6;
    struct tune_report second = tune_test_run(&o, NULL);
    cr_assert_eq(first.search.evaluations, 3);
    cr_assert_eq(second.search.evaluations, 6);
    tune_test_edited(&o);
    o.sizes = "M=32,N=64,K=64";
    struct tune *t = tune_new(&o, d);
    cr_assert_null(t);
    cr_assert(strstr(diag_message(d, 0), "cannot resume"));
    unlink(store);
    free(text);
    diag_free(d);
}

/* The bound decides what is drawn: a run goes on with the figures that it began with, or is refused for what
 * has changed. */
Test(tune, a_resumption_with_another_description_says_so)
{
    struct diag *d = diag_new();
    char store[TUNE_TEST_PATH], description[64];
    char *text = tune_test_text(d);
    tune_test_store(store, "described");
    snprintf(description, sizeof description, "/tmp/thresh-described-%ld.json", (long)getpid());
    described_write_one(description, PERFMODEL_LAUNCH, 1);
    struct tune_options o = tune_test_options(text, store, 2);
    o.description = description;
    tune_test_run(&o, NULL);
    o.resume = true;
    tune_test_run(&o, NULL);
    described_write_one(description, PERFMODEL_LAUNCH, 2);
    cr_assert_null(tune_new(&o, d));
    cr_expect(strstr(diag_message(d, 0), "the run has other settings ('device_description="), "%s",
              diag_message(d, 0));
    cr_expect_eq(diag_count(d), 1);
    unlink(store);
    unlink(description);
    free(text);
    diag_free(d);
}

/* An interrupt is seen while the rows of the store are replayed. */
Test(tune, a_resumption_is_interrupted)
{
    struct diag *d = diag_new();
    char store[TUNE_TEST_PATH];
    int ends[2];
    char *text = tune_test_text(d);
    tune_test_store(store, "interrupted");
    struct tune_options o = tune_test_options(text, store, 3);
    tune_test_run(&o, NULL);
    cr_assert_eq(pipe(ends), 0);
    cr_assert_eq(write(ends[1], "", 1), 1);
    o.resume = true;
    o.stop_fd = ends[0];
    cr_assert_null(tune_new(&o, d));
    cr_assert_str_eq(diag_message(d, 0), "error: interrupted while the run was restored");
    cr_assert_eq(diag_count(d), 1);
    unlink(store);
    free(text);
    diag_free(d);
}

/* The rows of a store that were reported last: what had been drawn by then. */
static bool tune_test_last(void *context, const struct store_run *run, const struct store_evaluation *e)
{
    uint64_t *counts = context;
    (void)run;
    counts[0] = e->drawn;
    counts[1] = e->draws;
    return true;
}

/* A draw that found nothing while something was measured takes its turn again: the tree's random numbers go
 * on in it. Rows of earlier versions do not count such draws. */
Test(tune, a_resumed_campaign_draws_in_vain_where_it_did, .timeout = 120)
{
    struct diag *d = diag_new();
    char store[TUNE_TEST_PATH];
    tune_test_store(store, "vain");
    struct tune_options o = tune_test_options(tune_test_small, store, 0);
    o.sizes = "N=1";
    cr_assert(tune_test_run(&o, NULL).search.exhausted);
    o.resume = true;
    static const char *const rows[] = {"draws = 0", "draws = drawn", "draws = drawn + 1"};
    for (uint64_t i = 0; i < 3; i++) {
        char sql[128];
        uint64_t counts[2];
        snprintf(sql, sizeof sql, "UPDATE evaluation SET %s WHERE id = (SELECT max(id) FROM evaluation)",
                 rows[i]);
        tune_test_sql(store, sql);
        struct store *s = store_open(store, false, d);
        cr_assert(s && store_each(s, 0, tune_test_last, counts, d));
        store_close(s);
        struct tune *t = tune_new(&o, d);
        cr_assert_not_null(t, "%s", diag_failed(d) ? diag_message(d, 0) : "");
        cr_expect_eq(t->session->drawn, counts[0]);
        cr_expect_eq(t->session->draws, counts[0] + (i == 2));
        cr_expect_eq(tune_report(t)->search.exhausted, i == 2);
        tune_free(t);
    }
    unlink(store);
    diag_free(d);
}

static bool tune_test_is_first(void *context, const struct store_run *run, const struct store_evaluation *e)
{
    (void)run;
    if (e->number == 1) *(bool *)context = strcmp(e->status, "duplicate") != 0;
    return true;
}

/* A run that ended when a duplicate had been reported before its original: the original is measured. */
Test(tune, a_resumed_campaign_measures_what_had_duplicates)
{
    struct diag *d = diag_new();
    char store[TUNE_TEST_PATH];
    bool measured = false;
    char *text = tune_test_text(d);
    tune_test_store(store, "duplicate");
    struct tune_options o = tune_test_options(text, store, 4);
    o.heuristic = "random";
    o.no_bound = true;
    tune_test_run(&o, NULL);
    tune_test_sql(store, "UPDATE evaluation SET status = 'duplicate', median_ns = NULL, kernel_hash ="
                         " (SELECT kernel_hash FROM evaluation WHERE number = 1) WHERE number = 2;"
                         "DELETE FROM evaluation WHERE number = 1");
    o.resume = true;
    tune_test_run(&o, NULL);
    struct store *s = store_open(store, false, d);
    cr_assert(s && store_each(s, 0, tune_test_is_first, &measured, d));
    cr_assert(measured);
    store_close(s);
    unlink(store);
    free(text);
    diag_free(d);
}

/* A run is taken up from a snapshot in its middle as from its rows: what contenders taught is in the
 * snapshot, and their rows do not teach it again. */
Test(tune, a_snapshot_and_the_rows_behind_it_are_the_run, .timeout = 120)
{
    struct diag *d = diag_new();
    char store[TUNE_TEST_PATH], snapshot[TUNE_TEST_PATH + 16], aside[TUNE_TEST_PATH + 16];
    char *text = tune_test_text(d);
    tune_test_store(store, "middle");
    snprintf(snapshot, sizeof snapshot, "%s-1.snapshot", store);
    snprintf(aside, sizeof aside, "%s-aside", store);
    struct tune_options o = tune_test_options(text, store, 4);
    o.heuristic = NULL; /* many rollouts: of four the same one is the best, whatever was learnt */
    o.snapshot_s = 1e-9;
    struct tune_report first = tune_test_run(&o, NULL);
    cr_assert_gt(first.n_plain, 0);
    cr_assert_eq(rename(snapshot, aside), 0);
    o.resume = true;
    o.snapshot_s = 0;
    o.evaluations = 10;
    tune_test_run(&o, NULL);
    cr_assert_eq(rename(aside, snapshot), 0);
    struct tune *t = tune_new(&o, d);
    cr_assert_not_null(t, "%s", diag_failed(d) ? diag_message(d, 0) : "");
    cr_expect_eq(tune_report(t)->search.evaluations, 10);
    tune_free(t);
    unlink(snapshot);
    unlink(store);
    free(text);
    diag_free(d);
}

/* The search is refused with `message`. */
static void tune_test_not_recorded(const struct tune_options *o, const char *message)
{
    struct diag *d = diag_new();
    cr_assert_null(tune_new(o, d));
    cr_assert(strstr(diag_message(d, 0), message), "%s", diag_message(d, 0));
    diag_free(d);
}

/* A search on the timings that an equal one has recorded draws the same and finds the same. */
Test(tune, recorded_timings_stand_for_the_device)
{
    char store[TUNE_TEST_PATH];
    struct diag *d = diag_new();
    struct device device;
    char *text = tune_test_text(d);
    tune_test_store(store, "recorded");
    struct tune_options o = tune_test_options(text, store, 5);
    o.heuristic = "random";
    o.no_bound = true;
    struct tune_report measured = tune_test_run(&o, NULL);
    cr_assert(device_select(NULL, &device, d));
    o.store = NULL;
    o.recorded = store;
    o.stands_for = &device;
    struct tune_report again = tune_test_run(&o, NULL);
    cr_assert_eq(again.search.evaluations, measured.search.evaluations);
    cr_assert_eq(again.search.ok, measured.search.ok);
    cr_assert_eq(again.naive.search_ns, measured.naive.search_ns);
    cr_assert_eq(again.search.top[0].search_ns, measured.search.top[0].search_ns);
    strcpy(device.name, "another");
    tune_test_not_recorded(&o, "this device ('another')");
    cr_assert(device_select(NULL, &device, d));
    o.sizes = "M=32,N=64,K=64";
    tune_test_not_recorded(&o, "nothing was recorded");
    unlink(store);
    free(text);
    diag_free(d);
}
