/* See retire.h. */
#include "agent/retire.h"

#include <stdio.h>
#include <unistd.h>

bool retire_after(struct retire *r, long own_kib)
{
    long grown = own_kib - r->last;
    if (r->jobs++ == 0)
        r->first = own_kib;
    else if (grown > r->step)
        r->step = grown;
    r->last = own_kib;
    return r->jobs >= RETIRE_JOBS || own_kib - r->first + r->step > RETIRE_GROWTH_KIB;
}

long retire_own_kib(void)
{
    long resident = 0, shared = 0;
    FILE *in = fopen("/proc/self/statm", "r");
    if (in && fscanf(in, "%*s %ld %ld", &resident, &shared) != 2) resident = shared = 0;
    if (in) fclose(in);
    return (resident - shared) * (sysconf(_SC_PAGESIZE) / 1024);
}
