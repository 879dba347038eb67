/* Choices by group, objects and code; see access.h. Everything here is a few calls of space.h. */
#include "core/space/access.h"

bool space_decided(const struct space_state *st, unsigned group, const uint32_t *objects, unsigned n,
                   int64_t *code)
{
    const struct space *s = space_of(st);
    bool flipped;
    uint32_t slot = space_slot_find(s, group, objects, n, &flipped);
    if (slot == UINT32_MAX || space_value_count(st, slot) != 1) return false;
    uint32_t value = space_first_value(st, slot);
    *code = space_value_code(s, slot, flipped ? space_value_mirror(s, slot, value) : value);
    return true;
}

struct space_action space_action_of(const struct space *s, unsigned group, const uint32_t *objects,
                                    unsigned n, int64_t code)
{
    bool flipped;
    struct space_action out = {space_slot_find(s, group, objects, n, &flipped), UINT32_MAX};
    uint32_t values = out.slot == UINT32_MAX ? 0 : space_universe(s, out.slot);
    for (uint32_t v = 0; v < values; v++)
        if (space_value_code(s, out.slot, v) == code)
            out.value = flipped ? space_value_mirror(s, out.slot, v) : v;
    return out;
}
