/* Recorded timings that stand for a device: a search without one, the same each time. */
#ifndef THRESH_COORDINATOR_RECORDED_H
#define THRESH_COORDINATOR_RECORDED_H

#include <stdbool.h>
#include <stdint.h>

#include "coordinator/store.h"

struct diag;
struct recorded;

/* Reads the results of the program with that fingerprint on the device of that name from stores, their names
 * separated by commas. Borrows the device's name. NULL after an error: a store cannot be read, or none has
 * such a result. */
struct recorded *recorded_open(const char *paths, uint64_t fingerprint, const char *device, struct diag *d);
void recorded_close(struct recorded *r); /* NULL is allowed */
/* Whether anything was recorded for a kernel text. */
bool recorded_has(const struct recorded *r, uint64_t kernel_hash);
/* What was recorded for a kernel text: status, time and message. One that was not counts as failed. */
struct store_evaluation recorded_result(const struct recorded *r, uint64_t kernel_hash);

#endif
