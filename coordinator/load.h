/* How busy the machine was with other processes during a measurement: the work of all processors (/proc/stat)
 * less that of the measurement itself. On 4 processors, 2 s with 5 s of busy time, of which the measurement
 * used 1 s: others used (5 - 1) / 8 = 50 %. */
#ifndef THRESH_COORDINATOR_LOAD_H
#define THRESH_COORDINATOR_LOAD_H

#include <stdbool.h>

/* Ticks of all processors since the start of the machine. */
struct load {
    double busy, all;
};

/* Reads the first line of a file such as /proc/stat. false: there is no such file, or it is malformed. */
bool load_read(const char *path, struct load *out);
/* The share of the processors that other processes used between two readings, in [0, 1]. own_ms: processor
 * time of the measurement in between. */
double load_of_others(const struct load *from, const struct load *to, double own_ms);

#endif
