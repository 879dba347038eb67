/* An implementation compared with another contender of the final rounds, for `thresh explain`. */
#ifndef THRESH_CLI_CONTENDERS_H
#define THRESH_CLI_CONTENDERS_H

#include <jansson.h>

#include "coordinator/best.h"

/* The contender that is this implementation; NULL: it is none of them. Borrowed. */
const struct best_contender *cli_find_contender(const struct best_file *b);
/* Compares the implementation with the second best contender or, if it is not the best itself, with the best
 * one. `leaf` and `portrait` belong to the implementation. A new reference; JSON null: there is no other
 * contender.
 *
 *     {"role": "second best" | "best", "label", "number", "figure", "ratio" (its time over this one's),
 *      "differences": [{"name", "here", "there"}...] (lines of portraits),
 *      "decisions": [{"choice", "here", "there"}...] (null: that implementation does not have the choice)} */
json_t *cli_contender_json(const struct best_file *b, const struct space_state *leaf, const json_t *portrait);
/* Prints the comparison as a line of the summary with the differences below it. */
void cli_print_contender(const json_t *contender);

#endif
