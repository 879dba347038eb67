/* A device is characterized again: which of its figures are kept, the older or the new ones. */
#ifndef THRESH_PERFMODEL_MERGE_H
#define THRESH_PERFMODEL_MERGE_H

#include "perfmodel/device.h"

/* What became of a figure. */
struct perfmodel_verdict {
    bool old;        /* the older one stays, with its date */
    const char *why; /* static; "": neither is known */
};

/* Joins an older description with a new one of the same device, figure by figure; the rest is that of the new
 * one. Of two measurements the faster one stays: other work on the device only makes it look slower. */
void perfmodel_merge(const struct perfmodel_device *earlier, const struct perfmodel_device *fresh,
                     struct perfmodel_device *out, struct perfmodel_verdict verdicts[PERFMODEL_FIGURE_COUNT]);

#endif
