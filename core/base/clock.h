/* The clock that durations are measured with: it never goes back, and starts anywhere. */
#ifndef THRESH_BASE_CLOCK_H
#define THRESH_BASE_CLOCK_H

#include <stdint.h>

double clock_s(void);
/* In milliseconds, and in whole ones. */
double clock_now_ms(void);
int64_t clock_ms(void);

/* Time in which this process was awake, for limits on waiting. While it stands still (Ctrl-Z, SIGSTOP, a
 * debugger) what it waits for may stand still too, or cannot be heard of. A stop shows as a long time between
 * two looks:
 *
 *     struct clock_awake w = clock_awake_start();
 *     while (clock_awake_ms(&w, 100) < limit_ms) ...    looks every few ms; no look adds more than 100 ms
 */
struct clock_awake {
    double last_ms, passed_ms; /* the clock at the last look; what has passed until then */
};
struct clock_awake clock_awake_start(void);
/* Milliseconds since the start; since the last look most_ms count at most. */
double clock_awake_ms(struct clock_awake *w, double most_ms);

#endif
