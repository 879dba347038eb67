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
 * implementations.
 *
 * A share `focus` of the rollouts change one thing only: they repeat the leader's decisions, but draw some of
 * those about one object, an axis or a staged array (mcts/topics.h), by the weights:
 *
 *     leader    size(k.0)=128  size(k.1)=4   split(k.1)=NO  pad(A.tile)=2  dim_kind(mad.k.1)=UNROLL
 *     rollout   size(k.0)=16   size(k.1)=32  split(k.1)=NO  pad(A.tile)=2  dim_kind(mad.k.1)=UNROLL
 *
 * Such decisions have to change together, since the factors of an axis have one product. A choice is drawn,
 * here size(k.1); drawn anew is all of its declaration about its first object (size of k), and each other
 * declaration about it (split of k) with a probability of a half.
 *
 * Of leaders that differ in less than a share `apart` of their decisions only the fastest is kept. Otherwise
 * all of them soon are variants of one implementation, and the search does not leave it.
 *
 * Where the rollouts of an evaluation are made in generations (mcts/policy_guess.c), those after the first
 * follow the most promising rollouts of the generations before, in place of leaders. */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/archive.h"
#include "core/base/arena.h"
#include "core/base/pcg32.h"
#include "mcts/guess.h"
#include "mcts/policies.h"
#include "mcts/topics.h"

/* Measurements, with those that the search was told of, from which on the whole share of the rollouts is
 * focused. Before, leaders are far from the best, and it grows in proportion. */
enum { FOCUS_FROM = 50 };

struct leader {
    double time;      /* ns; of one that was not measured, minus what it promises */
    uint16_t *values; /* of each slot, or MCTS_NO_VALUE; owned */
};

/* The best first, none near another one. */
struct leader_list {
    struct leader *list;
    unsigned count;
};

struct leaders {
    double most, imitate, jump, follow, apart, focus; /* parameters */
    uint32_t *compared, n_compared; /* the choices that tell implementations apart: mcts/guess.h */
    const struct space *space;
    struct mcts_topics *topics; /* [slots] */
    struct leader_list measured;
    uint64_t n_timed;              /* measurements so far */
    struct leader_list promising;  /* rollouts of this evaluation */
    const struct leader *followed; /* by the rollout at work; NULL: none */
    bool focused;                  /* it changes one thing only */
    mcts_topic changed;            /* where focused: choices about this are drawn anew, */
    uint64_t changed_groups;       /* of these declarations: bits, by number modulo 64 */
};

static void clear(struct leader_list *l)
{
    for (unsigned i = 0; i < l->count; i++)
        free(l->list[i].values);
    l->count = 0;
}

static void leaders_begin(void *state, const struct space *s)
{
    struct leaders *l = state;
    l->n_compared = mcts_traits_pick(s, &l->compared);
    l->space = s;
    l->topics = mcts_topics_new(s);
}

static void leaders_end(void *state)
{
    struct leaders *l = state;
    free(l->compared);
    free(l->topics);
    l->compared = NULL;
    l->topics = NULL;
    clear(&l->measured);
    clear(&l->promising);
    free(l->measured.list);
    free(l->promising.list);
    l->measured.list = l->promising.list = NULL;
    l->followed = NULL;
}

/* ---- learning ---- */

/* Whether two implementations differ in less than the share `apart` of the choices that one of them has. */
static bool near(const struct leaders *l, const uint16_t *a, const uint16_t *b)
{
    uint32_t live = 0, differ = 0;
    for (uint32_t i = 0; i < l->n_compared; i++) {
        uint32_t slot = l->compared[i];
        live += a[slot] != MCTS_NO_VALUE || b[slot] != MCTS_NO_VALUE;
        differ += a[slot] != b[slot];
    }
    return differ < l->apart * live;
}

static void drop(struct leader_list *l, unsigned at)
{
    free(l->list[at].values);
    memmove(&l->list[at], &l->list[at + 1], (--l->count - at) * sizeof l->list[0]);
}

/* Takes an implementation if it is among the best `most`: instead of those near it that are slower, and only
 * if none near it is faster. */
static void take(const struct leaders *l, struct leader_list *to, const struct mcts_leaf *leaf, double time)
{
    unsigned most = (unsigned)l->most;
    for (unsigned i = to->count; i-- > 0;) {
        if (!near(l, to->list[i].values, leaf->values)) continue;
        if (to->list[i].time <= time) return;
        drop(to, i);
    }
    if (to->count == most && time >= to->list[most - 1].time) return;
    if (!to->list) to->list = base_calloc(most, sizeof to->list[0]);
    if (to->count == most) drop(to, most - 1);
    size_t bytes = space_slot_count(leaf->space) * sizeof leaf->values[0];
    uint16_t *values = base_malloc(bytes + 1);
    memcpy(values, leaf->values, bytes);
    unsigned at = to->count++;
    for (; at > 0 && to->list[at - 1].time > time; at--)
        to->list[at] = to->list[at - 1];
    to->list[at] = (struct leader){time, values};
}

static void leaders_learn(void *state, const struct mcts_leaf *leaf, struct mcts_outcome outcome)
{
    struct leaders *l = state;
    l->n_timed += outcome.kind == MCTS_TIMED;
    if (outcome.kind != MCTS_TIMED || l->imitate <= 0) return;
    take(l, &l->measured, leaf, outcome.time);
}

static void leaders_drawn(void *state, const struct mcts_leaf *leaves, const double *ranks, unsigned n)
{
    struct leaders *l = state;
    for (unsigned i = 0; i < n; i++)
        take(l, &l->promising, &leaves[i], -ranks[i]);
}

void mcts_leaders_archive(void *state, const struct space *s, struct archive *a)
{
    struct leaders *l = state;
    struct leader_list *m = &l->measured;
    size_t slots = space_slot_count(s);
    ARCHIVE(a, l->n_timed);
    ARCHIVE(a, m->count);
    if (m->count > l->most) archive_fail(a);
    if (archive_failed(a)) m->count = 0;
    if (archive_reads(a) && m->count) m->list = base_calloc((size_t)l->most, sizeof m->list[0]);
    for (unsigned i = 0; i < m->count; i++) {
        struct leader *x = &m->list[i];
        if (archive_reads(a)) x->values = base_malloc(slots * sizeof x->values[0] + 1);
        ARCHIVE(a, x->time);
        archive_bytes(a, x->values, slots * sizeof x->values[0]);
    }
}

/* ---- following ---- */

/* The r-th fastest with a weight of 1 / r. */
static const struct leader *draw_leader(const struct leader_list *l, struct pcg32 *rng)
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

/* Draws whether the rollout changes one thing only, and what. */
static void draw_focus(struct leaders *l, struct pcg32 *rng)
{
    enum { TRIES = 20 }; /* to find a choice that the leader has */
    l->focused = false;
    double share = l->n_timed < FOCUS_FROM ? l->focus * (double)l->n_timed / FOCUS_FROM : l->focus;
    if (share <= 0 || l->n_compared == 0 || pcg32_unit(rng) >= share) return;
    for (unsigned i = 0; i < TRIES && !l->focused; i++) {
        uint32_t slot = l->compared[pcg32_below(rng, l->n_compared)];
        if (l->followed->values[slot] == MCTS_NO_VALUE) continue;
        l->focused = true;
        l->changed = l->topics[slot].of[0];
        l->changed_groups = (uint64_t)pcg32_next(rng) << 32;
        l->changed_groups |= pcg32_next(rng) | UINT64_C(1) << space_slot_group(l->space, slot) % 64;
    }
}

static void follow_one_of(struct leaders *l, const struct leader_list *list, struct pcg32 *rng)
{
    l->followed = draw_leader(list, rng);
    draw_focus(l, rng);
}

/* Whether an evaluation follows leaders is drawn once; each of its rollouts draws which. From the second
 * generation on, rollouts follow what the generations before found. */
static bool leaders_start(void *state, unsigned rollout, struct pcg32 *rng)
{
    struct leaders *l = state;
    if (rollout == 0) {
        clear(&l->promising);
        l->followed = NULL;
        if (l->measured.count == 0 || pcg32_unit(rng) >= l->imitate) return false;
    }
    if (l->promising.count > 0) {
        follow_one_of(l, &l->promising, rng);
        return false;
    }
    if (rollout > 0 && !l->followed) return false;
    follow_one_of(l, &l->measured, rng);
    return rollout == 0 && pcg32_unit(rng) < l->jump;
}

static bool is_changed(const struct leaders *l, uint32_t slot)
{
    return mcts_is_about(&l->topics[slot], l->changed) &&
           l->changed_groups >> space_slot_group(l->space, slot) % 64 & 1;
}

static bool leaders_propose(void *state, const struct mcts_choice *c, uint32_t *value)
{
    const struct leaders *l = state;
    if (!l->followed || l->followed->values[c->slot] == MCTS_NO_VALUE) return false;
    if (l->focused && is_changed(l, c->slot)) return false;
    double follow = l->focused ? 1 : 1 - 2 * (1 - l->follow) * c->luck;
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
    {"apart", "share of the decisions in which leaders differ from each other at least",
     offsetof(struct leaders, apart), 0.05, 0, 1, NULL},
    {"focus", "share of the rollouts that change only what is about one object",
     offsetof(struct leaders, focus), 0, 0, 1, NULL},
};

const struct mcts_policy mcts_policy_leaders = {
    .abi = MCTS_PLUGIN_ABI,
    .struct_size = sizeof(struct mcts_policy),
    .name = "leaders",
    .help = "imitate the fastest implementations so far",
    .state_size = sizeof(struct leaders),
    .parameters = PARAMETERS,
    .n_parameters = sizeof PARAMETERS / sizeof PARAMETERS[0],
    .begin = leaders_begin,
    .end = leaders_end,
    .start = leaders_start,
    .propose = leaders_propose,
    .learn = leaders_learn,
    .drawn = leaders_drawn,
};
