/* Recorded timings that stand for a device, or for the command of `tune --space`: a search without it, the
 * same each time. For example, after
 *
 *     thresh tune K.lift ... --store a.db       measured on the device
 *     thresh tune K.lift ... --recorded a.db --description D.json
 *
 * the second search draws and finds what the first one did. Results of a program are found by the hash of the
 * kernel text, those of a space by the hash of the candidate; what was not recorded counts as failed. Runs
 * that themselves used --recorded are left out. */
#ifndef THRESH_COORDINATOR_RECORDED_H
#define THRESH_COORDINATOR_RECORDED_H

#include <stdbool.h>
#include <stdint.h>

#include "coordinator/evaluator.h"

struct diag;
struct recorded;

/* How the settings of a run with --recorded tell it: of a program, of a space (there they begin so). */
#define RECORDED_SETTING " recorded"
#define RECORDED_COMMAND "command=(recorded)"

/* Reads the results of the program or space with that fingerprint on the device of that name, for a space
 * STORE_NO_DEVICE, from stores, their names separated by commas. Borrows the device's name. NULL after an
 * error: a store cannot be read, or none has such a result. */
struct recorded *recorded_open(const char *paths, uint64_t fingerprint, const char *device, struct diag *d);
void recorded_close(struct recorded *r); /* NULL is allowed */
/* Whether anything was recorded for a kernel text or a candidate. */
bool recorded_has(const struct recorded *r, uint64_t hash);

extern const struct session_evaluator recorded_evaluator; /* self: struct recorded */

#endif
