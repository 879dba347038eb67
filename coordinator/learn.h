/* Warm starts: the best implementations of the same program in other stores, for other sizes, on other
 * devices or in other runs, as contenders of a search. For example, a search for M=128,N=128,K=128 with a
 * store of M=64,N=64,K=64 on the same device
 *
 *     learned 1: from M=64,N=64,K=64 on pthread-haswell (a.db, run 1, implementation 12): 31 of 34 decisions
 *
 * has what won there, with the decisions that are possible here (transfer.h).
 *
 * The same program is one that is printed in the same way: layout and comments do not count. What is nearest
 * comes first: by the doublings between the sizes, LIMIT_OTHER_DEVICE more for another device; of the same
 * run the winner of its final rounds first, then what those measured, then the times of the search. */
#ifndef THRESH_COORDINATOR_LEARN_H
#define THRESH_COORDINATOR_LEARN_H

#include <stdbool.h>
#include <stdint.h>

#include "coordinator/limits.h"
#include "core/pipeline/problem.h"

struct device;
struct diag;
struct mcts_prior;
struct store;
struct strbuf;

/* The number of "learned 1"; that of "learned 2" is one less. Below those of plain ones, whose number may
 * grow. */
enum { LEARN_NUMBER = -101 };

struct learned {
    char *label;              /* "learned 1"; NULL: there is none */
    struct space_state *leaf; /* NULL: it was taken */
    uint64_t kernel_hash;     /* of its text */
};
void learned_clear(struct learned *l);

/* The search that learns. Pointers are borrowed. */
struct learn_wanted {
    const struct problem *problem;
    const struct device *device;
    const char *sizes;              /* as --size takes them */
    const struct space_state *root; /* with the pins */
    struct mcts_prior *prior;
    size_t most_text_bytes; /* longer texts are left out */
    const uint64_t *known;  /* hashes of texts that are contenders already; 0: none */
    unsigned n_known;
    const char *own_path; /* the search's store; NULL: none */
    int64_t own_run;      /* its run there, of which nothing is learned */
};

/* Whether the stores can be read; the search's own (own_path, NULL: none) need not exist yet. false after an
 * error. */
bool learn_check(const char *const *stores, unsigned n, const char *own_path, struct diag *d);
/* Fills the free places of `out` with what the stores have. Each one is a line of `notes`; so is what is the
 * matter where there is nothing. false after an error of a store. */
bool learn_from(const char *const *stores, unsigned n, const struct learn_wanted *w,
                struct learned out[LIMIT_LEARNED], struct strbuf *notes, struct diag *d);
/* Puts what a run has recorded as learned into its places, so that the run can be resumed. false after an
 * error of the store. */
bool learn_restore(struct store *s, int64_t run, const struct problem *p, struct learned out[LIMIT_LEARNED],
                   struct diag *d);

#endif
