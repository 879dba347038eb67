/* The best implementation of each problem in one or more stores, for exports and reports. A problem is a
 * program with its sizes on a device, in whichever store and run it was tuned:
 *
 *     a.db run 1   matmul.lift M=512,N=512,K=512  NVIDIA H200   82.68 us   the winner of
 *     a.db run 2   matmul.lift M=512,N=512,K=512  NVIDIA H200   84.11 us   this problem
 *     b.db run 1   matmul.lift N=64,M=64,K=64     NVIDIA H200    9.21 us   of another one
 *
 * The rule is that of store_best(): the winner of final rounds with the lowest quoted time or, if no run of
 * the problem has final rounds, the lowest time of the search; of equal times, the first. Programs are
 * compared by their text, sizes by their values in any order. A problem of `tune --space` is a space with its
 * parameters. */
#ifndef THRESH_COORDINATOR_WINNERS_H
#define THRESH_COORDINATOR_WINNERS_H

#include <stddef.h>
#include <stdint.h>

#include "coordinator/store.h"

/* The list owns all strings. */
struct winner {
    const char *store;     /* path of the store, as given to winners_add() */
    struct store_run run;  /* the run that found it; run.id is of that store */
    const char *started;   /* when that run began: "2026-11-23 17:09:24", UTC */
    const char *kernel;    /* the program's file name without folder and ending: "matmul" */
    const char *key;       /* of the problem: equal for the same problem only */
    const char *problem;   /* the same without the device */
    int64_t number;        /* of the evaluation: from 1, 0 the naive one, below 0 a plain or a learned one */
    const char *label;     /* "naive", "plain: ...", "learned 1" or "" */
    const char *actions;   /* store_actions_print() */
    const char *decisions; /* of `tune --space`, as JSON; else "" */
    uint64_t kernel_hash;  /* of the measured OpenCL text */
    struct figure figure;  /* quoted, or of the search */
    struct figure naive; /* of the naive implementation in the same run; median_ns 0: not measured in the same
                            way */
    unsigned runs;       /* of the problem, in all stores */
    uint64_t evaluations; /* of the problem, in all runs: without the naive and plain ones and without those
                             that were skipped */
};

struct arena;
struct winners;

struct winners *winners_new(void);
void winners_free(struct winners *w); /* NULL is allowed */
/* Adds what a store has. Only the columns that are needed are read. false after an error of the store. */
bool winners_add(struct winners *w, struct store *s, const char *path, struct diag *d);
/* The problems that have a valid implementation, in order of kernel, device and sizes (by value). Sets *n.
 * The list belongs to w and is valid until the next winners_add(). */
const struct winner *winners_list(struct winners *w, size_t *n);

/* A run of a store that was added, with or without a valid implementation. */
struct winners_run {
    const char *store; /* as given to winners_add() */
    int64_t id;
    const char *key, *started; /* as in struct winner */
};
/* The i-th one in the order of adding; NULL: there are no more. The same life. */
const struct winners_run *winners_run_at(const struct winners *w, size_t i);
/* What lives as long as the winners. */
struct arena *winners_arena(struct winners *w);
/* NULL: there is no such run. It is valid until the next winners_add(). */
const struct winners_run *winners_run(const struct winners *w, const char *store, int64_t id);

#endif
