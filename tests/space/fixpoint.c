#include "tests/space/fixpoint.h"

#include "core/space/engine/cells.h"
#include "core/space/engine/propagators.h"

bool fixpoint_holds(const struct space_state *st)
{
    struct space_state *again = space_state_clone(st);
    cells_fill(again);
    state_queue_all(again);
    bool same = state_propagate(again) && space_state_hash(again) == space_state_hash(st);
    space_state_free(again);
    return same;
}
