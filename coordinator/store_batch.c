/* Transactions of a run. Each checks that this process still owns the run:
 *
 *     BEGIN IMMEDIATE; SELECT 1 FROM owner WHERE run = ? AND epoch = ?; INSERT ...; COMMIT
 *
 * A single write has one to itself, and most of its time is that of the transaction: locks, and whole pages
 * of the log for one row. A batch has many rows in one. COMMIT leaves all of them in the log or, whenever the
 * process is killed, none. */
#include "coordinator/store.h"
#include "coordinator/store_state.h"
#include "core/base/diag.h"
#include "core/base/panic.h"

static bool run_statement(const struct store *s, sqlite3_stmt *q, struct diag *d)
{
    return sqlite3_step(q) == SQLITE_DONE || store_failed(s, d);
}

static bool search_ends(const struct store *s, struct diag *d)
{
    diag_plain(
        d, "%s: the search ends; all earlier evaluations are in the store, and --resume continues the run",
        s->path);
    return false;
}

bool store_begin(struct store *s, int64_t run, struct diag *d)
{
    CHECK(!s->batch);
    if (!store_execute(s, "BEGIN IMMEDIATE", d)) return search_ends(s, d);
    if (!store_confirm(s, run, d)) return store_end(s, false, d);
    s->batch = run;
    s->batch_failed = false;
    return true;
}

bool store_commit(struct store *s, struct diag *d)
{
    CHECK(s->batch);
    s->batch = 0;
    return store_end(s, !s->batch_failed, d) || search_ends(s, d);
}

bool store_write(struct store *s, sqlite3_stmt *q, sqlite3_stmt *then, int64_t run, struct diag *d)
{
    bool alone = !s->batch;
    CHECK(alone || s->batch == run);
    bool ok = !alone || store_begin(s, run, d);
    if (ok) {
        ok = !s->batch_failed && run_statement(s, q, d) && (!then || run_statement(s, then, d));
        s->batch_failed = !ok;
        if (alone) ok = store_commit(s, d);
    }
    sqlite3_reset(q);
    sqlite3_reset(then);
    return ok;
}
