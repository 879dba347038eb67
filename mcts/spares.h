/* Implementations that rollouts found and that were not evaluated: a *batch* of evaluations from the rollouts
 * of one.
 *
 *     rollouts     400, ranked                the first of a batch is the most promising of them
 *     spares       the next best 64           the second, third, ... are the most promising of these,
 *                                             ranked anew with all that was learnt and handed out since
 *
 * An evolution by promises (`generations` of mcts/policy_guess.c) costs as much as several evaluations on a
 * GPU. A batch shares one.
 *
 * All rollouts of a batch are below one node of the tree, which may hold nothing fast. A batch ends where its
 * spares promise far less than what was evaluated lately. */
#ifndef THRESH_MCTS_SPARES_H
#define THRESH_MCTS_SPARES_H

#include "mcts/rollout.h"

struct archive;
struct mcts_spares;

/* A whole implementation. */
struct mcts_spare {
    struct space_action *actions; /* from the root */
    size_t n_actions;
    uint16_t *values; /* of all slots */
    double bound;     /* ns; 0: no model */
    double *features; /* NULL: none */
    uint64_t hash;    /* space_state_hash() */
};

/* The features are borrowed. */
struct mcts_spares *mcts_spares_new(const struct space *s, const struct mcts_features *f);
void mcts_spares_free(struct mcts_spares *a); /* NULL is allowed */

/* Forgets all of them; from those that are added next, `evaluations` are to be made. */
void mcts_spares_begin(struct mcts_spares *a, unsigned evaluations);
/* Tells the rank of an evaluation that was no spare. */
void mcts_spares_note(struct mcts_spares *a, double rank);
/* Whether the best of rollouts, of that rank, promises so much less than usual that they better were made
 * again. */
bool mcts_spares_is_poor(const struct mcts_spares *a, double rank);
/* Adds one while there is room, unless it is there. Its lists are copied; its actions are the n_first of
 * `first`, then its own. */
void mcts_spares_add(struct mcts_spares *a, const struct mcts_spare *s, const struct mcts_actions *first,
                     size_t n_first);
/* The most promising one that was not handed out and whose bound, as it was then, is below the cut, if an
 * evaluation is left; valid until the next call, and no spare any more. NULL: there is none, or the batch
 * promises too little, or a policy failed: then r->error is not empty. */
const struct mcts_spare *mcts_spares_take(struct mcts_spares *a, struct mcts_roller *r);
/* Writes them, the ranks of the last evaluations and how many are left, or reads that into a new one. */
void mcts_spares_archive(struct mcts_spares *a, struct archive *file);

#endif
