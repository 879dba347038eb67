/* A leaf of any space in forms that leave the process: as JSON for files and programs, as actions for agents
 * and the store.
 *
 *     {"block_x": 32, "staged": "YES"}        slot 0 = value 5, slot 3 = value 1 */
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
/* The shortest list of actions from `root` (NULL: the root of the space) to a leaf below it: in order of
 * declaration, those that propagation of the earlier ones leaves open. Equal leaves give equal lists. One
 * propagation for each action. malloc'd. */
struct space_action *solution_actions(const struct space_state *root, const struct space_state *leaf,
                                      size_t *n);
/* Actions from the root of the space to a leaf that was drawn below `root` (the pins applied) by the actions
 * `made`. Nothing is propagated, so that a search can send and record what it draws at no cost: the list is
 * `made`, and where pins restrict the root, the decisions that stand for the pins before it. To be applied
 * together (problem_replay()): a choice may become live only by later ones. Equal leaves may give different
 * lists. malloc'd. */
struct space_action *solution_drawn(const struct space_state *root, const struct space_state *leaf,
                                    const struct space_action *made, size_t n_made, size_t *n);

#endif
