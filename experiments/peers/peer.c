/* Times a peer: prints the nanoseconds of one call, the median over 5 batches, each the span of
 * back-to-back calls over their count, after an untimed call. Inputs are uniform in [-1, 1]. */
#include "peer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
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
static double batch(const struct peer_work *p, int calls)
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

/* Reads the work; returns the device's substring. */
static const char *read_work(struct peer_work *p, int argc, char **argv)
{
    p->convolution = argc > 1 && strcmp(argv[1], "conv") == 0;
    argv += p->convolution;
    argc -= p->convolution;
    if (argc < 4) peer_die("usage: PEER M N K [device substring], or PEER conv KERNELS SIZE CHANNELS [...]");
    p->m = strtoul(argv[1], NULL, 10);
    p->n = strtoul(argv[2], NULL, 10);
    p->k = strtoul(argv[3], NULL, 10);
    p->elements[0] = p->convolution ? p->k * p->n * p->n : p->m * p->k;
    p->elements[1] = p->convolution ? p->m * p->k * 9 : p->k * p->n;
    p->elements[2] = p->convolution ? p->m * p->n * p->n : p->m * p->n;
    return argc > 4 ? argv[4] : "";
}

int main(int argc, char **argv)
{
    struct peer_work p = {0};
    const char *device = read_work(&p, argc, argv);
    for (int i = 0; i < 3; i++)
        p.arrays[i] = uniform(p.elements[i]);
    peer_open(&p, device);
    batch(&p, 1);
    double times[BATCHES];
    int calls = (int)(1e8 / batch(&p, 1)) + 1;
    for (int i = 0; i < BATCHES; i++)
        times[i] = batch(&p, calls < MOST_CALLS ? calls : MOST_CALLS);
    qsort(times, BATCHES, sizeof times[0], ascending);
    printf("%.0f\n", times[BATCHES / 2]);
    return 0;
}
