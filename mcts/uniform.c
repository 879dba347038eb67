/* All draws go down together: at a branching it is drawn how many of them take each value. */
#include "mcts/uniform.h"

#include <math.h>
#include <stdlib.h>

#include "core/base/arena.h"
#include "core/base/panic.h"
#include "core/base/pcg32.h"
#include "core/space/count.h"

struct uniform {
    const struct mcts_branching *branching;
    struct space_state *state;
    const struct mcts_uniform *draws;
    struct pcg32 *rng;
};

/* A value of a choice. */
struct child {
    uint32_t value;
    uint32_t times;    /* how many draws take it */
    long double below; /* solutions of this value and of those before it */
};

static long double count_below(struct space_state *state, struct space_action action)
{
    long double solutions = 0;
    space_mark mark = space_snapshot(state);
    if (space_apply(state, action, NULL)) solutions = space_count(state, 0).solutions;
    space_rollback(state, mark);
    return solutions;
}

/* The values of an open choice; malloc'd. */
static struct child *count_children(const struct uniform *u, uint32_t slot, uint32_t *n)
{
    uint32_t *values = base_malloc(space_universe(space_of(u->state), slot) * sizeof *values);
    *n = space_values(u->state, slot, values);
    struct child *children = base_malloc(*n * sizeof *children);
    long double below = 0;
    for (uint32_t i = 0; i < *n; i++) {
        below += count_below(u->state, (struct space_action){slot, values[i]});
        children[i] = (struct child){values[i], 0, below};
    }
    free(values);
    return children;
}

/* Uniform in [0, 1), 64 bits of resolution. */
static long double draw_unit(struct pcg32 *rng)
{
    uint64_t high = pcg32_next(rng), low = pcg32_next(rng);
    return ldexpl((long double)(high << 32 | low), -64);
}

/* A child by the number of solutions below it. */
static uint32_t draw_child(const struct child *children, uint32_t n, struct pcg32 *rng)
{
    long double total = children[n - 1].below, place = fminl(draw_unit(rng) * total, nextafterl(total, 0));
    uint32_t first = 0, last = n - 1;
    while (first < last) {
        uint32_t middle = (first + last) / 2;
        if (children[middle].below > place)
            last = middle;
        else
            first = middle + 1;
    }
    return first;
}

static void descend(struct uniform *u, uint32_t times)
{
    uint32_t n, slot = space_next_choice(u->state, u->branching->order, u->branching->n_order);
    if (slot == UINT32_MAX) {
        u->draws->arrive(u->draws->context, u->state, times);
        return;
    }
    struct child *children = count_children(u, slot, &n);
    CHECK(children[n - 1].below > 0);
    for (uint32_t i = 0; i < times; i++)
        children[draw_child(children, n, u->rng)].times++;
    for (uint32_t i = 0; i < n; i++) {
        if (!children[i].times) continue;
        space_mark mark = space_snapshot(u->state);
        bool live = space_apply(u->state, (struct space_action){slot, children[i].value}, NULL);
        CHECK(live);
        descend(u, children[i].times);
        space_rollback(u->state, mark);
    }
    free(children);
}

void mcts_draw_uniform(const struct mcts_branching *b, struct space_state *state,
                       const struct mcts_uniform *draws, struct pcg32 *rng)
{
    struct uniform u = {b, state, draws, rng};
    if (draws->n) descend(&u, draws->n);
}
