/* Growth of a runner; see retire.h. */
#include "agent/retire.h"

#include <stdio.h>
#include <unistd.h>

bool retire_after(struct retire *r, long resident_kib)
{
    long grown = resident_kib - r->last;
    if (r->jobs++ == 0)
        r->first = resident_kib;
    else if (grown > r->step)
        r->step = grown;
    r->last = resident_kib;
    return r->jobs >= RETIRE_JOBS || resident_kib - r->first + r->step > RETIRE_GROWTH_KIB;
}

long retire_resident_kib(void)
{
    long pages = 0;
    FILE *in = fopen("/proc/self/statm", "r");
    if (in && fscanf(in, "%*s %ld", &pages) != 1) pages = 0;
    if (in) fclose(in);
    return pages * (sysconf(_SC_PAGESIZE) / 1024);
}
