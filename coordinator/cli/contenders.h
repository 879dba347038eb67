/* An implementation beside another contender of the final rounds, for `thresh explain`. */
#ifndef THRESH_CLI_CONTENDERS_H
#define THRESH_CLI_CONTENDERS_H

#include <jansson.h>

#include "coordinator/best.h"

/* The contender that the implementation is; NULL: none. Borrowed. */
const struct best_contender *cli_find_contender(const struct best_file *b);
/* The contender to compare the implementation with: the second best one, or, if it is not the best itself,
 * the best one. `leaf` and `portrait` are the implementation's own. A new reference; null: there is none.
 *
 *     {"role": "second best" | "best", "label", "number", "figure", "ratio" (its time over this one's),
 *      "differences": [{"name", "here", "there"}...] (lines of portraits),
 *      "decisions": [{"choice", "here", "there"}...] (null: there is no such choice)} */
json_t *cli_contender_json(const struct best_file *b, const struct space_state *leaf, const json_t *portrait);
/* Prints it as a line of the summary with the differences below it. */
void cli_print_contender(const json_t *contender);

#endif
