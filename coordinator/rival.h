/* An implementation compared with another contender of the final rounds: what the second best one does in
 * another way, and what that costs. */
#ifndef THRESH_COORDINATOR_RIVAL_H
#define THRESH_COORDINATOR_RIVAL_H

#include <jansson.h>

#include "coordinator/best.h"

/* The contender that is this implementation; NULL: it is none of them. Borrowed. */
const struct best_contender *rival_itself(const struct best_file *b);
/* Compares the implementation with the second best contender or, if it is not the best itself, with the best
 * one. `leaf` and `portrait` belong to the implementation. A new reference; JSON null: there is no other
 * contender.
 *
 *     {"role": "second best" | "best", "label", "number", "figure", "ratio" (its time over this one's),
 *      "differences": [{"name", "here", "there"}...] (lines of portraits),
 *      "decisions": [{"choice", "here", "there"}...] (null: that implementation does not have the choice)} */
json_t *rival_json(const struct best_file *b, const struct space_state *leaf, const json_t *portrait);

#endif
