/* Attempts to measure a candidate: what may have ended an agent or a coordinator is known after a resume.
 *
 *     store_attempt_add(store, run, 17, hash, d)        before job 17 is sent: outcome ''
 *     store_attempt_end(store, run, 17, "lost", 3, d)   its agent, number 3, was lost
 *     store_add(store, run, &e, d)                      its result: the row goes, unless it is of a loss
 *     store_attempts_end(store, run, "returned", d)     the search ends in good order
 *
 * Rows without an outcome at a resume were open when the coordinator died. Only losses stay, so the table is
 * small. */
#include <stdlib.h>
#include <time.h>

#include "coordinator/store.h"
#include "coordinator/store_state.h"
#include "core/base/hash.h"

bool store_attempt_add(struct store *s, int64_t run, int64_t number, uint64_t state_hash, struct diag *d)
{
    char hex[HASH_HEX_BYTES];
    sqlite3_stmt *q = s->insert_attempt;
    hash_hex(state_hash, hex);
    sqlite3_bind_int64(q, 1, run);
    sqlite3_bind_int64(q, 2, number);
    sqlite3_bind_text(q, 3, hex, -1, SQLITE_TRANSIENT);
    sqlite3_bind_int64(q, 4, (int64_t)time(NULL));
    return store_write(s, q, NULL, run, d);
}

/* Ends open attempts of a run: of one number, or of all where sql has no ?4. */
static bool end_open(struct store *s, const char *sql, int64_t run, int64_t number, const char *outcome,
                     int64_t agent, struct diag *d)
{
    sqlite3_stmt *q = store_prepare(s, sql, d);
    if (!q) return false;
    sqlite3_bind_int64(q, 1, run);
    sqlite3_bind_text(q, 2, outcome, -1, SQLITE_TRANSIENT);
    if (sqlite3_bind_parameter_count(q) == 4) {
        sqlite3_bind_int64(q, 3, agent);
        sqlite3_bind_int64(q, 4, number);
    }
    bool ok = store_write(s, q, NULL, run, d);
    sqlite3_finalize(q);
    return ok;
}

bool store_attempt_end(struct store *s, int64_t run, int64_t number, const char *outcome, int64_t agent,
                       struct diag *d)
{
    static const char sql[] = "UPDATE attempt SET outcome = ?2, agent = ?3"
                              " WHERE run = ?1 AND number = ?4 AND outcome = ''";
    return end_open(s, sql, run, number, outcome, agent, d);
}

bool store_attempts_end(struct store *s, int64_t run, const char *outcome, struct diag *d)
{
    static const char sql[] = "UPDATE attempt SET outcome = ?2 WHERE run = ?1 AND outcome = ''";
    return end_open(s, sql, run, 0, outcome, 0, d);
}

bool store_each_loss(struct store *s, int64_t run, store_loss_visitor visit, void *context, struct diag *d)
{
    static const char sql[] = "SELECT state_hash, sum(outcome = 'lost'), sum(outcome = 'died') FROM attempt"
                              " WHERE run = ? AND outcome IN ('lost', 'died') GROUP BY state_hash";
    sqlite3_stmt *q = store_prepare(s, sql, d);
    int code;
    if (!q) return false;
    sqlite3_bind_int64(q, 1, run);
    while ((code = sqlite3_step(q)) == SQLITE_ROW)
        visit(context, strtoull((const char *)sqlite3_column_text(q, 0), NULL, 16),
              (unsigned)sqlite3_column_int64(q, 1), (unsigned)sqlite3_column_int64(q, 2));
    bool ok = code == SQLITE_DONE || store_failed(s, d);
    sqlite3_finalize(q);
    return ok;
}
