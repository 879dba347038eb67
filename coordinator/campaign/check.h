/* What can be wrong with the searches of a campaign before anything is measured: programs, sizes, pins,
 * orders, heuristics, devices. Errors have places in the campaign file. */
#ifndef THRESH_CAMPAIGN_CHECK_H
#define THRESH_CAMPAIGN_CHECK_H

#include "agent/device.h"
#include "coordinator/campaign/spec.h"
#include "coordinator/work.h"

/* The device of a search. */
struct campaign_device {
    const char *selector; /* borrowed from the campaign; NULL: the first device */
    struct device device; /* if found */
    bool found;
    char why[256]; /* it was not found */
};
struct campaign_devices {
    struct campaign_device *items;
    unsigned n;
};

/* Looks for the devices of all searches. What is not here is said in `why`. Programs are loaded in child
 * processes only. */
struct campaign_devices campaign_find_devices(const struct campaign *c);
void campaign_devices_free(struct campaign_devices *d);
const struct campaign_device *campaign_device_of(const struct campaign_devices *d,
                                                 const struct campaign_search *s);
/* Adds an error for each that was not found, at a search that needs it. */
bool campaign_require_devices(const struct campaign *c, const struct campaign_devices *devices,
                              struct diag *d);

/* Whether every search can begin: goes as far as `thresh tune` does before it asks for a device, with the
 * limits of its device, or with those that every device has where it is not here. works[n_searches] (NULL
 * allowed) receives the work of each. Call it while this process has one thread, as mcts_heuristic_try(). */
bool campaign_check(const struct campaign *c, const struct campaign_devices *devices, struct work *works,
                    struct diag *d);

#endif
