/* When a runner has served long enough. Drivers leak: PoCL keeps memory and some 200 KiB of files for each
 * kernel it has compiled. A runner retires before it has grown by 50 MB since its first job (which loads the
 * compiler), and after 400 jobs; its files go with it, so that the folder of files is bounded too. */
#ifndef THRESH_AGENT_RETIRE_H
#define THRESH_AGENT_RETIRE_H

#include <stdbool.h>

enum { RETIRE_GROWTH_KIB = 50000, RETIRE_JOBS = 400 };

/* Zero at the start. */
struct retire {
    unsigned jobs;
    long first, last, step; /* KiB: after the first job, after the last one, most growth by one job */
};

/* Counts a job, after which the process has so much memory; true: the next one might be too much. */
bool retire_after(struct retire *r, long resident_kib);
/* Memory that this process has now, KiB; 0: unknown. */
long retire_resident_kib(void);

#endif
