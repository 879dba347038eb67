/* Joins stores:
 *
 *     a.db run 1 (300 evaluations), run 2            run 1  of b.db: it continues run 1 of a.db
 *     b.db run 1 (500, the first 300 are a.db's)  -> run 2  of a.db
 *          run 2                                     run 3  run 2 of b.db
 *
 * Two runs are the same one if fingerprint (program, sizes, space), device, seed, settings and time of the
 * start are equal. Of these the longer one is kept if the evaluations of the shorter one are its first ones.
 * Otherwise both are kept, and the report names them. */
#ifndef THRESH_COORDINATOR_MERGE_H
#define THRESH_COORDINATOR_MERGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/base/strbuf.h"

struct diag;

struct merge_report {
    uint64_t runs, evaluations; /* of the result; evaluations: all rows */
    uint64_t present;           /* runs that an earlier source had, at least as long */
    uint64_t continued;         /* runs that replaced a shorter one of an earlier source */
    struct strbuf notes;        /* a line for each run that two sources continue in different ways */
};

/* Whether to give up. */
typedef bool (*merge_stopped)(void *context);

/* Writes the runs of n stores to the new store `out`, in the order of the sources. The sources may be of
 * earlier schema versions, need no write access and do not change; a search may be recording in them, of
 * which the state at this moment is taken. `out` is complete on the disk before it appears under its name.
 * false after an error, or without one if `stopped` said so; `out` does not exist then. Release the report
 * with strbuf_free(&report->notes) in both cases. */
bool merge_stores(const char *const *sources, size_t n, const char *out, merge_stopped stopped, void *context,
                  struct merge_report *report, struct diag *d);

#endif
