/* Contenders that need no search: a few plain implementations (bb_plain()), such as "one work-item per row".
 * What they leave open is decided by the declared prior. They are measured beside the naive implementation
 * before a search begins, so that its result is never slower than what anybody would have written first. */
#ifndef THRESH_COORDINATOR_CONTEND_H
#define THRESH_COORDINATOR_CONTEND_H

#include "core/pipeline/problem.h"

struct mcts_prior;

struct contend_plain {
    char *label;                  /* "plain: one work-item per row" */
    struct space_action *actions; /* solution_actions() */
    size_t n_actions;
    struct space_state *leaf; /* NULL: it was taken */
    uint64_t kernel_hash;     /* of its text */
};

/* The plain implementations that the user's pins, the space and the code generator allow, each with a text of
 * its own, which is not that of the naive one (naive_hash; 0: unknown). Returns their number; the caller
 * clears them. */
unsigned contend_plain(const struct problem *p, const char *const *pins, unsigned n_pins,
                       struct mcts_prior *prior, uint64_t naive_hash, struct contend_plain out[BB_MAX_PLAIN]);
void contend_plain_clear(struct contend_plain *c);
/* Decides all that is open, the values with the highest prior weight first, in *steps decisions at most,
 * which it counts down. false: it found no way; the state is as it was. */
bool contend_complete(struct space_state *st, struct mcts_prior *prior, unsigned *steps);
/* Whether an implementation is one of those that the pins of `root` allow. */
bool contend_allowed(const struct space_state *root, const struct space_action *actions, size_t n);

#endif
