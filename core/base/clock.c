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

double clock_now_ms(void)
{
    struct timespec t = now();
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

int64_t clock_ms(void)
{
    struct timespec t = now();
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

struct clock_awake clock_awake_start(void)
{
    return (struct clock_awake){.last_ms = clock_now_ms()};
}

double clock_awake_ms(struct clock_awake *w, double most_ms)
{
    double at = clock_now_ms(), since = at - w->last_ms;
    w->last_ms = at;
    return w->passed_ms += since < most_ms ? since : most_ms;
}
