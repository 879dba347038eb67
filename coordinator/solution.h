/* A leaf of any space, as JSON and as actions. */
#ifndef THRESH_COORDINATOR_SOLUTION_H
#define THRESH_COORDINATOR_SOLUTION_H

#include <jansson.h>
#include <stddef.h>

#include "core/space/space.h"

/* The decisions: {"block_x": 32, "staged": "YES", "size(t0)": 4}, live choices in order of declaration. */
json_t *solution_json(const struct space_state *leaf);
/* The same as one line of text; malloc'd. */
char *solution_text(const struct space_state *leaf);
/* Decisions by their names, values as texts, in the order given; those of slots that the space does not have
 * are left out. */
json_t *solution_actions_json(const struct space *s, const struct space_action *actions, size_t n);
/* The decisions that propagation leaves open, in order of declaration: equal leaves give equal lists.
 * malloc'd. */
struct space_action *solution_actions(const struct space_state *root, const struct space_state *leaf,
                                      size_t *n);

#endif
