/* Chen 1992, algorithm "heuristic sampling". A stratum (depth, open choices) has one representative and the
 * weight of all nodes it stands for; numbers of open choices are taken in up to 256 steps, as a run visits
 * each stratum and many short runs vary less in all than a few long ones. The strata of one depth are
 * processed by decreasing number of open choices: each live child of a representative of weight w adds w to
 * its own stratum and becomes its representative with probability w / W, W the new weight. A child is deeper
 * than its parent, so the order of strata is strict along the tree, as the proof of unbiasedness asks. Only
 * two depths exist at a time. */
#include "mcts/chen.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/arena.h"
#include "core/base/panic.h"

struct stratum {
    struct space_state *state; /* the representative; NULL: empty */
    double log_weight;
};

enum { STEPS = 256 };

struct mcts_chen {
    struct space_state *work;
    uint32_t n_strata; /* of a depth */
    uint32_t width;    /* numbers of open choices that one of them takes */
    struct stratum *now, *next;
    uint32_t n_next;
    struct space_state **pool; /* unused states */
    size_t n_pool, pool_capacity;
    struct mcts_option options[MCTS_VALUES_MAX];
};

double mcts_log_add(double a, double b)
{
    if (a < b) return mcts_log_add(b, a);
    return b == -INFINITY ? a : a + log1p(exp(b - a));
}

struct mcts_chen *mcts_chen_new(const struct space_state *root)
{
    struct mcts_chen *c = base_calloc(1, sizeof *c);
    c->work = space_state_clone(root);
    c->width = space_slot_count(space_of(root)) / STEPS + 1;
    c->n_strata = space_slot_count(space_of(root)) / c->width + 1;
    c->now = base_calloc(c->n_strata, sizeof c->now[0]);
    c->next = base_calloc(c->n_strata, sizeof c->next[0]);
    return c;
}

void mcts_chen_free(struct mcts_chen *c)
{
    for (size_t i = 0; i < c->n_pool; i++)
        space_state_free(c->pool[i]);
    space_state_free(c->work);
    free(c->pool);
    free(c->now);
    free(c->next);
    free(c);
}

static struct space_state *copy_state(struct mcts_chen *c, const struct space_state *from)
{
    if (c->n_pool == 0) return space_state_clone(from);
    struct space_state *state = c->pool[--c->n_pool];
    space_state_assign(state, from);
    return state;
}

static void recycle(struct mcts_chen *c, struct space_state *state)
{
    if (c->n_pool == c->pool_capacity) {
        c->pool_capacity = c->pool_capacity ? 2 * c->pool_capacity : 64;
        c->pool = base_realloc(c->pool, c->pool_capacity * sizeof c->pool[0]);
    }
    c->pool[c->n_pool++] = state;
}

/* The working state joins its stratum of the next depth. */
static void join(struct mcts_chen *c, double log_weight, struct pcg32 *rng)
{
    struct stratum *s = &c->next[space_open_count(c->work) / c->width];
    if (!s->state) {
        *s = (struct stratum){copy_state(c, c->work), log_weight};
        c->n_next++;
        return;
    }
    s->log_weight = mcts_log_add(s->log_weight, log_weight);
    if (pcg32_unit(rng) < exp(log_weight - s->log_weight)) space_state_assign(s->state, c->work);
}

/* The working state, a branching or a leaf at `depth`, with its weight. */
static void place(struct mcts_chen *c, const struct mcts_branching *b, double log_weight, uint32_t depth,
                  struct mcts_chen_run *run, struct pcg32 *rng)
{
    if (space_next_choice(c->work, b->order, b->n_order) != UINT32_MAX) {
        join(c, log_weight, rng);
        return;
    }
    run->log_leaves = mcts_log_add(run->log_leaves, log_weight);
    if (depth) run->log_depth = mcts_log_add(run->log_depth, log_weight + log(depth));
}

static void process(struct mcts_chen *c, const struct mcts_estimate_config *config, const struct stratum *s,
                    uint32_t depth, struct mcts_chen_run *run, struct pcg32 *rng)
{
    const struct mcts_branching *b = &config->branching;
    struct space_failure why;
    space_state_assign(c->work, s->state);
    uint32_t slot = space_next_choice(c->work, b->order, b->n_order);
    struct mcts_branching uncut = {.order = b->order, .n_order = b->n_order};
    const struct mcts_branching *here = depth < config->cut_depth ? b : &uncut;
    uint32_t n = mcts_try_values(here, c->work, slot, config->cut, c->options, &run->trials);
    run->nodes++;
    if (n == 0) run->log_dead_ends = mcts_log_add(run->log_dead_ends, s->log_weight);
    for (uint32_t i = 0; i < n; i++) {
        space_mark mark = space_snapshot(c->work);
        bool live = space_apply(c->work, (struct space_action){slot, c->options[i].value}, &why);
        CHECK(live);
        place(c, b, s->log_weight, depth + 1, run, rng);
        space_rollback(c->work, mark);
    }
}

struct mcts_chen_run mcts_chen_run(struct mcts_chen *c, const struct mcts_estimate_config *config,
                                   const struct space_state *root, struct pcg32 *rng)
{
    struct mcts_chen_run run = {.log_leaves = -INFINITY, .log_dead_ends = -INFINITY, .log_depth = -INFINITY};
    space_state_assign(c->work, root);
    place(c, &config->branching, 0, 0, &run, rng);
    for (uint32_t depth = 0; c->n_next; depth++) {
        struct stratum *level = c->next;
        c->next = c->now;
        c->now = level;
        c->n_next = 0;
        for (uint32_t i = c->n_strata; i-- > 0;) {
            if (!level[i].state) continue;
            process(c, config, &level[i], depth, &run, rng);
            recycle(c, level[i].state);
            level[i] = (struct stratum){0};
        }
    }
    return run;
}
