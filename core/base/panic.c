/* Prints where the bug showed, and aborts. */
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
