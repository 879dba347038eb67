/* Campaigns for tests; see tune_fixture.h. */
#include "tests/coordinator/tune_fixture.h"

#include <criterion/criterion.h>
#include <sqlite3.h>
#include <stdio.h>
#include <unistd.h>

#include "coordinator/best.h"
#include "core/base/diag.h"

void tune_test_store(char path[TUNE_TEST_PATH], const char *test)
{
    snprintf(path, TUNE_TEST_PATH, "/tmp/thresh-%s-%ld.db", test, (long)getpid());
    unlink(path);
}

char *tune_test_text(struct diag *d)
{
    size_t n;
    char *text = source_read_file("experiments/kernels/matmul.lift", 1 << 20, &n, d);
    cr_assert_not_null(text);
    return text;
}

struct tune_options tune_test_options(const char *text, const char *store, uint64_t evaluations)
{
    return (struct tune_options){.path = "matmul.lift",
                                 .text = text,
                                 .sizes = "M=32,N=32,K=32",
                                 .heuristic =
                                     "tag:draws=4,generations=2,redraws=1", /* sanitized, they are slow */
                                 .seed = 3,
                                 .evaluations = evaluations,
                                 .rounds_s = 0.5,
                                 .quiet = true,
                                 .store = store,
                                 .stop_fd = -1};
}

struct tune_report tune_test_run(const struct tune_options *o, const char *dir)
{
    struct diag *d = diag_new();
    struct tune *t = tune_new(o, d);
    if (!t) diag_print(d, stderr);
    cr_assert_not_null(t);
    bool ok = tune_search(t, d);
    diag_print(d, stderr);
    cr_assert(ok);
    if (dir) cr_assert(tune_quote(t, d));
    struct tune_report r = *tune_report(t);
    cr_assert_gt(r.search.n_top, 0);
    const struct session_pick *best = r.search.n_contenders ? &r.search.contenders[0] : &r.search.top[0];
    struct best b = {.problem = tune_problem(t),
                     .device = tune_device(t),
                     .lowering = &o->lowering,
                     .sizes = o->sizes,
                     .actions = best->actions,
                     .n_actions = best->n_actions,
                     .figure = best->figure};
    if (dir) cr_assert(best_write(dir, &b, d));
    tune_free(t);
    diag_free(d);
    return r;
}

void tune_test_sql(const char *store, const char *sql)
{
    sqlite3 *db;
    cr_assert_eq(sqlite3_open(store, &db), SQLITE_OK);
    cr_assert_eq(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK, "%s", sqlite3_errmsg(db));
    sqlite3_close(db);
}
