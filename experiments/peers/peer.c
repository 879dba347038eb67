/* Times a peer as `thresh replay` times a kernel: prints the nanoseconds of one call, the median over
 * batches, each the span of back-to-back calls over their count. Batches take 30 ms and are made in four
 * windows a second apart, each of 100 ms after 50 ms that are not timed: processors that clock up and down,
 * or share their cores with others, are as fast for both. Inputs are uniform in [-1, 1]. */
#include "peer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { WINDOWS = 4, LEAST_BATCHES = 3, MOST_BATCHES = 64, LEAST_CALLS = 5, MOST_CALLS = 40 };
static const double WARM_NS = 50e6, WINDOW_NS = 100e6, BATCH_NS = 30e6;

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

/* Appends the times of a window's batches; returns their number. */
static int window(const struct peer_work *p, double *times)
{
    int n = 0, calls;
    double start = now_ns(), ns = batch(p, 1);
    while (now_ns() - start < WARM_NS)
        ns = batch(p, 1);
    calls = (int)(BATCH_NS / ns);
    if (calls < LEAST_CALLS) calls = LEAST_CALLS;
    if (calls > MOST_CALLS) calls = MOST_CALLS;
    start = now_ns();
    while (n < LEAST_BATCHES || (n < MOST_BATCHES && now_ns() - start < WINDOW_NS))
        times[n++] = batch(p, calls);
    return n;
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
    double times[WINDOWS * MOST_BATCHES];
    int n = 0;
    for (int w = 0; w < WINDOWS; w++) {
        if (w > 0) nanosleep(&(struct timespec){.tv_sec = 1}, NULL);
        n += window(&p, times + n);
    }
    qsort(times, (size_t)n, sizeof times[0], ascending);
    printf("%.0f\n", times[n / 2]);
    return 0;
}
