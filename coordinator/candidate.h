/* A candidate on the coordinator's side: its decisions in minimal form, its OpenCL text, its floor. */
#ifndef THRESH_COORDINATOR_CANDIDATE_H
#define THRESH_COORDINATOR_CANDIDATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/device.h"
#include "agent/problem.h"

/* Actions that lead from the root of the space to the leaf: a decision for each choice that propagation
 * leaves open, in order of declaration. Equal leaves give equal lists. malloc'd. */
struct space_action *candidate_actions(const struct problem *p, const struct space_state *leaf, size_t *n);

struct candidate {
    struct cg_kernel kernel;
    uint64_t hash;   /* of the text */
    double floor_ns; /* no launch is faster; perfmodel/floor.h */
    char *loops;     /* the loop tree as text; malloc'd */
};

/* Lowers a leaf. false with a reason in why (n bytes). Release with candidate_clear(). */
bool candidate_lower(const struct problem *p, const struct device *dev, const struct space_state *leaf,
                     struct candidate *out, char *why, size_t n);
/* The same from actions. */
bool candidate_from_actions(const struct problem *p, const struct device *dev,
                            const struct space_action *actions, size_t n_actions, struct candidate *out,
                            char *why, size_t n);
void candidate_clear(struct candidate *c);

#endif
