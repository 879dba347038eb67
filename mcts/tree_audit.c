/* When the bound is in doubt: implementations below what it cut, and bounds taken anew.
 *
 *     root -- a -- b (cut: bound 50 us, best time 40 us) ===rollout===> measured: 35 us
 *
 * An implementation below a cut that is faster than the node's bound shows that the bound is wrong. The
 * caller corrects it, and mcts_tree_take_bounds() reopens what the corrected bound does not cut. */
#include <math.h>

#include "mcts/tree_state.h"

/* A node that the bound has cut, in a subtree that it has not; MCTS_NO_NODE: there is none. */
static uint32_t draw_cut(struct mcts_tree *t)
{
    uint32_t drawn = MCTS_NO_NODE, n = 0;
    for (uint32_t i = 1; i < t->nodes.count; i++) {
        bool is_cut = t->nodes.list[i].cause == MCTS_BOUND;
        if (!is_cut || t->nodes.list[t->nodes.list[i].parent].cause == MCTS_BOUND) continue;
        if (pcg32_below(&t->roller.rng, ++n) == 0) drawn = i;
    }
    return drawn;
}

/* Leads the path and the working state to a node. */
static void descend_to(struct mcts_tree *t, uint32_t node)
{
    if (t->nodes.list[node].parent == MCTS_NO_NODE) {
        mcts_tree_start_at_root(t);
        return;
    }
    descend_to(t, t->nodes.list[node].parent);
    struct mcts_child child = {.node = node, .action = {t->nodes.list[node].slot, t->nodes.list[node].value}};
    mcts_tree_take(t, &child);
}

enum mcts_status mcts_tree_next_below_cut(struct mcts_tree *t, struct mcts_descent *d)
{
    uint32_t node = draw_cut(t);
    double cut = t->roller.cut;
    t->handed_out = false;
    if (node == MCTS_NO_NODE) return MCTS_STUCK;
    descend_to(t, node);
    t->roller.cut = INFINITY;
    t->roller.weights_only = true;
    enum mcts_status status = mcts_tree_roll_out(t, d);
    t->roller.cut = cut;
    t->roller.weights_only = false;
    return status;
}

/* Takes the bounds below a node anew; its candidate is in the replayed state. */
static uint32_t take_bounds_below(struct mcts_tree *t, uint32_t node)
{
    const struct mcts_branching *b = &t->roller.branching;
    uint32_t first = t->nodes.list[node].first_child, n = t->nodes.list[node].n_children, opened = 0;
    for (uint32_t i = first; i < first + n; i++) {
        space_mark mark = space_snapshot(t->replayed);
        mcts_tree_enter_candidate(t->replayed, &t->nodes.list[i]);
        if (b->bound) t->nodes.list[i].bound = b->bound(b->bound_context, t->replayed);
        opened += take_bounds_below(t, i);
        space_rollback(t->replayed, mark);
    }
    return opened + mcts_nodes_reopen(&t->nodes, node, t->roller.cut);
}

uint32_t mcts_tree_take_bounds(struct mcts_tree *t)
{
    space_rollback(t->replayed, t->replay_base);
    t->replay_base = space_snapshot(t->replayed);
    return take_bounds_below(t, 0);
}
