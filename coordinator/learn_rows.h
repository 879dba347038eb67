/* The rows of stores that a search can learn from, the nearest first. For learn.c. */
#ifndef THRESH_COORDINATOR_LEARN_ROWS_H
#define THRESH_COORDINATOR_LEARN_ROWS_H

#include "coordinator/learn.h"

struct arena;

/* Strings are of the arena of the list. */
struct learn_row {
    const char *store, *path, *text, *sizes, *device;
    const char *parameters; /* of --param; "": none */
    const char *actions;    /* store_actions_print() */
    int64_t run, number;
    uint64_t fingerprint, kernel_hash;
    double distance; /* doublings between its sizes and those of the search */
    unsigned rank;   /* in its run: 0 is the best */
};

struct learn_rows {
    struct arena *arena;
    struct learn_row *items;
    size_t n, capacity;
};

/* Adds the best implementations of each run of the same program that a store has, LIMIT_LEARNED of each run
 * at most: those that were drawn or learned, since every search has the naive and the plain ones. false after
 * an error of the store. */
bool learn_rows_add(struct learn_rows *rows, const char *store, const struct learn_wanted *w, struct diag *d);
/* Adds the learned ones of one run, of which only number, actions and kernel_hash are read. */
bool learn_rows_of_run(struct learn_rows *rows, const struct store *s, int64_t run, struct diag *d);
/* The nearest first; of the same distance the better one, then by store and run. */
void learn_rows_sort(struct learn_rows *rows);

#endif
