/* Rows are as long as their number; ROWS of them are read at once, so that each element of x is read once for
 * all of them and their sums do not wait for each other. */
#include "mcts/factor.h"

#include <math.h>
#include <stdlib.h>

#include "core/base/arena.h"
#include "core/base/panic.h"

enum { ROWS = 8 };

struct factor {
    size_t count, capacity;
    float **rows; /* [capacity]; row i has i + 1 elements */
    factor_lanes *scratch;
};

struct factor *factor_new(size_t capacity)
{
    struct factor *f = base_calloc(1, sizeof *f);
    f->capacity = capacity;
    f->rows = base_calloc(capacity, sizeof f->rows[0]);
    f->scratch = aligned_alloc(sizeof(factor_lanes), (capacity + 1) * sizeof(factor_lanes));
    CHECK(f->scratch);
    return f;
}

void factor_truncate(struct factor *f, size_t n)
{
    while (f->count > n)
        free(f->rows[--f->count]);
}

void factor_clear(struct factor *f)
{
    factor_truncate(f, 0);
}

void factor_free(struct factor *f)
{
    if (!f) return;
    factor_clear(f);
    free(f->rows);
    free(f->scratch);
    free(f);
}

size_t factor_count(const struct factor *f)
{
    return f->count;
}

factor_lanes *factor_scratch(struct factor *f)
{
    return f->scratch;
}

/* Rows i to i + n - 1. */
static inline void solve_rows(const struct factor *f, size_t i, size_t n, factor_lanes *x)
{
    const float *row[ROWS];
    factor_lanes sums[ROWS] = {{0}};
    for (size_t r = 0; r < n; r++)
        row[r] = f->rows[i + r];
    for (size_t j = 0; j < i; j++)
        for (size_t r = 0; r < n; r++)
            sums[r] += row[r][j] * x[j];
    for (size_t r = 0; r < n; r++) {
        for (size_t before = 0; before < r; before++)
            sums[r] += row[r][i + before] * x[i + before];
        x[i + r] = (x[i + r] - sums[r]) / row[r][i + r];
    }
}

void factor_solve(const struct factor *f, size_t first, factor_lanes *x)
{
    size_t i = first;
    for (; i + ROWS <= f->count; i += ROWS)
        solve_rows(f, i, ROWS, x);
    for (; i < f->count; i++)
        solve_rows(f, i, 1, x);
}

/* In SUMS sums of their own, so that additions need not wait for each other and fit vectors. */
static double dot(const float *a, const double *b, size_t n)
{
    enum { SUMS = 16 };
    double sums[SUMS] = {0}, sum = 0;
    size_t i = 0;
    for (; i + SUMS <= n; i += SUMS)
        for (size_t k = 0; k < SUMS; k++)
            sums[k] += (double)a[i + k] * b[i + k];
    for (size_t k = 0; k < SUMS; k++)
        sum += sums[k];
    for (; i < n; i++)
        sum += (double)a[i] * b[i];
    return sum;
}

void factor_solve_element(const struct factor *f, size_t i, double *x)
{
    const float *row = f->rows[i];
    x[i] = (x[i] - dot(row, x, i)) / (double)row[i];
}

void factor_append(struct factor *f, const factor_lanes *x, double own, double noise)
{
    CHECK(f->count < f->capacity);
    size_t n = f->count;
    double explained = 0;
    float *row = base_malloc((n + 1) * sizeof row[0]);
    for (size_t i = 0; i < n; i++) {
        row[i] = x[i][0];
        explained += (double)row[i] * (double)row[i];
    }
    row[n] = (float)sqrt(fmax(own - explained, noise));
    f->rows[f->count++] = row;
}
