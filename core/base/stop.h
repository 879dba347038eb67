/* Ending a long run early. Whoever runs one is given a descriptor that becomes readable when it is to end,
 * such as a signalfd; who gave it reads it. */
#ifndef THRESH_BASE_STOP_H
#define THRESH_BASE_STOP_H

#include <stdbool.h>

/* Whether stop_fd is readable now; -1: never. */
bool stop_requested(int stop_fd);

#endif
