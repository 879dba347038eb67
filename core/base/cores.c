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
    return (long)cores_available() == sysconf(_SC_NPROCESSORS_CONF);
}
