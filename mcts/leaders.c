/* A short sorted list; see leaders.h. */
#include "mcts/leaders.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/arena.h"
#include "core/base/pcg32.h"

bool mcts_leaders_wants(const struct mcts_leaders *l, double time)
{
    return l->capacity > 0 && (l->count < l->capacity || time < l->list[l->count - 1].time);
}

static uint16_t *values_of(const struct space_state *leaf)
{
    uint32_t n = space_slot_count(space_of(leaf));
    uint16_t *values = base_malloc((n + 1) * sizeof values[0]);
    for (uint32_t slot = 0; slot < n; slot++)
        values[slot] = space_is_live(leaf, slot) ? (uint16_t)space_first_value(leaf, slot) : MCTS_NO_VALUE;
    return values;
}

void mcts_leaders_add(struct mcts_leaders *l, const struct space_state *leaf, double time)
{
    if (!mcts_leaders_wants(l, time)) return;
    if (!l->list) l->list = base_calloc(l->capacity, sizeof l->list[0]);
    if (l->count == l->capacity) free(l->list[--l->count].values);
    unsigned at = l->count++;
    for (; at > 0 && l->list[at - 1].time > time; at--)
        l->list[at] = l->list[at - 1];
    l->list[at] = (struct mcts_leader){time, values_of(leaf)};
}

const uint16_t *mcts_leaders_draw(const struct mcts_leaders *l, struct pcg32 *rng)
{
    double sum = 0;
    for (unsigned i = 0; i < l->count; i++)
        sum += 1.0 / (i + 1);
    double place = pcg32_unit(rng) * sum;
    for (unsigned i = 0; i < l->count; i++) {
        place -= 1.0 / (i + 1);
        if (place < 0 || i + 1 == l->count) return l->list[i].values;
    }
    return NULL;
}

void mcts_leaders_free(struct mcts_leaders *l)
{
    for (unsigned i = 0; i < l->count; i++)
        free(l->list[i].values);
    free(l->list);
    *l = (struct mcts_leaders){0};
}
