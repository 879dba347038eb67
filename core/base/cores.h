/* How many processor cores this process may use. */
#ifndef THRESH_BASE_CORES_H
#define THRESH_BASE_CORES_H

/* At least 1. With `taskset -c 0-3` it is 4, whatever the machine has. */
unsigned cores_available(void);

#endif
