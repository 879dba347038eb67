/* Opening stores. An application id and a schema version mark the file, so that a database of another program
 * or of a later version is refused and never changed.
 *
 * For writing, an earlier store gets the missing columns and tables (ALTER TABLE), and the write-ahead log is
 * used.
 *
 * For reading, nothing is written, neither to the file nor beside it. SQLite reads a database with a
 * write-ahead log only through the file -shm, by which processes coordinate:
 *
 *     -shm   -wal             how the store is read
 *     there  any              through -shm: a search is writing, or was killed
 *     none   empty or none    as an immutable file
 *     none   some pages       without locks, with an index of -wal in memory
 *
 * Without -shm nobody is writing. If one of the files changes while it is read without locks, reading fails.
 * Missing columns and tables of an earlier store are supplied by temporary views and tables. */
#define _XOPEN_SOURCE 700 /* realpath */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "coordinator/limits.h"
#include "coordinator/store.h"
#include "coordinator/store_state.h"
#include "core/base/arena.h"
#include "core/base/diag.h"
#include "core/base/file.h"
#include "core/base/similar.h"
#include "core/base/strbuf.h"

enum { HEADER_BYTES = 20, WAL_AT = 18, WAL_VERSION = 2 };

static const struct {
    const char *name, *columns;
} tables[] = {
    {"run", "id INTEGER PRIMARY KEY, path TEXT NOT NULL, text TEXT NOT NULL, sizes TEXT NOT NULL,"
            " device TEXT NOT NULL, driver TEXT NOT NULL, settings TEXT NOT NULL, fingerprint TEXT NOT NULL,"
            " seed TEXT NOT NULL, started TEXT NOT NULL DEFAULT (datetime('now')),"
            " libraries TEXT NOT NULL DEFAULT ''"},
    {"evaluation", "id INTEGER PRIMARY KEY, run INTEGER NOT NULL REFERENCES run(id),"
                   " number INTEGER NOT NULL, drawn INTEGER NOT NULL, state_hash TEXT NOT NULL,"
                   " actions TEXT NOT NULL, status TEXT NOT NULL, median_ns REAL, samples TEXT NOT NULL,"
                   " kernel_hash TEXT NOT NULL, message TEXT NOT NULL, found_at REAL NOT NULL,"
                   " resources TEXT NOT NULL DEFAULT '', decisions TEXT NOT NULL DEFAULT '',"
                   " draws INTEGER NOT NULL DEFAULT 0, label TEXT NOT NULL DEFAULT '', numbers TEXT NOT NULL "
                   "DEFAULT '', agent INTEGER NOT NULL DEFAULT 0, rollouts INTEGER NOT NULL DEFAULT 0,"
                   " UNIQUE (run, number)"},
    {"cut", "id INTEGER PRIMARY KEY, run INTEGER NOT NULL REFERENCES run(id), candidate TEXT NOT NULL,"
            " bound_ns REAL NOT NULL, cut_ns REAL NOT NULL, reason TEXT NOT NULL, UNIQUE (run, candidate)"},
    {"figure", "id INTEGER PRIMARY KEY, run INTEGER NOT NULL REFERENCES run(id), place INTEGER NOT NULL,"
               " number INTEGER NOT NULL, label TEXT NOT NULL, rounds INTEGER NOT NULL,"
               " median_ns REAL NOT NULL, low_ns REAL NOT NULL, high_ns REAL NOT NULL, times TEXT NOT NULL,"
               " actions TEXT NOT NULL, UNIQUE (run, number)"},
    {"agent", "id INTEGER PRIMARY KEY, name TEXT NOT NULL, host TEXT NOT NULL, device TEXT NOT NULL,"
              " driver TEXT NOT NULL, libraries TEXT NOT NULL, key TEXT NOT NULL DEFAULT '',"
              " state TEXT NOT NULL, running INTEGER NOT NULL DEFAULT 0, results INTEGER NOT NULL DEFAULT 0,"
              " first_seen INTEGER NOT NULL, seen INTEGER NOT NULL"},
    {"event", "id INTEGER PRIMARY KEY, at REAL NOT NULL, run INTEGER NOT NULL, agent INTEGER NOT NULL,"
              " kind TEXT NOT NULL, message TEXT NOT NULL"},
    {"attempt", "id INTEGER PRIMARY KEY, run INTEGER NOT NULL REFERENCES run(id), number INTEGER NOT NULL,"
                " state_hash TEXT NOT NULL, agent INTEGER NOT NULL DEFAULT 0, sent_at INTEGER NOT NULL,"
                " outcome TEXT NOT NULL DEFAULT '', UNIQUE (run, number, id)"},
    {"owner", "run INTEGER PRIMARY KEY REFERENCES run(id), epoch INTEGER NOT NULL, pid INTEGER NOT NULL,"
              " host TEXT NOT NULL, boot TEXT NOT NULL, since INTEGER NOT NULL, seen INTEGER NOT NULL"},
};
enum { N_TABLES = sizeof tables / sizeof tables[0] };

/* Columns that were added in later schema versions. */
static const struct {
    int64_t since;
    const char *table, *column, *type, *otherwise;
} additions[] = {
    {2, "run", "libraries", "TEXT", "''"},        {2, "evaluation", "resources", "TEXT", "''"},
    {3, "evaluation", "decisions", "TEXT", "''"}, {4, "evaluation", "draws", "INTEGER", "0"},
    {5, "evaluation", "label", "TEXT", "''"},     {5, "evaluation", "numbers", "TEXT", "''"},
    {6, "evaluation", "agent", "INTEGER", "0"},   {8, "evaluation", "rollouts", "INTEGER", "0"},
};
enum { N_ADDITIONS = sizeof additions / sizeof additions[0] };

/* ---- SQLite ---- */

/* Adds the system's reason, if SQLite knows it; else the limit of file sizes, which is a likely cause. */
static void add_system_error(const struct store *s, struct strbuf *b)
{
    int error = sqlite3_system_errno(s->db);
    struct rlimit limit;
    if (error)
        strbuf_printf(b, ": %s", file_error_text(error));
    else if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY)
        strbuf_printf(b, ": the limit of file sizes (ulimit -f) is %llu bytes",
                      (unsigned long long)limit.rlim_cur);
}

static void add_open_fault(const struct store *s, struct strbuf *b)
{
    char *fault = file_create_fault(s->path, sqlite3_system_errno(s->db));
    strbuf_printf(b, "cannot open the store: %s", fault);
    free(fault);
}

static bool is_full(const struct store *s)
{
    int code = sqlite3_errcode(s->db) & 0xff, error = sqlite3_system_errno(s->db);
    return code == SQLITE_FULL || (code == SQLITE_IOERR && (error == ENOSPC || error == EDQUOT));
}

bool store_is_full(const struct store *s)
{
    return *s->full;
}

bool store_failed(const struct store *s, struct diag *d)
{
    struct strbuf b = {0};
    *s->full = is_full(s);
    switch (sqlite3_errcode(s->db) & 0xff) {
    case SQLITE_NOTADB:
        strbuf_add(&b, "not a thresh store: not a database");
        break;
    case SQLITE_FULL:
        strbuf_add(&b, "the disk is full");
        break;
    case SQLITE_READONLY:
        strbuf_add(&b, "no write access to the store or its folder");
        break;
    case SQLITE_BUSY:
        strbuf_add(&b, "the store is locked by another process");
        break;
    case SQLITE_CANTOPEN:
        add_open_fault(s, &b);
        break;
    case SQLITE_IOERR:
        strbuf_add(&b, sqlite3_errmsg(s->db));
        add_system_error(s, &b);
        break;
    default:
        strbuf_add(&b, sqlite3_errmsg(s->db));
    }
    diag_plain(d, "%s: %s", s->path, b.text);
    strbuf_free(&b);
    return false;
}

sqlite3_stmt *store_prepare(const struct store *s, const char *sql, struct diag *d)
{
    sqlite3_stmt *q = NULL;
    if (sqlite3_prepare_v2(s->db, sql, -1, &q, NULL) != SQLITE_OK) store_failed(s, d);
    return q;
}

bool store_execute(const struct store *s, const char *sql, struct diag *d)
{
    return sqlite3_exec(s->db, sql, NULL, NULL, NULL) == SQLITE_OK || store_failed(s, d);
}

bool store_query_int(const struct store *s, const char *sql, int64_t *out, struct diag *d)
{
    sqlite3_stmt *q = store_prepare(s, sql, d);
    if (!q) return false;
    bool ok = sqlite3_step(q) == SQLITE_ROW || store_failed(s, d);
    if (ok) *out = sqlite3_column_int64(q, 0);
    sqlite3_finalize(q);
    return ok;
}

bool store_end(const struct store *s, bool ok, struct diag *d)
{
    if (ok && store_execute(s, "COMMIT", d)) return true;
    sqlite3_exec(s->db, "ROLLBACK", NULL, NULL, NULL);
    return false;
}

/* ---- the schema ---- */

static void add_columns(int64_t version, struct strbuf *sql)
{
    for (size_t i = 0; i < N_ADDITIONS; i++)
        if (version < additions[i].since)
            strbuf_printf(sql, "ALTER TABLE %s ADD COLUMN %s %s NOT NULL DEFAULT %s;", additions[i].table,
                          additions[i].column, additions[i].type, additions[i].otherwise);
}

/* Creates the tables and columns that an empty database (version 0) or an earlier store lacks. If several
 * processes do this at the same time, the first one does the work. */
static bool complete_schema(struct store *s, int64_t version, struct diag *d)
{
    struct strbuf sql = {0};
    if (!store_execute(s, "BEGIN IMMEDIATE", d)) return false;
    bool ok = version == 0 || store_query_int(s, "PRAGMA user_version", &version, d);
    if (version > 0) add_columns(version, &sql);
    for (size_t i = 0; i < N_TABLES; i++)
        strbuf_printf(&sql, "CREATE TABLE IF NOT EXISTS %s (%s);", tables[i].name, tables[i].columns);
    if (version < STORE_SCHEMA)
        strbuf_printf(&sql, "PRAGMA application_id=%d; PRAGMA user_version=%d;", STORE_APPLICATION,
                      STORE_SCHEMA);
    ok = ok && store_execute(s, sql.text, d);
    strbuf_free(&sql);
    return store_end(s, ok, d);
}

static bool has_table(const struct store *s, const char *name, bool *has, struct diag *d)
{
    char sql[128];
    int64_t n = 0;
    snprintf(sql, sizeof sql, "SELECT count(*) FROM main.sqlite_master WHERE name = '%s'", name);
    bool ok = store_query_int(s, sql, &n, d);
    *has = n > 0;
    return ok;
}

/* A temporary view that hides the table and adds the columns that it lacks. */
static void supply_columns(const char *table, int64_t version, struct strbuf *sql)
{
    size_t lacking = 0;
    struct strbuf more = {0};
    for (size_t i = 0; i < N_ADDITIONS; i++) {
        if (version >= additions[i].since || strcmp(additions[i].table, table) != 0) continue;
        strbuf_printf(&more, ", %s AS %s", additions[i].otherwise, additions[i].column);
        lacking++;
    }
    if (lacking)
        strbuf_printf(sql, "CREATE TEMP VIEW %s AS SELECT *%s FROM main.%s;", table, more.text, table);
    strbuf_free(&more);
}

/* Supplies what an earlier store lacks, for this connection only. */
static bool supply_schema(struct store *s, int64_t version, struct diag *d)
{
    bool ok = true, has;
    struct strbuf sql = {0};
    strbuf_add(&sql, "PRAGMA temp_store=MEMORY;");
    for (size_t i = 0; ok && i < N_TABLES; i++) {
        ok = has_table(s, tables[i].name, &has, d);
        if (has)
            supply_columns(tables[i].name, version, &sql);
        else
            strbuf_printf(&sql, "CREATE TEMP TABLE %s (%s);", tables[i].name, tables[i].columns);
    }
    ok = ok && store_execute(s, sql.text, d);
    strbuf_free(&sql);
    return ok;
}

/* Checks that the file is a store that this version can read. *version is 0 for an empty file. */
static bool check_schema(const struct store *s, int64_t *version, struct diag *d)
{
    int64_t application, n_tables;
    if (!store_query_int(s, "PRAGMA application_id", &application, d) ||
        !store_query_int(s, "PRAGMA user_version", version, d) ||
        !store_query_int(s, "SELECT count(*) FROM sqlite_master", &n_tables, d))
        return false;
    if (n_tables == 0) *version = 0;
    if (n_tables > 0 && application != STORE_APPLICATION) {
        diag_plain(d, "%s: not a thresh store: a database of another program", s->path);
        return false;
    }
    if (n_tables == 0 || (*version >= 1 && *version <= STORE_SCHEMA)) return true;
    diag_plain(d,
               "%s: schema version %" PRId64
               " is not supported (this version of thresh reads 1 to %d); use the "
               "version that wrote the store",
               s->path, *version, STORE_SCHEMA);
    return false;
}

static bool refuse_empty(const struct store *s, struct diag *d)
{
    diag_plain(d, "%s: not a thresh store: the file is empty", s->path);
    return false;
}

/* ---- opening to write ---- */

static struct store *new_store(const char *path)
{
    struct store *s = base_calloc(1, sizeof *s);
    s->full = base_calloc(1, sizeof *s->full);
    s->path = base_strdup(path);
    s->lock_fd = -1;
    store_descriptors_begin();
    return s;
}

static bool connect_to(struct store *s, const char *name, int flags, const char *vfs, struct diag *d)
{
    if (sqlite3_open_v2(name, &s->db, flags, vfs) != SQLITE_OK) return store_failed(s, d);
    sqlite3_busy_timeout(s->db, LIMIT_BUSY_MS);
    return true;
}

/* Without write access SQLite opens a database for reading, which a search cannot use. */
static bool check_write_access(const struct store *s, struct diag *d)
{
    if (sqlite3_db_readonly(s->db, "main") != 1) return true;
    diag_plain(d, "%s: no write access to the store; a search needs it", s->path);
    return false;
}

/* What each write runs is prepared once. */
static bool prepare_writes(struct store *s, struct diag *d)
{
    s->insert =
        store_prepare(s,
                      "INSERT OR IGNORE INTO evaluation (run, number, drawn, state_hash, actions, status,"
                      " median_ns, samples, kernel_hash, message, found_at, resources, decisions, draws,"
                      " label, numbers, agent, rollouts) VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)",
                      d);
    s->insert_cut = store_prepare(
        s, "INSERT OR IGNORE INTO cut (run, candidate, bound_ns, cut_ns, reason) VALUES (?,?,?,?,?)", d);
    s->confirm = store_prepare(s, "SELECT 1 FROM owner WHERE run = ?1 AND epoch = ?2", d);
    s->note_seen = store_prepare(s, "UPDATE owner SET seen = ?3 WHERE run = ?1 AND epoch = ?2", d);
    s->insert_attempt =
        store_prepare(s, "INSERT INTO attempt (run, number, state_hash, sent_at) VALUES (?,?,?,?)", d);
    s->end_attempt = store_prepare(
        s, "DELETE FROM attempt WHERE run = ? AND number = ? AND outcome IN ('', 'returned')", d);
    return s->insert && s->insert_cut && s->confirm && s->note_seen && s->insert_attempt && s->end_attempt;
}

struct store *store_open(const char *path, bool create, struct diag *d)
{
    if (!create && access(path, F_OK)) {
        diag_plain(d, "store '%s' does not exist; omit --resume to begin a new run", path);
        return NULL;
    }
    struct store *s = new_store(path);
    int64_t version;
    bool ok = connect_to(s, path, SQLITE_OPEN_READWRITE | (create ? SQLITE_OPEN_CREATE : 0), NULL, d) &&
              check_write_access(s, d) && check_schema(s, &version, d) &&
              (create || version > 0 || refuse_empty(s, d)) && complete_schema(s, version, d) &&
              store_execute(s, "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL", d) &&
              prepare_writes(s, d);
    if (ok) return s;
    store_close(s);
    return NULL;
}

/* ---- opening to read ---- */

static struct store_mark mark(const char *path)
{
    struct store_mark m = {0};
    m.exists = stat(path, &m.st) == 0;
    return m;
}

static bool same_time(struct timespec a, struct timespec b)
{
    return a.tv_sec == b.tv_sec && a.tv_nsec == b.tv_nsec;
}

static bool same_mark(const struct store_mark *a, const struct store_mark *b)
{
    if (!a->exists || !b->exists) return a->exists == b->exists;
    return a->st.st_ino == b->st.st_ino && a->st.st_size == b->st.st_size &&
           same_time(a->st.st_mtim, b->st.st_mtim);
}

bool store_unchanged(const struct store *s, struct diag *d)
{
    if (!s->unlocked) return true;
    struct store_mark file = mark(s->file), log = mark(s->log);
    if (same_mark(&file, &s->file_was) && same_mark(&log, &s->log_was)) return true;
    diag_plain(d, "%s: another process wrote to the store while it was read; try again", s->path);
    return false;
}

/* Adds an error: the file cannot be read. Suggests a file with a similar name. */
static void refuse_file(const char *path, int error, struct diag *d)
{
    char *similar = error == ENOENT ? similar_file(path) : NULL;
    if (error == ENOENT)
        diag_plain(d, "store '%s' does not exist%s%s%s", path, similar ? "; did you mean '" : "",
                   similar ? similar : "; 'thresh tune --store' creates one", similar ? "'?" : "");
    else
        diag_plain(d, "cannot read '%s': %s", path, strerror(error));
    free(similar);
}

/* Whether the database has a write-ahead log, as its header says. false after an error. */
static bool read_header(const char *path, bool *wal, struct diag *d)
{
    unsigned char header[HEADER_BYTES] = {0};
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? -1 : read(fd, header, sizeof header);
    int error = errno;
    if (fd >= 0) close(fd);
    if (n < 0) refuse_file(path, error, d);
    *wal = header[WAL_AT] == WAL_VERSION;
    return n >= 0;
}

static char *joined(const char *a, const char *b)
{
    struct strbuf out = {0};
    strbuf_printf(&out, "%s%s", a, b);
    return strbuf_take(&out);
}

/* The name under which SQLite opens a file that does not change. */
static char *immutable_uri(const char *path)
{
    struct strbuf b = {0};
    strbuf_add(&b, "file:");
    for (const char *c = path; *c; c++)
        if (strchr("%?#", *c))
            strbuf_printf(&b, "%%%02x", (unsigned char)*c);
        else
            strbuf_addn(&b, c, 1);
    strbuf_add(&b, "?immutable=1");
    return strbuf_take(&b);
}

/* Nobody is writing: opens the file alone, or with an index of its log that only this process has. */
static bool connect_unlocked(struct store *s, struct diag *d)
{
    s->unlocked = true;
    s->file_was = mark(s->file);
    s->log_was = mark(s->log);
    if (s->log_was.exists && s->log_was.st.st_size > 0)
        return connect_to(s, s->file, SQLITE_OPEN_READONLY, "unix-none", d) &&
               store_execute(s, "PRAGMA locking_mode=EXCLUSIVE", d);
    char *uri = immutable_uri(s->file);
    bool ok = connect_to(s, uri, SQLITE_OPEN_READONLY | SQLITE_OPEN_URI, NULL, d);
    free(uri);
    return ok;
}

static bool exists(const char *path)
{
    return access(path, F_OK) == 0;
}

/* The header is read only if there is no -shm: then this process does not have the store open elsewhere.
 * Closing any descriptor of a database releases all locks that SQLite holds on it in this process. */
static bool connect_to_read(struct store *s, struct diag *d)
{
    bool wal = false;
    char *real = realpath(s->path, NULL);
    s->file = base_strdup(real ? real : s->path);
    free(real);
    s->log = joined(s->file, "-wal");
    char *shared = joined(s->file, "-shm");
    bool coordinated = exists(s->file) && exists(shared), ok = coordinated || read_header(s->path, &wal, d);
    free(shared);
    if (!ok) return false;
    return coordinated || !wal ? connect_to(s, s->file, SQLITE_OPEN_READONLY, NULL, d)
                               : connect_unlocked(s, d);
}

struct store *store_open_to_read(const char *path, struct diag *d)
{
    struct store *s = new_store(path);
    int64_t version;
    s->read_only = true;
    bool ok = connect_to_read(s, d) && check_schema(s, &version, d) && (version > 0 || refuse_empty(s, d)) &&
              supply_schema(s, version, d);
    if (ok) return s;
    store_close(s);
    return NULL;
}

/* ---- closing ---- */

void store_close(struct store *s)
{
    if (!s) return;
    store_disown(s);
    sqlite3_finalize(s->insert);
    sqlite3_finalize(s->insert_cut);
    sqlite3_finalize(s->confirm);
    sqlite3_finalize(s->note_seen);
    sqlite3_finalize(s->insert_attempt);
    sqlite3_finalize(s->end_attempt);
    sqlite3_close(s->db);
    store_descriptors_end(s->lock_fd);
    free(s->file);
    free(s->log);
    free(s->path);
    free(s->full);
    free(s);
}
