/* Rollout policies: what guides a search from a tree node down to a whole implementation.
 *
 * A rollout decides the open choices of a candidate one after the other. Policies act together, in the order
 * in which the user names them, for example `--heuristic tag:rollout=prior+bound+leaders+guess`:
 *
 *     callback    in this example                                             several policies
 *     propose     leaders: take the value of a fast implementation            first live proposal counts
 *     weigh       prior, bound: otherwise draw a value with these weights     weights multiply
 *     rank_all    guess: of 8 such rollouts evaluate the most promising       ranks add up
 *     batch       guess: or evaluate several of them                          the largest counts
 *     handed_out  guess: expect a result of the implementation                each is called
 *     learn       leaders, guess: remember the implementation and its time    each is called
 *
 * A policy is a `const struct mcts_policy` that fills in the callbacks it needs; the others are NULL.
 * Built-in policies have a file each (mcts/policy_*.c). A plug-in adds its own by mcts_plugin.own
 * (mcts/heuristic.h), which users name `own`. The rules of plug-ins hold: one thread, no blocking, no pointer
 * into an argument is kept, randomness only from the generator that the host passes. Times are in
 * nanoseconds. */
#ifndef THRESH_MCTS_POLICY_H
#define THRESH_MCTS_POLICY_H

#include "mcts/view.h"

/* A choice that is about to be decided in a rollout. */
struct mcts_choice {
    const struct space_state *state; /* the candidate */
    uint32_t slot;                   /* the open choice */
    uint32_t depth;                  /* choices decided above it, from the root */
    uint32_t restart;                /* descents of this rollout that failed before; 0: none */
    double luck; /* uniform in [0, 1), drawn once for each rollout: the same for all of its choices */
    struct pcg32 *rng;
};

enum { MCTS_DRAWS_MAX = 1000 };      /* rollouts for an evaluation */
enum { MCTS_BATCH_MAX = 64 };        /* evaluations of them */
enum { MCTS_NO_VALUE = UINT16_MAX }; /* of a choice that is not live in an implementation */
enum { MCTS_FEATURES_MAX = 40 };

/* A whole implementation. */
struct mcts_leaf {
    const struct space *space;
    const uint16_t *values; /* of each slot, or MCTS_NO_VALUE */
    double bound;           /* lower bound, ns; 0: no model */
    /* Since interface 4: what the host knows of it before it runs, as logarithms to base 2, the first that of
     * a rough estimate of its time in any unit. */
    unsigned n_features; /* 0: the host knows nothing; at most MCTS_FEATURES_MAX */
    const double *features;
};

struct mcts_policy {
    uint32_t abi;         /* MCTS_PLUGIN_ABI */
    uint32_t struct_size; /* sizeof(struct mcts_policy) */
    const char *name, *help;
    size_t state_size; /* bytes. The state of `own` is the plug-in's: 0, and no parameters */
    const struct mcts_parameter *parameters;
    uint32_t n_parameters;

    /* A search of this space begins. The state is zero but for its parameters. */
    void (*begin)(void *state, const struct space *s);
    /* It ends: frees what the other callbacks allocated. */
    void (*end)(void *state);
    /* Rollouts for one evaluation begin: rollout 0 before the tree is walked, the others from the same node.
     * rollout 0 returns whether to skip the tree and roll out from the root; other results are ignored. */
    bool (*start)(void *state, unsigned rollout, struct pcg32 *rng);
    /* Suggests a value for a choice. false: no suggestion. A value that is not live is ignored. */
    bool (*propose)(void *state, const struct mcts_choice *c, uint32_t *value);
    /* Weights of the children, finite and >= 0, one for each: a value is drawn by the product over all
     * policies. All 0: uniform. Also called for tree nodes, for view->weights. */
    void (*weigh)(void *state, const struct mcts_view *view, double *weights);
    /* How many rollouts to make for an evaluation; the largest wish counts, up to MCTS_DRAWS_MAX,
     * and the host may make fewer. NULL: 1. */
    unsigned (*draws)(const void *state);
    /* What an implementation promises, on a logarithmic scale; not NaN. Of several rollouts the one with the
     * largest sum over all policies is evaluated, the first of equals. */
    double (*rank)(void *state, const struct mcts_leaf *leaf);
    /* The result of an implementation that was handed out, or of one that the search was told of
     * (mcts_tree_teach()), perhaps before anything was drawn. */
    void (*learn)(void *state, const struct mcts_leaf *leaf, struct mcts_outcome outcome);
    /* As rank, for the n <= MCTS_DRAWS_MAX implementations of an evaluation together, once all are drawn, or
     * for those that are left of a batch. A policy with this needs no rank. */
    void (*rank_all)(void *state, const struct mcts_leaf *leaves, unsigned n, double *ranks);
    /* Since interface 5. In how many generations the rollouts of an evaluation are made, the largest wish of
     * all policies. NULL: 1. */
    unsigned (*generations)(const void *state);
    /* A generation of n rollouts was ranked (sums over all policies), and another one follows for the same
     * evaluation. */
    void (*drawn)(void *state, const struct mcts_leaf *leaves, const double *ranks, unsigned n);
    /* Since interface 6. How many evaluations are made of the rollouts of one, the largest wish of all
     * policies, up to MCTS_BATCH_MAX. After the first each is the most promising of those that are left: they
     * are ranked anew, at most MCTS_BATCH_MAX of them, without start(). A batch ends earlier where the best
     * of these has a rank of 2 less than the median of the last 32 evaluations: ranks are logarithms. NULL:
     * 1. */
    unsigned (*batch)(const void *state);
    /* An implementation is handed out. learn() is told of its result, if there will be one. */
    void (*handed_out)(void *state, const struct mcts_leaf *leaf);
    /* Since interface 7. How often at most the rollouts of an evaluation are made again, below another node,
     * where the best has a rank of 1 less than the median of the last 32 evaluations; the largest wish of all
     * policies. NULL: 0. */
    unsigned (*redraws)(const void *state);
    /* Since interface 8. The power of the effort of an evaluation by which what it promises is divided, >= 0:
     * the host subtracts thrift times the logarithm of the effort from the sums of ranks, where it knows the
     * effort. The largest wish of all policies. NULL: 0. */
    double (*thrift)(const void *state);
};

extern const struct mcts_policy mcts_policy_uniform, mcts_policy_prior, mcts_policy_bound,
    mcts_policy_leaders, mcts_policy_guess;

/* The built-in policies; NULL after the last. */
const struct mcts_policy *mcts_policy_builtin(size_t i);

#endif
