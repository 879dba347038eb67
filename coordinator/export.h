/* What people take away from stores:
 *
 *     jsonl, csv         every evaluation, a row each                                  export_rows.c
 *     header             best.h: the best implementations as C, with a function that   export_header.c
 *                        picks one by kernel, device and sizes
 *     database           best.json: the same as JSON                                   export_database.c
 *     kernel-tuner, t4   every evaluation in the formats of other tuners               export_tables.c */
#ifndef THRESH_COORDINATOR_EXPORT_H
#define THRESH_COORDINATOR_EXPORT_H

#include <jansson.h>
#include <stdio.h>

#include "coordinator/portable.h"
#include "coordinator/winners.h"
#include "core/pipeline/code.h"

struct device;

/* ---- rows ---- */

struct export_store {
    struct store *store;
    const char *path; /* as the user named it */
};

/* "jsonl" or "csv". */
bool export_is_of_rows(const char *format);
/* Writes all evaluations of the stores; of several stores each row begins with the path. In CSV each decision
 * is a column. false after an error of a store; the caller checks ferror(out). */
bool export_rows(const struct export_store *stores, size_t n, const char *format, FILE *out, struct diag *d);

/* ---- the best implementations ---- */

/* A winner as it is launched. Pointers are borrowed. */
struct export_entry {
    const struct winner *winner;
    const char *name; /* of the program: winner->kernel, or with "@HASH" appended if another
                         program of that name is newer */
    const struct problem
        *problem; /* NULL: of `tune --space`, which has no kernel; the next two are NULL too */
    const struct pipeline_code *code;
    const struct device *device; /* of the run: of this machine, or described */
};

/* One argument of its kernel. */
enum export_use {
    EXPORT_INPUT,
    EXPORT_OUTPUT,
    EXPORT_TEMPORARY,
    EXPORT_VALUE,
    EXPORT_UPDATED,
    EXPORT_COUNTERS /* a temporary that is 0 before the first launch */
};
struct export_argument {
    const char *name, *type; /* "A", "float"; of a temporary one "temporary", "char" */
    size_t bytes;
    enum export_use use;
};
struct export_argument export_argument(const struct export_entry *e, unsigned i);
/* Its decisions, {CHOICE: VALUE} with values as texts: those that lead to it, so that pins repeat it. A new
 * reference. */
json_t *export_decisions(const struct export_entry *e);

/* A portable choice, with entry.winner == choice->entry. */
struct export_portable {
    const struct portable *choice;
    struct export_entry entry;
};

/* What best.h and best.json are written from. */
struct export_best {
    const struct export_entry *entries;
    size_t n;
    const struct export_portable *portables;
    size_t n_portables;
    const char *version; /* of thresh */
};

/* Writes best.h. All entries have a problem. The caller checks ferror(out). */
void export_header(const struct export_best *b, FILE *out);
/* best.json, format 1, as coordinator/README.md describes it. A new reference. */
json_t *export_database(const struct export_best *b);

/* ---- formats of other tuners ---- */

/* The evaluations of one problem, as a table. A decision that an evaluation does not have is "-". */
struct export_table;

struct export_table *export_table_new(const struct winner *w);
void export_table_free(struct export_table *t); /* NULL is allowed */
/* Adds a row. decisions: {"tile": 8, "staged": "YES"}. started: of the run, as in struct winner. Statuses
 * that are not of an evaluation, such as "duplicate", are left out and counted. */
void export_table_add(struct export_table *t, const char *started, const struct store_evaluation *e,
                      const json_t *decisions);
/* Rows, and those left out. */
size_t export_table_rows(const struct export_table *t, size_t *left_out);
/* Kernel Tuner's cache file, schema 1.1.0. The caller checks ferror(out). */
void export_table_kernel_tuner(struct export_table *t, FILE *out);
/* T4 results 1.0.0. */
void export_table_t4(struct export_table *t, const char *version, FILE *out);

#endif
