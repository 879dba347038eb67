/* Gaussian process regression by a Cholesky factor that grows by a row with each measurement.
 *
 * With n measurements of traits t_i and logarithms of times y_i, correlations K_ij = exp(-differing share of
 * traits / REACH), or in spaces of few choices those of mcts/scales.h, noise on the diagonal, and K = L L^T:
 *
 *     whitened  = L^-1 (y - mean)                     a sum of three vectors that grow with the factor
 *     x         = L^-1 K(t, .)                        the work of a promise
 *     expected  = mean(t) + x . whitened
 *     deviation = sqrt(variance (1 + NOISE - |x|^2))
 *
 * A new measurement adds a row to L, at a cost of n^2, and so does each promise. The factor is larger than
 * the caches, so promises are made for LANES implementations at once: each row of L is read once for all of
 * them. See guess.h. */
#include "mcts/guess.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>

#include "core/base/archive.h"
#include "core/base/arena.h"
#include "core/base/panic.h"
#include "core/base/stats.h"
#include "mcts/scales.h"

struct mcts_traits {
    double bound; /* logarithm; 0 if there is none */
    uint16_t values[];
};

struct measurement {
    struct mcts_traits *traits;
    double time;    /* logarithm; INFINITY: stopped as too slow */
    double *factor; /* its row of the Cholesky factor, as long as its number + 1 */
};

/* L^-1 v, for the parts v of y - mean; [capacity] each. */
struct whitened {
    double *times, *ones, *bounds;
    double *rest;   /* of y - mean: times - level ones - slope (bounds - middle ones) */
    size_t n;       /* rows that the three have */
    double limited; /* the best time by which `times` are limited */
};

/* Implementations that a promise is made for at once, a number for each: two vectors of the machine with
 * AVX2. Four rows of the factor at once fill its registers. */
enum { LANES = 8, HALVES = 2, LANES_OF_HALF = LANES / HALVES, ROWS = 4 };
typedef double half_lanes __attribute__((vector_size(LANES_OF_HALF * sizeof(double))));
typedef struct {
    half_lanes half[HALVES];
} lanes;

struct mcts_guess {
    uint32_t *slots, n_slots; /* the choices whose values are traits */
    size_t count, capacity;
    struct measurement *list;
    struct whitened whitened;
    struct mcts_scales *scales;  /* correlations; NULL: there are more than FEW choices, */
    double *correlations;        /* then [n_slots + 1] of implementations that differ in so many traits */
    size_t fitted;               /* measurements at the last fit of the scales */
    double level, slope, middle; /* the mean: level + slope * (bound - middle) */
    double variance;             /* of the process */
    double best;                 /* logarithm; INFINITY before anything was learnt */
    bool solved;                 /* the rest, mean and variance include all measurements */
};

/* REACH: at first, implementations that differ in an eighth of their traits have a correlation of 1/e. NOISE:
 * a twentieth of the variance does not depend on the traits. The priors count as one measurement: slope 1
 * with bounds that spread by a factor of e, times that spread by a factor of 2. SLOW: times above four times
 * the best count as four times the best, and so do stopped measurements. Halving or doubling any of them
 * changes searches little.
 */
static const double REACH = 0.125, NOISE = 0.05, SLOPE_PRIOR = 1, VARIANCE_PRIOR = 0.5, SLOW = 4;

/* The scales are fitted anew after so many measurements, or a quarter more of them, to so many at most: a fit
 * takes 10 to 50 ms, and the factor has to be made again. */
enum { FIT_EVERY = 20, FIT_MOST = 200 };

/* Choices up to which scales are fitted. Spaces of Lift programs have a hundred and more with a value each:
 * there fitted scales find nothing earlier (experiments/results/2026-11-25-scales.md), and cost 1 ms an
 * evaluation. */
enum { FEW = 32 };

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
    struct whitened *w = &g->whitened;
    w->times = base_calloc(4 * capacity, sizeof w->times[0]);
    w->ones = w->times + capacity;
    w->bounds = w->ones + capacity;
    w->rest = w->bounds + capacity;
    double rate = 1 / (REACH * fmax(g->n_slots, 1));
    if (g->n_slots <= FEW) g->scales = mcts_scales_new(s, g->slots, g->n_slots, rate);
    g->correlations = base_calloc(g->n_slots + 1, sizeof g->correlations[0]);
    for (uint32_t i = 0; i <= g->n_slots; i++)
        g->correlations[i] = exp(-(double)i * rate);
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
    free(g->whitened.times);
    mcts_scales_free(g->scales);
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
    if (g->scales) return mcts_scales_likeness(g->scales, a->values, b->values);
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

/* In SUMS sums of their own, so that additions need not wait for each other and fit vectors. */
static double dot(const double *a, const double *b, size_t n)
{
    enum { SUMS = 16 };
    double sums[SUMS] = {0}, sum = 0;
    size_t i = 0;
    for (; i + SUMS <= n; i += SUMS)
        for (size_t k = 0; k < SUMS; k++)
            sums[k] += a[i + k] * b[i + k];
    for (size_t k = 0; k < SUMS; k++)
        sum += sums[k];
    for (; i < n; i++)
        sum += a[i] * b[i];
    return sum;
}

/* Row i of x := L^-1 x; the rows before it are solved. */
static void solve_row(const struct mcts_guess *g, size_t i, double *x)
{
    const double *row = g->list[i].factor;
    x[i] = (x[i] - dot(row, x, i)) / row[i];
}

/* x := L^-1 x */
static void solve_lower(const struct mcts_guess *g, double *x)
{
    for (size_t i = 0; i < g->count; i++)
        solve_row(g, i, x);
}

/* The same for LANES vectors and `rows` rows from i on, so that each element of x is read once for all of
 * them and their sums do not wait for each other. Lanes do not mix: a vector's result does not depend on the
 * others. */
static inline void solve_rows(const struct mcts_guess *g, size_t i, size_t rows, lanes *x)
{
    const double *row[ROWS];
    lanes sums[ROWS] = {{{{0}}}};
    for (size_t r = 0; r < rows; r++)
        row[r] = g->list[i + r].factor;
    for (size_t j = 0; j < i; j++)
        for (size_t r = 0; r < rows; r++)
            for (size_t h = 0; h < HALVES; h++)
                sums[r].half[h] += row[r][j] * x[j].half[h];
    for (size_t r = 0; r < rows; r++)
        for (size_t h = 0; h < HALVES; h++) {
            for (size_t before = 0; before < r; before++)
                sums[r].half[h] += row[r][i + before] * x[i + before].half[h];
            x[i + r].half[h] = (x[i + r].half[h] - sums[r].half[h]) / row[r][i + r];
        }
}

static void solve_lanes(const struct mcts_guess *g, lanes *x)
{
    size_t i = 0;
    for (; i + ROWS <= g->count; i += ROWS)
        solve_rows(g, i, ROWS, x);
    for (; i < g->count; i++)
        solve_rows(g, i, 1, x);
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
    double *times = g->whitened.rest;
    for (size_t i = 0; i < n; i++)
        times[i] = time_of(g, i);
    double fast = stats_quantile(times, n, 0.25);
    size_t places = n / 4;
    g->count = g->whitened.n = 0;
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
    if (g->fitted > g->count) g->fitted = g->count;
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

/* The factor follows from the scales and the measurements in their order. */
void mcts_guess_archive(struct mcts_guess *g, struct archive *a)
{
    uint64_t count = g->count;
    uint64_t fitted = g->fitted;
    ARCHIVE(a, count);
    ARCHIVE(a, fitted);
    if (g->scales) mcts_scales_archive(g->scales, a);
    if (count > g->capacity || fitted > count) archive_fail(a);
    if (!archive_failed(a)) g->fitted = (size_t)fitted;
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

/* The three parts, of the measurements that have none yet; of all if the limit of times has changed. */
static void whiten(struct mcts_guess *g)
{
    struct whitened *w = &g->whitened;
    if (w->limited != g->best) w->n = 0;
    w->limited = g->best;
    for (; w->n < g->count; w->n++) {
        w->times[w->n] = time_of(g, w->n);
        w->ones[w->n] = 1;
        w->bounds[w->n] = g->list[w->n].traits->bound;
        solve_row(g, w->n, w->times);
        solve_row(g, w->n, w->ones);
        solve_row(g, w->n, w->bounds);
    }
}

/* The factor of all measurements anew. */
static void refactor(struct mcts_guess *g)
{
    size_t n = g->count;
    g->count = g->whitened.n = 0;
    for (size_t i = 0; i < n; i++) {
        struct measurement m = g->list[i];
        free(m.factor);
        append(g, m.traits, m.time);
    }
}

/* Fits the scales to the newest measurements. */
static void fit_scales(struct mcts_guess *g)
{
    size_t n = g->count < FIT_MOST ? g->count : FIT_MOST, first = g->count - n;
    const uint16_t **values = base_malloc(n * sizeof *values);
    double *y = base_malloc(n * sizeof *y);
    for (size_t i = 0; i < n; i++) {
        values[i] = g->list[first + i].traits->values;
        y[i] = time_of(g, first + i) - mean(g, g->list[first + i].traits);
    }
    mcts_scales_fit(g->scales, values, y, n, NOISE);
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
    fit_mean(g);
    if (is_fit_due(g)) fit_scales(g);
    whiten(g);
    for (size_t i = 0; i < g->count; i++)
        w->rest[i] = w->times[i] - g->level * w->ones[i] - g->slope * (w->bounds[i] - g->middle * w->ones[i]);
    g->variance = (square(w->rest, g->count) + VARIANCE_PRIOR) / ((double)g->count + 1);
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

/* Of 1 to LANES implementations; x: scratch [count]. */
static void promise_lanes(const struct mcts_guess *g, const struct mcts_traits *const *t, unsigned n,
                          lanes *x, double *promises)
{
    lanes expected = {{{0}}}, explained = {{{0}}};
    for (size_t i = 0; i < g->count; i++)
        for (unsigned k = 0; k < LANES; k++)
            x[i].half[k / LANES_OF_HALF][k % LANES_OF_HALF] =
                k < n ? likeness(g, t[k], g->list[i].traits) : 0;
    solve_lanes(g, x);
    for (size_t i = 0; i < g->count; i++)
        for (unsigned h = 0; h < HALVES; h++) {
            expected.half[h] += x[i].half[h] * g->whitened.rest[i];
            explained.half[h] += x[i].half[h] * x[i].half[h];
        }
    for (unsigned k = 0; k < n; k++) {
        unsigned h = k / LANES_OF_HALF, lane = k % LANES_OF_HALF;
        double deviation = sqrt(g->variance * (1 + NOISE - explained.half[h][lane]));
        double gain = g->best - mean(g, t[k]) - expected.half[h][lane];
        promises[k] = log(deviation) + log_gain(gain / deviation);
    }
}

void mcts_guess_promises(const struct mcts_guess *g, const struct mcts_traits *const *t, unsigned n,
                         double *promises)
{
    CHECK(g->solved || g->count == 0);
    lanes *x = aligned_alloc(sizeof(half_lanes), (g->count + 1) * sizeof x[0]);
    CHECK(x);
    for (unsigned i = 0; g->count > 0 && i < n; i += LANES)
        promise_lanes(g, t + i, n - i < LANES ? n - i : LANES, x, promises + i);
    for (unsigned i = 0; g->count == 0 && i < n; i++)
        promises[i] = -t[i]->bound;
    free(x);
}
