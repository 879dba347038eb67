/* Stratified random sampling of implementations: random descents rarely reach the rare values of a space (a
 * vector of 16, a padded tile), so every second draw has a target, the value that was counted least. `thresh
 * verify` uses it to check that no value of any choice leads to wrong code. (Samples for estimates:
 * mcts/estimate.h.)
 *
 *     struct sampling *s = sampling_new(root, 20, seed);
 *     while (!sampling_covered(s)) {
 *         space_mark mark = space_snapshot(root);
 *         if (sampling_draw(s, root) && is_right(root)) sampling_count(s, root);
 *         space_rollback(root, mark);
 *     } */
#ifndef THRESH_COORDINATOR_SAMPLING_H
#define THRESH_COORDINATOR_SAMPLING_H

#include <stdbool.h>
#include <stdint.h>

#include "core/space/space.h"

struct sampling;

/* A value of a choice, for all arguments of the choice together. */
struct sampling_value {
    unsigned group; /* the choice */
    uint32_t slot;  /* a slot with this value; space_value_name(space, slot, value) is its name */
    uint32_t value;
    bool excluded;      /* no slot of the root has it */
    bool given_up;      /* it was the target of many draws and none was counted */
    uint64_t counted;   /* leaves with this value */
    uint64_t confirmed; /* those of them that turned out to be right */
};

/* A value that occurs in `least` counted leaves is not a target any more. Borrows the space of `root`. */
struct sampling *sampling_new(const struct space_state *root, uint64_t least, uint64_t seed);
void sampling_free(struct sampling *s);

/* Decides all choices of `state` (the root, perhaps with pins), at random or with a target. Take a snapshot
 * before. false: a dead end. */
bool sampling_draw(struct sampling *s, struct space_state *state);
/* Counts each value that a live slot of the leaf has. */
void sampling_count(struct sampling *s, const struct space_state *leaf);
/* The same of a leaf that was counted, once it is known to be right. Draws do not depend on it: they are the
 * same whenever that is, and whether it is. */
void sampling_confirm(struct sampling *s, const struct space_state *leaf);
/* Whether every value is counted `least` times, excluded or given up. */
bool sampling_covered(const struct sampling *s);

/* All values of all choices, by group, then by code. */
const struct sampling_value *sampling_values(const struct sampling *s, unsigned *n);

#endif
