/* One measurement at a time on a device, whichever processes of the machine measure on it.
 *
 * Each device has a file in /dev/shm, else /tmp, or in the folder that THRESH_LOCKS names, that all
 * evaluators on it open. Three of its bytes are locked with locks of the open file (F_OFD_SETLK), which the
 * kernel drops when a process ends, however it ends:
 *
 *   byte 0  exclusive: measuring
 *   byte 1  shared: has runners at work that use the device's processors (CPU devices only)
 *   byte 2  shared: wants to measure
 *
 * Example: A and B build on a CPU device. A takes byte 0. B, which looks every few milliseconds, sees that,
 * stops its runners and gives byte 1 back; A sees byte 1 free and starts. When A is done, B wants to measure:
 * A leaves it a moment to take byte 0 before it tries again itself.
 *
 * A holder writes a counter into the file now and then. If the counter stands still for ten seconds (the
 * holder is stopped), the others measure without the lock. No call blocks. */
#ifndef THRESH_AGENT_DEVICE_LOCK_H
#define THRESH_AGENT_DEVICE_LOCK_H

#include <stdbool.h>
#include <stddef.h>

struct device;
struct device_lock;

enum { DEVICE_LOCK_PATH = 256 };

/* The file of a device: all CPU devices of a machine share one, since they share its processors. */
void device_lock_path(const struct device *dev, char path[DEVICE_LOCK_PATH]);
/* Opens the file, which is made where it is missing. NULL with a reason in why (n bytes) where that is not
 * possible; every function below takes NULL for a device of which nobody else knows. */
struct device_lock *device_lock_open(const struct device *dev, char *why, size_t n);
void device_lock_close(struct device_lock *l); /* gives everything back */

/* Takes byte 0 if it is free and nobody else is first; until then the caller wants to measure. */
bool device_lock_try(struct device_lock *l);
bool device_lock_held(const struct device_lock *l); /* by the caller; NULL: always */
void device_lock_renew(struct device_lock *l);      /* a holder calls it every AGENT_LOCK_RENEW_MS */
/* Gives byte 0 back, if it is held, and wants it no longer. */
void device_lock_release(struct device_lock *l);

/* Whether others measure: through another open file, also one of this process. */
bool device_lock_busy(struct device_lock *l);
/* The same, of other processes only. */
bool device_lock_busy_elsewhere(struct device_lock *l);
/* Whether others have runners at work; the caller's own do not count. */
bool device_lock_others_work(const struct device_lock *l);
/* Says whether the caller has runners at work. */
void device_lock_work(struct device_lock *l, bool working);

#endif
