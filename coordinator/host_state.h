/* host.c, the example program of a result, shared by host.c (one kernel) and host_sequence.c (a sequence):
 * the fixed parts of its text and what depends on the arrays of a program. */
#ifndef THRESH_COORDINATOR_HOST_STATE_H
#define THRESH_COORDINATOR_HOST_STATE_H

#include <stddef.h>

#include "core/codegen/codegen.h"

struct device;
struct strbuf;

/* Functions of the program; their last ones compare times and are `host_sorting`. */
extern const char host_head[], host_sorting[];
/* The comment at its head. `does` says what happens to `kernel_file`. */
void host_emit_comment(const struct device *device, const char *kernel_file, const char *does,
                       struct strbuf *out);
/* In main(): opens the device that `device` names; builds the text of a file. */
void host_emit_start(const char *device, const char *kernel_file, struct strbuf *out);
extern const char host_build[];
/* The random content of array `array` of the program, `bytes` long: a number `valueI`, or an array `dataI`.
 */
void host_emit_content(const struct lift_program *p, unsigned array, size_t bytes, unsigned i,
                       struct strbuf *out);
/* Sorts and prints the times of the rounds in ns[], and ends main(). */
extern const char host_result[];

#endif
