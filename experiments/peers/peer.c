/* Times a peer: prints the nanoseconds of one product, the median over 5 batches, each the span of
 * back-to-back calls over their count, after an untimed call. Inputs are uniform in [-1, 1]. */
#include "peer.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { BATCHES = 5, MOST_CALLS = 40 };

void peer_die(const char *text)
{
    fprintf(stderr, "peer: %s\n", text);
    exit(1);
}

static double now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static float *uniform(size_t n)
{
    float *x = malloc(n * sizeof *x);
    if (!x) peer_die("out of memory");
    for (size_t i = 0; i < n; i++)
        x[i] = (float)rand() / (float)RAND_MAX * 2 - 1;
    return x;
}

/* Nanoseconds of a call. */
static double batch(const struct peer_product *p, int calls)
{
    double start = now_ns();
    for (int i = 0; i < calls; i++)
        peer_call(p);
    peer_finish();
    return (now_ns() - start) / calls;
}

static int ascending(const void *x, const void *y)
{
    double a = *(const double *)x, b = *(const double *)y;
    return (a > b) - (a < b);
}

int main(int argc, char **argv)
{
    if (argc < 4) peer_die("usage: PEER M N K [device substring]");
    struct peer_product p = {
        .m = strtoul(argv[1], NULL, 10), .n = strtoul(argv[2], NULL, 10), .k = strtoul(argv[3], NULL, 10)};
    p.a = uniform(p.m * p.k);
    p.b = uniform(p.k * p.n);
    p.c = uniform(p.m * p.n);
    peer_open(&p, argc > 4 ? argv[4] : "");
    batch(&p, 1);
    double times[BATCHES];
    int calls = (int)(1e8 / batch(&p, 1)) + 3;
    for (int i = 0; i < BATCHES; i++)
        times[i] = batch(&p, calls < MOST_CALLS ? calls : MOST_CALLS);
    qsort(times, BATCHES, sizeof times[0], ascending);
    printf("%.0f\n", times[BATCHES / 2]);
    return 0;
}
