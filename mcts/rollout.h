/* From a frontier candidate to a whole implementation that was not handed out before.
 *
 * A descent decides one choice after the other. Policies (mcts/policies.h) propose a value; if none does, or
 * it is dead, a live one is drawn by their weights:
 *
 *     frontier --proposed--> candidate --drawn--> candidate --drawn--> dead end: restart from the frontier
 *              --drawn-----> candidate --drawn--> ...       --drawn--> new implementation
 *
 * Of three values with the weights 5, 3 and 2 one is drawn first and tried then; if it is dead, another one
 * is drawn. Lower bounds make weights smaller than they seemed before the trial: a value is then taken with
 * the probability by which its weight fell, else drawn from again. So values have the same probabilities as
 * if all of them had been tried, which only policies with other weights need (mcts_policies_monotone()).
 *
 * A dead end, or an implementation that was handed out before, restarts from the frontier. After `restarts`
 * of them the subtree is walked depth first with shuffled values, within a budget of nodes: a walk that ends
 * without an implementation proves that none is left. */
#ifndef THRESH_MCTS_ROLLOUT_H
#define THRESH_MCTS_ROLLOUT_H

#include "core/base/pcg32.h"
#include "mcts/branch.h"
#include "mcts/policies.h"
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

/* Writes the features of an implementation (struct mcts_leaf); called on several threads at once. */
typedef void (*mcts_features_function)(void *context, const struct space_state *leaf, double *features);
struct mcts_features {
    unsigned n; /* at most MCTS_FEATURES_MAX; 0: none are known */
    mcts_features_function of;
    void *context;
    /* The natural logarithm of about what an evaluation takes, in any unit, by n > 0
     * features; NULL: all take the same. */
    double (*effort)(const double *features);
};

/* Counts over all rollouts of a search. */
struct mcts_rollout_stats {
    uint64_t descents;   /* from a frontier, restarts included */
    uint64_t dead_ends;  /* of them, those that ended in a dead end */
    uint64_t revisits;   /* of them, those that ended in an implementation handed out before */
    uint64_t backtracks; /* depth-first walks */
    struct mcts_trials trials;
};

/* What a rollout needs. Pointers are borrowed, but for the scratch arrays (room for MCTS_VALUES_MAX). */
struct mcts_roller {
    struct mcts_branching branching;
    struct mcts_features features;
    struct mcts_policies *policies;
    struct pcg32 rng;
    const struct mcts_seen *seen;
    double best_time, cut;     /* ns, INFINITY: none */
    mcts_prior_function prior; /* may be NULL */
    void *prior_context;
    bool weights_only; /* policies neither propose nor rank: one rollout, drawn by weights */
    unsigned most;     /* rollouts for an implementation; 0: as many as the policies wish */
    unsigned restarts;
    uint64_t backtrack_nodes;
    struct mcts_rollout_stats stats;
    uint64_t hash; /* of the implementation that the last rollout found: space_state_hash() */
    char error[256];
    struct mcts_option *options;
    struct mcts_child *children;
    double *weights;
    bool *tried;                  /* of the children, when they are drawn before they are tried */
    uint16_t *values;             /* of all slots */
    struct space_log *log;        /* of the values that are tried */
    struct mcts_branching logged; /* branching, with the log: set by each rollout */
};

void mcts_roller_init(struct mcts_roller *r, const struct space *s);
void mcts_roller_free(struct mcts_roller *r);

enum mcts_rollout_end {
    MCTS_ROLLOUT_LEAF,      /* the state is a new implementation */
    MCTS_ROLLOUT_EXHAUSTED, /* no new implementation below the frontier */
    MCTS_ROLLOUT_BUDGET,    /* none found within the budget */
    MCTS_ROLLOUT_ERROR,     /* a policy failed: r->error */
};

/* One rollout: goes down from `state` at `depth` and appends the actions taken. Unless it returns
 * MCTS_ROLLOUT_LEAF the actions are as before and the state is unspecified (the caller rolls it back). The
 * policies have been told that it starts. */
enum mcts_rollout_end mcts_rollout(struct mcts_roller *r, struct space_state *state, uint32_t depth,
                                   struct mcts_actions *actions);

/* The values of all slots of an implementation, MCTS_NO_VALUE for those that are not live. */
void mcts_leaf_values(const struct space_state *leaf, uint16_t *values);
/* The implementation as policies see it. features: [f->n]; NULL: none are known. */
struct mcts_leaf mcts_leaf_of(const struct space *s, const uint16_t *values, double bound,
                              const struct mcts_features *f, const double *features);
/* What 1 to MCTS_DRAWS_MAX implementations promise, less what the policies' thrift makes of their effort. As
 * mcts_policies_rank(), with the error in r->error. */
bool mcts_roller_rank(struct mcts_roller *r, const struct mcts_leaf *leaves, unsigned n, double *ranks);
/* Its lower bound in ns; 0: no model. */
double mcts_leaf_bound(const struct mcts_branching *b, const struct space_state *leaf);

#endif
