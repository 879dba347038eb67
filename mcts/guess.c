/* Gaussian process regression by a Cholesky factor that grows by a row with each measurement.
 *
 * With n measurements of traits t_i and logarithms of times y_i, correlations K_ij = exp(-differing share of
 * traits / REACH), or in spaces of few choices those of mcts/scales.h, noise on the diagonal, and K = L L^T:
 *
 *     whitened  = L^-1 (y - mean)                     the sum of four vectors, of times, ones, bounds, ...
 *     x         = L^-1 K(t, .)                        the work of a promise
 *     expected  = mean(t) + x . whitened
 *     deviation = sqrt(variance (1 + noise - |x|^2))
 *     stopped   = share + x . L^-1 (stops - share)    the chance: y is 1 for what was stopped, 0 for the rest
 *
 * What is awaited has rows in L after those of the measurements, but no time: y is the expected one, so that
 * its element of `whitened` would be 0. Only |x|^2 knows of it. The next measurement takes its rows away.
 *
 * Where implementations have features, half of a correlation is that of the traits and half exp(-mean
 * distance of features / UNIT): what does the same work in nearly the same way is similar, whatever decisions
 * led to it.
 *
 * A promise takes n^2 operations. The factor (mcts/factor.h) is larger than the caches, so promises are made
 * for FACTOR_LANES implementations at once: each row of L is read once for all of them. A new measurement
 * adds a row to L: it needs the x of its implementation, which is known but for its last elements if the
 * implementation was promised lately (mcts/recents.h). L and x are in single precision: the noise is 10^4
 * times their rounding, and no variance falls below it. What sums over measurements is in double precision.
 * See guess.h. */
#include "mcts/guess.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/archive.h"
#include "core/base/arena.h"
#include "core/base/panic.h"
#include "core/base/stats.h"
#include "mcts/guess_state.h"

/* REACH: at first, implementations that differ in an eighth of their traits have a correlation of 1/e; in
 * spaces of few choices, whose scales are fitted, those that differ in half of them (REACH_SCALED). NOISE: so
 * much of the variance does not depend on the traits; less with features, which say more (with a twentieth
 * the variants of the best implementation seem to promise much, and are measured again and again).
 * VARIANCE_PRIOR counts as one measurement: times that spread by a factor of 2. Halving or doubling any of
 * them changes searches little. */
static const double REACH = 0.125, REACH_SCALED = 0.5, NOISE = 0.05, NOISE_DESCRIBED = 0.015,
                    VARIANCE_PRIOR = 0.5;
/* UNIT: features whose logarithms (to base 2) differ by 1.5 on average have a correlation of 1/e. */
static const double UNIT = 1.5;

/* The scales are fitted anew after so many measurements, or a quarter more of them, to so many at most: a fit
 * takes 10 to 50 ms, and the factor has to be made again. */
enum { FIT_EVERY = 20, FIT_MOST = 200 };

/* Choices up to which scales are fitted. Spaces of Lift programs have a hundred and more with a value each:
 * there fitted scales find nothing earlier (experiments/results/2026-11-25-scales.md), and cost 1 ms an
 * evaluation. */
enum { FEW = 32 };

enum { STRIDE = 32 };

/* ---- traits ---- */

static uint32_t pick_slots(const struct space *s, unsigned most_arity, uint32_t *slots)
{
    uint32_t n = 0;
    for (uint32_t slot = 0; slot < space_slot_count(s); slot++)
        if (space_slot_arity(s, slot) <= most_arity) slots[n++] = slot;
    return n;
}

uint32_t mcts_traits_pick(const struct space *s, uint32_t **slots)
{
    *slots = base_malloc((space_slot_count(s) + 1) * sizeof **slots);
    uint32_t n = pick_slots(s, 1, *slots);
    return n > 0 ? n : pick_slots(s, UINT_MAX, *slots);
}

struct mcts_guess *mcts_guess_new(const struct space *s, size_t capacity, double slow, double fastest)
{
    CHECK(capacity >= 12 && slow > 1 && fastest > 0 && fastest <= 1);
    struct mcts_guess *g = base_calloc(1, sizeof *g);
    *g = (struct mcts_guess){.capacity = capacity, .slow = log(slow), .fastest = fastest, .best = INFINITY};
    g->n_slots = mcts_traits_pick(s, &g->slots);
    g->stride = (g->n_slots + STRIDE) / STRIDE * STRIDE;
    g->list = base_calloc(capacity, sizeof g->list[0]);
    g->values = base_calloc((capacity + AWAITED) * g->stride, sizeof g->values[0]);
    g->factor = factor_new(capacity + AWAITED);
    g->features = base_calloc((capacity + AWAITED) * MCTS_FEATURES_MAX, sizeof g->features[0]);
    g->recents = recents_new(sizeof(double[MCTS_FEATURES_MAX]) + g->stride * sizeof g->values[0]);
    struct whitened *w = &g->whitened;
    w->times = base_calloc(7 * capacity, sizeof w->times[0]);
    w->ones = w->times + capacity;
    w->bounds = w->ones + capacity;
    w->estimates = w->bounds + capacity;
    w->stops = w->estimates + capacity;
    w->rest = w->stops + capacity;
    w->stopping = w->rest + capacity;
    double n_slots = fmax(g->n_slots, 1), rate = 1 / (REACH * n_slots);
    if (g->n_slots <= FEW) g->scales = mcts_scales_new(s, g->slots, g->n_slots, 1 / (REACH_SCALED * n_slots));
    g->correlations = base_calloc(g->n_slots + 1, sizeof g->correlations[0]);
    for (uint32_t i = 0; i <= g->n_slots; i++)
        g->correlations[i] = exp(-(double)i * rate);
    return g;
}

static void free_awaited(struct awaited *w)
{
    free(w->traits);
    free(w->x);
}

void mcts_guess_free(struct mcts_guess *g)
{
    if (!g) return;
    for (unsigned i = 0; i < g->n_awaited; i++)
        free_awaited(&g->awaited[i]);
    free(g->slots);
    free(g->list);
    free(g->values);
    free(g->features);
    factor_free(g->factor);
    recents_free(g->recents);
    free(g->whitened.times);
    mcts_scales_free(g->scales);
    free(g->correlations);
    free(g);
}

struct mcts_traits *mcts_traits_new(const struct mcts_guess *g, const struct mcts_leaf *leaf)
{
    struct mcts_traits *t = base_calloc(1, sizeof *t + g->stride * sizeof t->values[0]);
    CHECK(leaf->n_features <= MCTS_FEATURES_MAX);
    t->bound = leaf->bound > 0 ? log(leaf->bound) : 0;
    t->n_features = leaf->n_features;
    for (unsigned i = 0; i < leaf->n_features; i++)
        t->features[i] = leaf->features[i];
    for (uint32_t i = 0; i < g->n_slots; i++)
        t->values[i] = leaf->values[g->slots[i]];
    return t;
}

/* The logarithm of the estimated time; 0: there is none. */
double guess_estimate(const struct mcts_traits *t)
{
    return t->n_features > 0 ? t->features[0] * log(2) : 0;
}

/* Of all measurements; it depends on whether they have features. */
double guess_noise(const struct mcts_guess *g)
{
    return g->n_features > 0 ? NOISE_DESCRIBED : NOISE;
}

static uint16_t *values_of(const struct mcts_guess *g, size_t i)
{
    return g->values + i * g->stride;
}

static double *features_of(const struct mcts_guess *g, size_t i)
{
    return g->features + i * MCTS_FEATURES_MAX;
}

static double trait_likeness(const struct mcts_guess *g, const struct mcts_traits *t, size_t i)
{
    const uint16_t *values = values_of(g, i);
    if (g->scales) return mcts_scales_likeness(g->scales, t->values, values);
    uint16_t differ = 0;
    for (uint32_t k = 0; k < g->stride; k++)
        differ = (uint16_t)(differ + (t->values[k] != values[k]));
    return g->correlations[differ];
}

/* Correlation of an implementation with measurement i. */
double guess_likeness(const struct mcts_guess *g, const struct mcts_traits *t, size_t i)
{
    const double *features = features_of(g, i);
    double distance = 0, by_traits = trait_likeness(g, t, i);
    if (t->n_features == 0) return by_traits;
    for (uint64_t k = 0; k < t->n_features; k++)
        distance += fabs(t->features[k] - features[k]);
    return by_traits / 2 + exp(-distance / (UNIT * (double)t->n_features)) / 2;
}

static double square(const double *x, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += x[i] * x[i];
    return sum;
}

/* ---- learning ---- */

static struct mcts_traits *copy_traits(const struct mcts_guess *g, size_t i)
{
    struct mcts_traits *t = base_malloc(sizeof *t + g->stride * sizeof t->values[0]);
    t->bound = g->list[i].bound;
    t->n_features = g->n_features;
    memcpy(t->features, features_of(g, i), sizeof t->features);
    memcpy(t->values, values_of(g, i), g->stride * sizeof t->values[0]);
    return t;
}

/* Adds a row after those of the factor; the first `known` elements of x are solved. */
static void add_row(struct mcts_guess *g, const struct mcts_traits *t, factor_lanes *x, size_t known)
{
    size_t n = factor_count(g->factor);
    for (size_t i = known; i < n; i++)
        x[i] = (factor_lanes){(float)guess_likeness(g, t, i)};
    factor_solve(g->factor, known, x);
    factor_append(g->factor, x, 1 + guess_noise(g), guess_noise(g));
}

static void write_traits(struct mcts_guess *g, size_t row, const struct mcts_traits *t)
{
    memcpy(values_of(g, row), t->values, g->stride * sizeof t->values[0]);
    memcpy(features_of(g, row), t->features, sizeof t->features);
}

static void append(struct mcts_guess *g, const struct mcts_traits *t, double time)
{
    size_t n = g->count++;
    factor_truncate(g->factor, n);
    write_traits(g, n, t);
    g->n_features = t->n_features;
    g->list[n] = (struct measurement){t->bound, time, guess_estimate(t)};
    factor_lanes *x = factor_scratch(g->factor);
    add_row(g, t, x, recents_find(g->recents, t->features, x));
    g->best = fmin(g->best, time);
    g->solved = false;
}

/* Forgets the factor and what was solved with it. */
static void clear(struct mcts_guess *g)
{
    g->count = g->whitened.n = g->whitened.n_times = 0;
    factor_clear(g->factor);
    recents_clear(g->recents);
    for (unsigned i = 0; i < g->n_awaited; i++)
        g->awaited[i].known = 0;
}

/* Of one that was there before the guess was cleared. */
static void append_again(struct mcts_guess *g, size_t i)
{
    struct mcts_traits *t = copy_traits(g, i);
    append(g, t, g->list[i].time);
    free(t);
}

/* Makes room: keeps the fastest quarter and a third of the others. */
static void thin(struct mcts_guess *g)
{
    size_t n = g->count;
    double *times = g->whitened.rest;
    for (size_t i = 0; i < n; i++)
        times[i] = guess_bounded_time(g, i);
    double fast = stats_quantile(times, n, 0.25);
    size_t places = n / 4;
    clear(g);
    for (size_t i = 0; i < n; i++) {
        bool is_fast = times[i] <= fast && places > 0;
        places -= is_fast;
        if (is_fast || i % 3 == 0) append_again(g, i);
    }
    if (g->fitted > g->count) g->fitted = g->count;
}

static bool same_traits(const struct mcts_guess *g, const struct mcts_traits *a, const struct mcts_traits *b)
{
    return memcmp(a->features, b->features, sizeof a->features) == 0 &&
           memcmp(a->values, b->values, g->stride * sizeof a->values[0]) == 0;
}

static void drop_awaited(struct mcts_guess *g, unsigned at)
{
    free_awaited(&g->awaited[at]);
    memmove(&g->awaited[at], &g->awaited[at + 1], (--g->n_awaited - at) * sizeof g->awaited[0]);
    g->solved = false;
}

/* Writes what is solved of it to x. */
static void recall(const struct awaited *w, factor_lanes *x)
{
    for (size_t i = 0; i < w->known; i++)
        x[i] = (factor_lanes){w->x[i]};
}

/* The row of what is awaited, after those of the factor. Its part that belongs to measurements is kept. */
static void add_awaited_row(struct mcts_guess *g, struct awaited *w)
{
    factor_lanes *x = factor_scratch(g->factor);
    recall(w, x);
    write_traits(g, factor_count(g->factor), w->traits);
    add_row(g, w->traits, x, w->known);
    for (; w->known < g->count; w->known++)
        w->x[w->known] = x[w->known][0];
}

/* The rows of all that is awaited, after those of the measurements. */
static void add_awaited(struct mcts_guess *g)
{
    factor_truncate(g->factor, g->count);
    for (unsigned i = 0; i < g->n_awaited; i++)
        add_awaited_row(g, &g->awaited[i]);
}

static struct awaited *push_awaited(struct mcts_guess *g, struct mcts_traits *t)
{
    struct awaited *w = &g->awaited[g->n_awaited++];
    *w = (struct awaited){.traits = t, .x = base_malloc(g->capacity * sizeof w->x[0])};
    return w;
}

void mcts_guess_await(struct mcts_guess *g, struct mcts_traits *t)
{
    if (g->n_awaited == AWAITED) drop_awaited(g, 0);
    struct awaited *w = push_awaited(g, t);
    if (g->solved) add_awaited_row(g, w);
}

void mcts_guess_await_no_more(struct mcts_guess *g, const struct mcts_traits *t)
{
    for (unsigned i = 0; i < g->n_awaited; i++) {
        struct awaited *w = &g->awaited[i];
        if (!same_traits(g, w->traits, t)) continue;
        factor_lanes *x = factor_scratch(g->factor);
        recall(w, x);
        recents_keep(g->recents, t->features, x, 0, w->known);
        drop_awaited(g, i);
        return;
    }
}

void mcts_guess_learn(struct mcts_guess *g, struct mcts_traits *t, double time)
{
    mcts_guess_await_no_more(g, t);
    if (isfinite(time) || g->count > 0) {
        if (g->count == g->capacity) thin(g);
        append(g, t, log(time));
    }
    free(t);
}

static void archive_awaited(struct mcts_guess *g, struct archive *a, size_t bytes)
{
    ARCHIVE(a, g->n_awaited);
    if (g->n_awaited > AWAITED) archive_fail(a);
    if (archive_failed(a)) g->n_awaited = 0;
    for (unsigned i = 0, n = g->n_awaited; i < n; i++) {
        if (archive_reads(a)) g->n_awaited = i;
        if (archive_reads(a))
            push_awaited(g, base_calloc(1, sizeof(struct mcts_traits) + g->stride * sizeof(uint16_t)));
        archive_bytes(a, g->awaited[i].traits, bytes);
        if (g->awaited[i].traits->n_features > MCTS_FEATURES_MAX) archive_fail(a);
    }
}

/* The factor follows from the scales and the measurements in their order. */
void mcts_guess_archive(struct mcts_guess *g, struct archive *a)
{
    uint64_t count = g->count;
    uint64_t fitted = g->fitted;
    size_t bytes = sizeof(struct mcts_traits) + g->n_slots * sizeof(uint16_t);
    size_t all_bytes = sizeof(struct mcts_traits) + g->stride * sizeof(uint16_t);
    ARCHIVE(a, count);
    ARCHIVE(a, fitted);
    if (g->scales) mcts_scales_archive(g->scales, a);
    if (count > g->capacity || fitted > count) archive_fail(a);
    if (!archive_failed(a)) g->fitted = (size_t)fitted;
    for (uint64_t i = 0; i < count && !archive_failed(a); i++) {
        struct mcts_traits *t = archive_reads(a) ? base_calloc(1, all_bytes) : copy_traits(g, i);
        double time = archive_reads(a) ? 0 : g->list[i].time;
        archive_bytes(a, t, bytes);
        if (t->n_features > MCTS_FEATURES_MAX) archive_fail(a);
        ARCHIVE(a, time);
        if (archive_reads(a) && !archive_failed(a)) append(g, t, time);
        free(t);
    }
    ARCHIVE(a, g->best);
    archive_awaited(g, a, bytes);
}

/* ---- promises ---- */

/* The parts, of the measurements that have none yet; the times of all if the limit has changed. */
static void whiten(struct mcts_guess *g)
{
    struct whitened *w = &g->whitened;
    if (w->limited != g->limit) w->n_times = 0;
    w->limited = g->limit;
    for (; w->n_times < g->count; w->n_times++) {
        w->times[w->n_times] = guess_limited_time(g, w->n_times);
        factor_solve_element(g->factor, w->n_times, w->times);
    }
    for (; w->n < g->count; w->n++) {
        w->ones[w->n] = 1;
        w->bounds[w->n] = g->list[w->n].bound;
        factor_solve_element(g->factor, w->n, w->ones);
        factor_solve_element(g->factor, w->n, w->bounds);
        w->estimates[w->n] = g->list[w->n].estimate;
        factor_solve_element(g->factor, w->n, w->estimates);
        w->stops[w->n] = isinf(g->list[w->n].time) ? 1 : 0;
        factor_solve_element(g->factor, w->n, w->stops);
    }
}

/* The factor of all measurements anew. */
static void refactor(struct mcts_guess *g)
{
    size_t n = g->count;
    clear(g);
    for (size_t i = 0; i < n; i++)
        append_again(g, i);
}

/* Fits the scales to the newest measurements. */
static void fit_scales(struct mcts_guess *g)
{
    size_t n = g->count < FIT_MOST ? g->count : FIT_MOST, first = g->count - n;
    const uint16_t **values = base_malloc(n * sizeof *values);
    double *y = base_malloc(n * sizeof *y);
    for (size_t i = 0; i < n; i++) {
        values[i] = values_of(g, first + i);
        y[i] = guess_limited_time(g, first + i) -
               guess_mean(g, g->list[first + i].bound, g->list[first + i].estimate);
    }
    mcts_scales_fit(g->scales, values, y, n, guess_noise(g));
    free(values);
    free(y);
    g->fitted = g->count;
    refactor(g);
}

static bool is_fit_due(const struct mcts_guess *g)
{
    if (!g->scales) return false;
    size_t more = g->fitted / 4 > FIT_EVERY ? g->fitted / 4 : FIT_EVERY;
    return g->count >= g->fitted + more;
}

void mcts_guess_solve(struct mcts_guess *g)
{
    struct whitened *w = &g->whitened;
    if (g->solved || g->count == 0) return;
    guess_fit_mean(g);
    if (is_fit_due(g)) fit_scales(g);
    whiten(g);
    for (size_t i = 0; i < g->count; i++) {
        w->rest[i] = w->times[i] - g->level * w->ones[i] -
                     g->slope * (w->bounds[i] - g->middle * w->ones[i]) -
                     g->pace * (w->estimates[i] - g->center * w->ones[i]);
        w->stopping[i] = w->stops[i] - g->share * w->ones[i];
    }
    g->variance = (square(w->rest, g->count) + VARIANCE_PRIOR) / ((double)g->count + 1);
    add_awaited(g);
    g->solved = true;
}
