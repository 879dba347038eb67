/* Rollouts of one evaluation are handed to whatever thread is free, by ascending number. A rollout that finds
 * nothing ends them: those with a larger number are not begun, and do not count if they were. Once none is
 * left to begin, each thread ranks those that it made:
 *
 *     tree's thread   roll 0   roll 3   roll 4   rank 0 3 4
 *     second thread   roll 1   roll 2   roll 5   roll 6   rank 1 2 5 6
 *
 * A rank does not depend on the implementations that are ranked with it. So what is found does not depend on
 * the number of threads. */
#include "mcts/rollouts.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/arena.h"
#include "core/base/panic.h"

/* A rollout that has ended. */
struct rolled {
    enum mcts_rollout_end end;
    struct mcts_actions actions; /* below the frontier */
    uint16_t *values;            /* of the implementation, of all slots */
    double bound;                /* its lower bound, ns; 0: no model */
    double *features;            /* [MCTS_FEATURES_MAX] of it */
    uint64_t hash;               /* of it */
    double rank;                 /* of the implementation */
    struct mcts_rollout_stats stats;
    char error[sizeof((struct mcts_roller *)0)->error];
};

/* The rollouts of an evaluation that a thread has made. */
struct made {
    unsigned list[MCTS_DRAWS_MAX], n;
};

/* A thread beside the tree's. */
struct worker {
    struct mcts_rollouts *all;
    pthread_t thread;
    struct mcts_roller roller;
    struct space_state *state;
    space_mark root;
    struct made made;
};

struct mcts_rollouts {
    struct mcts_roller *roller; /* the tree's */
    struct mcts_rollouts_options options;
    unsigned n_workers;
    struct worker *workers;
    struct space_log *frontier; /* entry 0: what leads from the root to it */
    struct rolled *results;
    unsigned n_results;
    unsigned n_ranked;         /* implementations of the last evaluation */
    const struct rolled *best; /* of them, handed out */
    struct made made;          /* on the tree's thread */

    /* ---- of the rollouts at work: set while no worker works, then only read ---- */
    uint32_t depth;
    uint64_t seed;

    /* ---- under the lock ---- */
    pthread_mutex_t lock;
    pthread_cond_t begun, ended;
    unsigned next;    /* rollout to begin */
    unsigned stop;    /* the first one that found nothing; their number: none */
    unsigned working; /* threads beside the tree's that make rollouts or rank them */
    bool closes;
};

/* ---- one rollout ---- */

/* Rollout number i from the state, which is as before afterwards. */
static void roll(const struct mcts_rollouts *all, struct mcts_roller *r, struct space_state *state,
                 unsigned i, struct rolled *out)
{
    space_mark frontier = space_snapshot(state);
    out->actions.count = 0;
    r->rng = pcg32_seed(all->seed, i);
    r->stats = (struct mcts_rollout_stats){0};
    if (i > 0) mcts_policies_start(r->policies, i, &r->rng);
    out->end = mcts_rollout(r, state, all->depth, &out->actions);
    if (out->end == MCTS_ROLLOUT_LEAF) {
        mcts_leaf_values(state, out->values);
        out->hash = r->hash;
        out->bound = mcts_leaf_bound(&r->branching, state);
        if (r->features.n) r->features.of(r->features.context, state, out->features);
    }
    if (out->end == MCTS_ROLLOUT_ERROR) memcpy(out->error, r->error, sizeof out->error);
    out->stats = r->stats;
    space_rollback(state, frontier);
}

/* Ranks the implementations that a thread has made. After an error of a policy they have no rank. */
static void rank_made(const struct mcts_rollouts *all, struct mcts_roller *r, const struct space *s,
                      const struct made *made)
{
    struct mcts_leaf leaves[MCTS_DRAWS_MAX];
    double ranks[MCTS_DRAWS_MAX];
    if (made->n == 0) return;
    for (unsigned i = 0; i < made->n; i++) {
        const struct rolled *x = &all->results[made->list[i]];
        leaves[i] = mcts_leaf_of(s, x->values, x->bound, &r->features, x->features);
    }
    bool ranked = mcts_roller_rank(r, leaves, made->n, ranks);
    for (unsigned i = 0; i < made->n; i++) {
        struct rolled *x = &all->results[made->list[i]];
        x->rank = ranked ? ranks[i] : NAN;
        if (!ranked) memcpy(x->error, r->error, sizeof x->error);
    }
}

/* ---- threads ---- */

/* The next rollout to begin; the lock is held. */
static bool take(struct mcts_rollouts *all, unsigned *i)
{
    if (all->next >= all->stop) return false;
    *i = all->next++;
    return true;
}

/* Makes rollouts from the state and ranks them. The lock is held before and after. */
static void work(struct mcts_rollouts *all, struct mcts_roller *r, struct space_state *state,
                 struct made *made, unsigned first)
{
    unsigned i = first;
    made->n = 0;
    do {
        pthread_mutex_unlock(&all->lock);
        roll(all, r, state, i, &all->results[i]);
        bool found = all->results[i].end == MCTS_ROLLOUT_LEAF;
        if (found) made->list[made->n++] = i;
        pthread_mutex_lock(&all->lock);
        if (!found && i < all->stop) all->stop = i;
    } while (take(all, &i));
    pthread_mutex_unlock(&all->lock);
    rank_made(all, r, space_of(state), made);
    pthread_mutex_lock(&all->lock);
}

/* Leads a worker's state to the frontier. */
static void enter_frontier(struct worker *w)
{
    space_rollback(w->state, w->root);
    w->root = space_snapshot(w->state);
    space_log_repeat(w->all->frontier, 0, w->state);
}

static void *worker_main(void *arg)
{
    struct worker *w = arg;
    struct mcts_rollouts *all = w->all;
    unsigned first;
    pthread_mutex_lock(&all->lock);
    while (!all->closes) {
        if (!take(all, &first)) {
            pthread_cond_wait(&all->begun, &all->lock);
            continue;
        }
        all->working++;
        pthread_mutex_unlock(&all->lock);
        enter_frontier(w);
        pthread_mutex_lock(&all->lock);
        work(all, &w->roller, w->state, &w->made, first);
        if (--all->working == 0) pthread_cond_signal(&all->ended);
    }
    pthread_mutex_unlock(&all->lock);
    return NULL;
}

/* What a worker needs to know of the tree; no rollout is at work. */
static void brief(struct mcts_rollouts *all, struct worker *w)
{
    const struct mcts_roller *r = all->roller;
    const struct mcts_rollouts_options *o = &all->options;
    mcts_policies_copy_states(w->roller.policies, r->policies);
    w->roller.best_time = r->best_time;
    w->roller.cut = r->cut;
    if (o->bound)
        w->roller.branching.bound_context = o->bound(o->bound_context, (unsigned)(w - all->workers) + 1);
}

/* Begins rollouts first to end - 1, makes some of them here, and waits until all are made and ranked. */
static void roll_all(struct mcts_rollouts *all, struct space_state *state, unsigned first, unsigned end)
{
    struct mcts_roller *r = all->roller;
    struct pcg32 rng = r->rng;
    struct mcts_rollout_stats stats = r->stats;
    for (unsigned k = 0; k < all->n_workers; k++)
        brief(all, &all->workers[k]);
    pthread_mutex_lock(&all->lock);
    all->next = first + 1;
    all->stop = end;
    if (all->n_workers) pthread_cond_broadcast(&all->begun);
    work(all, r, state, &all->made, first);
    while (all->working > 0)
        pthread_cond_wait(&all->ended, &all->lock);
    pthread_mutex_unlock(&all->lock);
    r->rng = rng;
    r->stats = stats;
}

/* ---- the best ---- */

static void reserve(struct mcts_rollouts *all, unsigned n, const struct space *s)
{
    if (n <= all->n_results) return;
    all->results = base_realloc(all->results, n * sizeof all->results[0]);
    for (; all->n_results < n; all->n_results++)
        all->results[all->n_results] =
            (struct rolled){.values = base_malloc((space_slot_count(s) + 1) * sizeof(uint16_t)),
                            .features = base_calloc(MCTS_FEATURES_MAX, sizeof(double))};
}

static void add_stats(struct mcts_rollout_stats *to, const struct mcts_rollout_stats *more)
{
    to->descents += more->descents;
    to->dead_ends += more->dead_ends;
    to->revisits += more->revisits;
    to->backtracks += more->backtracks;
    mcts_trials_add(&to->trials, &more->trials);
}

/* The most promising of the first n > 0 implementations; NULL: a policy failed. */
static const struct rolled *find_best(const struct mcts_rollouts *all, unsigned n)
{
    const struct rolled *best = &all->results[0];
    for (unsigned i = 0; i < n; i++) {
        const struct rolled *x = &all->results[i];
        if (isnan(x->rank)) {
            memcpy(all->roller->error, x->error, sizeof x->error);
            return NULL;
        }
        if (x->rank > best->rank) best = x;
    }
    return best;
}

/* Leads the state to the best of the first n > 0 implementations. */
static enum mcts_rollout_end take_best(struct mcts_rollouts *all, unsigned n, struct space_state *state,
                                       struct mcts_actions *actions)
{
    const struct rolled *best = find_best(all, n);
    if (!best) return MCTS_ROLLOUT_ERROR;
    all->best = best;
    all->n_ranked = n;
    for (size_t i = 0; i < best->actions.count; i++) {
        CHECK(space_apply(state, best->actions.list[i], NULL));
        mcts_actions_push(actions, best->actions.list[i]);
    }
    return MCTS_ROLLOUT_LEAF;
}

/* Rollouts for the next evaluation. */
static unsigned wanted(const struct mcts_rollouts *all)
{
    const struct mcts_roller *r = all->roller;
    unsigned n = r->weights_only ? 1 : mcts_policies_draws(r->policies);
    return r->most > 0 && r->most < n ? r->most : n;
}

/* Shows the policies a generation, the implementations first to end - 1. */
static void show(const struct mcts_rollouts *all, const struct space *s, unsigned first, unsigned end)
{
    struct mcts_leaf leaves[MCTS_DRAWS_MAX];
    double ranks[MCTS_DRAWS_MAX];
    const struct mcts_roller *r = all->roller;
    for (unsigned i = first; i < end; i++) {
        const struct rolled *x = &all->results[i];
        leaves[i - first] = mcts_leaf_of(s, x->values, x->bound, &r->features, x->features);
        ranks[i - first] = x->rank;
    }
    mcts_policies_drawn(r->policies, leaves, ranks, end - first);
}

/* Makes n rollouts, generation by generation. One that finds nothing ends them. */
static void roll_generations(struct mcts_rollouts *all, struct space_state *state, unsigned n)
{
    unsigned generations = mcts_policies_generations(all->roller->policies);
    for (unsigned g = 0, first = 0; g < generations && first < n; g++) {
        unsigned end = (unsigned)((uint64_t)n * (g + 1) / generations);
        if (end == first) continue;
        roll_all(all, state, first, end);
        if (all->stop < end) return;
        if (end < n) show(all, space_of(state), first, end);
        first = end;
    }
}

enum mcts_rollout_end mcts_rollouts_best(struct mcts_rollouts *all, struct space_state *state,
                                         space_mark root, uint32_t depth, struct mcts_actions *actions)
{
    struct mcts_roller *r = all->roller;
    unsigned n = wanted(all);
    all->n_ranked = 0;
    if (n < 2) return mcts_rollout(r, state, depth, actions);
    reserve(all, n, space_of(state));
    all->depth = depth;
    all->seed = (uint64_t)pcg32_next(&r->rng) << 32;
    all->seed |= pcg32_next(&r->rng);
    space_log_cut(all->frontier, 0);
    if (all->n_workers) space_log_keep(all->frontier, state, root);
    roll_generations(all, state, n);
    for (unsigned i = 0; i < n && i <= all->stop; i++)
        add_stats(&r->stats, &all->results[i].stats);
    const struct rolled *last = all->stop < n ? &all->results[all->stop] : NULL;
    if (last && last->end == MCTS_ROLLOUT_ERROR) memcpy(r->error, last->error, sizeof r->error);
    if (last && (last->end == MCTS_ROLLOUT_ERROR || all->stop == 0)) return last->end;
    return take_best(all, all->stop, state, actions);
}

bool mcts_rollouts_rank(const struct mcts_rollouts *all, double *rank)
{
    if (all->n_ranked == 0) return false;
    *rank = all->best->rank;
    return true;
}

/* ---- the others ---- */

/* The larger rank first, then the earlier rollout. */
static int compare_ranks(const void *a, const void *b)
{
    const struct rolled *x = *(const struct rolled *const *)a, *y = *(const struct rolled *const *)b;
    if (x->rank != y->rank) return x->rank > y->rank ? -1 : 1;
    return x < y ? -1 : x > y;
}

void mcts_rollouts_keep_others(const struct mcts_rollouts *all, const struct mcts_actions *actions,
                               size_t n_actions, struct mcts_spares *spares)
{
    const struct rolled *order[MCTS_DRAWS_MAX];
    unsigned batch = mcts_policies_batch(all->roller->policies);
    if (batch > all->n_ranked / 2) batch = all->n_ranked / 2;
    mcts_spares_begin(spares, batch > 0 ? batch - 1 : 0);
    if (all->n_ranked > 0) mcts_spares_note(spares, all->best->rank);
    if (batch < 2) return;
    for (unsigned i = 0; i < all->n_ranked; i++)
        order[i] = &all->results[i];
    qsort(order, all->n_ranked, sizeof order[0], compare_ranks);
    for (unsigned i = 0; i < all->n_ranked; i++) {
        const struct rolled *x = order[i];
        const struct mcts_spare s = {x->actions.list, x->actions.count, x->values,
                                     x->bound,        x->features,      x->hash};
        if (x->hash != all->best->hash) mcts_spares_add(spares, &s, actions, n_actions);
    }
}

/* ---- creation ---- */

static void open_worker(struct mcts_rollouts *all, struct worker *w, const struct space_state *root)
{
    const struct mcts_roller *r = all->roller;
    *w = (struct worker){.all = all, .roller = *r, .state = space_state_clone(root)};
    w->root = space_snapshot(w->state);
    w->roller.policies = mcts_policies_copy(r->policies);
    mcts_roller_init(&w->roller, space_of(root));
    CHECK(pthread_create(&w->thread, NULL, worker_main, w) == 0);
}

struct mcts_rollouts *mcts_rollouts_new(struct mcts_roller *r, const struct space_state *root,
                                        const struct mcts_rollouts_options *o)
{
    struct mcts_rollouts *all = base_calloc(1, sizeof *all);
    all->roller = r;
    all->options = *o;
    all->frontier = space_log_new();
    pthread_mutex_init(&all->lock, NULL);
    pthread_cond_init(&all->begun, NULL);
    pthread_cond_init(&all->ended, NULL);
    if (o->threads < 2 || !mcts_policies_can_copy(r->policies)) return all;
    all->workers = base_calloc(o->threads - 1, sizeof all->workers[0]);
    all->n_workers = o->threads - 1;
    for (unsigned i = 0; i < all->n_workers; i++)
        open_worker(all, &all->workers[i], root);
    return all;
}

void mcts_rollouts_free(struct mcts_rollouts *all)
{
    if (!all) return;
    pthread_mutex_lock(&all->lock);
    all->closes = true;
    pthread_cond_broadcast(&all->begun);
    pthread_mutex_unlock(&all->lock);
    for (unsigned i = 0; i < all->n_workers; i++) {
        struct worker *w = &all->workers[i];
        pthread_join(w->thread, NULL);
        mcts_roller_free(&w->roller);
        mcts_policies_free(w->roller.policies);
        space_state_free(w->state);
    }
    for (unsigned i = 0; i < all->n_results; i++) {
        free(all->results[i].actions.list);
        free(all->results[i].values);
        free(all->results[i].features);
    }
    pthread_cond_destroy(&all->begun);
    pthread_cond_destroy(&all->ended);
    pthread_mutex_destroy(&all->lock);
    space_log_free(all->frontier);
    free(all->results);
    free(all->workers);
    free(all);
}
