/* The best portable choice: one OpenCL text for all devices on which a program was tuned.
 *
 *     text     cpu       gpu       slowdowns      geometric mean   worst
 *     a        10 us     9 us      1.00  3.00     1.73             3.00
 *     b        14 us     4 us      1.40  1.33     1.37             1.40     the choice by both rules
 *     c        30 us     3 us      3.00  1.00     1.73             3.00
 *
 * A slowdown is the time on a device over the best time there, of the same kind: quoted times are compared
 * with the best quoted one, times of the search with the best of the search. Only a text that was measured on
 * all of the devices, and was right, is a choice: the naive and the plain implementations are such texts, and
 * with learn-from what won elsewhere. */
#ifndef THRESH_COORDINATOR_PORTABLE_H
#define THRESH_COORDINATOR_PORTABLE_H

#include "coordinator/winners.h"

enum portable_rule { PORTABLE_MEAN, PORTABLE_WORST, PORTABLE_RULES };
extern const char *const portable_rule_names[PORTABLE_RULES]; /* "geometric mean", "worst case" */

/* A text on one device. */
struct portable_time {
    const char *device;
    struct figure figure;
    double slowdown; /* 1: it is the best there */
};

/* The choice of a program and its sizes by one rule. */
struct portable {
    enum portable_rule rule;
    const struct winner *entry; /* the text as an implementation of the first device: run, number, actions */
    double mean, worst;         /* of the slowdowns */
    unsigned candidates;        /* texts that were measured on all devices */
    unsigned n_times;
    const struct portable_time *times; /* of each device, in the order of winners_list() */
};

struct export_store;
/* Of each problem that has a valid implementation on two devices or more the choices by both rules, in the
 * order of winners_list(); none where no text was measured on all. Sets *n. NULL after an error of a store.
 * The list lives as long as w.
 * The stores are those that were added to w, under the same paths. */
const struct portable *portable_list(struct winners *w, const struct export_store *stores, size_t n_stores,
                                     size_t *n, struct diag *d);

/* The same of one store, which is opened and closed. *w owns the list; free it in both cases. */
const struct portable *portable_of_store(const char *path, struct winners **w, size_t *n, struct diag *d);

struct strbuf;
/* "matmul M=64,N=64,K=64 on 2 devices by geometric mean: number 17 of run 3, 1.08 times as long as the best
 * of each (worst 1.17), of 14 measured on all". */
void portable_print(const struct portable *p, struct strbuf *out);

#endif
