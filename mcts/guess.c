/* Gaussian process regression by a Cholesky factor that grows by a row with each measurement.
 *
 * With n measurements of traits t_i and logarithms of times y_i, correlations K_ij = exp(-differing share of
 * traits / REACH), noise on the diagonal, and K = L L^T:
 *
 *     weights   = K^-1 (y - mean)                     solved once after new measurements
 *     expected  = mean(t) + sum_i K(t, t_i) weights_i
 *     deviation = sqrt(variance (1 + NOISE - |L^-1 K(t, .)|^2))
 *
 * A new measurement adds a row to L, at a cost of n^2. See guess.h. */
#include "mcts/guess.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>

#include "core/base/archive.h"
#include "core/base/arena.h"
#include "core/base/panic.h"
#include "core/base/stats.h"

struct mcts_traits {
    double bound; /* logarithm; 0 if there is none */
    uint16_t values[];
};

struct measurement {
    struct mcts_traits *traits;
    double time;    /* logarithm; INFINITY: stopped as too slow */
    double *factor; /* its row of the Cholesky factor, as long as its number + 1 */
};

struct mcts_guess {
    uint32_t *slots, n_slots; /* the choices whose values are traits */
    size_t count, capacity;
    struct measurement *list;
    double *weights;             /* [capacity] of the measurements */
    double *correlations;        /* [n_slots + 1] of implementations that differ in so many traits */
    double level, slope, middle; /* the mean: level + slope * (bound - middle) */
    double variance;             /* of the process */
    double best;                 /* logarithm; INFINITY before anything was learnt */
    bool solved;                 /* weights, mean and variance include all measurements */
};

/* REACH: implementations that differ in an eighth of their traits have a correlation of 1/e. NOISE: a
 * twentieth of the variance does not depend on the traits. The priors count as one measurement: slope 1 with
 * bounds that spread by a factor of e, times that spread by a factor of 2. SLOW: times above four times the
 * best count as four times the best, and so do stopped measurements. Halving or doubling any of them changes
 * searches little.
 */
static const double REACH = 0.125, NOISE = 0.05, SLOPE_PRIOR = 1, VARIANCE_PRIOR = 0.5, SLOW = 4;

/* ---- traits ---- */

static uint32_t pick_slots(const struct space *s, unsigned most_arity, uint32_t *slots)
{
    uint32_t n = 0;
    for (uint32_t slot = 0; slot < space_slot_count(s); slot++)
        if (space_slot_arity(s, slot) <= most_arity) slots[n++] = slot;
    return n;
}

struct mcts_guess *mcts_guess_new(const struct space *s, size_t capacity)
{
    CHECK(capacity >= 12);
    struct mcts_guess *g = base_calloc(1, sizeof *g);
    *g = (struct mcts_guess){.capacity = capacity, .best = INFINITY};
    g->slots = base_malloc((space_slot_count(s) + 1) * sizeof g->slots[0]);
    g->n_slots = pick_slots(s, 1, g->slots);
    if (g->n_slots == 0) g->n_slots = pick_slots(s, UINT_MAX, g->slots);
    g->list = base_calloc(capacity, sizeof g->list[0]);
    g->weights = base_calloc(capacity, sizeof g->weights[0]);
    g->correlations = base_calloc(g->n_slots + 1, sizeof g->correlations[0]);
    for (uint32_t i = 0; i <= g->n_slots; i++)
        g->correlations[i] = exp(-(double)i / (REACH * fmax(g->n_slots, 1)));
    return g;
}

static void forget(struct measurement *m)
{
    free(m->traits);
    free(m->factor);
    *m = (struct measurement){0};
}

void mcts_guess_free(struct mcts_guess *g)
{
    if (!g) return;
    for (size_t i = 0; i < g->count; i++)
        forget(&g->list[i]);
    free(g->slots);
    free(g->list);
    free(g->weights);
    free(g->correlations);
    free(g);
}

struct mcts_traits *mcts_traits_new(const struct mcts_guess *g, const uint16_t *values, double bound)
{
    struct mcts_traits *t = base_malloc(sizeof *t + g->n_slots * sizeof t->values[0]);
    t->bound = bound > 0 ? log(bound) : 0;
    for (uint32_t i = 0; i < g->n_slots; i++)
        t->values[i] = values[g->slots[i]];
    return t;
}

/* Correlation of two implementations. */
static double likeness(const struct mcts_guess *g, const struct mcts_traits *a, const struct mcts_traits *b)
{
    uint32_t differ = 0;
    for (uint32_t i = 0; i < g->n_slots; i++)
        differ += a->values[i] != b->values[i];
    return g->correlations[differ];
}

static void compare(const struct mcts_guess *g, const struct mcts_traits *t, double *likenesses)
{
    for (size_t i = 0; i < g->count; i++)
        likenesses[i] = likeness(g, t, g->list[i].traits);
}

/* ---- linear algebra ---- */

/* In LANES sums of their own, so that additions need not wait for each other and fit vectors: a promise
 * spends nearly all of its time here. */
static double dot(const double *a, const double *b, size_t n)
{
    enum { LANES = 16 };
    double sums[LANES] = {0}, sum = 0;
    size_t i = 0;
    for (; i + LANES <= n; i += LANES)
        for (size_t k = 0; k < LANES; k++)
            sums[k] += a[i + k] * b[i + k];
    for (size_t k = 0; k < LANES; k++)
        sum += sums[k];
    for (; i < n; i++)
        sum += a[i] * b[i];
    return sum;
}

/* x := L^-1 x */
static void solve_lower(const struct mcts_guess *g, double *x)
{
    for (size_t i = 0; i < g->count; i++) {
        const double *row = g->list[i].factor;
        x[i] = (x[i] - dot(row, x, i)) / row[i];
    }
}

/* x := L^-T x */
static void solve_upper(const struct mcts_guess *g, double *x)
{
    for (size_t i = g->count; i-- > 0;) {
        const double *row = g->list[i].factor;
        x[i] /= row[i];
        for (size_t j = 0; j < i; j++)
            x[j] -= row[j] * x[i];
    }
}

static double square(const double *x, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += x[i] * x[i];
    return sum;
}

/* ---- learning ---- */

/* Owns the traits from now on. */
static void append(struct mcts_guess *g, struct mcts_traits *t, double time)
{
    size_t n = g->count;
    double *row = base_malloc((n + 1) * sizeof row[0]);
    compare(g, t, row);
    solve_lower(g, row);
    row[n] = sqrt(1 + NOISE - square(row, n));
    g->list[g->count++] = (struct measurement){.traits = t, .time = time, .factor = row};
    g->best = fmin(g->best, time);
    g->solved = false;
}

/* Limited, so that a few very slow ones do not make everything unknown look promising. */
static double time_of(const struct mcts_guess *g, size_t i)
{
    return fmin(g->list[i].time, g->best + log(SLOW));
}

/* Makes room: keeps the fastest quarter and a third of the others. */
static void thin(struct mcts_guess *g)
{
    size_t n = g->count;
    double *times = g->weights;
    for (size_t i = 0; i < n; i++)
        times[i] = time_of(g, i);
    double fast = stats_quantile(times, n, 0.25);
    size_t places = n / 4;
    g->count = 0;
    for (size_t i = 0; i < n; i++) {
        struct measurement m = g->list[i];
        bool is_fast = times[i] <= fast && places > 0;
        places -= is_fast;
        free(m.factor);
        if (is_fast || i % 3 == 0)
            append(g, m.traits, m.time);
        else
            free(m.traits);
    }
}

void mcts_guess_learn(struct mcts_guess *g, struct mcts_traits *t, double time)
{
    if (!isfinite(time) && g->count == 0) {
        free(t);
        return;
    }
    if (g->count == g->capacity) thin(g);
    append(g, t, log(time));
}

/* The factor follows from the measurements in their order. */
void mcts_guess_archive(struct mcts_guess *g, struct archive *a)
{
    uint64_t count = g->count;
    ARCHIVE(a, count);
    if (count > g->capacity) archive_fail(a);
    for (uint64_t i = 0; i < count && !archive_failed(a); i++) {
        size_t bytes = sizeof(struct mcts_traits) + g->n_slots * sizeof(uint16_t);
        struct mcts_traits *t = archive_reads(a) ? base_malloc(bytes) : g->list[i].traits;
        double time = archive_reads(a) ? 0 : g->list[i].time;
        archive_bytes(a, t, bytes);
        ARCHIVE(a, time);
        if (archive_reads(a)) append(g, t, time);
    }
    ARCHIVE(a, g->best);
}

/* ---- promises ---- */

/* Times on bounds, by least squares. */
static void fit_mean(struct mcts_guess *g)
{
    double n = (double)g->count, times = 0, bounds = 0, spread = SLOPE_PRIOR, common = SLOPE_PRIOR;
    for (size_t i = 0; i < g->count; i++) {
        times += time_of(g, i);
        bounds += g->list[i].traits->bound;
    }
    g->level = times / n;
    g->middle = bounds / n;
    for (size_t i = 0; i < g->count; i++) {
        double bound = g->list[i].traits->bound - g->middle;
        spread += bound * bound;
        common += bound * (time_of(g, i) - g->level);
    }
    g->slope = common / spread;
}

static double mean(const struct mcts_guess *g, const struct mcts_traits *t)
{
    return g->level + g->slope * (t->bound - g->middle);
}

void mcts_guess_solve(struct mcts_guess *g)
{
    if (g->solved || g->count == 0) return;
    fit_mean(g);
    for (size_t i = 0; i < g->count; i++)
        g->weights[i] = time_of(g, i) - mean(g, g->list[i].traits);
    solve_lower(g, g->weights);
    g->variance = (square(g->weights, g->count) + VARIANCE_PRIOR) / ((double)g->count + 1);
    solve_upper(g, g->weights);
    g->solved = true;
}

/* The logarithm of E[max(z + deviate, 0)] for a standard normal deviate. Far in the tail an asymptotic series
 * takes over, where the sum would round to 0. */
static double log_gain(double z)
{
    const double pi = 3.14159265358979323846;
    if (z < -6) return -z * z / 2 - log(2 * pi) / 2 - log(z * z + 3);
    return log(z * erfc(-z / sqrt(2)) / 2 + exp(-z * z / 2) / sqrt(2 * pi));
}

double mcts_guess_promise(const struct mcts_guess *g, const struct mcts_traits *t)
{
    if (g->count == 0) return -t->bound;
    CHECK(g->solved);
    double expected = mean(g, t), *x = base_malloc(g->count * sizeof x[0]);
    compare(g, t, x);
    for (size_t i = 0; i < g->count; i++)
        expected += g->weights[i] * x[i];
    solve_lower(g, x);
    double deviation = sqrt(g->variance * (1 + NOISE - square(x, g->count)));
    free(x);
    return log(deviation) + log_gain((g->best - expected) / deviation);
}
