/* The next choice to branch on: the first one, in an order of choices, that is live and has two or more
 * values. A cursor skips what is settled at the beginning of the order, so that a descent does not look at it
 * again. */
#include "core/space/engine/propagators.h"

/* Not open in any candidate: decided, or of a dead object. */
static bool is_settled(const struct space_state *st, uint32_t slot)
{
    struct slot_at at = st->space->slot_at[slot];
    uint64_t word = domain_at(st, at);
    bool one_word = at.mask != UINT64_MAX;
    return (one_word && !(word & (word - 1))) || state_dead(st, &st->space->slots[slot]);
}

/* The first open slot of a group from the slot *from of it on, which moves past settled ones. */
static uint32_t first_open(const struct space_state *st, unsigned group, uint32_t *from)
{
    const struct space *s = st->space;
    uint32_t first = s->group_first[group], end = s->group_first[group + 1];
    if (first == end) return SPACE_NONE;
    int16_t square = s->slots[first].square;
    if (square >= 0) return square_first_open(st, &s->squares[square]);
    for (uint32_t i = first + *from; i < end; i++) {
        bool settled = is_settled(st, i);
        if (!settled && space_is_open(st, i)) return i;
        if (settled && i == first + *from) ++*from;
    }
    return SPACE_NONE;
}

/* The same of a list of slots; *from is an index in it. */
static uint32_t first_listed(const struct space_state *st, const struct space_part *part, uint32_t *from)
{
    for (uint32_t i = *from; i < part->n; i++) {
        bool settled = is_settled(st, part->slots[i]);
        if (!settled && space_is_open(st, part->slots[i])) return part->slots[i];
        if (settled && i == *from) ++*from;
    }
    return SPACE_NONE;
}

uint32_t space_next_choice_from(const struct space_state *st, const struct space_part *parts,
                                unsigned n_parts, struct space_cursor *from)
{
    const struct space *s = st->space;
    unsigned n = parts ? n_parts : (unsigned)s->def->n_choices;
    for (unsigned k = from->part; k < n; k++) {
        unsigned group = parts ? parts[k].group : k;
        bool listed = parts && parts[k].slots;
        uint32_t at = k == from->part ? from->slot : 0;
        uint32_t slot = listed ? first_listed(st, &parts[k], &at) : first_open(st, group, &at);
        if (k == from->part) from->slot = at;
        if (slot != SPACE_NONE) return slot;
        uint32_t size = listed ? parts[k].n : s->group_first[group + 1] - s->group_first[group];
        if (k == from->part && at == size) *from = (struct space_cursor){k + 1, 0};
    }
    return SPACE_NONE;
}

uint32_t space_next_choice(const struct space_state *st, const struct space_part *parts, unsigned n_parts)
{
    return space_next_choice_from(st, parts, n_parts, &(struct space_cursor){0});
}
