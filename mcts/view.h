/* What plug-ins see of a search, and small functions for them.
 *
 * A view is a candidate with the children that are still live. A heuristic is shown views of tree nodes and
 * picks a child; a rollout policy is shown views of both tree nodes and rollouts and weighs the children:
 *
 *     candidate --- size = 1   bound 30 us   12 visits   best 41 us
 *                 \ size = 2   bound 20 us    3 visits   best 33 us
 *                 \ size = 4   bound 55 us    0 visits
 *
 * These structs are part of the plug-in interface (mcts/heuristic.h). The host makes them and a plug-in only
 * reads them; `mcts_view` may grow at its end, `mcts_child` and `mcts_outcome` stay as they are. Times are in
 * nanoseconds. A plug-in keeps no pointer into a view after its callback returns. */
#ifndef THRESH_MCTS_VIEW_H
#define THRESH_MCTS_VIEW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/space/space.h"

struct pcg32;

#define MCTS_NO_NODE UINT32_MAX

/* A live child of a candidate. */
struct mcts_child {
    uint32_t node;              /* its number in the tree; MCTS_NO_NODE in a rollout */
    struct space_action action; /* what leads to it */
    double bound;               /* lower bound, ns; 0: no model */
    double prior;               /* declared weight of the action, 1 by default */
    uint64_t visits;            /* descents through it, also those whose result has not been reported yet */
    uint64_t times;             /* recorded times below it */
    double time_sum;            /* their sum, ns */
    const double *best;         /* the smallest of them, ascending, ns */
    uint32_t n_best;            /* length of best: min(times, kept()) */
};

/* A candidate and its live children, by ascending value. In a rollout the children have no statistics:
 * visits, times and n_best are 0. */
struct mcts_view {
    uint32_t node;                   /* its number in the tree; MCTS_NO_NODE in a rollout */
    uint32_t depth;                  /* choices decided above it, from the root */
    const struct space_state *state; /* the candidate */
    const struct mcts_child *children;
    uint32_t n_children; /* >= 1 */
    double best_time;    /* best time known to the search, ns; INFINITY: none yet */
    double cut;          /* children with a bound at or above it are dead; INFINITY: none */
    struct pcg32 *rng;   /* the generator of the search: a plug-in uses no other randomness */
    /* Since interface 2: the product of the rollout policies' weights, one for each child; NULL in a rollout,
     * where these weights are being computed. */
    const double *weights;
};

enum mcts_outcome_kind {
    MCTS_TIMED,     /* the first evaluation of a distinct kernel: it has a time */
    MCTS_FAILED,    /* no time: it did not build, run or verify */
    MCTS_CUT,       /* the measurement was stopped because it was slower than the cut */
    MCTS_DUPLICATE, /* the same kernel text as an earlier evaluation */
};
struct mcts_outcome {
    enum mcts_outcome_kind kind;
    double time; /* ns, > 0; read if kind is MCTS_TIMED */
};

/* A parameter: a double at `offset` in a plug-in's or policy's state. The host sets it before the first
 * callback. */
struct mcts_parameter {
    const char *key, *help;
    size_t offset;      /* bytes */
    double value;       /* the default */
    double least, most; /* accepted range */
    const char *words;  /* "mean|best": the value is the word's number; NULL: the value is a number */
};

/* max(T - b_i, 0) for the best time T, times the prior. With no T yet: 1 if no child has a bound, else
 * 1 + 10 b_max / max(b_i, b_max / 1000), times the prior. The product of the policies `prior` and `bound`. */
void mcts_default_weights(const struct mcts_view *view, double *weights);
/* Draws i with probability weights[i] / sum; uniform if the sum is 0. */
uint32_t mcts_draw(struct pcg32 *rng, const double *weights, uint32_t n);

/* Progressive widening: while fewer than widen * sqrt(visits) children of the node were visited, and at the
 * first visit, draws one of the others by view->weights, with an infinite score. false: enough children were
 * visited for now. R. Coulom, "Computing Elo ratings of move patterns in the game of Go", 2007. Since
 * interface 2. */
bool mcts_widen(const struct mcts_view *view, double widen, uint32_t *child, double *score);
/* The same by mcts_default_weights(), whatever the rollout policies are: for plug-ins of interface 1. */
bool mcts_open_child(const struct mcts_view *view, double widen, uint32_t *child, double *score);

#endif
