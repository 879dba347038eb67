/* How many processor cores this process may use. */
#ifndef THRESH_BASE_CORES_H
#define THRESH_BASE_CORES_H

#include <stdbool.h>

/* At least 1. With `taskset -c 0-3` it is 4, whatever the machine has. */
unsigned cores_available(void);
/* Whether these are all cores of the machine, so that core i is the i-th of them. */
bool cores_all_available(void);

#endif
