/* See retire.h. */
#include "agent/retire.h"

#include <unistd.h>

#include "agent/child.h"
#include "agent/limits.h"

bool retire_after(struct retire *r, long own_kib)
{
    long grown = own_kib - r->last;
    if (r->jobs++ == 0)
        r->first = own_kib;
    else if (grown > r->step)
        r->step = grown;
    r->last = own_kib;
    return r->jobs >= (r->most_jobs ? r->most_jobs : AGENT_RETIRE_JOBS) ||
           own_kib - r->first + r->step > AGENT_RETIRE_KIB + r->kept_kib;
}

long retire_own_kib(void)
{
    return child_memory_kib(getpid());
}
