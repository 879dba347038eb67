/* See stop.h. */
#include "core/base/stop.h"

#include <poll.h>

bool stop_requested(int stop_fd)
{
    struct pollfd p = {.fd = stop_fd, .events = POLLIN};
    return stop_fd >= 0 && poll(&p, 1, 0) > 0;
}
