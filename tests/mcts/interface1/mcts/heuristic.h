/* The plug-in interface as version 1 had it, without its host part. Tests compile plug-ins against it, as a
 * user once did, to see that they still load: it never changes. */
#ifndef THRESH_MCTS_HEURISTIC_H
#define THRESH_MCTS_HEURISTIC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/space/space.h"

struct diag;
struct pcg32;

enum { MCTS_PLUGIN_ABI = 1 };
#define MCTS_PLUGIN_SYMBOL "thresh_heuristic"
#define MCTS_NO_NODE UINT32_MAX

/* A live child of the node under decision. */
struct mcts_child {
    uint32_t node;              /* its number in the tree; MCTS_NO_NODE in a rollout */
    struct space_action action; /* what leads to it */
    double bound;               /* lower bound, ns; 0: no model */
    double prior;               /* declared weight of the action, 1 by default */
    uint64_t visits;            /* descents through it, those whose result is awaited included */
    uint64_t times;             /* recorded times below it */
    double time_sum;            /* their sum, ns */
    const double *best;         /* the smallest of them, ascending, ns */
    uint32_t n_best;            /* how many are kept: min(times, kept()) */
};

/* A node and its live children, by ascending value. */
struct mcts_view {
    uint32_t node;                   /* its number; MCTS_NO_NODE in a rollout */
    uint32_t depth;                  /* branchings above it */
    const struct space_state *state; /* its candidate */
    const struct mcts_child *children;
    uint32_t n_children; /* >= 1 */
    double best_time;    /* best time known to the search, ns; INFINITY: none yet */
    double cut;          /* children with a bound at or above it are dead; INFINITY: none */
    struct pcg32 *rng;   /* the search's generator: the only randomness a plug-in may use */
};

enum mcts_outcome_kind {
    MCTS_TIMED,     /* the first evaluation of a distinct kernel: it has a time */
    MCTS_FAILED,    /* no time: did not build, run or verify */
    MCTS_CUT,       /* its measurement was given up as slower than the cut */
    MCTS_DUPLICATE, /* the same kernel text as an earlier evaluation */
};
struct mcts_outcome {
    enum mcts_outcome_kind kind;
    double time; /* ns, > 0; read if kind is MCTS_TIMED */
};

/* A parameter: a double at `offset` in the state, set by the host before create(). */
struct mcts_parameter {
    const char *key, *help;
    size_t offset;      /* bytes */
    double value;       /* the default */
    double least, most; /* accepted range */
    const char *words;  /* "mean|best": the value is the word's number; NULL: the value is a number */
};

struct mcts_plugin {
    uint32_t abi;         /* MCTS_PLUGIN_ABI */
    uint32_t struct_size; /* sizeof(struct mcts_plugin) */
    const char *name;
    size_t state_size; /* bytes */
    const struct mcts_parameter *parameters;
    uint32_t n_parameters;
    /* Finishes a state whose parameters are set. false: write why into error (n bytes). May be NULL. */
    bool (*create)(void *state, char *error, size_t n);
    void (*destroy)(void *state); /* frees what create() made, not the state; may be NULL */
    /* How many best times the tree keeps for each node, 1..4096. NULL: 1. */
    uint32_t (*kept)(const void *state);
    /* Picks a child: its index in view->children. *score says why, for traces; it must not be NaN. */
    uint32_t (*select)(void *state, const struct mcts_view *view, double *score);
    /* Weights of the children in a rollout: finite, >= 0; all 0 means uniform. NULL: mcts_default_weights().
     */
    void (*rollout)(void *state, const struct mcts_view *view, double *weights);
    /* Hears of a result once for each node of the path, from the last to the root. May be NULL. */
    void (*backpropagate)(void *state, uint32_t node, uint32_t depth, struct mcts_outcome outcome);
};

/* ---- for plug-ins ---- */

/* max(T - b_i, 0) for the best time T, times the prior. With no T yet: 1 if no child has a bound, else
 * 1 + 10 b_max / max(b_i, b_max / 1000), times the prior. */
void mcts_default_weights(const struct mcts_view *view, double *weights);
/* Draws i with probability weights[i] / sum; uniform if the sum is 0. */
uint32_t mcts_draw(struct pcg32 *rng, const double *weights, uint32_t n);
/* Progressive widening: while fewer than widen * sqrt(visits) children of the node were visited, and at the
 * first visit, draws one of the others by mcts_default_weights(), with an infinite score. false: the visited
 * ones are enough for now. R. Coulom, "Computing Elo ratings of move patterns in the game of Go", 2007. */
bool mcts_open_child(const struct mcts_view *view, double widen, uint32_t *child, double *score);

#endif
