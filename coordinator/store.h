/* The store: every finished evaluation, in one SQLite file (write-ahead log) that the sqlite3 shell reads.
 *
 * An evaluation is in the file before it counts in the search tree. Rows are in the order in which results
 * were reported, and each says how many implementations had been drawn by then, and in how many draws, some
 * of which found none: with the seed that is enough to rebuild the tree exactly (`thresh tune --resume`).
 * Fingerprints and hashes are 16 hex digits, actions are "slot=value slot=value ...", samples a JSON array of
 * nanoseconds. Schema: coordinator/README.md. */
#ifndef THRESH_COORDINATOR_STORE_H
#define THRESH_COORDINATOR_STORE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "coordinator/figure.h"

struct diag;
struct store;

enum { STORE_SCHEMA = 5, STORE_APPLICATION = 0x74687368 /* "thsh" */ };

/* The device of a run of `tune --space`, which has no program: its decisions are in its evaluations. */
#define STORE_NO_DEVICE "command"

/* A run: one program on one device with one seed. Strings are borrowed. */
struct store_run {
    int64_t id; /* given by the store */
    const char *path, *text, *sizes, *device, *driver;
    const char *libraries; /* with versions; "" in runs of schema version 1 */
    const char *settings;  /* what else decides the search: heuristic, order, pins, ... as one text */
    uint64_t fingerprint, seed;
};

/* One result. number 0 is the naive implementation, -1, -2, ... are the plain ones. Strings are borrowed. */
struct store_evaluation {
    int64_t number;        /* of the implementation, in the order of drawing, from 1 */
    const char *label;     /* "naive", "plain: ..."; "": it was drawn, or an earlier version did not say */
    uint64_t drawn;        /* implementations drawn when the result was reported */
    uint64_t draws;        /* draws until then, those that found none, too; 0: not known, or not counted */
    uint64_t state_hash;   /* of the canonical vector */
    const char *actions;   /* store_actions_print() */
    const char *decisions; /* JSON: {"tile": 8, "staged": "YES"}, of `tune --space`; "": actions say it */
    const char *numbers;   /* JSON: {"gflops": 12.5}, what the program of `tune --space` printed beside the
                              time; "": nothing */
    const char *status;    /* eval_status_name(), "duplicate" or "oversized" */
    double median_ns;      /* status "ok" only */
    const double *samples; /* ns */
    unsigned n_samples;
    uint64_t kernel_hash;
    const char *message;
    const char *resources; /* JSON: {"local_bytes":0,"private_bytes":0,"most_items":0}; "": not known */
    double found_at;       /* seconds since the run began */
    struct figure
        quoted; /* what was measured of it in the final rounds; read only, store_figures_set() writes it */
};

/* Opens a store to record in it; `create`: a missing or empty file becomes one. A store of an earlier version
 * becomes one of this version. NULL after an error: not a database, of another application or a later
 * version, damaged, no write access. */
struct store *store_open(const char *path, bool create, struct diag *d);
/* Opens a store to read it, which needs no write access and changes nothing, neither the file nor its folder.
 * A store of an earlier version reads as if it had been upgraded. Reading fails if another process writes to
 * a store that is read without locks (store_open.c). NULL after an error. */
struct store *store_open_to_read(const char *path, struct diag *d);
void store_close(struct store *s); /* NULL is allowed */

/* A run has one owner: the process that records in it. It owns the run until store_close(), or until it ends,
 * however it ends. Others may record other runs in the same store. */

/* Records a run, which this process owns from then on; run->id is set. */
bool store_run_add(struct store *s, struct store_run *run, struct diag *d);
/* Finds the last run with run's fingerprint, device, seed and settings, sets run->id and owns it. An error
 * says which of them the store's last run differs in, or which process owns the run. */
bool store_run_resume(struct store *s, struct store_run *run, struct diag *d);
/* Records a result of a run that this process owns and waits until it is in the log. A number that the run
 * has is left as it is (results are idempotent). false after an error: the store cannot be written, or
 * another process has taken the run over. Nothing of the result is in the store then, and all that was
 * recorded before. */
bool store_add(struct store *s, int64_t run, const struct store_evaluation *e, struct diag *d);

/* A quoted time: a contender of a run's final rounds. Strings and times are borrowed. */
struct store_figure {
    const char *label;    /* "search", "naive", "plain: ..." */
    int64_t number;       /* of its evaluation */
    struct figure figure; /* of its rounds, or, if it was measured in none, of the search */
    const double *times;  /* ns, one a round; NAN: not measured in that round */
    unsigned n_times;
    const char *actions; /* store_actions_print() */
};
/* Records the contenders of a run's final rounds, the winner first, and waits until they are in the log. They
 * take the place of those that the run had. */
bool store_figures_set(struct store *s, int64_t run, const struct store_figure *figures, unsigned n,
                       struct diag *d);
/* Visits them, the winner first; false from `visit` stops. false after an error. */
typedef bool (*store_figure_visitor)(void *context, const struct store_figure *f);
bool store_each_figure(struct store *s, int64_t run, store_figure_visitor visit, void *context,
                       struct diag *d);

/* A candidate that the lower bound left out. Strings are borrowed. */
struct store_cut {
    const char *candidate; /* its decisions in order, the last one is that which was too much */
    double bound_ns, cut_ns;
    const char *reason; /* perfmodel_explain() */
};
/* Records it; one that the run has is left as it is. */
bool store_cut_add(struct store *s, int64_t run, const struct store_cut *c, struct diag *d);
/* Visits the cuts of the store's last run in order of recording; false from `visit` stops. false after an
 * error. */
typedef bool (*store_cut_visitor)(void *context, const struct store_cut *c);
bool store_each_cut(struct store *s, store_cut_visitor visit, void *context, struct diag *d);

/* A row with its run. Strings and samples are valid during the call. Returns false to stop. */
typedef bool (*store_visitor)(void *context, const struct store_run *run, const struct store_evaluation *e);
/* Visits evaluations in order of recording; run 0: of every run, one run after the other. false after an
 * error. */
bool store_each(struct store *s, int64_t run, store_visitor visit, void *context, struct diag *d);
/* Visits the best valid evaluation of the last run's problem on its device, by any run: of the winners of
 * final rounds the one with the lowest quoted time; where no run was quoted, the one with the lowest time of
 * the search. *found says whether there is one. */
bool store_best(struct store *s, store_visitor visit, void *context, bool *found, struct diag *d);
/* Visits the evaluation of that number of the last run that has one. */
bool store_number(struct store *s, int64_t number, store_visitor visit, void *context, bool *found,
                  struct diag *d);
/* Visits a run's naive implementation, if it was measured. */
bool store_naive(struct store *s, int64_t run, store_visitor visit, void *context, bool *found,
                 struct diag *d);

/* "jsonl" or "csv", which has a column for each decision. false after an error; what `out` did not take is
 * left to ferror(). */
bool store_export(struct store *s, const char *format, FILE *out, struct diag *d);

/* What a search that a crash ends says of its results; `store` is its --store, or NULL. */
const char *store_note(const char *store);

struct space_action;
/* Text form of a list of actions; malloc'd. */
char *store_actions_print(const struct space_action *actions, size_t n);
/* Reads it back, malloc'd; false: not such a text. */
bool store_actions_parse(const char *text, struct space_action **actions, size_t *n);

#endif
