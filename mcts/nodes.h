/* The nodes of the search tree, in one growing array. They refer to each other by 32-bit numbers, and the
 * children of a node are consecutive:
 *
 *     number   0     1  2  3    4  5    6  7  8
 *     parent   -     0  0  0    2  2    4  4  4
 *
 * The best times of a node are a block of a second array, made at its first recorded time.
 *
 * Invariant: a dead node stays dead (the cut only falls, and more and more implementations are handed out)
 * until bounds are taken anew; `live_children` of a live expanded node counts its children with cause
 * MCTS_LIVE. */
#ifndef THRESH_MCTS_NODES_H
#define THRESH_MCTS_NODES_H

#include "mcts/tree.h"

struct archive;

struct mcts_node {
    double bound;    /* ns */
    double time_sum; /* ns */
    uint32_t parent, first_child;
    uint32_t slot;
    uint32_t visits, times;
    uint32_t block; /* of best times; MCTS_NO_NODE: none */
    uint16_t value, n_children, live_children;
    uint8_t cause; /* enum mcts_cause */
    bool expanded;
};

struct mcts_nodes {
    struct mcts_node *list;
    uint32_t count, capacity;
    uint32_t kept;  /* best times a node */
    double *blocks; /* n_blocks runs of `kept` */
    uint32_t n_blocks, block_capacity;
    uint64_t by_cause[MCTS_N_CAUSES];
};

/* The root alone. */
void mcts_nodes_init(struct mcts_nodes *t, uint32_t kept);
void mcts_nodes_free(struct mcts_nodes *t);

/* Writes all nodes or reads them. */
void mcts_nodes_archive(struct mcts_nodes *t, struct archive *a);

/* Makes the children of a node, one for each option of the slot; without any it dies. */
void mcts_nodes_expand(struct mcts_nodes *t, uint32_t node, uint32_t slot, const struct mcts_option *options,
                       uint32_t n);
bool mcts_nodes_dead(const struct mcts_nodes *t, uint32_t node);
/* Kills a node, what is below it, and the ancestors that have no other live child. */
void mcts_nodes_kill(struct mcts_nodes *t, uint32_t node, enum mcts_cause cause);
/* A tree node that is an implementation was handed out: kills it if it lives, and it is never reopened. */
void mcts_nodes_close(struct mcts_nodes *t, uint32_t leaf);
/* Gives a node the cause that follows from its bound and from the causes of its children, which are up to
 * date. A node that the bound had cut, or that died because its children were cut, may live again. Returns
 * whether it lives now and did not before. */
bool mcts_nodes_reopen(struct mcts_nodes *t, uint32_t node, double cut);

/* Adds a time in ns to a node. */
void mcts_nodes_record(struct mcts_nodes *t, uint32_t node, double time);
/* The best times of a node, ascending, and how many are kept. NULL and 0: none yet. */
const double *mcts_nodes_best(const struct mcts_nodes *t, const struct mcts_node *n);
uint32_t mcts_nodes_kept(const struct mcts_nodes *t, const struct mcts_node *n);

#endif
