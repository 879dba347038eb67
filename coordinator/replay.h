/* Does a recorded search again, from its run in a store: the options are read from the run's settings
 *
 *     heuristic=uct order= bound=1 prior=5c... param=max_unroll=64 pin=size(m.0)=8 device_description=a1...
 *
 * and the results from its rows. See session_replay(). */
#ifndef THRESH_COORDINATOR_REPLAY_H
#define THRESH_COORDINATOR_REPLAY_H

#include "coordinator/session.h"

struct device;
struct diag;
struct space;

struct replay_options {
    const char *store;       /* path; borrowed */
    const char *description; /* of the device, a file; NULL: found by the device's name */
    int stop_fd;             /* readable: end early; -1: none */
};

/* Of a Lift program, on the device that the run was of. false after an error: the settings cannot be made
 * again (another version's prior, another description), a store that cannot be read, an interrupt. */
bool replay_program(const struct replay_options *o, const struct store_run *run, const struct device *dev,
                    struct session_replayed *out, struct diag *d);
/* Of `tune --space`, in that space. */
bool replay_space(const struct replay_options *o, const struct store_run *run, const struct space *space,
                  struct session_replayed *out, struct diag *d);

#endif
