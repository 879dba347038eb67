/* A recorded implementation: a row of a store as a best_file, with its problem, the naive implementation's
 * time and the contenders of its run. */
#ifndef THRESH_COORDINATOR_STORED_ROW_H
#define THRESH_COORDINATOR_STORED_ROW_H

#include <stdbool.h>

#include "coordinator/best.h"

struct store;
struct store_evaluation;
struct store_run;

/* Fills in decisions, figures, contenders and hash of a row. out->problem and out->device are the caller's.
 * false after an error. Release `out` with best_file_clear() in both cases. */
bool stored_row_take(struct store *s, const struct store_run *run, const struct store_evaluation *e,
                     struct best_file *out, struct diag *d);

#endif
