/* All draws descend together. At a branching each of them draws a value; the draws that took the same value
 * go on together, so that each count serves all of them. */
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
    uint64_t work; /* of all counts so far */
    bool over;     /* the limit was reached */
};

/* A value of a choice. */
struct child {
    uint32_t value;
    uint32_t times;    /* how many draws take it */
    long double below; /* solutions of this value and of those before it */
};

/* The work of a node of a count. It takes about as long as the square of the number of values that are open
 * (core/space/count.c): 30 ns with a few, 30 us with 800. */
static uint64_t node_work(const struct space_state *state)
{
    uint64_t values = 0;
    for (uint32_t slot = 0; slot < space_slot_count(space_of(state)); slot++)
        if (space_is_open(state, slot)) values += space_value_count(state, slot);
    return 1 + values * values / 625;
}

/* How many solutions the state has; 0 if the limit is reached. */
static long double count_here(struct uniform *u)
{
    uint64_t limit = u->draws->work_limit, each = node_work(u->state);
    u->over = limit && u->work + each > limit;
    if (u->over) return 0;
    struct space_count count = space_count(u->state, limit ? (limit - u->work) / each : 0);
    u->work += each * (1 + count.nodes);
    u->over = !count.complete;
    return count.solutions;
}

static long double count_below(struct uniform *u, struct space_action action)
{
    if (u->over) return 0;
    long double solutions = 0;
    space_mark mark = space_snapshot(u->state);
    if (space_apply(u->state, action, NULL)) solutions = count_here(u);
    space_rollback(u->state, mark);
    return solutions;
}

/* The values of an open choice; malloc'd. */
static struct child *count_children(struct uniform *u, uint32_t slot, uint32_t *n)
{
    uint32_t *values = base_malloc(space_universe(space_of(u->state), slot) * sizeof *values);
    *n = space_values(u->state, slot, values);
    struct child *children = base_malloc(*n * sizeof *children);
    long double below = 0;
    for (uint32_t i = 0; i < *n; i++) {
        below += count_below(u, (struct space_action){slot, values[i]});
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

static void descend(struct uniform *u, uint32_t times);

/* Lets the draws that took a value go on. */
static void enter_child(struct uniform *u, uint32_t slot, const struct child *child)
{
    if (!child->times || u->over) return;
    space_mark mark = space_snapshot(u->state);
    bool live = space_apply(u->state, (struct space_action){slot, child->value}, NULL);
    CHECK(live);
    descend(u, child->times);
    space_rollback(u->state, mark);
}

static void descend(struct uniform *u, uint32_t times)
{
    uint32_t n, slot = space_next_choice(u->state, u->branching->order, u->branching->n_order);
    if (slot == UINT32_MAX) {
        u->draws->arrive(u->draws->context, u->state, times);
        return;
    }
    struct child *children = count_children(u, slot, &n);
    CHECK(u->over || children[n - 1].below > 0);
    for (uint32_t i = 0; i < times && !u->over; i++)
        children[draw_child(children, n, u->rng)].times++;
    for (uint32_t i = 0; i < n; i++)
        enter_child(u, slot, &children[i]);
    free(children);
}

bool mcts_draw_uniform(const struct mcts_branching *b, struct space_state *state,
                       const struct mcts_uniform *draws, struct pcg32 *rng)
{
    struct uniform u = {b, state, draws, rng, 0, false};
    if (draws->n) descend(&u, draws->n);
    return !u.over;
}
