/* The search tree and its descents.
 *
 * A node is a candidate, known by the actions that lead to it: the tree keeps one action and the statistics
 * for each node (48 bytes, and the best times if it has any), never a decision vector; a descent replays the
 * actions of its path on one working state. Expanding a node makes one child per value of its next open
 * choice that propagation leaves alive.
 *
 * A descent selects children with the heuristic as long as the node was visited before, then rolls out to an
 * implementation. It counts visits when it goes down; its result is reported later, in any order, and
 * recorded along the whole path, the last node included. Every implementation is handed out at most once. A
 * node whose children are all dead is dead; when the root dies the space is exhausted: what was not handed
 * out was cut by the bound. Nodes that it cuts stay in the tree: should the bound turn out wrong they are
 * opened again.
 *
 * One thread at a time calls a tree; it may use more for rollouts (mcts/rollouts.h). With the same seed,
 * root, configuration and sequence of calls and reports, all decisions are the same. */
#ifndef THRESH_MCTS_TREE_H
#define THRESH_MCTS_TREE_H

#include "mcts/branch.h"
#include "mcts/heuristic.h"
#include "mcts/rollouts.h"

struct archive;
struct mcts_tree;
/* Told of each node that the bound cuts, with its candidate; the state may be changed and rolled back. */
typedef void (*mcts_cut_function)(void *context, const struct mcts_tree *t, uint32_t node,
                                  struct space_state *candidate);

struct mcts_config {
    uint64_t seed;
    struct mcts_branching branching; /* order is copied; the bound's context is borrowed */
    double cut_factor;               /* nodes with a bound >= best time * factor are cut; default 1 */
    unsigned restarts;               /* of a rollout before it backtracks; default 16 */
    uint64_t backtrack_nodes;        /* budget of one backtracking; default 1000 */
    unsigned descents;               /* without a new leaf, before mcts_tree_next gives up; default 1000 */
    unsigned threads; /* for rollouts, with the caller's; default 1; decisions do not depend on it */
    mcts_thread_bound thread_bound; /* branching.bound_context of the others; NULL: the same */
    void *thread_context;
    struct mcts_features features; /* of implementations, for policies that rank and learn; none: {0} */
    mcts_prior_function prior;     /* declared weight of an action; NULL: 1 */
    void *prior_context;
    mcts_cut_function on_cut; /* NULL: none */
    void *cut_context;
    bool (*stop)(void *context); /* asked before each descent; true: mcts_tree_next gives up. NULL: never */
    void *stop_context;
};
struct mcts_config mcts_config_default(void); /* seed 1, order of declaration, no bound */

/* Why a node is dead. */
#define MCTS_CAUSES(X)                                                                                       \
    X(LIVE, "live")                                                                                          \
    X(CONSTRAINT, "constraint") /* propagation failed */                                                     \
    X(BOUND, "bound")           /* the lower bound reached the cut */                                        \
    X(BACKTRACK, "backtrack")   /* nothing is left below it */                                               \
    X(EVALUATED, "evaluated")   /* an implementation, handed out */
enum mcts_cause {
#define MCTS_CAUSE(name, text) MCTS_##name,
    MCTS_CAUSES(MCTS_CAUSE)
#undef MCTS_CAUSE
        MCTS_N_CAUSES
};
const char *mcts_cause_name(enum mcts_cause cause);

struct mcts_stats {
    uint64_t handed_out, timed, failed, cut, duplicates; /* implementations and their outcomes */
    double best_time;                                    /* ns; INFINITY: none */
    uint64_t
        nodes[MCTS_N_CAUSES]; /* of the tree, by cause; [MCTS_LIVE] live, [MCTS_CONSTRAINT] were never made */
    uint64_t descents;        /* from the root */
    double dead_end_ratio;    /* of the rollouts' descents */
    struct mcts_rollout_stats rollouts;
};

/* An implementation on its way to evaluation. Zero-initialise; mcts_tree_next() fills it; free it after the
 * report. It does not depend on the tree's later life. */
struct mcts_descent {
    uint64_t number; /* of the implementation, from 1 */
    uint64_t hash;   /* space_state_hash() of it */
    double bound;    /* lower bound of the last tree node, ns */
    uint32_t *path;  /* tree nodes from the root (0) to the frontier */
    size_t n_path;
    struct space_action *actions; /* all decisions from the root to the implementation */
    size_t n_actions;             /* the first n_path - 1 are the tree's */
    uint16_t *values;             /* of all slots, for policies that learn; NULL: none does */
    double leaf_bound;            /* lower bound of the implementation, ns; 0: no model, or no values */
    double *features;             /* of the implementation; NULL: none, or no values */
};
void mcts_descent_free(struct mcts_descent *d); /* leaves it zero */

/* A tree below `root` (copied). The heuristic is borrowed. */
struct mcts_tree *mcts_tree_new(const struct space_state *root, struct mcts_heuristic *h,
                                const struct mcts_config *c);
void mcts_tree_free(struct mcts_tree *t);

enum mcts_status {
    MCTS_OK,
    MCTS_EXHAUSTED, /* no implementation is left */
    MCTS_STUCK,     /* none found within config.descents, or until told to stop; another call may find one */
    MCTS_ERROR,     /* the heuristic is at fault: mcts_tree_error(); the results so far stay */
};
/* The next implementation to evaluate. Any number may be outstanding. */
enum mcts_status mcts_tree_next(struct mcts_tree *t, struct mcts_descent *d);
/* An implementation below a node that the bound has cut, both drawn at random, to see whether the bound was
 * right. MCTS_STUCK: no node is cut, or none was found below the one that was drawn. */
enum mcts_status mcts_tree_next_below_cut(struct mcts_tree *t, struct mcts_descent *d);
/* The bound has changed: takes that of every node anew, and reopens those that it cuts no longer. Returns how
 * many live that did not. */
uint32_t mcts_tree_take_bounds(struct mcts_tree *t);
/* Its result; once for each descent. A time that is not positive and finite counts as MCTS_FAILED. */
void mcts_tree_report(struct mcts_tree *t, const struct mcts_descent *d, struct mcts_outcome outcome);
/* A time known from elsewhere: lowers the cut, records nothing. */
void mcts_tree_known_time(struct mcts_tree *t, double time);
/* Policies learn an implementation that the tree did not draw: a state of the tree's space without open
 * choices, and its time in ns, > 0. */
void mcts_tree_teach(struct mcts_tree *t, const struct space_state *leaf, double time);

/* How many rollouts the policies wish for an evaluation, and how many evaluations of the same rollouts. */
unsigned mcts_tree_rollouts(const struct mcts_tree *t);
unsigned mcts_tree_batch(const struct mcts_tree *t);
/* Makes at most so many from now on; 0, as at first: as many as they wish. */
void mcts_tree_limit_rollouts(struct mcts_tree *t, unsigned most);

/* The implementation of the last mcts_tree_next() that returned MCTS_OK; valid until the next call. */
const struct space_state *mcts_tree_state(const struct mcts_tree *t);
const char *mcts_tree_error(const struct mcts_tree *t); /* "": none */
double mcts_tree_cut(const struct mcts_tree *t);        /* ns, INFINITY: none */
struct mcts_stats mcts_tree_stats(const struct mcts_tree *t);

/* ---- snapshots ---- */

/* Whether the tree's whole state is known here: a plug-in's is not. */
bool mcts_tree_can_archive(const struct mcts_tree *t);
/* Writes all that later decisions depend on, or reads it into a tree that was just made with the same root,
 * heuristic and configuration: from then on both decide the same. */
void mcts_tree_archive(struct mcts_tree *t, struct archive *a);
/* An archived descent is freed by mcts_descent_free(). */
void mcts_descent_archive(const struct mcts_tree *t, struct mcts_descent *d, struct archive *a);
/* The candidate that actions lead to from the root; NULL: they contradict each other. */
struct space_state *mcts_tree_replay(struct mcts_tree *t, const struct space_action *actions, size_t n);

/* A node, for reports and traces. */
struct mcts_node_info {
    uint32_t parent;            /* MCTS_NO_NODE: the root */
    struct space_action action; /* from the parent */
    double bound;               /* ns */
    uint64_t visits, times;
    double best_time; /* ns; INFINITY: none */
    enum mcts_cause cause;
    uint32_t first_child, n_children;
};
uint32_t mcts_tree_size(const struct mcts_tree *t);
struct mcts_node_info mcts_tree_node(const struct mcts_tree *t, uint32_t node);

#endif
