/* Nodes with their options, and one log for the writes of all of them. */
#include "mcts/prefix.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/arena.h"

#define NONE UINT32_MAX

struct node {
    uint32_t slot;
    uint32_t first, n; /* options */
    struct mcts_trials trials;
};

struct child {
    uint32_t node; /* NONE: not kept */
    bool visited;
};

struct mcts_prefix {
    size_t limit;
    struct space_log *log;
    struct node *nodes;
    struct mcts_option *options;
    struct child *children; /* by option */
    uint32_t root, n_nodes, cap_nodes, n_options, cap_options;
};

struct mcts_prefix *mcts_prefix_new(size_t limit)
{
    struct mcts_prefix *p = base_calloc(1, sizeof *p);
    p->limit = limit;
    p->log = space_log_new();
    p->root = NONE;
    return p;
}

void mcts_prefix_free(struct mcts_prefix *p)
{
    if (!p) return;
    space_log_free(p->log);
    free(p->nodes);
    free(p->options);
    free(p->children);
    free(p);
}

struct mcts_place mcts_prefix_top(const struct mcts_prefix *p)
{
    return (struct mcts_place){.option = NONE, .inside = p != NULL};
}

static bool is_full(const struct mcts_prefix *p)
{
    return space_log_bytes(p->log) + p->n_options * (sizeof *p->options + sizeof *p->children) +
               p->n_nodes * sizeof *p->nodes >=
           p->limit;
}

static void reserve(struct mcts_prefix *p, uint32_t options)
{
    if (p->n_nodes == p->cap_nodes) {
        p->cap_nodes = p->cap_nodes ? 2 * p->cap_nodes : 64;
        p->nodes = base_realloc(p->nodes, p->cap_nodes * sizeof *p->nodes);
    }
    if (p->n_options + options > p->cap_options) {
        p->cap_options = 2 * (p->n_options + options);
        p->options = base_realloc(p->options, p->cap_options * sizeof *p->options);
        p->children = base_realloc(p->children, p->cap_options * sizeof *p->children);
    }
}

/* Tries the values of a choice and keeps the outcome. */
static uint32_t add_node(struct mcts_prefix *p, const struct mcts_branching *b, struct space_state *state,
                         double cut, uint32_t slot)
{
    struct mcts_branching kept = *b;
    struct node node = {.slot = slot, .first = p->n_options};
    kept.log = p->log;
    kept.log_more = true;
    reserve(p, space_value_count(state, slot));
    node.n = mcts_try_values(&kept, state, slot, cut, p->options + node.first, &node.trials);
    for (uint32_t k = 0; k < node.n; k++)
        p->children[node.first + k] = (struct child){.node = NONE};
    p->n_options += node.n;
    p->nodes[p->n_nodes] = node;
    return p->n_nodes++;
}

/* The node at a place: known, or added now if it was visited before and there is room; else NONE. */
static uint32_t node_at(struct mcts_prefix *p, const struct mcts_place *at, const struct mcts_branching *b,
                        struct space_state *state, double cut)
{
    bool root = at->option == NONE;
    uint32_t known = root ? p->root : p->children[at->option].node;
    bool visited = root || p->children[at->option].visited;
    if (!root) p->children[at->option].visited = true;
    if (known != NONE || !visited || is_full(p)) return known;
    uint32_t slot = space_next_choice(state, b->order, b->n_order);
    if (slot == NONE) return NONE;
    uint32_t node = add_node(p, b, state, cut, slot);
    if (root)
        p->root = node;
    else
        p->children[at->option].node = node;
    return node;
}

const struct mcts_option *mcts_prefix_options(struct mcts_prefix *p, struct mcts_place *at,
                                              const struct mcts_branching *b, struct space_state *state,
                                              double cut, uint32_t *slot, uint32_t *n,
                                              struct mcts_trials *trials)
{
    uint32_t node = node_at(p, at, b, state, cut);
    at->inside = node != NONE;
    if (!at->inside) return NULL;
    *slot = p->nodes[node].slot;
    *n = p->nodes[node].n;
    at->first = p->nodes[node].first;
    mcts_trials_add(trials, &p->nodes[node].trials);
    return p->options + at->first;
}

void mcts_prefix_take(const struct mcts_prefix *p, struct mcts_place *at, uint32_t k,
                      struct space_state *state)
{
    at->option = at->first + k;
    space_log_repeat(p->log, p->options[at->option].trial, state);
}
