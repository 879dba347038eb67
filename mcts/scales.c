/* Gradient ascent on the logarithms of rates, a few steps from where the last fit ended. See scales.h. */
#include "mcts/scales.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/archive.h"
#include "core/base/arena.h"
#include "mcts/policy.h"

enum { STEPS = 12, LANES = 8 };
/* SPREAD: of the logarithms of rates, in the prior. STEP: of a logarithm, at first. */
static const double SPREAD = 1.5, STEP = 0.4, VARIANCE_PRIOR = 0.5;

struct mcts_scales {
    uint32_t n;
    double first; /* rate */
    float *units,
        *most;      /* by choice: a distance is units * difference of the values' numbers, at most that */
    float *weights; /* the rates, rounded */
    double *rates;
};

/* ---- distances ---- */

static bool is_number(const struct space *s, uint32_t slot, uint32_t value)
{
    char name[64], *end;
    space_value_name(s, slot, value, name, sizeof name);
    double x = strtod(name, &end);
    return *name && *end == 0 && isfinite(x);
}

/* The distance of neighbours; 0: values are of different kinds. */
static float unit_of(const struct space *s, uint32_t slot)
{
    uint32_t n = space_universe(s, slot);
    for (uint32_t v = 0; v < n; v++)
        if (!is_number(s, slot, v)) return 0;
    return n > 3 ? 2 / (float)(n - 1) : 1;
}

struct mcts_scales *mcts_scales_new(const struct space *s, const uint32_t *slots, uint32_t n, double rate)
{
    struct mcts_scales *x = base_calloc(1, sizeof *x);
    *x = (struct mcts_scales){.n = n,
                              .first = rate,
                              .units = base_malloc((n + 1) * sizeof *x->units),
                              .most = base_malloc((n + 1) * sizeof *x->most),
                              .weights = base_malloc((n + 1) * sizeof *x->weights),
                              .rates = base_malloc((n + 1) * sizeof *x->rates)};
    for (uint32_t i = 0; i < n; i++) {
        float unit = unit_of(s, slots[i]);
        x->units[i] = unit > 0 ? unit : 1;
        x->most[i] = unit > 0 ? 2 : 1;
        x->rates[i] = rate;
        x->weights[i] = (float)rate;
    }
    return x;
}

void mcts_scales_free(struct mcts_scales *s)
{
    if (!s) return;
    free(s->units);
    free(s->most);
    free(s->weights);
    free(s->rates);
    free(s);
}

/* Of MCTS_NO_VALUE every value is as far as it can be. */
static inline float distance(const struct mcts_scales *s, uint32_t i, uint16_t a, uint16_t b)
{
    float d = s->units[i] * (float)abs((int)a - (int)b);
    return d < s->most[i] ? d : s->most[i];
}

/* In LANES sums, which fit vectors: half of the time of a promise goes here. */
double mcts_scales_likeness(const struct mcts_scales *s, const uint16_t *a, const uint16_t *b)
{
    float sums[LANES] = {0};
    double sum = 0;
    uint32_t i = 0;
    for (; i + LANES <= s->n; i += LANES)
        for (uint32_t k = 0; k < LANES; k++)
            sums[k] += s->weights[i + k] * distance(s, i + k, a[i + k], b[i + k]);
    for (uint32_t k = 0; k < LANES; k++)
        sum += (double)sums[k];
    for (; i < s->n; i++)
        sum += (double)(s->weights[i] * distance(s, i, a[i], b[i]));
    return exp(-sum);
}

double mcts_scales_rate(const struct mcts_scales *s, uint32_t i)
{
    return s->rates[i];
}

void mcts_scales_archive(struct mcts_scales *s, struct archive *a)
{
    archive_bytes(a, s->rates, s->n * sizeof *s->rates);
    for (uint32_t i = 0; i < s->n; i++)
        s->weights[i] = (float)s->rates[i];
}

/* ---- fitting ---- */

/* Choices that differ between the implementations, and the matrices of a step, by row. Pairs i > j are
 * numbered from 0: (1, 0), (2, 0), (2, 1), ... */
struct fit {
    struct mcts_scales *scales;
    const double *y;
    size_t n;
    double noise;
    uint32_t *open;       /* choices */
    size_t n_open;        /* rounded up to LANES: distances beyond are 0 */
    float *distances;     /* [pairs * n_open] */
    float *rates;         /* [n_open] */
    float *slopes;        /* [n_open] */
    double *likeness;     /* [pairs] */
    double *factor;       /* [n * n] of Cholesky, below the diagonal and on it */
    double *inverse;      /* [n * n] row j: column j of the factor's inverse */
    double *weights;      /* [n] */
    double *last, *steps; /* [n_open] slope and step of the logarithms */
};

static uint32_t find_open(struct fit *f, const uint16_t *const *values)
{
    uint32_t n = 0;
    for (uint32_t c = 0; c < f->scales->n; c++) {
        bool differs = false;
        for (size_t i = 1; !differs && i < f->n; i++)
            differs = values[i][c] != values[0][c];
        if (differs) f->open[n++] = c;
    }
    return n;
}

static void open_fit(struct fit *f, const uint16_t *const *values)
{
    size_t n = f->n, pairs = n * (n - 1) / 2;
    f->open = base_malloc((f->scales->n + 1) * sizeof *f->open);
    uint32_t open = find_open(f, values);
    f->n_open = (open + LANES - 1) / LANES * LANES;
    f->distances = base_calloc(pairs * f->n_open + 1, sizeof *f->distances);
    float *at = f->distances;
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < i; j++, at += f->n_open)
            for (uint32_t k = 0; k < open; k++) {
                uint32_t c = f->open[k];
                at[k] = distance(f->scales, c, values[i][c], values[j][c]);
            }
    f->rates = base_calloc(2 * f->n_open + 1, sizeof *f->rates);
    f->slopes = f->rates + f->n_open;
    f->likeness = base_malloc((pairs + 1) * sizeof *f->likeness);
    f->factor = base_malloc(n * n * sizeof *f->factor);
    f->inverse = base_malloc(n * n * sizeof *f->inverse);
    f->weights = base_malloc(n * sizeof *f->weights);
    f->last = base_calloc(2 * f->n_open + 1, sizeof *f->last);
    f->steps = f->last + f->n_open;
    for (uint32_t k = 0; k < open; k++)
        f->steps[k] = STEP;
    f->n_open = open;
}

static void close_fit(struct fit *f)
{
    free(f->open);
    free(f->distances);
    free(f->rates);
    free(f->likeness);
    free(f->factor);
    free(f->inverse);
    free(f->weights);
    free(f->last);
}

static size_t width_of(const struct fit *f)
{
    return (f->n_open + LANES - 1) / LANES * LANES;
}

static double dot(const double *a, const double *b, size_t n)
{
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

static void fill_likeness(struct fit *f)
{
    size_t width = width_of(f), pairs = f->n * (f->n - 1) / 2;
    for (size_t k = 0; k < f->n_open; k++)
        f->rates[k] = f->scales->weights[f->open[k]];
    for (size_t p = 0; p < pairs; p++) {
        const float *d = f->distances + p * width;
        float sums[LANES] = {0}, sum = 0;
        for (size_t k = 0; k < width; k += LANES)
            for (size_t l = 0; l < LANES; l++)
                sums[l] += d[k + l] * f->rates[k + l];
        for (size_t l = 0; l < LANES; l++)
            sum += sums[l];
        f->likeness[p] = exp(-(double)sum);
    }
}

/* likeness + noise = L L^T; then L^-1. */
static void factorize(struct fit *f)
{
    size_t n = f->n;
    const double *like = f->likeness;
    for (size_t i = 0; i < n; i++) {
        double *row = f->factor + i * n;
        for (size_t j = 0; j < i; j++)
            row[j] = (*like++ - dot(row, f->factor + j * n, j)) / f->factor[j * n + j];
        row[i] = sqrt(1 + f->noise - dot(row, row, i));
    }
    for (size_t j = 0; j < n; j++) {
        double *column = f->inverse + j * n;
        column[j] = 1 / f->factor[j * n + j];
        for (size_t i = j + 1; i < n; i++)
            column[i] = -dot(f->factor + i * n + j, column + j, i - j) / f->factor[i * n + i];
    }
}

/* weights := K^-1 y = L^-T (L^-1 y). Returns y^T K^-1 y. */
static double weigh(struct fit *f)
{
    size_t n = f->n;
    double sum = 0;
    double *z = base_calloc(n, sizeof *z);
    for (size_t j = 0; j < n; j++)
        for (size_t i = j; i < n; i++)
            z[i] += f->inverse[j * n + i] * f->y[j];
    for (size_t j = 0; j < n; j++)
        f->weights[j] = dot(f->inverse + j * n + j, z + j, n - j);
    for (size_t i = 0; i < n; i++)
        sum += z[i] * z[i];
    free(z);
    return sum;
}

/* Slopes of the logarithm of the marginal likelihood, by the rates. */
static void take_slopes(struct fit *f)
{
    size_t n = f->n, width = width_of(f), p = 0;
    fill_likeness(f);
    factorize(f);
    double share = (double)(n + 1) / (weigh(f) + VARIANCE_PRIOR);
    memset(f->slopes, 0, width * sizeof *f->slopes);
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < i; j++, p++) {
            double inverse = dot(f->inverse + i * n + i, f->inverse + j * n + i, n - i);
            double change = (inverse - share * f->weights[i] * f->weights[j]) * f->likeness[p];
            const float *d = f->distances + p * width, by = (float)change;
            for (size_t k = 0; k < width; k++)
                f->slopes[k] += by * d[k];
        }
}

/* Each logarithm goes by a step of its own, which grows as long as the sign of its slope stays (M.
 * Riedmiller, H. Braun, "A direct adaptive method for faster backpropagation learning: the RPROP algorithm",
 * 1993). */
static void step(struct fit *f)
{
    for (size_t k = 0; k < f->n_open; k++) {
        double *rate = &f->scales->rates[f->open[k]];
        double slope = f->slopes[k] * *rate - log(*rate / f->scales->first) / (SPREAD * SPREAD);
        double turn = slope * f->last[k];
        if (turn > 0) f->steps[k] = fmin(f->steps[k] * 1.2, 1);
        if (turn < 0) f->steps[k] *= 0.5;
        f->last[k] = turn < 0 ? 0 : slope;
        if (turn >= 0) *rate *= exp(slope > 0 ? f->steps[k] : -f->steps[k]);
        f->scales->weights[f->open[k]] = (float)*rate;
    }
}

void mcts_scales_fit(struct mcts_scales *s, const uint16_t *const *values, const double *y, size_t n,
                     double noise)
{
    struct fit f = {.scales = s, .y = y, .n = n, .noise = noise};
    if (n < 2) return;
    open_fit(&f, values);
    for (int i = 0; i < STEPS; i++) {
        take_slopes(&f);
        step(&f);
    }
    close_fit(&f);
}
