/* Recorded timings that stand for a device, or for the command of `tune --space`: a search without it, the
 * same each time. Results of a program are found by the hash of the kernel text, those of a space by the hash
 * of the candidate. */
#ifndef THRESH_COORDINATOR_RECORDED_H
#define THRESH_COORDINATOR_RECORDED_H

#include <stdbool.h>
#include <stdint.h>

#include "coordinator/store.h"

struct diag;
struct recorded;

/* Reads the results of the program or space with that fingerprint on the device of that name, for a space
 * STORE_NO_DEVICE, from stores, their names separated by commas. Borrows the device's name. NULL after an
 * error: a store cannot be read, or none has such a result. */
struct recorded *recorded_open(const char *paths, uint64_t fingerprint, const char *device, struct diag *d);
void recorded_close(struct recorded *r); /* NULL is allowed */
/* Whether anything was recorded for a kernel text or a candidate. */
bool recorded_has(const struct recorded *r, uint64_t hash);
/* What was recorded for a kernel text, or for a candidate by its space_state_hash(): status, time, message
 * and numbers, valid until the records are closed. One that was not counts as failed. */
struct store_evaluation recorded_result(const struct recorded *r, uint64_t hash);

#endif
