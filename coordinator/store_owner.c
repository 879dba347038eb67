/* The owners of runs: at most one process records in a run.
 *
 * The owner of run 3 has a row in the table `owner` (epoch, process id, host, boot id, last write) and a lock
 * on byte 2^62 + 3 of the database file, far beyond its end. The kernel releases the lock when the process
 * ends in any way, so that the run can be resumed at once.
 *
 * File locks may not work between machines. A run whose row names another machine is free if its owner gave
 * it back, or has written nothing for LIMIT_SILENCE_S seconds. If that owner is still alive, its next write
 * fails: each take-over raises the epoch, and each write compares the epoch in its own transaction. */
#define _GNU_SOURCE /* F_OFD_SETLK */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "coordinator/limits.h"
#include "coordinator/store.h"
#include "coordinator/store_state.h"
#include "core/base/arena.h"
#include "core/base/diag.h"
#include "core/base/panic.h"

enum { NAME_BYTES = 128 };
#define OWNER_BYTE (INT64_C(1) << 62) /* of run 0; SQLite's bytes are at 2^30 */

enum lock { LOCK_OURS, LOCK_TAKEN, LOCK_UNKNOWN };

/* A row of the table. */
struct owner {
    bool exists;
    int64_t epoch, pid; /* pid 0: given back */
    char host[NAME_BYTES], boot[NAME_BYTES], since[NAME_BYTES];
    int64_t silent_s; /* since it last wrote; negative where clocks differ */
};

/* ---- this process ---- */

static void host_name(char out[NAME_BYTES])
{
    if (gethostname(out, NAME_BYTES - 1)) snprintf(out, NAME_BYTES, "unknown");
    out[NAME_BYTES - 1] = 0;
}

/* The kernel's id of the current boot; "" if it has none. Containers on one machine share it. */
static void boot_id(char out[NAME_BYTES])
{
    FILE *in = fopen("/proc/sys/kernel/random/boot_id", "r");
    if (!in || !fgets(out, NAME_BYTES, in)) out[0] = 0;
    out[strcspn(out, "\n")] = 0;
    if (in) fclose(in);
}

static enum lock take_lock(struct store *s, int64_t run)
{
    struct flock lock = {
        .l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = (off_t)(OWNER_BYTE + run), .l_len = 1};
    if (s->lock_fd < 0) s->lock_fd = store_descriptor_open(sqlite3_db_filename(s->db, "main"), O_RDWR);
    if (s->lock_fd < 0) return LOCK_UNKNOWN;
    if (fcntl(s->lock_fd, F_OFD_SETLK, &lock) == 0) return LOCK_OURS;
    return errno == EAGAIN || errno == EACCES ? LOCK_TAKEN : LOCK_UNKNOWN;
}

/* ---- the table ---- */

static void copy_column(char out[NAME_BYTES], sqlite3_stmt *q, int i)
{
    const unsigned char *text = sqlite3_column_text(q, i);
    snprintf(out, NAME_BYTES, "%s", text ? (const char *)text : "");
}

static bool read_owner(const struct store *s, int64_t run, struct owner *out, struct diag *d)
{
    static const char sql[] = "SELECT epoch, pid, host, boot, datetime(since, 'unixepoch'),"
                              " strftime('%s', 'now') - seen FROM owner WHERE run = ?";
    *out = (struct owner){0};
    sqlite3_stmt *q = store_prepare(s, sql, d);
    if (!q) return false;
    sqlite3_bind_int64(q, 1, run);
    int code = sqlite3_step(q);
    if (code == SQLITE_ROW) {
        *out = (struct owner){.exists = true,
                              .epoch = sqlite3_column_int64(q, 0),
                              .pid = sqlite3_column_int64(q, 1),
                              .silent_s = sqlite3_column_int64(q, 5)};
        copy_column(out->host, q, 2);
        copy_column(out->boot, q, 3);
        copy_column(out->since, q, 4);
    }
    bool ok = code == SQLITE_ROW || code == SQLITE_DONE || store_failed(s, d);
    sqlite3_finalize(q);
    return ok;
}

static bool write_owner(const struct store *s, int64_t run, int64_t epoch, struct diag *d)
{
    static const char sql[] = "INSERT OR REPLACE INTO owner (run, epoch, pid, host, boot, since, seen)"
                              " VALUES (?,?,?,?,?, strftime('%s', 'now'), strftime('%s', 'now'))";
    char host[NAME_BYTES], boot[NAME_BYTES];
    sqlite3_stmt *q = store_prepare(s, sql, d);
    if (!q) return false;
    host_name(host);
    boot_id(boot);
    sqlite3_bind_int64(q, 1, run);
    sqlite3_bind_int64(q, 2, epoch);
    sqlite3_bind_int64(q, 3, getpid());
    sqlite3_bind_text(q, 4, host, -1, SQLITE_TRANSIENT);
    sqlite3_bind_text(q, 5, boot, -1, SQLITE_TRANSIENT);
    bool ok = sqlite3_step(q) == SQLITE_DONE || store_failed(s, d);
    sqlite3_finalize(q);
    return ok;
}

/* Whether the owner runs on this machine. */
static bool is_here(const struct owner *o)
{
    char host[NAME_BYTES], boot[NAME_BYTES];
    host_name(host);
    boot_id(boot);
    return strcmp(o->host, host) == 0 || (*boot && strcmp(o->boot, boot) == 0);
}

/* Whether the owner in the row may still write, given whether this process could lock the run. */
static bool may_live(const struct owner *o, enum lock lock)
{
    if (lock == LOCK_TAKEN) return true;
    if (!o->exists || o->pid == 0 || llabs(o->silent_s) >= LIMIT_SILENCE_S) return false;
    return lock == LOCK_UNKNOWN || !is_here(o);
}

/* As take_lock() finds it, but without taking it. */
static enum lock look_at_lock(struct store *s, int64_t run)
{
    struct flock lock = {
        .l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = (off_t)(OWNER_BYTE + run), .l_len = 1};
    if (s->lock_fd < 0) s->lock_fd = store_descriptor_open(s->path, s->read_only ? O_RDONLY : O_RDWR);
    if (s->lock_fd < 0 || fcntl(s->lock_fd, F_OFD_GETLK, &lock) != 0) return LOCK_UNKNOWN;
    return lock.l_type == F_UNLCK ? LOCK_OURS : LOCK_TAKEN;
}

bool store_run_is_owned(struct store *s, int64_t run, struct diag *d)
{
    struct owner o;
    return read_owner(s, run, &o, d) && o.exists && o.pid != 0 && may_live(&o, look_at_lock(s, run));
}

bool store_run_owner(struct store *s, int64_t run, struct store_owner *out, struct diag *d)
{
    struct owner o;
    *out = (struct store_owner){0};
    if (!read_owner(s, run, &o, d)) return false;
    bool lives = o.exists && o.pid != 0 && may_live(&o, look_at_lock(s, run));
    if (lives) *out = (struct store_owner){.pid = o.pid, .here = is_here(&o)};
    if (lives) snprintf(out->host, sizeof out->host, "%s", o.host);
    return true;
}

static bool refuse(const struct store *s, int64_t run, const struct owner *o, enum lock lock, struct diag *d)
{
    if (!o->exists || o->pid == 0)
        diag_plain(d, "%s: run %" PRId64 " belongs to another process", s->path, run);
    else if (lock == LOCK_TAKEN)
        diag_plain(
            d,
            "%s: run %" PRId64 " belongs to process %" PRId64
            " on host '%s' since %s UTC; wait until it ends, stop it, or omit --resume to begin a new run "
            "in the same store",
            s->path, run, o->pid, o->host, o->since);
    else
        diag_plain(
            d,
            "%s: run %" PRId64 " belongs to process %" PRId64
            " on host '%s' since %s UTC, which wrote to it %lld seconds ago; stop it there, or try again "
            "when it has written nothing for %d seconds",
            s->path, run, o->pid, o->host, o->since, llabs(o->silent_s), LIMIT_SILENCE_S);
    return false;
}

/* ---- owning ---- */

static struct store_owned *find_owned(const struct store *s, int64_t run)
{
    for (size_t i = 0; i < s->n_owned; i++)
        if (s->owned[i].run == run) return &s->owned[i];
    return NULL;
}

static void note_owned(struct store *s, int64_t run, int64_t epoch)
{
    struct store_owned *o = find_owned(s, run);
    if (!o) {
        s->owned = base_realloc(s->owned, (s->n_owned + 1) * sizeof *s->owned);
        o = &s->owned[s->n_owned++];
    }
    *o = (struct store_owned){.run = run, .epoch = epoch};
}

bool store_own(struct store *s, int64_t run, struct diag *d)
{
    struct owner o;
    enum lock lock = take_lock(s, run);
    if (!read_owner(s, run, &o, d)) return false;
    if (may_live(&o, lock)) return refuse(s, run, &o, lock, d);
    if (!write_owner(s, run, o.epoch + 1, d)) return false;
    note_owned(s, run, o.epoch + 1);
    return true;
}

/* The run has another epoch: adds an error that names the new owner. */
static bool report_taken(const struct store *s, int64_t run, struct diag *d)
{
    struct owner o;
    if (read_owner(s, run, &o, d))
        diag_plain(
            d,
            "%s: run %" PRId64 " was taken over by process %" PRId64
            " on host '%s' at %s UTC; this search ends, and its evaluations until then are in the store",
            s->path, run, o.pid, o.host, o.since);
    return false;
}

/* Runs a statement on the row of ?1 if its epoch is ?2. false: no row changed, or an error was added. */
static bool update_owner(const struct store *s, sqlite3_stmt *q, const struct store_owned *o, struct diag *d)
{
    sqlite3_bind_int64(q, 1, o->run);
    sqlite3_bind_int64(q, 2, o->epoch);
    bool ok = sqlite3_step(q) == SQLITE_DONE || store_failed(s, d);
    sqlite3_reset(q);
    return ok && sqlite3_changes(s->db) == 1;
}

/* Whether the row has our epoch. false after an error, too. */
static bool is_owner(const struct store *s, const struct store_owned *o, struct diag *d)
{
    sqlite3_bind_int64(s->confirm, 1, o->run);
    sqlite3_bind_int64(s->confirm, 2, o->epoch);
    int code = sqlite3_step(s->confirm);
    if (code != SQLITE_ROW && code != SQLITE_DONE) store_failed(s, d);
    sqlite3_reset(s->confirm);
    return code == SQLITE_ROW;
}

bool store_confirm(const struct store *s, int64_t run, struct diag *d)
{
    struct store_owned *o = find_owned(s, run);
    size_t before = diag_count(d);
    int64_t now = (int64_t)time(NULL);
    CHECK(o);
    bool ours = o->seen_s == now && is_owner(s, o, d);
    if (o->seen_s != now) {
        sqlite3_bind_int64(s->note_seen, 3, now);
        ours = update_owner(s, s->note_seen, o, d);
        o->seen_s = now;
    }
    return ours || (diag_count(d) == before && report_taken(s, run, d));
}

void store_disown(struct store *s)
{
    static const char sql[] = "UPDATE owner SET pid = 0 WHERE run = ?1 AND epoch = ?2";
    struct diag *d = diag_new();
    sqlite3_stmt *q = s->n_owned ? store_prepare(s, sql, d) : NULL;
    for (size_t i = 0; q && i < s->n_owned; i++)
        update_owner(s, q, &s->owned[i], d);
    sqlite3_finalize(q);
    diag_free(d);
    free(s->owned);
    s->owned = NULL;
    s->n_owned = 0;
}
