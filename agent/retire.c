/* See retire.h. */
#include "agent/retire.h"

#include <unistd.h>

#include "agent/child.h"

bool retire_after(struct retire *r, long own_kib)
{
    long grown = own_kib - r->last;
    if (r->jobs++ == 0)
        r->first = own_kib;
    else if (grown > r->step)
        r->step = grown;
    r->last = own_kib;
    return r->jobs >= (r->most_jobs ? r->most_jobs : RETIRE_JOBS) ||
           own_kib - r->first + r->step > RETIRE_GROWTH_KIB;
}

long retire_own_kib(void)
{
    return child_memory_kib(getpid());
}
