/* Orders of choices, as users write them. "size(m.*),dim_kind" takes the sizes of what begins with m first,
 * then all kinds of dimensions, then the other choices as declared. */
#ifndef THRESH_MCTS_ORDER_H
#define THRESH_MCTS_ORDER_H

#include <stdbool.h>
#include <stdint.h>

#include "core/space/space.h"

struct diag;

/* Parts that have all slots of a space, for struct mcts_branching. {0}: none yet. */
struct mcts_order {
    struct space_part *parts; /* owned */
    unsigned n;
    uint32_t *slots; /* owned: where the lists of the parts are */
};

/* Parses items between commas, in the order in which they are taken. "size" is all choices of that group;
 * "size(m.*)", with a parenthesis or a star, those whose names the pattern matches (space_slots_matching()),
 * by number. What an earlier item names is not named again. All other choices come after the last item, by
 * group as declared; NULL or "" is the order of declaration. Spaces may stand around items and in patterns.
 * false after adding an error, with *out empty: a name that is no group, a group that is named twice, a
 * pattern that matches no choice of the space, or none that is left. The caller frees *out. */
bool mcts_order_parse(const struct space *s, const char *text, struct mcts_order *out, struct diag *d);

/* A copy of n parts and of their lists; the caller frees it. */
struct mcts_order mcts_order_copy(const struct space_part *parts, unsigned n);

/* Frees what it owns and empties it. */
void mcts_order_free(struct mcts_order *o);

#endif
