#include "mcts/spares.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/archive.h"
#include "core/base/arena.h"
#include "core/base/stats.h"

/* A batch ends where its best spare promises e^MARGIN times less than the median of the last RECENT
 * evaluations: ranks are logarithms of expected improvements (policy_guess.c). These are four batches of
 * eight; before one of them was evaluated nothing is usual. With a MARGIN of 1 searches find a little more
 * and make twice the rollouts (experiments/results/2026-11-27-contenders.md). Rollouts are made again where
 * their best is e^REDRAW_MARGIN below that median. */
enum { RECENT = 32, LEAST_RECENT = 8, MARGIN = 2, REDRAW_MARGIN = 1 };

struct mcts_spares {
    const struct space *space;
    const struct mcts_features *features;
    unsigned left;         /* evaluations to make */
    double recent[RECENT]; /* ranks of evaluations, the newest at n_recent - 1 modulo RECENT */
    uint64_t n_recent;
    struct mcts_spare list[MCTS_BATCH_MAX], taken;
    unsigned n;
};

struct mcts_spares *mcts_spares_new(const struct space *s, const struct mcts_features *f)
{
    struct mcts_spares *a = base_calloc(1, sizeof *a);
    a->space = s;
    a->features = f;
    return a;
}

static void clear(struct mcts_spare *s)
{
    free(s->actions);
    free(s->values);
    free(s->features);
    *s = (struct mcts_spare){0};
}

static void drop(struct mcts_spares *a, unsigned at)
{
    clear(&a->list[at]);
    memmove(&a->list[at], &a->list[at + 1], (--a->n - at) * sizeof a->list[0]);
}

static void forget_all(struct mcts_spares *a)
{
    while (a->n > 0)
        drop(a, a->n - 1);
    a->left = 0;
}

void mcts_spares_begin(struct mcts_spares *a, unsigned evaluations)
{
    forget_all(a);
    a->left = evaluations;
}

void mcts_spares_note(struct mcts_spares *a, double rank)
{
    a->recent[a->n_recent++ % RECENT] = rank;
}

void mcts_spares_free(struct mcts_spares *a)
{
    if (!a) return;
    forget_all(a);
    clear(&a->taken);
    free(a);
}

/* ---- filling ---- */

static bool is_kept(const struct mcts_spares *a, uint64_t hash)
{
    for (unsigned i = 0; i < a->n; i++)
        if (a->list[i].hash == hash) return true;
    return false;
}

void mcts_spares_add(struct mcts_spares *a, const struct mcts_spare *s, const struct mcts_actions *first,
                     size_t n_first)
{
    if (a->n == MCTS_BATCH_MAX || is_kept(a, s->hash)) return;
    struct mcts_spare *to = &a->list[a->n++];
    size_t n_slots = space_slot_count(a->space);
    *to = *s;
    to->n_actions = n_first + s->n_actions;
    to->actions = base_malloc((to->n_actions + 1) * sizeof to->actions[0]);
    if (n_first) memcpy(to->actions, first->list, n_first * sizeof to->actions[0]);
    if (s->n_actions) memcpy(to->actions + n_first, s->actions, s->n_actions * sizeof to->actions[0]);
    to->values = base_malloc((n_slots + 1) * sizeof to->values[0]);
    memcpy(to->values, s->values, n_slots * sizeof to->values[0]);
    to->features = NULL;
    if (a->features->n == 0) return;
    to->features = base_malloc(a->features->n * sizeof to->features[0]);
    memcpy(to->features, s->features, a->features->n * sizeof to->features[0]);
}

/* ---- taking ---- */

/* Forgets what was handed out or pruned meanwhile. */
static void sift(struct mcts_spares *a, const struct mcts_roller *r)
{
    for (unsigned i = a->n; i-- > 0;)
        if (mcts_seen_has(r->seen, a->list[i].hash) || a->list[i].bound >= r->cut) drop(a, i);
}

/* The most promising one, the first of equals, and its rank; false: a policy failed. There is one. */
static bool find_best(const struct mcts_spares *a, struct mcts_roller *r, unsigned *best, double *rank)
{
    struct mcts_leaf leaves[MCTS_BATCH_MAX];
    double ranks[MCTS_BATCH_MAX];
    for (unsigned i = 0; i < a->n; i++) {
        const struct mcts_spare *s = &a->list[i];
        leaves[i] = mcts_leaf_of(a->space, s->values, s->bound, a->features, s->features);
    }
    if (!mcts_roller_rank(r, leaves, a->n, ranks)) return false;
    *best = 0;
    for (unsigned i = 1; i < a->n; i++)
        if (ranks[i] > ranks[*best]) *best = i;
    *rank = ranks[*best];
    return true;
}

/* Whether a rank is that much less than what was evaluated lately. */
static bool is_below(const struct mcts_spares *a, double rank, double margin)
{
    size_t n = a->n_recent < RECENT ? a->n_recent : RECENT;
    return n >= LEAST_RECENT && rank < stats_median(a->recent, n) - margin;
}

bool mcts_spares_is_poor(const struct mcts_spares *a, double rank)
{
    return is_below(a, rank, REDRAW_MARGIN);
}

const struct mcts_spare *mcts_spares_take(struct mcts_spares *a, struct mcts_roller *r)
{
    unsigned best;
    double rank;
    if (a->left == 0) return NULL;
    sift(a, r);
    if (a->n == 0) return NULL;
    if (!find_best(a, r, &best, &rank)) return NULL;
    if (is_below(a, rank, MARGIN)) {
        forget_all(a);
        return NULL;
    }
    a->left--;
    mcts_spares_note(a, rank);
    clear(&a->taken);
    a->taken = a->list[best];
    a->list[best] = (struct mcts_spare){0};
    drop(a, best);
    return &a->taken;
}

/* ---- snapshots ---- */

static void archive_spare(struct mcts_spares *a, struct mcts_spare *s, struct archive *file)
{
    size_t n_values = space_slot_count(a->space), slots = n_values, n_features = a->features->n;
    ARCHIVE(file, s->bound);
    ARCHIVE(file, s->hash);
    s->actions = archive_array(file, s->actions, &s->n_actions, sizeof s->actions[0]);
    s->values = archive_array(file, s->values, &n_values, sizeof s->values[0]);
    if (a->features->n) s->features = archive_array(file, s->features, &n_features, sizeof s->features[0]);
    if (n_values != slots || n_features != a->features->n) archive_fail(file);
}

void mcts_spares_archive(struct mcts_spares *a, struct archive *file)
{
    ARCHIVE(file, a->left);
    ARCHIVE(file, a->recent);
    ARCHIVE(file, a->n_recent);
    ARCHIVE(file, a->n);
    if (a->n > MCTS_BATCH_MAX) archive_fail(file);
    if (archive_failed(file)) a->n = 0;
    for (unsigned i = 0; i < a->n; i++)
        archive_spare(a, &a->list[i], file);
    if (archive_failed(file)) forget_all(a);
}
