/* Growing arrays of nodes and of blocks of times; see nodes.h. */
#include "mcts/nodes.h"

#include <stdlib.h>

#include "core/base/archive.h"
#include "core/base/arena.h"
#include "core/base/panic.h"

static uint32_t add_nodes(struct mcts_nodes *t, uint32_t n)
{
    CHECK(n < MCTS_NO_NODE - t->count);
    if (t->count + n > t->capacity) {
        t->capacity = t->count + n + t->count / 2 + 64;
        t->list = base_realloc(t->list, (size_t)t->capacity * sizeof t->list[0]);
    }
    uint32_t first = t->count;
    t->count += n;
    t->by_cause[MCTS_LIVE] += n;
    return first;
}

void mcts_nodes_init(struct mcts_nodes *t, uint32_t kept)
{
    *t = (struct mcts_nodes){.kept = kept};
    uint32_t root = add_nodes(t, 1);
    t->list[root] = (struct mcts_node){.parent = MCTS_NO_NODE, .block = MCTS_NO_NODE};
}

void mcts_nodes_free(struct mcts_nodes *t)
{
    free(t->list);
    free(t->blocks);
    *t = (struct mcts_nodes){0};
}

void mcts_nodes_archive(struct mcts_nodes *t, struct archive *a)
{
    size_t count = t->count, times = (size_t)t->n_blocks * t->kept;
    t->list = archive_array(a, t->list, &count, sizeof t->list[0]);
    t->blocks = archive_array(a, t->blocks, &times, sizeof t->blocks[0]);
    ARCHIVE(a, t->by_cause);
    if (!archive_reads(a)) return;
    t->count = t->capacity = (uint32_t)count;
    t->n_blocks = t->block_capacity = (uint32_t)(times / t->kept);
}

void mcts_nodes_expand(struct mcts_nodes *t, uint32_t node, uint32_t slot, const struct mcts_option *options,
                       uint32_t n)
{
    uint32_t first = add_nodes(t, n);
    for (uint32_t i = 0; i < n; i++)
        t->list[first + i] = (struct mcts_node){.bound = options[i].bound,
                                                .parent = node,
                                                .block = MCTS_NO_NODE,
                                                .slot = slot,
                                                .value = (uint16_t)options[i].value};
    struct mcts_node *parent = &t->list[node];
    parent->expanded = true;
    parent->first_child = first;
    parent->n_children = parent->live_children = (uint16_t)n;
    if (n == 0) mcts_nodes_kill(t, node, MCTS_BACKTRACK);
}

/* ---- death ---- */

bool mcts_nodes_dead(const struct mcts_nodes *t, uint32_t node)
{
    return t->list[node].cause != MCTS_LIVE;
}

static void mark_dead(struct mcts_nodes *t, uint32_t node, enum mcts_cause cause)
{
    struct mcts_node *n = &t->list[node];
    if (n->cause != MCTS_LIVE) return;
    n->cause = (uint8_t)cause;
    t->by_cause[MCTS_LIVE]--;
    t->by_cause[cause]++;
    for (uint32_t i = 0; i < n->n_children; i++)
        mark_dead(t, n->first_child + i, cause);
}

void mcts_nodes_kill(struct mcts_nodes *t, uint32_t node, enum mcts_cause cause)
{
    while (node != MCTS_NO_NODE && !mcts_nodes_dead(t, node)) {
        mark_dead(t, node, cause);
        node = t->list[node].parent;
        if (node == MCTS_NO_NODE || --t->list[node].live_children > 0) return;
        cause = MCTS_BACKTRACK;
    }
}

static void set_cause(struct mcts_nodes *t, uint32_t node, enum mcts_cause cause)
{
    t->by_cause[t->list[node].cause]--;
    t->by_cause[cause]++;
    t->list[node].cause = (uint8_t)cause;
}

void mcts_nodes_close(struct mcts_nodes *t, uint32_t leaf)
{
    if (mcts_nodes_dead(t, leaf))
        set_cause(t, leaf, MCTS_EVALUATED);
    else
        mcts_nodes_kill(t, leaf, MCTS_EVALUATED);
}

static uint16_t count_live(const struct mcts_nodes *t, const struct mcts_node *n)
{
    uint16_t live = 0;
    for (uint32_t i = 0; i < n->n_children; i++)
        live = (uint16_t)(live + !mcts_nodes_dead(t, n->first_child + i));
    return live;
}

bool mcts_nodes_reopen(struct mcts_nodes *t, uint32_t node, double cut)
{
    struct mcts_node *n = &t->list[node];
    bool lived = n->cause == MCTS_LIVE;
    if (n->cause == MCTS_EVALUATED) return false;
    if (n->expanded) n->live_children = count_live(t, n);
    bool open = !n->expanded || n->live_children > 0, closed = !lived && n->bound >= cut;
    set_cause(t, node, closed ? MCTS_BOUND : open ? MCTS_LIVE : MCTS_BACKTRACK);
    return n->cause == MCTS_LIVE && !lived;
}

/* ---- times ---- */

const double *mcts_nodes_best(const struct mcts_nodes *t, const struct mcts_node *n)
{
    return n->block == MCTS_NO_NODE ? NULL : t->blocks + (size_t)n->block * t->kept;
}

uint32_t mcts_nodes_kept(const struct mcts_nodes *t, const struct mcts_node *n)
{
    return n->times < t->kept ? n->times : t->kept;
}

static uint32_t add_block(struct mcts_nodes *t)
{
    if (t->n_blocks == t->block_capacity) {
        t->block_capacity = t->block_capacity + t->block_capacity / 2 + 64;
        t->blocks = base_realloc(t->blocks, (size_t)t->block_capacity * t->kept * sizeof t->blocks[0]);
    }
    return t->n_blocks++;
}

void mcts_nodes_record(struct mcts_nodes *t, uint32_t node, double time)
{
    struct mcts_node *n = &t->list[node];
    if (n->block == MCTS_NO_NODE) n->block = add_block(t);
    double *best = t->blocks + (size_t)n->block * t->kept;
    uint32_t count = mcts_nodes_kept(t, n), i = count < t->kept ? count : count - 1;
    n->times++;
    n->time_sum += time;
    if (count == t->kept && best[i] <= time) return;
    for (; i > 0 && best[i - 1] > time; i--)
        best[i] = best[i - 1];
    best[i] = time;
}
