/* The decisions of recorded evaluations as values of numbered choices, for what compares evaluations:
 * insight.h, forests.
 *
 *     of a program     actions "12=3 14=0"                    choice 12 has value 3, and so on
 *     `tune --space`   decisions {"tile": 8, "staged": "YES"} choices are numbered by name as they appear
 *     -> values[choice], DECIDED_ABSENT: the implementation does not have the choice
 *
 * The actions of a program are replayed, so that propagation sets all other choices; a choice is a slot of
 * the space. */
#ifndef THRESH_COORDINATOR_DECIDED_H
#define THRESH_COORDINATOR_DECIDED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "coordinator/insight.h"

#define DECIDED_ABSENT INSIGHT_ABSENT

struct decided;
struct problem;
struct store_evaluation;

/* problem: of the rows, borrowed; NULL: they are of `tune --space`. */
struct decided *decided_new(const struct problem *problem);
void decided_free(struct decided *t); /* NULL is allowed */
/* The values of choices 0 .. n - 1 in the row; it has none of the others. They are valid until the next call.
 * NULL: the row has no decisions, or they are not of this program. */
const uint16_t *decided_values(struct decided *t, const struct store_evaluation *e, uint32_t *n);
/* Writes the name of a choice, or of its value, of at most `size` bytes with its 0. */
void decided_choice_name(const struct decided *t, uint32_t choice, char *out, size_t size);
void decided_value_name(const struct decided *t, uint32_t choice, uint16_t value, char *out, size_t size);

#endif
