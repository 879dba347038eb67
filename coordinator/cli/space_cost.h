/* What `thresh space check --explain-cost` prints. */
#ifndef THRESH_CLI_SPACE_COST_H
#define THRESH_CLI_SPACE_COST_H

#include <jansson.h>

struct space;

/* For each constraint that is propagated in a slower way than others: which limit it passes, what that costs,
 * what to change. The caller owns the list. */
json_t *space_cost_json(const struct space *s);
/* Why solutions are counted in the slower way, as a string; null: they are not. */
json_t *space_cost_count_json(const struct space *s);
void space_cost_print(const struct space *s);

#endif
