/* Snapshots of a tree. What follows from the configuration (root, order, bound, parameters) is not in them,
 * nor scratch memory: between two calls the working state means nothing. */
#include <stdlib.h>

#include "core/base/archive.h"
#include "core/base/arena.h"
#include "mcts/tree_state.h"

bool mcts_tree_can_archive(const struct mcts_tree *t)
{
    return mcts_heuristic_is_builtin(t->heuristic);
}

void mcts_tree_archive(struct mcts_tree *t, struct archive *a)
{
    mcts_nodes_archive(&t->nodes, a);
    mcts_seen_archive(&t->seen, a);
    ARCHIVE(a, t->roller.rng);
    ARCHIVE(a, t->roller.stats);
    ARCHIVE(a, t->roller.best_time);
    ARCHIVE(a, t->roller.cut);
    ARCHIVE(a, t->stats);
    mcts_policies_archive(t->policies, space_of(t->state), a);
    mcts_spares_archive(t->spares, a);
}

void mcts_descent_archive(const struct mcts_tree *t, struct mcts_descent *d, struct archive *a)
{
    size_t n_values = d->values ? space_slot_count(space_of(t->state)) : 0;
    size_t n_features = d->features ? t->roller.features.n : 0;
    ARCHIVE(a, d->number);
    ARCHIVE(a, d->hash);
    ARCHIVE(a, d->bound);
    ARCHIVE(a, d->leaf_bound);
    d->path = archive_array(a, d->path, &d->n_path, sizeof d->path[0]);
    d->actions = archive_array(a, d->actions, &d->n_actions, sizeof d->actions[0]);
    d->values = archive_array(a, d->values, &n_values, sizeof d->values[0]);
    d->features = archive_array(a, d->features, &n_features, sizeof d->features[0]);
    if (n_features > 0 && n_features != t->roller.features.n) archive_fail(a);
    if (n_features == 0 && archive_reads(a)) free(d->features);
    if (n_features == 0) d->features = NULL;
    if (n_values > 0) return;
    if (archive_reads(a)) free(d->values);
    d->values = NULL;
}

struct space_state *mcts_tree_replay(struct mcts_tree *t, const struct space_action *actions, size_t n)
{
    bool live = true;
    uint32_t slots = space_slot_count(space_of(t->replayed));
    space_rollback(t->replayed, t->replay_base);
    t->replay_base = space_snapshot(t->replayed);
    for (size_t i = 0; i < n && live; i++)
        live = actions[i].slot < slots &&
               actions[i].value < space_universe(space_of(t->replayed), actions[i].slot) &&
               space_has_value(t->replayed, actions[i].slot, actions[i].value) &&
               space_apply(t->replayed, actions[i], NULL);
    return live ? space_state_clone(t->replayed) : NULL;
}
