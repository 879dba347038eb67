/* A worked example of a rollout policy: values that are frequent in fast implementations are drawn more
 * often.
 *
 * The policy counts, for each value of each choice, how many implementations within `slack` times the best
 * time have it, and weighs the value by 1 + strength * count. With three fast implementations that all
 * unroll, and strength 1, unrolling is drawn four times as often as a value that none of them has.
 *
 * The heuristic itself is simple: it opens children by progressive widening and otherwise takes the one with
 * the best time below it. Build the file and name it on the command line:
 *
 *     cc -std=c11 -shared -fPIC -I /usr/local/include/thresh -o frequency.so frequency.c -lm
 *     thresh tune ... --heuristic ./frequency.so                       own policy and `guess`
 *     thresh tune ... --heuristic ./frequency.so:rollout=own           own policy alone
 *     thresh tune ... --heuristic ./frequency.so:rollout=leaders       built-in policies instead
 *
 * mcts/heuristic.h and mcts/policy.h are the interface. */
#include <math.h>
#include <stdlib.h>

#include "mcts/heuristic.h"

struct frequency {
    double slack, strength, widen; /* parameters */
    double best;                   /* ns; 0: none yet */
    uint32_t *first;               /* of each slot: where the counts of its values begin */
    double *counts;
};

/* ---- the policy ---- */

static void frequency_begin(void *state, const struct space *s)
{
    struct frequency *f = state;
    uint32_t n = space_slot_count(s), values = 0;
    f->first = malloc((n + 1) * sizeof *f->first);
    for (uint32_t slot = 0; f->first && slot < n; slot++) {
        f->first[slot] = values;
        values += space_universe(s, slot);
    }
    f->counts = calloc(values + 1, sizeof *f->counts);
    if (!f->first || !f->counts) abort();
    f->best = 0;
}

static void frequency_end(void *state)
{
    struct frequency *f = state;
    free(f->first);
    free(f->counts);
}

static void frequency_weigh(void *state, const struct mcts_view *view, double *weights)
{
    const struct frequency *f = state;
    for (uint32_t i = 0; i < view->n_children; i++) {
        struct space_action action = view->children[i].action;
        weights[i] = 1 + f->strength * f->counts[f->first[action.slot] + action.value];
    }
}

static void frequency_learn(void *state, const struct mcts_leaf *leaf, struct mcts_outcome outcome)
{
    struct frequency *f = state;
    if (outcome.kind != MCTS_TIMED) return;
    if (f->best == 0 || outcome.time < f->best) f->best = outcome.time;
    if (outcome.time > f->slack * f->best) return;
    for (uint32_t slot = 0; slot < space_slot_count(leaf->space); slot++)
        if (leaf->values[slot] != MCTS_NO_VALUE) f->counts[f->first[slot] + leaf->values[slot]]++;
}

static const struct mcts_policy OWN = {
    .abi = MCTS_PLUGIN_ABI,
    .struct_size = sizeof(struct mcts_policy),
    .name = "own",
    .help = "weigh values by how many fast implementations have them",
    .begin = frequency_begin,
    .end = frequency_end,
    .weigh = frequency_weigh,
    .learn = frequency_learn,
};

/* ---- the heuristic ---- */

static double best_of(const struct mcts_child *child)
{
    return child->n_best ? child->best[0] : INFINITY;
}

static uint32_t frequency_select(void *state, const struct mcts_view *view, double *score)
{
    const struct frequency *f = state;
    uint32_t chosen = 0;
    if (mcts_widen(view, f->widen, &chosen, score)) return chosen;
    for (uint32_t i = 1; i < view->n_children; i++)
        if (best_of(&view->children[i]) < best_of(&view->children[chosen])) chosen = i;
    *score = -best_of(&view->children[chosen]);
    return chosen;
}

static const struct mcts_parameter PARAMETERS[] = {
    {"slack", "implementations within this times the best time count", offsetof(struct frequency, slack), 1.5,
     1, 1000, NULL},
    {"strength", "weight of one implementation that has a value", offsetof(struct frequency, strength), 1, 0,
     1000, NULL},
    {"widen", "limit on children: this times the square root of the visits",
     offsetof(struct frequency, widen), 2, 0, 1000, NULL},
};

extern const struct mcts_plugin thresh_heuristic;
const struct mcts_plugin thresh_heuristic = {
    .abi = MCTS_PLUGIN_ABI,
    .struct_size = sizeof(struct mcts_plugin),
    .name = "frequency",
    .state_size = sizeof(struct frequency),
    .parameters = PARAMETERS,
    .n_parameters = sizeof PARAMETERS / sizeof PARAMETERS[0],
    .select = frequency_select,
    .own = &OWN,
    .policies = "own+guess",
};
