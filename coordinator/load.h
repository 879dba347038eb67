/* How busy the machine was with other work during a measurement: what its processors did in all (/proc/stat),
 * less what the measurement itself used. */
#ifndef THRESH_COORDINATOR_LOAD_H
#define THRESH_COORDINATOR_LOAD_H

#include <stdbool.h>

/* Ticks of all processors since the start of the machine. */
struct load {
    double busy, all;
};

/* Reads the first line of a file such as /proc/stat. false: there is none, or it makes no sense. */
bool load_read(const char *path, struct load *out);
/* The share of the processors that other work used between two readings, in [0, 1]; own_ms: processor time
 * that the measurement used meanwhile. */
double load_of_others(const struct load *from, const struct load *to, double own_ms);

#endif
