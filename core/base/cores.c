/* The affinity mask of the calling thread. */
#define _GNU_SOURCE
#include "core/base/cores.h"

#include <sched.h>
#include <unistd.h>

unsigned cores_available(void)
{
    cpu_set_t set;
    CPU_ZERO(&set);
    if (sched_getaffinity(0, sizeof set, &set) != 0) return 1; /* more than CPU_SETSIZE cores */
    int n = CPU_COUNT(&set);
    return n > 0 ? (unsigned)n : 1;
}

bool cores_all_available(void)
{
    cpu_set_t set;
    long n = sysconf(_SC_NPROCESSORS_CONF);
    CPU_ZERO(&set);
    if (n > CPU_SETSIZE || sched_getaffinity(0, sizeof set, &set) != 0) return false;
    for (long i = 0; i < n; i++)
        if (!CPU_ISSET((size_t)i, &set)) return false;
    return true;
}
