/* How many implementations a space has: Knuth's and Chen's estimators, and exact enumeration.
 *
 * All three count the leaves of the tree of mcts/branch.h below a root, optionally cut by the bound at a
 * fixed time on the first levels. Dead ends and cuts count 0 and are never restarted, so the estimates are
 * unbiased. Counts are kept as natural logarithms: spaces of 1e30 are common. */
#ifndef THRESH_MCTS_ESTIMATE_H
#define THRESH_MCTS_ESTIMATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "mcts/branch.h"

enum mcts_method {
    MCTS_KNUTH, /* D. E. Knuth, "Estimating the efficiency of backtrack programs", 1975 */
    MCTS_CHEN,  /* P. C. Chen, "Heuristic sampling: a method for predicting the performance of tree searching
                   programs",  1992; strata by depth and steps of open choices */
    MCTS_EXACT,
};

struct mcts_estimate_config {
    enum mcts_method method;
    uint64_t samples; /* descents (Knuth, below 2^32) or runs (Chen), >= 1 */
    uint64_t seed;
    struct mcts_branching branching;
    double cut;          /* ns: children with a bound at or above it are dead; INFINITY: none */
    uint32_t cut_depth;  /* the cut acts on children at depths 1..cut_depth */
    uint64_t node_limit; /* MCTS_EXACT stops after this many branchings; 0: no limit */
    /* Called now and then with the samples so far, or the leaves of MCTS_EXACT. May be NULL. */
    void (*progress)(void *context, uint64_t done);
    void *progress_context;
};

struct mcts_estimate {
    enum mcts_method method;
    bool complete;   /* MCTS_EXACT went through the whole tree: the count is exact */
    bool unreliable; /* the interval rests on too few samples, or one batch holds over 20 % of the sum */
    uint64_t samples;
    double leaves;            /* the mean; INFINITY above 1e308 */
    double log_leaves;        /* its natural logarithm; -INFINITY: 0 */
    double log_low, log_high; /* 95 % confidence interval; equal when exact */
    double dead_end_ratio;    /* Knuth: of the descents; Chen and exact: of the tree's ends (dead ends and
                                 leaves) */
    double mean_depth;        /* branchings above a leaf, over all leaves (estimated) */
    uint64_t nodes;           /* branchings looked at */
    uint64_t decisions;       /* MCTS_KNUTH: taken by all descents */
    struct mcts_trials trials;
};

/* Estimates below `state`, which is as before afterwards. */
struct mcts_estimate mcts_estimate(const struct mcts_estimate_config *c, struct space_state *state);

/* "724", or "1.83e21" from 1e15 on; as snprintf. */
int mcts_count_print(double log_count, char *out, size_t n);

/* Mean and 95 % interval of a sample given by logarithms (-INFINITY: 0): the hull of a bootstrap-t over the
 * means of up to 50 batches (B. Efron and R. Tibshirani, "An introduction to the bootstrap", 1993,
 * section 12.5) and of an interval corrected for skewness; interval.c says why. */
struct mcts_interval {
    double log_mean, log_low, log_high;
    bool unreliable;
};
struct mcts_interval mcts_interval(const double *logs, size_t n, uint64_t seed);

#endif
