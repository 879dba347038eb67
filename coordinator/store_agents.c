/* Who measured what, and what became of agents: tables `agent` and `event`, column `evaluation.agent`.
 *
 *     id = store_agent_add(store, &agent, d)              the agent has connected
 *     store_event_add(store, run, id, "connected", "", d)
 *     e.agent = id; store_add(store, run, &e, d)          a result of it
 *     store_agent_update(store, id, "left", 0, 17, d)
 *
 * None of this decides anything in a search. */
#include <stdio.h>
#include <time.h>

#include "coordinator/store.h"
#include "coordinator/store_state.h"

static void bind(sqlite3_stmt *q, int i, const char *text)
{
    sqlite3_bind_text(q, i, text ? text : "", -1, SQLITE_TRANSIENT);
}

static bool finish(struct store *s, sqlite3_stmt *q, struct diag *d)
{
    bool ok = sqlite3_step(q) == SQLITE_DONE || store_failed(s, d);
    sqlite3_finalize(q);
    return ok;
}

int64_t store_agent_add(struct store *s, const struct store_agent *a, struct diag *d)
{
    sqlite3_stmt *q = store_prepare(s,
                                    "INSERT INTO agent (name, host, device, driver, libraries, state,"
                                    " first_seen, seen) VALUES (?,?,?,?,?,'connected',?7,?7)",
                                    d);
    if (!q) return 0;
    const char *texts[] = {a->name, a->host, a->device, a->driver, a->libraries};
    for (int i = 0; i < 5; i++)
        bind(q, i + 1, texts[i]);
    sqlite3_bind_int64(q, 7, (int64_t)time(NULL));
    return finish(s, q, d) ? sqlite3_last_insert_rowid(s->db) : 0;
}

bool store_agent_update(struct store *s, int64_t id, const char *state, int64_t running, int64_t results,
                        struct diag *d)
{
    sqlite3_stmt *q = store_prepare(
        s, "UPDATE agent SET state = ?2, running = ?3, results = ?4, seen = ?5 WHERE id = ?1", d);
    if (!q) return false;
    sqlite3_bind_int64(q, 1, id);
    bind(q, 2, state);
    sqlite3_bind_int64(q, 3, running);
    sqlite3_bind_int64(q, 4, results);
    sqlite3_bind_int64(q, 5, (int64_t)time(NULL));
    return finish(s, q, d);
}

bool store_event_add(struct store *s, int64_t run, int64_t agent, const char *kind, const char *message,
                     struct diag *d)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    sqlite3_stmt *q =
        store_prepare(s, "INSERT INTO event (at, run, agent, kind, message) VALUES (?,?,?,?,?)", d);
    if (!q) return false;
    sqlite3_bind_double(q, 1, (double)now.tv_sec + (double)now.tv_nsec * 1e-9);
    sqlite3_bind_int64(q, 2, run);
    sqlite3_bind_int64(q, 3, agent);
    bind(q, 4, kind);
    bind(q, 5, message);
    return finish(s, q, d);
}

bool store_run_driver(struct store *s, int64_t run, char *driver, size_t n, struct diag *d)
{
    sqlite3_stmt *q = store_prepare(s, "SELECT driver FROM run WHERE id = ?", d);
    if (!q) return false;
    sqlite3_bind_int64(q, 1, run);
    bool ok = sqlite3_step(q) == SQLITE_ROW;
    snprintf(driver, n, "%s", ok ? (const char *)sqlite3_column_text(q, 0) : "");
    sqlite3_finalize(q);
    return ok;
}
