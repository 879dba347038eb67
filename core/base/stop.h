/* Ending a long run early. The caller passes a descriptor that becomes readable when the run is to end, such
 * as an eventfd that a signal handler writes to; the run looks at it now and then and returns what it has.
 * The caller reads the descriptor. */
#ifndef THRESH_BASE_STOP_H
#define THRESH_BASE_STOP_H

#include <stdbool.h>

/* Whether stop_fd is readable now; -1: never. */
bool stop_requested(int stop_fd);

#endif
