/* The one way a bug ends the process. */
#include "core/base/panic.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

void base_panic(const char *file, int line, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    fprintf(stderr, "thresh: internal error at %s:%d: ", file, line);
    vfprintf(stderr, fmt, args);
    fputc('\n', stderr);
    va_end(args);
    abort();
}
