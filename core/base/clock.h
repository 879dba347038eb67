/* The clock that durations are measured with, in seconds: it never goes back, and starts anywhere. */
#ifndef THRESH_BASE_CLOCK_H
#define THRESH_BASE_CLOCK_H

#include <stdint.h>

double clock_s(void);
/* In whole milliseconds. */
int64_t clock_ms(void);

#endif
