/* Branching: which children a candidate has. The tree, the rollouts, the random descents and the estimators
 * all branch here, so that they walk the same tree: the next open choice in a fixed order, one child for each
 * value, minus those that propagation or the bound kills. For a choice `size` with the values 1, 2, 4 and 8:
 *
 *     size = 1   live, bound 30 us
 *     size = 2   live, bound 20 us
 *     size = 4   dead: propagation failed
 *     size = 8   dead: its bound of 60 us is not below the cut of 50 us
 *
 * A choice with one value left makes no node. */
#ifndef THRESH_MCTS_BRANCH_H
#define THRESH_MCTS_BRANCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/space/space.h"

enum { MCTS_VALUES_MAX = 4096 }; /* values of a choice, see space_universe() */

/* A lower bound in ns on every implementation below the candidate; 0: nothing known. NULL: no model. */
typedef double (*mcts_bound)(void *context, const struct space_state *state);

/* The tree: in which order choices are taken, and what is cut. Borrowed pointers. */
struct mcts_branching {
    const struct space_part *order; /* parts that have all slots (mcts/order.h); NULL: order of declaration */
    unsigned n_order;
    mcts_bound bound; /* may be NULL */
    void *bound_context;
    struct space_log
        *log;      /* keeps what trials wrote, so that one can be taken without propagation; NULL: none */
    bool log_more; /* mcts_try_values() adds to the log instead of emptying it first */
};

/* A live child. */
struct mcts_option {
    uint32_t value;
    uint32_t trial; /* its number in the log */
    double bound;   /* ns */
};

/* What happened to the values that were tried. */
struct mcts_trials {
    uint64_t tried, dead_constraint, dead_bound;
};

void mcts_trials_add(struct mcts_trials *to, const struct mcts_trials *more);

/* Tries every value of an open slot and undoes it. A child whose bound is not below `cut` is dead (INFINITY:
 * no cut). Writes the live ones by ascending value into out (room for space_value_count()) and returns how
 * many; adds to *trials. The state is as before. Empties the log, unless log_more. */
uint32_t mcts_try_values(const struct mcts_branching *b, struct space_state *state, uint32_t slot, double cut,
                         struct mcts_option *out, struct mcts_trials *trials);

/* The same for the `n` values that are left, but afterwards the state is at the child of value `stay` if that
 * one lives: then *stayed is true. Keeps no log. */
uint32_t mcts_try_and_stay(const struct mcts_branching *b, struct space_state *state, uint32_t slot,
                           const uint32_t *values, uint32_t n, double cut, uint32_t stay,
                           struct mcts_option *out, struct mcts_trials *trials, bool *stayed);

/* Leads the state to an option of the last mcts_try_values(); the state is as it was there. */
void mcts_take(const struct mcts_branching *b, struct space_state *state, uint32_t slot,
               const struct mcts_option *option);

/* Leads the state to one value that the slot still has; *bound is the child's. false: it is dead, and the
 * state is as before. Keeps no log. */
bool mcts_try_and_take(const struct mcts_branching *b, struct space_state *state, struct space_action action,
                       double cut, double *bound, struct mcts_trials *trials);

#endif
