/* From a frontier candidate to an implementation that was not handed out before.
 *
 * Draws a live child by the heuristic's weights at each branching. A dead end, or a leaf seen before,
 * restarts from the frontier; after `restarts` of them the subtree is walked in depth-first order, values
 * shuffled, within a budget of nodes: a walk that ends without a leaf proves that none is left. */
#ifndef THRESH_MCTS_ROLLOUT_H
#define THRESH_MCTS_ROLLOUT_H

#include "core/base/pcg32.h"
#include "mcts/branch.h"
#include "mcts/guess.h"
#include "mcts/heuristic.h"
#include "mcts/leaders.h"
#include "mcts/seen.h"

/* A list of actions; zero-initialise, free `list`. */
struct mcts_actions {
    struct space_action *list;
    size_t count, capacity;
};
void mcts_actions_push(struct mcts_actions *a, struct space_action action);

/* The declared weight of an action at a candidate (mcts/prior.h). */
typedef double (*mcts_prior_function)(void *context, const struct space_state *state,
                                      struct space_action action);

/* Counts over all rollouts of a search. */
struct mcts_rollout_stats {
    uint64_t descents;   /* from a frontier, restarts included */
    uint64_t dead_ends;  /* of them, those that ended in a dead end */
    uint64_t revisits;   /* of them, those that ended in a leaf seen before */
    uint64_t backtracks; /* depth-first walks */
    struct mcts_trials trials;
};

/* What a rollout needs. Pointers are borrowed, but for the scratch arrays (room for MCTS_VALUES_MAX). */
struct mcts_roller {
    struct mcts_branching branching;
    struct mcts_heuristic *heuristic;
    struct pcg32 rng;
    struct mcts_seen seen;
    double best_time, cut;     /* ns, INFINITY: none */
    mcts_prior_function prior; /* may be NULL */
    void *prior_context;
    const struct mcts_leaders *leaders;
    const uint16_t *leader; /* values of the one of them to imitate; NULL: none */
    double follow;          /* probability of repeating a decision of it; falls with each restart */
    unsigned restarts;
    uint64_t backtrack_nodes;
    struct mcts_guess *guess; /* NULL: only one rollout is made */
    unsigned draws;           /* rollouts of which one is handed out, by the guess */
    struct mcts_rollout_stats stats;
    char error[256];
    struct mcts_option *options;
    struct mcts_child *children;
    double *weights;
    struct space_log *log;
    struct mcts_branching logged; /* branching, with the log: set by each rollout */
};

void mcts_roller_init(struct mcts_roller *r);
void mcts_roller_free(struct mcts_roller *r);

enum mcts_rollout_end {
    MCTS_ROLLOUT_LEAF,      /* the state is a new leaf */
    MCTS_ROLLOUT_EXHAUSTED, /* no new leaf below the frontier */
    MCTS_ROLLOUT_BUDGET,    /* none found within the budget */
    MCTS_ROLLOUT_ERROR,     /* the heuristic failed: r->error */
};

/* Goes down from `state` at `depth` and appends the actions taken. Unless it returns MCTS_ROLLOUT_LEAF the
 * actions are as before and the state is unspecified (the caller rolls it back). */
enum mcts_rollout_end mcts_rollout(struct mcts_roller *r, struct space_state *state, uint32_t depth,
                                   struct mcts_actions *actions);
/* The same for the leaf of `draws` rollouts that promises most (mcts/guess.h); of those that promise the
 * same, the first. Where a leader is imitated, each of them draws one. */
enum mcts_rollout_end mcts_rollout_best(struct mcts_roller *r, struct space_state *state, uint32_t depth,
                                        struct mcts_actions *actions);
/* A leaf as the guess sees it; free() it. */
struct mcts_traits *mcts_rollout_traits(const struct mcts_roller *r, struct space_state *leaf);

#endif
