/* The rollout policy `leaders`: imitate the fastest implementations so far.
 *
 * It keeps the few fastest implementations as whole vectors, the leaders. A share `imitate` of the rollouts
 * follows one of them: at each choice it proposes the leader's value with a probability near `follow`, so
 * that the rollout ends in the leader's neighbourhood, whatever the order of choices is:
 *
 *     leader    m=8  n=4  unroll  vector  k=2
 *     rollout   m=8  n=4  LOOP    vector  k=2     four of five decisions repeated
 *
 * The r-th fastest leader is followed with a weight of 1 / r, and a share `jump` of these rollouts starts at
 * the root instead of where the tree's descent ends: in a space of 25 choices a few hundred evaluations do
 * not bring the tree below its first levels. The probability of repeating a decision is drawn anew for each
 * rollout between 2 follow - 1 and 1, and falls with each restart. The policy is our own idea: a leader keeps
 * decisions together that go together, where frequencies of single values mix those of different
 * implementations. */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/archive.h"
#include "core/base/arena.h"
#include "core/base/pcg32.h"
#include "mcts/policies.h"

struct leader {
    double time;      /* ns */
    uint16_t *values; /* of each slot, or MCTS_NO_VALUE; owned */
};

struct leaders {
    double most, imitate, jump, follow; /* parameters */
    struct leader *list;                /* fastest first */
    unsigned count;
    const struct leader *followed; /* by the rollouts of the next evaluation; NULL: none */
};

static void leaders_end(void *state)
{
    struct leaders *l = state;
    for (unsigned i = 0; i < l->count; i++)
        free(l->list[i].values);
    free(l->list);
    l->list = NULL;
    l->count = 0;
    l->followed = NULL;
}

/* ---- learning ---- */

/* Takes an implementation if it is among the fastest. */
static void leaders_learn(void *state, const struct mcts_leaf *leaf, struct mcts_outcome outcome)
{
    struct leaders *l = state;
    unsigned most = (unsigned)l->most;
    if (outcome.kind != MCTS_TIMED || l->imitate <= 0) return;
    if (l->count == most && outcome.time >= l->list[most - 1].time) return;
    if (!l->list) l->list = base_calloc(most, sizeof l->list[0]);
    if (l->count == most) free(l->list[--l->count].values);
    size_t bytes = space_slot_count(leaf->space) * sizeof leaf->values[0];
    uint16_t *values = base_malloc(bytes + 1);
    memcpy(values, leaf->values, bytes);
    unsigned at = l->count++;
    for (; at > 0 && l->list[at - 1].time > outcome.time; at--)
        l->list[at] = l->list[at - 1];
    l->list[at] = (struct leader){outcome.time, values};
}

void mcts_leaders_archive(void *state, const struct space *s, struct archive *a)
{
    struct leaders *l = state;
    size_t slots = space_slot_count(s);
    ARCHIVE(a, l->count);
    if (l->count > l->most) archive_fail(a);
    if (archive_failed(a)) l->count = 0;
    if (archive_reads(a) && l->count) l->list = base_calloc((size_t)l->most, sizeof l->list[0]);
    for (unsigned i = 0; i < l->count; i++) {
        struct leader *x = &l->list[i];
        if (archive_reads(a)) x->values = base_malloc(slots * sizeof x->values[0] + 1);
        ARCHIVE(a, x->time);
        archive_bytes(a, x->values, slots * sizeof x->values[0]);
    }
}

/* ---- following ---- */

/* The r-th fastest with a weight of 1 / r. */
static const struct leader *draw_leader(const struct leaders *l, struct pcg32 *rng)
{
    double sum = 0;
    for (unsigned i = 0; i < l->count; i++)
        sum += 1.0 / (i + 1);
    double place = pcg32_unit(rng) * sum;
    for (unsigned i = 0; i + 1 < l->count; i++) {
        place -= 1.0 / (i + 1);
        if (place < 0) return &l->list[i];
    }
    return &l->list[l->count - 1];
}

/* Whether an evaluation follows leaders is drawn once; each of its rollouts draws which. */
static bool leaders_start(void *state, unsigned rollout, struct pcg32 *rng)
{
    struct leaders *l = state;
    if (rollout == 0) {
        l->followed = NULL;
        if (l->count == 0 || pcg32_unit(rng) >= l->imitate) return false;
    }
    if (rollout > 0 && !l->followed) return false;
    l->followed = draw_leader(l, rng);
    return rollout == 0 && pcg32_unit(rng) < l->jump;
}

static bool leaders_propose(void *state, const struct mcts_choice *c, uint32_t *value)
{
    const struct leaders *l = state;
    if (!l->followed || l->followed->values[c->slot] == MCTS_NO_VALUE) return false;
    double follow = 1 - 2 * (1 - l->follow) * c->luck;
    for (uint32_t i = 0; i < c->restart; i++)
        follow *= l->follow;
    *value = l->followed->values[c->slot];
    return pcg32_unit(c->rng) < follow;
}

static const struct mcts_parameter PARAMETERS[] = {
    {"leaders", "number of implementations that may be imitated", offsetof(struct leaders, most), 8, 1, 1000,
     NULL},
    {"imitate", "share of evaluations that imitate one of them", offsetof(struct leaders, imitate), 0.7, 0, 1,
     NULL},
    {"jump", "share of these whose first rollout starts at the root", offsetof(struct leaders, jump), 0.5, 0,
     1, NULL},
    {"follow", "mean probability of repeating a decision", offsetof(struct leaders, follow), 0.9, 0.5, 1,
     NULL},
};

const struct mcts_policy mcts_policy_leaders = {
    .abi = MCTS_PLUGIN_ABI,
    .struct_size = sizeof(struct mcts_policy),
    .name = "leaders",
    .help = "imitate the fastest implementations so far",
    .state_size = sizeof(struct leaders),
    .parameters = PARAMETERS,
    .n_parameters = sizeof PARAMETERS / sizeof PARAMETERS[0],
    .end = leaders_end,
    .start = leaders_start,
    .propose = leaders_propose,
    .learn = leaders_learn,
};
