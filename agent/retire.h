/* When a runner has served long enough. Drivers leak: PoCL keeps memory and some 200 KiB of files for each
 * kernel it has compiled. A runner retires before it has grown by 50 MB since its first job (which loads the
 * compiler), and after 400 jobs; its files go with it, so that the folder of files is bounded too.
 *
 *     after job     1      2      3     ...   44
 *     own memory    300    301    302         343 MB     43 MB and one step more is too near 50: retire
 *
 * Memory that it shares with the other processes, the inputs and the reference, does not count: it grows as
 * pages are first touched, and goes on without this runner. */
#ifndef THRESH_AGENT_RETIRE_H
#define THRESH_AGENT_RETIRE_H

#include <stdbool.h>

/* Zero at the start but for most_jobs and kept_kib. */
struct retire {
    unsigned most_jobs; /* 0: AGENT_RETIRE_JOBS */
    long kept_kib;      /* of freed memory, that the allocator may keep: no growth */
    unsigned jobs;
    long first, last, step; /* KiB: after the first job, after the last one, most growth by one job */
};

/* Counts a job, after which the process has so much memory of its own; true: the next one might be too much.
 */
bool retire_after(struct retire *r, long own_kib);
/* Memory of this process alone that is in use now, KiB; 0: unknown. */
long retire_own_kib(void);

#endif
