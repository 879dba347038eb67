/* A user's program for `thresh tune --space transpose.space`: transposes a matrix of floats in tiles, checks
 * the result and prints the fastest of a few runs in nanoseconds.
 *
 *     transpose N TILE_ROWS TILE_COLUMNS UNROLL READ|WRITE
 *
 * It knows nothing of thresh: values come as arguments, the time goes to standard output, and a wrong result
 * or a wrong call ends it with status 1. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { RUNS = 5, MOST = 8192 };

struct shape {
    size_t n, rows, columns, unroll;
    int write; /* the innermost loop writes contiguously */
};

static double now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

/* One row of a tile: `count` elements, `from` apart in the source and `to` apart in the target. */
static void copy(const float *a, size_t from, float *b, size_t to, size_t count, size_t unroll)
{
    for (size_t i = 0; i < count; i += unroll)
        for (size_t u = 0; u < unroll; u++)
            b[(i + u) * to] = a[(i + u) * from];
}

static void transpose_tile(const struct shape *s, const float *a, float *b)
{
    if (s->write)
        for (size_t j = 0; j < s->columns; j++)
            copy(a + j, s->n, b + j * s->n, 1, s->rows, s->unroll);
    else
        for (size_t i = 0; i < s->rows; i++)
            copy(a + i * s->n, 1, b + i, s->n, s->columns, s->unroll);
}

static void transpose(const struct shape *s, const float *a, float *b)
{
    for (size_t i = 0; i < s->n; i += s->rows)
        for (size_t j = 0; j < s->n; j += s->columns)
            transpose_tile(s, a + i * s->n + j, b + j * s->n + i);
}

static int is_right(const struct shape *s, const float *a, const float *b)
{
    for (size_t i = 0; i < s->n; i++)
        for (size_t j = 0; j < s->n; j++)
            if (b[j * s->n + i] != a[i * s->n + j]) return 0;
    return 1;
}

static int measure(const struct shape *s, float *a, float *b)
{
    double best = 0;
    for (size_t i = 0; i < s->n * s->n; i++)
        a[i] = (float)i;
    for (int run = 0; run < RUNS; run++) {
        double start = now_ns();
        transpose(s, a, b);
        double ns = now_ns() - start;
        if (run == 0 || ns < best) best = ns;
    }
    if (!is_right(s, a, b)) return 0;
    printf("%.0f\n", best);
    return 1;
}

static size_t number(const char *text)
{
    long x = strtol(text, NULL, 10);
    return x > 0 && x <= MOST ? (size_t)x : 0;
}

int main(int argc, char **argv)
{
    if (argc != 6) {
        fprintf(stderr, "usage: transpose N TILE_ROWS TILE_COLUMNS UNROLL READ|WRITE\n");
        return 1;
    }
    struct shape s = {number(argv[1]), number(argv[2]), number(argv[3]), number(argv[4]),
                      !strcmp(argv[5], "WRITE")};
    if (!s.n || !s.rows || !s.columns || !s.unroll || s.n % s.rows || s.n % s.columns ||
        (s.write ? s.rows : s.columns) % s.unroll) {
        fprintf(stderr, "transpose: these tiles do not divide the matrix\n");
        return 1;
    }
    float *a = calloc(s.n * s.n, sizeof *a), *b = calloc(s.n * s.n, sizeof *b);
    int ok = a && b && measure(&s, a, b);
    if (!ok) fprintf(stderr, "transpose: wrong result\n");
    free(a);
    free(b);
    return ok ? 0 : 1;
}
