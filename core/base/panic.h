/* Bugs of ours end the process here, with file and line. Never used for what a user, a file or a peer did.
 *
 *     CHECK(n > 0);    thresh: internal error at core/base/stats.c:28: check failed: n > 0 */
#ifndef THRESH_BASE_PANIC_H
#define THRESH_BASE_PANIC_H

#include "core/base/attr.h"

BASE_NORETURN void base_panic(const char *file, int line, const char *fmt, ...) BASE_PRINTF(3, 4);

#define PANIC(...) base_panic(__FILE__, __LINE__, __VA_ARGS__)

/* Checked in every build: for invariants whose failure would corrupt a result. */
#define CHECK(cond) ((cond) ? (void)0 : base_panic(__FILE__, __LINE__, "check failed: %s", #cond))

#endif
