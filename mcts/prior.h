/* The declared prior: how much more often a value is drawn than its siblings before anything was measured.
 * One text for a space, the same for all its instances:
 *
 *     # comment
 *     CHOICE [if NAME RANGE, NAME RANGE ...]: VALUE=WEIGHT VALUE=WEIGHT ...
 *     CHOICE like NAME: WEIGHT
 *
 * A range is N, N..M or N.. ; a VALUE is a name of the choice or, for integers, a range, or `least`, the
 * smallest of the slot's values. NAME is a fact that the host gives (device properties), or a choice of one
 * argument: then the condition is about the object that ends the name of this choice's first argument (the
 * dimension `mad.k.1` stands for the tile `k.1`), and holds once that is decided and in the range. The weight
 * of a value is the product over the rules that hold, of the first entry that names it. `like` gives the
 * weight to values that this choice already has where it is about the same object of the choice NAME:
 * dimensions of one tile tend to be of one kind. Weights are >= 0; 0 is for what is drawn last. */
#ifndef THRESH_MCTS_PRIOR_H
#define THRESH_MCTS_PRIOR_H

#include "core/space/space.h"

struct diag;
struct mcts_prior;

struct mcts_fact {
    const char *name;
    double value;
};

/* Reads the text and resolves it for a space (borrowed). NULL after adding errors with their line. */
struct mcts_prior *mcts_prior_new(const char *text, const struct space *s, const struct mcts_fact *facts,
                                  unsigned n_facts, struct diag *d);
void mcts_prior_free(struct mcts_prior *p); /* NULL is allowed */
/* The weight of an action at a candidate; 1 if no rule speaks of it. The type of mcts_config.prior. */
double mcts_prior_weight(void *prior, const struct space_state *state, struct space_action action);

#endif
