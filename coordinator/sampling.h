/* Stratified random sampling of implementations: uniform descents hardly ever meet the rare values of a space
 * (a vector of 16, a padded tile), so every other draw aims at the value that has been counted least. Used to
 * verify that no value of any choice leads to wrong code; a sample for estimates comes from mcts/estimate.h.
 */
#ifndef THRESH_COORDINATOR_SAMPLING_H
#define THRESH_COORDINATOR_SAMPLING_H

#include <stdbool.h>
#include <stdint.h>

#include "core/space/space.h"

struct sampling;

/* A value of a choice, whatever its arguments. */
struct sampling_value {
    unsigned group; /* the choice */
    uint32_t slot;  /* one that has the value, for its name: space_value_name(space, slot, value) */
    uint32_t value;
    bool excluded;    /* no slot of the root has it */
    bool given_up;    /* many draws aimed at it and none was counted */
    uint64_t counted; /* leaves that had it */
};

/* Values that occur in `least` counted leaves are no longer aimed at. Borrows the space of `root`. */
struct sampling *sampling_new(const struct space_state *root, uint64_t least, uint64_t seed);
void sampling_free(struct sampling *s);

/* Goes down from `state` (the root, perhaps with pins) to a leaf: uniformly over the live values at each
 * branching, or aiming. Take a snapshot before. false: a dead end. */
bool sampling_draw(struct sampling *s, struct space_state *state);
/* Counts each value that some live choice of the leaf has. */
void sampling_count(struct sampling *s, const struct space_state *leaf);
/* Whether every value is counted often enough, excluded or given up. */
bool sampling_covered(const struct sampling *s);

/* All values of all choices, by group, then by code. */
const struct sampling_value *sampling_values(const struct sampling *s, unsigned *n);

#endif
