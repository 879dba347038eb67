/* Random descents, one alone and many together. Descents that have taken the same decisions so far are a
 * group:
 *
 *     1000 descents at `size`, live values 1, 2, 4     each value is tried once, each descent draws one
 *     groups of 331, 340 and 329                       go on one after the other, the largest last
 *
 * The largest group continues in the state that is there; the others need a snapshot and a rollback. */
#include "mcts/descent.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/arena.h"
#include "core/base/pcg32.h"

#define NONE UINT32_MAX

/* Without the bound, below the depths that the cut acts on. */
static struct mcts_branching branching_at(const struct mcts_branching *b, uint32_t depth, uint32_t cut_depth)
{
    struct mcts_branching here = *b;
    if (depth >= cut_depth) here.bound = NULL;
    return here;
}

/* ---- alone ---- */

/* A branching of a descent. */
struct step {
    uint32_t slot;
    uint32_t values[MCTS_VALUES_MAX], n_values;  /* before any was tried */
    struct mcts_option options[MCTS_VALUES_MAX]; /* the live ones */
    uint32_t n;
};

/* One of the options, uniformly: a value is drawn before it is known which of them live, and if it does not
 * another one among those that do. */
static uint32_t draw(const struct step *s, uint32_t candidate, struct pcg32 *rng)
{
    for (uint32_t k = 0; k < s->n; k++)
        if (s->options[k].value == candidate) return k;
    return pcg32_below(rng, s->n);
}

/* Tries all values and takes one; returns which. */
static uint32_t take_step(struct step *s, const struct mcts_branching *b, struct space_state *state,
                          double cut, struct pcg32 *rng, struct mcts_trials *trials)
{
    bool stayed;
    uint32_t candidate = s->values[pcg32_below(rng, s->n_values)];
    s->n = mcts_try_and_stay(b, state, s->slot, s->values, s->n_values, cut, candidate, s->options, trials,
                             &stayed);
    if (s->n == 0) return 0;
    uint32_t k = draw(s, candidate, rng);
    if (!stayed) mcts_take(b, state, s->slot, &s->options[k]);
    return k;
}

/* From where a walk has come to. */
static void descend_on(const struct mcts_branching *b, struct space_state *state, double cut,
                       uint32_t cut_depth, struct pcg32 *rng, struct space_action *actions,
                       struct mcts_walk *walk)
{
    struct step s;
    struct space_cursor cursor = {0};
    for (;;) {
        struct mcts_branching here = branching_at(b, walk->depth, cut_depth);
        s.slot = space_next_choice_from(state, b->order, b->n_order, &cursor);
        walk->leaf = s.slot == NONE;
        if (walk->leaf) return;
        s.n_values = space_values(state, s.slot, s.values);
        uint32_t k = take_step(&s, &here, state, cut, rng, &walk->trials);
        if (s.n == 0) return;
        if (actions) actions[walk->depth] = (struct space_action){s.slot, s.options[k].value};
        walk->log_leaves += log(s.n);
        walk->depth++;
    }
}

struct mcts_walk mcts_descend_random(const struct mcts_branching *b, struct space_state *state, double cut,
                                     uint32_t cut_depth, struct pcg32 *rng, struct space_action *actions)
{
    struct mcts_walk walk = {0};
    struct mcts_branching plain = *b;
    plain.log = NULL;
    descend_on(&plain, state, cut, cut_depth, rng, actions, &walk);
    return walk;
}

/* ---- together ---- */

struct together {
    struct mcts_branching plain, logged;
    struct space_state *state;
    const struct mcts_descents *descents;
    struct pcg32 *rng;
    uint32_t *ids;               /* of descents at once, a group is a run of them */
    uint16_t *drawn;             /* the options that they drew */
    struct mcts_option *options; /* of the branchings whose groups are not all done */
    size_t n_options, cap_options;
};

/* Tries the values of a choice; the live ones are at t->options + t->n_options. */
static uint32_t try_here(struct together *t, uint32_t slot, struct mcts_walk *walk)
{
    struct mcts_branching here = branching_at(&t->logged, walk->depth, t->descents->cut_depth);
    size_t room = t->n_options + space_value_count(t->state, slot);
    if (room > t->cap_options) {
        t->cap_options = 2 * room;
        t->options = base_realloc(t->options, t->cap_options * sizeof *t->options);
    }
    return mcts_try_values(&here, t->state, slot, t->descents->cut, t->options + t->n_options, &walk->trials);
}

/* Draws for each of a group; returns an option that most of them drew. */
static uint32_t draw_all(struct together *t, uint32_t first, uint32_t n, uint32_t n_options)
{
    uint32_t counts[MCTS_VALUES_MAX], most = 0;
    memset(counts, 0, n_options * sizeof counts[0]);
    for (uint32_t i = first; i < first + n; i++)
        counts[t->drawn[i] = (uint16_t)pcg32_below(t->rng, n_options)]++;
    for (uint32_t k = 1; k < n_options; k++)
        if (counts[k] > counts[most]) most = k;
    return most;
}

/* Moves those of a group that drew an option to its front; returns how many. */
static uint32_t gather(struct together *t, uint32_t first, uint32_t n, uint32_t option)
{
    uint32_t end = first;
    for (uint32_t i = first; i < first + n; i++) {
        if (t->drawn[i] != option) continue;
        uint32_t id = t->ids[i];
        t->ids[i] = t->ids[end];
        t->drawn[i] = t->drawn[end];
        t->ids[end++] = id;
    }
    return end - first;
}

static void take_option(struct together *t, size_t option)
{
    space_log_repeat(t->logged.log, t->options[option].trial, t->state);
}

/* Leaves the state where its last group ends. */
static void descend_group(struct together *t, uint32_t first, uint32_t n, struct mcts_walk walk)
{
    while (n > 1) {
        uint32_t slot = space_next_choice(t->state, t->plain.order, t->plain.n_order);
        walk.leaf = slot == NONE;
        size_t options = t->n_options, kept = space_log_length(t->logged.log);
        uint32_t n_live = walk.leaf ? 0 : try_here(t, slot, &walk);
        if (n_live == 0) break;
        walk.log_leaves += log(n_live);
        walk.depth++;
        t->n_options += n_live;
        uint32_t last = draw_all(t, first, n, n_live);
        for (uint32_t k = 0; k < n_live; k++) {
            uint32_t size = k == last ? 0 : gather(t, first, n, k);
            if (size == 0) continue;
            space_mark mark = space_snapshot(t->state);
            take_option(t, options + k);
            descend_group(t, first, size, walk);
            space_rollback(t->state, mark);
            first += size;
            n -= size;
        }
        take_option(t, options + last);
        t->n_options = options;
        space_log_cut(t->logged.log, kept);
    }
    const struct mcts_descents *d = t->descents;
    if (n == 1) descend_on(&t->plain, t->state, d->cut, d->cut_depth, t->rng, NULL, &walk);
    d->arrive(d->context, &walk, t->ids + first, n);
}

/* Those of numbers first to first + n - 1. */
static void descend_at_once(struct together *t, uint32_t first, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        t->ids[i] = first + i;
    space_mark mark = space_snapshot(t->state);
    descend_group(t, 0, n, (struct mcts_walk){0});
    space_rollback(t->state, mark);
}

void mcts_descend_together(const struct mcts_branching *b, struct space_state *state,
                           const struct mcts_descents *descents, struct pcg32 *rng)
{
    uint32_t most = descents->at_once ? descents->at_once : MCTS_AT_ONCE;
    if (most > descents->n) most = descents->n;
    struct together t = {.plain = *b,
                         .logged = *b,
                         .state = state,
                         .descents = descents,
                         .rng = rng,
                         .ids = base_malloc(((size_t)most + 1) * sizeof *t.ids),
                         .drawn = base_malloc(((size_t)most + 1) * sizeof *t.drawn)};
    t.plain.log = NULL;
    t.logged.log = space_log_new();
    t.logged.log_more = true;
    for (uint32_t first = 0, left = descents->n; left > 0;) {
        uint32_t n = left < most ? left : most;
        descend_at_once(&t, first, n);
        first += n;
        left -= n;
    }
    space_log_free(t.logged.log);
    free(t.options);
    free(t.drawn);
    free(t.ids);
}
