/* Whether a state is a fixpoint of all propagators at once, whatever was left out as of no concern. */
#ifndef THRESH_TESTS_SPACE_FIXPOINT_H
#define THRESH_TESTS_SPACE_FIXPOINT_H

#include "core/space/space.h"

/* All intervals are computed from the domains, and everything that may remove a value is visited: none does.
 */
bool fixpoint_holds(const struct space_state *st);

#endif
