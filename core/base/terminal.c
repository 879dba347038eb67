/* See terminal.h. */
#include "core/base/terminal.h"

#include <stdlib.h>
#include <sys/ioctl.h>

unsigned terminal_columns(int fd, unsigned otherwise)
{
    struct winsize size = {0};
    if (ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return size.ws_col;
    const char *columns = getenv("COLUMNS");
    long n = columns ? strtol(columns, NULL, 10) : 0;
    return n > 0 && n < 10000 ? (unsigned)n : otherwise;
}
