/* The figures of a store in the text format of Prometheus, version 0.0.4:
 *
 *     # HELP thresh_evaluations_total Implementations by outcome.
 *     # TYPE thresh_evaluations_total counter
 *     thresh_evaluations_total{run="1",search="axpy.lift N=4096",device="cpu",outcome="ok"} 240
 *
 * Times are in seconds, as is usual there. */
#ifndef THRESH_WEB_METRICS_H
#define THRESH_WEB_METRICS_H

#include <stdbool.h>
#include <stdint.h>

#include "coordinator/report/study.h"
#include "core/base/strbuf.h"

struct metrics {
    const struct report_data *data;
    const struct report_study *const *studies; /* [searches] NULL: not made yet */
    const char *version;                       /* of thresh */
    bool readable;                             /* the store, at present */
    int64_t now;                               /* Unix seconds */
};

/* Appends. */
void metrics_print(const struct metrics *m, struct strbuf *out);

#endif
