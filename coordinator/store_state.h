/* The parts of the store: store_open.c opens the file, store_owner.c keeps the owners of runs, store_batch.c
 * has their transactions, store.c writes and reads evaluations, winners.c finds the best ones, learn_rows.c
 * those of other runs, merge.c joins stores, report/rows.c and campaign/progress.c read what they show. This
 * header is for these files only. */
#ifndef THRESH_COORDINATOR_STORE_STATE_H
#define THRESH_COORDINATOR_STORE_STATE_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

#include "core/base/attr.h"

struct arena;
struct diag;
struct store;

/* A run that this process writes to. */
struct store_owned {
    int64_t run, epoch;
    int64_t seen_s; /* Unix seconds of its last write that the table has */
};

/* The state of a file, to detect whether it was written to. */
struct store_mark {
    bool exists;
    struct stat st;
};

struct store {
    sqlite3 *db;
    sqlite3_stmt *insert, *insert_cut, *confirm, *note_seen; /* NULL: only opened to be read */
    sqlite3_stmt *insert_attempt, *end_attempt;
    int64_t batch;                       /* the run to whose batch it writes; 0: each write by itself */
    bool batch_failed;                   /* nothing of the batch will be kept */
    char *path;                          /* as the user named it */
    bool read_only;                      /* store_open_to_read() */
    bool unlocked;                       /* read without locks, for which SQLite would have to write files */
    char *file, *log;                    /* the database and its write-ahead log, if unlocked */
    struct store_mark file_was, log_was; /* when the store was opened */
    int lock_fd;                         /* of the database, for the locks of owners; -1: none yet */
    bool *full;                          /* the last failure: there is no room on the disk */
    struct store_owned *owned;
    size_t n_owned;
};

/* ---- store_open.c ---- */

/* Adds an error that describes why SQLite failed; returns false. */
bool store_failed(const struct store *s, struct diag *d);
/* NULL after adding an error. */
sqlite3_stmt *store_prepare(const struct store *s, const char *sql, struct diag *d);
bool store_execute(const struct store *s, const char *sql, struct diag *d);
/* The first column of the first row. */
bool store_query_int(const struct store *s, const char *sql, int64_t *out, struct diag *d);
/* Ends a transaction: commits it if `ok`, else rolls it back. Returns whether it was committed. */
bool store_end(const struct store *s, bool ok, struct diag *d);
/* After reading without locks: whether no other process wrote meanwhile; else adds an error. */
bool store_unchanged(const struct store *s, struct diag *d);

/* ---- store_batch.c ---- */

/* Runs one or two statements (`then`: NULL or with its values bound) in the batch that is open, or else in a
 * transaction, if this process still owns the run. false after an error. */
bool store_write(struct store *s, sqlite3_stmt *q, sqlite3_stmt *then, int64_t run, struct diag *d);

/* ---- store.c ---- */

/* A column of a row as text, "" for NULL, valid until the next step; the same in the arena; and a number of
 * 64 bits that is stored as hexadecimal text. */
const char *store_column_text(sqlite3_stmt *q, int i);
const char *store_column_copy(struct arena *a, sqlite3_stmt *q, int i);
uint64_t store_column_hash(sqlite3_stmt *q, int i);

/* ---- store_owner.c ---- */

/* Makes this process the owner of a run, inside a transaction. false after an error: another process owns it.
 */
bool store_own(struct store *s, int64_t run, struct diag *d);
/* Whether this process still owns the run, inside the transaction that writes to it; else adds an error. */
bool store_confirm(const struct store *s, int64_t run, struct diag *d);
/* Ends the ownership of all runs. */
void store_disown(struct store *s);

/* ---- store_descriptors.c ---- */

/* A store of this process begins; it ends with its descriptor for locks, -1: it has none. */
void store_descriptors_begin(void);
void store_descriptors_end(int fd);
/* A descriptor for the locks of owners; mode: O_RDONLY or O_RDWR. -1: the file cannot be opened. */
int store_descriptor_open(const char *path, int mode);

#endif
