/* What the files store*.c share: store_open.c opens, store_owner.c says whose a run is, store.c writes and
 * reads. */
#ifndef THRESH_COORDINATOR_STORE_STATE_H
#define THRESH_COORDINATOR_STORE_STATE_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

#include "core/base/attr.h"

struct diag;
struct store;

/* A run that this process writes to. */
struct store_owned {
    int64_t run, epoch;
};

/* Size and times of a file, to see whether it was written to. */
struct store_mark {
    bool exists;
    struct stat st;
};

struct store {
    sqlite3 *db;
    sqlite3_stmt *insert, *insert_cut;
    char *path;     /* as the user named it */
    bool read_only; /* store_open_to_read() */
    /* Read without locks: SQLite would have to write beside the file for them. */
    bool unlocked;
    char *file, *log;                    /* the database and its write-ahead log, where unlocked */
    struct store_mark file_was, log_was; /* when it was opened */
    int lock_fd;                         /* of the database, for the locks of owners; -1: none yet */
    struct store_owned *owned;
    size_t n_owned;
};

/* ---- store_open.c ---- */

/* Adds an error that says what SQLite refused to do; returns false. */
bool store_failed(const struct store *s, struct diag *d);
/* NULL after adding an error. */
sqlite3_stmt *store_prepare(const struct store *s, const char *sql, struct diag *d);
bool store_execute(const struct store *s, const char *sql, struct diag *d);
/* The first column of the first row. */
bool store_query_int(const struct store *s, const char *sql, int64_t *out, struct diag *d);
/* Ends a transaction: commits it if `ok`, else takes it back. false: it was taken back. */
bool store_end(const struct store *s, bool ok, struct diag *d);
/* Whether what was read without locks is what the files hold; else adds an error. */
bool store_unchanged(const struct store *s, struct diag *d);

/* ---- store_owner.c ---- */

/* Makes this process the owner of a run, within a transaction. false after an error: another process owns it.
 */
bool store_own(struct store *s, int64_t run, struct diag *d);
/* Whether this process still owns the run, within the transaction that writes to it; else adds an error. */
bool store_confirm(const struct store *s, int64_t run, struct diag *d);
/* Gives all runs back. */
void store_disown(struct store *s);

#endif
