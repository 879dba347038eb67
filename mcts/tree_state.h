/* The tree behind mcts/tree.h, for its own files: tree.c (creation, questions), tree_walk.c (descents),
 * tree_audit.c (below cuts, new bounds) and tree_report.c (results). */
#ifndef THRESH_MCTS_TREE_STATE_H
#define THRESH_MCTS_TREE_STATE_H

#include "mcts/nodes.h"
#include "mcts/order.h"
#include "mcts/rollouts.h"
#include "mcts/tree.h"

struct mcts_tree {
    struct mcts_heuristic *heuristic;
    struct mcts_policies *policies;
    struct space_state *state, *replayed; /* of descents; of nodes whose bounds are taken anew */
    space_mark base, replay_base;         /* their root */
    struct mcts_order order;              /* a copy */
    double cut_factor;
    unsigned descents_limit;
    struct mcts_nodes nodes;
    struct mcts_roller roller;
    struct mcts_rollouts *rollouts;
    struct mcts_spares *spares; /* of the last rollouts */
    unsigned redraws;           /* rollouts that this call of mcts_tree_next() passed over */
    struct mcts_seen seen;      /* handed out */
    mcts_cut_function on_cut;   /* may be NULL */
    void *cut_context;
    bool (*stop)(void *context); /* may be NULL */
    void *stop_context;
    struct mcts_child *children; /* scratch */
    double *weights;             /* scratch: of the children */
    uint32_t *path;              /* scratch: the current path */
    size_t n_path, path_capacity;
    struct mcts_actions actions; /* scratch */
    struct mcts_stats stats;
    bool handed_out;
};

/* Applies the action of a node to the candidate of its parent. */
void mcts_tree_enter_candidate(struct space_state *state, const struct mcts_node *n);
/* Leads the working state and the path to the root, which is visited. */
void mcts_tree_start_at_root(struct mcts_tree *t);
/* Leads them to a child of the last node of the path, which is visited. */
void mcts_tree_take(struct mcts_tree *t, const struct mcts_child *child);
/* From the last node of the path to an implementation, which goes into *d. MCTS_STUCK: none was found, and
 * the node is closed if there is none. */
enum mcts_status mcts_tree_roll_out(struct mcts_tree *t, struct mcts_descent *d);
/* What was handed out, as policies see it. */
struct mcts_leaf mcts_tree_leaf_of(const struct mcts_tree *t, const struct mcts_descent *d);

#endif
