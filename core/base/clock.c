/* See clock.h. */
#include "core/base/clock.h"

#include <time.h>

static struct timespec now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t;
}

double clock_s(void)
{
    struct timespec t = now();
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

int64_t clock_ms(void)
{
    struct timespec t = now();
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}
