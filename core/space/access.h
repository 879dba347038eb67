/* Choices by group, objects and code.
 *
 * Search sees slots and values; code that knows its space speaks of objects and codes. These calls translate.
 * The header that `spacec --header` makes of a .space file wraps them, one set of functions for each choice:
 *
 *     gpu_get_size(state, tile, &n)                        reads the size of a tile, once it is decided
 *     gpu_act_dim_kind(space, dim, GPU_DIM_KIND_LOOP)      the action that makes a dimension a loop
 *
 * `group` is the number of the choice in its file, `objects` are ids in the order of its declaration. A code
 * is what the file gives a value. The codes of an antisymmetric pair are those of the pair as it is given,
 * whichever way round its slot has it. */
#ifndef THRESH_SPACE_ACCESS_H
#define THRESH_SPACE_ACCESS_H

#include "core/space/space.h"

/* Reads the code of a choice into *code. false: there is no such choice, or more than one value is left. */
bool space_decided(const struct space_state *st, unsigned group, const uint32_t *objects, unsigned n,
                   int64_t *code);
/* The action that gives a choice the value of that code. Its slot is UINT32_MAX if there is no such choice,
 * its value is UINT32_MAX if the choice has no such value: space_apply_all() refuses such an action. */
struct space_action space_action_of(const struct space *s, unsigned group, const uint32_t *objects,
                                    unsigned n, int64_t code);

#endif
