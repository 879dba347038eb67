/* See store_fixture.h. */
#include "tests/coordinator/store_fixture.h"

#include <criterion/criterion.h>
#include <sqlite3.h>
#include <stdio.h>
#include <unistd.h>

struct store_run store_fixture_run(void)
{
    return (struct store_run){.path = "k.lift",
                              .text = "t",
                              .sizes = "M=4",
                              .device = "dev",
                              .driver = "1",
                              .libraries = "lib 1",
                              .settings = "tag",
                              .fingerprint = 0xabcdef0123456789u,
                              .seed = 7};
}

struct store_fixture store_fixture_open(void)
{
    struct store_fixture f = {.diag = diag_new(), .run = store_fixture_run()};
    snprintf(f.path, sizeof f.path, "/tmp/thresh-store-%ld.db", (long)getpid());
    unlink(f.path);
    f.store = store_open(f.path, true, f.diag);
    cr_assert_not_null(f.store, "%s", store_fixture_error(&f, 0));
    return f;
}

struct store_fixture store_fixture_closed(void)
{
    struct store_fixture f = store_fixture_open();
    store_fixture_fill(&f);
    store_close(f.store);
    f.store = NULL;
    return f;
}

void store_fixture_close(struct store_fixture *f)
{
    store_close(f->store);
    diag_free(f->diag);
    unlink(f->path);
}

void store_fixture_fill(struct store_fixture *f)
{
    double samples[] = {1, 2.5};
    struct store_evaluation e = {.number = 1,
                                 .drawn = 2,
                                 .state_hash = 9,
                                 .actions = "1=2",
                                 .status = "ok",
                                 .median_ns = 1.75,
                                 .samples = samples,
                                 .n_samples = 2,
                                 .message = "a \"b\"",
                                 .resources = "{\"local_bytes\":7}"};
    cr_assert(store_run_add(f->store, &f->run, f->diag));
    cr_assert(store_add(f->store, f->run.id, &e, f->diag));
    cr_assert(store_add(f->store, f->run.id, &e, f->diag));
    e = (struct store_evaluation){.number = 2, .drawn = 2, .actions = "", .status = "timeout"};
    e.message = "cut off: \xc3";
    cr_assert(store_add(f->store, f->run.id, &e, f->diag));
}

void store_fixture_reopen(struct store_fixture *f, bool read)
{
    store_close(f->store);
    f->store = read ? store_open_to_read(f->path, f->diag) : store_open(f->path, false, f->diag);
    cr_assert_not_null(f->store, "%s", store_fixture_error(f, 0));
}

int store_fixture_int(const char *path, const char *sql)
{
    sqlite3 *db;
    sqlite3_stmt *q;
    cr_assert_eq(sqlite3_open_v2(path, &db, SQLITE_OPEN_READONLY, NULL), SQLITE_OK);
    cr_assert_eq(sqlite3_prepare_v2(db, sql, -1, &q, NULL), SQLITE_OK);
    cr_assert_eq(sqlite3_step(q), SQLITE_ROW);
    int n = sqlite3_column_int(q, 0);
    sqlite3_finalize(q);
    sqlite3_close(db);
    return n;
}

void store_fixture_execute(const char *path, const char *sql)
{
    sqlite3 *db;
    char *error = NULL;
    cr_assert_eq(sqlite3_open(path, &db), SQLITE_OK);
    cr_assert_eq(sqlite3_exec(db, sql, NULL, NULL, &error), SQLITE_OK, "%s", error);
    sqlite3_close(db);
}

const char *store_fixture_error(const struct store_fixture *f, size_t i)
{
    return diag_count(f->diag) > i ? diag_message(f->diag, i) : "";
}

bool store_fixture_sum(void *sum, const struct store_run *run, const struct store_evaluation *e)
{
    cr_assert_eq(run->fingerprint, store_fixture_run().fingerprint);
    for (unsigned i = 0; i < e->n_samples; i++)
        *(double *)sum += e->samples[i];
    return true;
}

bool store_fixture_time(void *ns, const struct store_run *run, const struct store_evaluation *e)
{
    (void)run;
    *(double *)ns = e->median_ns;
    return true;
}

bool store_fixture_count_cut(void *count, const struct store_cut *c)
{
    cr_assert_str_eq(c->candidate, "size(m.0)=4");
    cr_assert_eq(c->bound_ns, 200);
    cr_assert_eq(c->cut_ns, 150);
    cr_assert_str_eq(c->reason, "200 ns: a reason\n");
    ++*(unsigned *)count;
    return true;
}
